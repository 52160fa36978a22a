// Reads and writes through the converters to a pseudo-channel that answers in order, with pauses on every channel; what
// is wrong is printed, then the counts.
//
// Data, strobes and errors are functions of the address, so each side checks what it gets by itself. A sixteenth of the
// bursts are beyond HBM: nothing of them may be enabled, and they fail.
`timescale 1ps / 1ps
module axi3_tb;
    parameter FLIT_WIDTH = 512;
    localparam ID_WIDTH = 5, HBM_WIDTH = 256, RATIO = FLIT_WIDTH / HBM_WIDTH, ADDR = 33;
    localparam BYTES = FLIT_WIDTH / 8, HBM_BYTES = HBM_WIDTH / 8, MANY = 4096;
    integer period, hbm_period, phase, jitter, seed, bursts, pause, slow, longest;
    initial begin
        if (!$value$plusargs("period=%d", period)) period = 4000;
        if (!$value$plusargs("hbm_period=%d", hbm_period)) hbm_period = 2222;
        if (!$value$plusargs("phase=%d", phase)) phase = 0;
        if (!$value$plusargs("jitter=%d", jitter)) jitter = 0;
        if (!$value$plusargs("bursts=%d", bursts)) bursts = 300;
        if (!$value$plusargs("pause=%d", pause)) pause = 1;
        if (!$value$plusargs("slow=%d", slow)) slow = pause;
        if (!$value$plusargs("longest=%d", longest)) longest = 16;
        if (!$value$plusargs("seed=%d", seed)) seed = 1;
    end
    function integer below(input integer n);
        below = $unsigned($random(seed)) % n;
    endfunction

    reg aclk = 0, hbm_aclk = 0, aresetn = 0, hbm_aresetn = 0;
    initial begin
        #1;
        forever #(period / 2 + (jitter == 0 ? 0 : below(jitter))) aclk = ~aclk;
    end
    initial begin
        #1 #(phase);
        forever #(hbm_period / 2 + (jitter == 0 ? 0 : below(jitter))) hbm_aclk = ~hbm_aclk;
    end

    reg                    s_axi_arvalid = 0, s_axi_rready = 0, s_axi_awvalid = 0, s_axi_wvalid = 0, s_axi_bready = 0;
    wire                   s_axi_arready, s_axi_rvalid, s_axi_rlast, s_axi_awready, s_axi_wready, s_axi_bvalid;
    reg  [63:0]            s_axi_araddr, s_axi_awaddr;
    reg  [ID_WIDTH-1:0]    s_axi_arid, s_axi_awid;
    reg  [7:0]             s_axi_arlen, s_axi_awlen;
    reg  [2:0]             s_axi_arsize = 0, s_axi_awsize = 0;
    reg  [1:0]             s_axi_arburst = 1, s_axi_awburst = 1;
    wire [FLIT_WIDTH-1:0]  s_axi_rdata;
    wire [ID_WIDTH-1:0]    s_axi_rid, s_axi_bid;
    wire [1:0]             s_axi_rresp, s_axi_bresp;
    reg  [FLIT_WIDTH-1:0]  s_axi_wdata;
    reg  [BYTES-1:0]       s_axi_wstrb;
    reg                    s_axi_wlast;
    wire                   m_axi_arvalid, m_axi_rready, m_axi_awvalid, m_axi_wvalid, m_axi_wlast, m_axi_bready;
    reg                    m_axi_arready = 0, m_axi_rvalid = 0, m_axi_rlast, m_axi_awready = 0, m_axi_wready = 0;
    reg                    m_axi_bvalid = 0;
    wire [ADDR-1:0]        m_axi_araddr, m_axi_awaddr;
    wire [3:0]             m_axi_arlen, m_axi_awlen;
    wire [2:0]             m_axi_arsize, m_axi_awsize;
    wire [1:0]             m_axi_arburst, m_axi_awburst;
    reg  [HBM_WIDTH-1:0]   m_axi_rdata;
    reg  [1:0]             m_axi_rresp, m_axi_bresp;
    wire [HBM_WIDTH-1:0]   m_axi_wdata;
    wire [HBM_BYTES-1:0]   m_axi_wstrb;
    meshkv_axi3_io dut (
        .aclk         (aclk),
        .aresetn      (aresetn),
        .hbm_aclk     (hbm_aclk),
        .hbm_aresetn  (hbm_aresetn),
        .s_axi_arvalid(s_axi_arvalid),
        .s_axi_arready(s_axi_arready),
        .s_axi_araddr (s_axi_araddr),
        .s_axi_arid   (s_axi_arid),
        .s_axi_arlen  (s_axi_arlen),
        .s_axi_arsize (s_axi_arsize),
        .s_axi_arburst(s_axi_arburst),
        .s_axi_rvalid (s_axi_rvalid),
        .s_axi_rready (s_axi_rready),
        .s_axi_rdata  (s_axi_rdata),
        .s_axi_rid    (s_axi_rid),
        .s_axi_rresp  (s_axi_rresp),
        .s_axi_rlast  (s_axi_rlast),
        .m_axi_arvalid(m_axi_arvalid),
        .m_axi_arready(m_axi_arready),
        .m_axi_araddr (m_axi_araddr),
        .m_axi_arlen  (m_axi_arlen),
        .m_axi_arsize (m_axi_arsize),
        .m_axi_arburst(m_axi_arburst),
        .m_axi_rvalid (m_axi_rvalid),
        .m_axi_rready (m_axi_rready),
        .m_axi_rdata  (m_axi_rdata),
        .m_axi_rresp  (m_axi_rresp),
        .m_axi_rlast  (m_axi_rlast),
        .s_axi_awvalid(s_axi_awvalid),
        .s_axi_awready(s_axi_awready),
        .s_axi_awaddr (s_axi_awaddr),
        .s_axi_awid   (s_axi_awid),
        .s_axi_awlen  (s_axi_awlen),
        .s_axi_awsize (s_axi_awsize),
        .s_axi_awburst(s_axi_awburst),
        .s_axi_wvalid (s_axi_wvalid),
        .s_axi_wready (s_axi_wready),
        .s_axi_wdata  (s_axi_wdata),
        .s_axi_wstrb  (s_axi_wstrb),
        .s_axi_wlast  (s_axi_wlast),
        .s_axi_bvalid (s_axi_bvalid),
        .s_axi_bready (s_axi_bready),
        .s_axi_bid    (s_axi_bid),
        .s_axi_bresp  (s_axi_bresp),
        .m_axi_awvalid(m_axi_awvalid),
        .m_axi_awready(m_axi_awready),
        .m_axi_awaddr (m_axi_awaddr),
        .m_axi_awlen  (m_axi_awlen),
        .m_axi_awsize (m_axi_awsize),
        .m_axi_awburst(m_axi_awburst),
        .m_axi_wvalid (m_axi_wvalid),
        .m_axi_wready (m_axi_wready),
        .m_axi_wdata  (m_axi_wdata),
        .m_axi_wstrb  (m_axi_wstrb),
        .m_axi_wlast  (m_axi_wlast),
        .m_axi_bvalid (m_axi_bvalid),
        .m_axi_bready (m_axi_bready),
        .m_axi_bresp  (m_axi_bresp)
    );

    // Contents of the 32 bytes at an address, the strobes with which they are written, and the response to reading them.
    function [HBM_WIDTH-1:0] word(input [63:0] at);
        word = {8{at[36:5] * 32'd2654435761 + 32'd12345}} ^ {4{at}};
    endfunction
    function [HBM_BYTES-1:0] strobe(input [63:0] at);
        strobe = at[36:5] * 32'd40503 + 32'd977;
    endfunction
    function [1:0] error(input [63:0] at);
        case (at[36:5] * 32'd2654435761 >> 27)
            0: error = 2'b10;
            1: error = 2'b11;
            default: error = 2'b00;
        endcase
    endfunction
    function [63:0] flit_at(input [63:0] at, input integer beat);
        flit_at = at + beat * BYTES;
    endfunction
    function [FLIT_WIDTH-1:0] flit(input [63:0] at);
        integer i;
        for (i = 0; i < RATIO; i = i + 1) flit[i*HBM_WIDTH+:HBM_WIDTH] = word(at + i * HBM_BYTES);
    endfunction
    function [BYTES-1:0] strobes(input [63:0] at);
        integer i;
        for (i = 0; i < RATIO; i = i + 1) strobes[i*HBM_BYTES+:HBM_BYTES] = strobe(at + i * HBM_BYTES);
    endfunction
    // Response of a beat of AXI4.
    function [1:0] errors(input [63:0] at);
        integer i;
        begin
            errors = 2'b00;
            for (i = 0; i < RATIO; i = i + 1) errors = errors | error(at + i * HBM_BYTES);
            if (|at[63:ADDR]) errors = 2'b11;
        end
    endfunction
    // Response to a burst of writes: a burst of HBM fails by its first address.
    function [1:0] failure(input [63:0] at, input integer len);
        integer i;
        begin
            failure = 2'b00;
            for (i = 0; i <= len; i = i + 16 / RATIO) failure = failure | error(flit_at(at, i));
            if (|at[63:ADDR]) failure = 2'b11;
        end
    endfunction

    // Bursts of each direction, in their order.
    reg [63:0]         r_at[0:MANY-1], w_at[0:MANY-1];
    reg [7:0]          r_len[0:MANY-1], w_len[0:MANY-1];
    reg [ID_WIDTH-1:0] r_id[0:MANY-1], w_id[0:MANY-1];
    integer n, room;
    reg [63:0] at;
    task choose(output [63:0] addr, output [7:0] len, output [ID_WIDTH-1:0] id);
        begin
            addr = {31'd0, 33'd0} | ($unsigned($random(seed)) & 32'hffff_ffff) * BYTES;
            addr = addr & 64'h1_ffff_ffff;
            if (below(16) == 0) addr = addr | (64'd1 << (ADDR + below(31)));
            room = (4096 - addr[11:0]) / BYTES;
            len  = pause == 1 ? 15 : below(longest);
            if (pause == 1) addr = addr & ~64'h7ff & 64'h1_ffff_ffff;
            else if (len >= room) len = room - 1;
            id = below(4);
        end
    endtask
    initial begin
        #2;
        for (n = 0; n < bursts; n = n + 1) begin
            choose(r_at[n], r_len[n], r_id[n]);
            choose(w_at[n], w_len[n], w_id[n]);
        end
    end

    // What waits does not change.
    reg [FLIT_WIDTH+ID_WIDTH+2:0]             was_r;
    reg [ID_WIDTH+1:0]                        was_b;
    reg [ADDR+3:0]                            was_ar, was_aw;
    reg [HBM_WIDTH+HBM_BYTES:0]               was_w;
    reg r_waits = 0, b_waits = 0, ar_waits = 0, aw_waits = 0, w_waits = 0;
    always @(posedge aclk) if (aresetn) begin
        if (r_waits && (!s_axi_rvalid || was_r !== {s_axi_rdata, s_axi_rid, s_axi_rresp, s_axi_rlast})) $display("R changes");
        if (b_waits && (!s_axi_bvalid || was_b !== {s_axi_bid, s_axi_bresp})) $display("B changes");
        was_r   = {s_axi_rdata, s_axi_rid, s_axi_rresp, s_axi_rlast};
        was_b   = {s_axi_bid, s_axi_bresp};
        r_waits = s_axi_rvalid && !s_axi_rready;
        b_waits = s_axi_bvalid && !s_axi_bready;
    end
    always @(posedge hbm_aclk) if (hbm_aresetn) begin
        if (ar_waits && (!m_axi_arvalid || was_ar !== {m_axi_araddr, m_axi_arlen})) $display("AR changes");
        if (aw_waits && (!m_axi_awvalid || was_aw !== {m_axi_awaddr, m_axi_awlen})) $display("AW changes");
        if (w_waits && (!m_axi_wvalid || was_w !== {m_axi_wdata, m_axi_wstrb, m_axi_wlast})) $display("W changes");
        was_ar   = {m_axi_araddr, m_axi_arlen};
        was_aw   = {m_axi_awaddr, m_axi_awlen};
        was_w    = {m_axi_wdata, m_axi_wstrb, m_axi_wlast};
        ar_waits = m_axi_arvalid && !m_axi_arready;
        aw_waits = m_axi_awvalid && !m_axi_awready;
        w_waits  = m_axi_wvalid && !m_axi_wready;
        if (^{m_axi_arvalid, m_axi_awvalid, m_axi_wvalid, m_axi_rready, m_axi_bready} === 1'bx) $display("unknown");
        if (m_axi_arvalid && (m_axi_arsize != 5 || m_axi_arburst != 1)) $display("AR is no INCR of 256 bits");
        if (m_axi_awvalid && (m_axi_awsize != 5 || m_axi_awburst != 1)) $display("AW is no INCR of 256 bits");
    end

    // AXI4: addresses, data of writes, and what comes back.
    integer ar = 0, aw = 0, w = 0, w_beat = 0, r = 0, r_beat = 0, b = 0, beats = 0;
    time    first_ps = 0, last_ps;
    reg     more;
    always @(posedge aclk) if (aresetn) begin
        if (s_axi_rvalid && s_axi_rready) begin
            at = flit_at(r_at[r], r_beat);
            if (r >= ar) $display("a beat of no burst");
            if (s_axi_rresp !== errors(at)) $display("read %0d.%0d answers %b, not %b", r, r_beat, s_axi_rresp, errors(at));
            if (!(|at[63:ADDR]) && s_axi_rdata !== flit(at)) $display("read %0d.%0d is %h", r, r_beat, s_axi_rdata);
            if (s_axi_rid !== r_id[r]) $display("read %0d has ID %0d, not %0d", r, s_axi_rid, r_id[r]);
            if (s_axi_rlast !== (r_beat == r_len[r])) $display("read %0d.%0d has last %b", r, r_beat, s_axi_rlast);
            if (first_ps == 0) first_ps = $time;
            last_ps = $time;
            beats   = beats + 1;
            r_beat  = r_beat + 1;
            if (r_beat > r_len[r]) begin
                r_beat = 0;
                r      = r + 1;
            end
        end
        if (s_axi_bvalid && s_axi_bready) begin
            if (s_axi_bid !== w_id[b]) $display("write %0d has ID %0d, not %0d", b, s_axi_bid, w_id[b]);
            if (s_axi_bresp !== failure(w_at[b], w_len[b])) $display("write %0d answers %b", b, s_axi_bresp);
            if (b >= w) $display("write %0d is answered before its data", b);
            b = b + 1;
        end
        if (s_axi_arvalid && s_axi_arready) ar = ar + 1;
        if (s_axi_awvalid && s_axi_awready) aw = aw + 1;
        if (s_axi_wvalid && s_axi_wready) begin
            w_beat = w_beat + 1;
            if (s_axi_wlast) begin
                w_beat = 0;
                w      = w + 1;
            end
        end
        more = !s_axi_arvalid || s_axi_arready;
        if (more) begin
            s_axi_arvalid <= #1 ar < bursts && below(pause) == 0;
            s_axi_araddr  <= #1 r_at[ar];
            s_axi_arlen   <= #1 r_len[ar];
            s_axi_arid    <= #1 r_id[ar];
        end
        more = !s_axi_awvalid || s_axi_awready;
        if (more) begin
            s_axi_awvalid <= #1 aw < bursts && below(pause) == 0;
            s_axi_awaddr  <= #1 w_at[aw];
            s_axi_awlen   <= #1 w_len[aw];
            s_axi_awid    <= #1 w_id[aw];
        end
        more = !s_axi_wvalid || s_axi_wready;
        if (more) begin
            s_axi_wvalid <= #1 w < bursts && below(pause) == 0;
            s_axi_wdata  <= #1 flit(flit_at(w_at[w], w_beat));
            s_axi_wstrb  <= #1 strobes(flit_at(w_at[w], w_beat));
            s_axi_wlast  <= #1 w_beat == w_len[w];
        end
        s_axi_rready <= #1 below(pause) == 0;
        s_axi_bready <= #1 below(pause) == 0;
    end

    // HBM: answers in order. The address of a read is that of its burst and the beats before it.
    reg [ADDR-1:0] ask_at[0:4*MANY-1], put_at[0:4*MANY-1];
    reg [3:0]      ask_len[0:4*MANY-1], put_len[0:4*MANY-1];
    integer asked = 0, answered = 0, beat = 0, put = 0, filled = 0, part = 0, done = 0, w_burst = 0, w_done = 0;
    reg [ADDR-1:0] here;
    always @(posedge hbm_aclk) if (hbm_aresetn) begin
        if (m_axi_arvalid && m_axi_arready) begin
            ask_at[asked]  = m_axi_araddr;
            ask_len[asked] = m_axi_arlen;
            if (m_axi_araddr[11:0] + 32 * m_axi_arlen > 4095) $display("a read crosses 4 KiB");
            asked = asked + 1;
        end
        if (m_axi_rvalid && m_axi_rready) begin
            beat = beat + 1;
            if (m_axi_rlast) begin
                beat     = 0;
                answered = answered + 1;
            end
        end
        if (!m_axi_rvalid || m_axi_rready) begin
            here         = ask_at[answered] + 32 * beat;
            m_axi_rvalid <= #1 answered < asked && below(pause) == 0;
            m_axi_rdata  <= #1 word({31'd0, here});
            m_axi_rresp  <= #1 error({31'd0, here});
            m_axi_rlast  <= #1 beat == ask_len[answered];
        end
        if (m_axi_awvalid && m_axi_awready) begin
            put_at[put]  = m_axi_awaddr;
            put_len[put] = m_axi_awlen;
            if (m_axi_awaddr[11:0] + 32 * m_axi_awlen > 4095) $display("a write crosses 4 KiB");
            put = put + 1;
        end
        if (m_axi_wvalid && m_axi_wready) begin
            here = put_at[filled] + 32 * part;
            // The burst of AXI4 that this beat belongs to: the oldest whose beats have not all come.
            if (|w_at[w_burst][63:ADDR]) begin
                if (m_axi_wstrb !== 0) $display("write %0d beyond HBM is enabled", w_burst);
            end else begin
                if (m_axi_wstrb !== strobe({31'd0, here})) $display("strobes of %h are %h", here, m_axi_wstrb);
                if (m_axi_wdata !== word({31'd0, here})) $display("%h is written to %h", m_axi_wdata, here);
                if (here !== w_at[w_burst] + 32 * w_done) $display("write %0d is at %h", w_burst, here);
            end
            if (m_axi_wlast !== (part == put_len[filled])) $display("last of %h is %b", here, m_axi_wlast);
            part   = part + 1;
            w_done = w_done + 1;
            if (w_done == RATIO * (w_len[w_burst] + 1)) begin
                w_done  = 0;
                w_burst = w_burst + 1;
            end
            if (m_axi_wlast) begin
                part   = 0;
                filled = filled + 1;
            end
        end
        if (m_axi_bvalid && m_axi_bready) done = done + 1;
        if (!m_axi_bvalid || m_axi_bready) begin
            m_axi_bvalid <= #1 done < filled && below(pause) == 0;
            m_axi_bresp  <= #1 error({31'd0, put_at[done]});
        end
        m_axi_arready <= #1 below(slow) == 0;
        m_axi_awready <= #1 below(slow) == 0;
        // It may wait for the address of data, as AXI allows.
        m_axi_wready  <= #1 filled < put && below(pause) == 0;
    end

    integer waited;
    initial begin
        #5;
        #(10 * (period + hbm_period));
        // Whichever ends first: the seed decides.
        if (seed % 2) aresetn <= @(negedge aclk) 1;
        else hbm_aresetn <= @(negedge hbm_aclk) 1;
        #(8 * (period + hbm_period));
        aresetn     <= @(negedge aclk) 1;
        hbm_aresetn <= @(negedge hbm_aclk) 1;
        waited = 0;
        while ((r < bursts || b < bursts) && waited < 300 * bursts) begin
            @(posedge aclk);
            waited = waited + 1;
        end
        #(100 * (period + hbm_period));
        if (r != bursts || b != bursts) $display("%0d reads and %0d writes of %0d came back", r, b, bursts);
        if (s_axi_rvalid || s_axi_bvalid) $display("more comes back than went");
        if (pause == 1) $display("%0d beats in %0d ns", beats, (last_ps - first_ps) / 1000);
        else $display("%0d reads, %0d writes", r, b);
        $finish;
    end
endmodule
