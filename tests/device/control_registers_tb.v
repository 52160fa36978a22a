// A host reads a counter of two words while it moves, at every phase of its carry, and accesses registers while it
// leaves a response of the other channel untaken; what is wrong is printed.
`timescale 1ns / 1ps
module control_registers_tb;
    parameter LOW = 0, HIGH = 4;  // Byte addresses of the two words.
    localparam [11:0] GIE = 12'h004, MAGIC = 12'h800;
    localparam MOST = 12;  // Cycles from an access to its response, a write or a read of the other channel before it.
    integer seed, looks, holds;
    initial begin
        if (!$value$plusargs("seed=%d", seed)) seed = 1;
        if (!$value$plusargs("looks=%d", looks)) looks = 100;
        if (!$value$plusargs("holds=%d", holds)) holds = 100;
    end
    function integer below(input integer n);
        below = $unsigned($random(seed)) % n;
    endfunction

    reg clk = 0, rst = 1;
    always #2 clk = ~clk;
    reg [63:0] cycles = 0;
    always @(posedge clk) cycles <= cycles + 64'd1;

    reg         awvalid = 0, wvalid = 0, bready = 0, arvalid = 0, rready = 0;
    reg  [11:0] awaddr = 0, araddr = 0;
    reg  [31:0] wdata = 0;
    wire        awready, wready, bvalid, arready, rvalid;
    wire [31:0] rdata;
    meshkv_control_registers dut (
        .clk                  (clk),
        .rst                  (rst),
        .s_axi_control_awvalid(awvalid),
        .s_axi_control_awready(awready),
        .s_axi_control_awaddr (awaddr),
        .s_axi_control_wvalid (wvalid),
        .s_axi_control_wready (wready),
        .s_axi_control_wdata  (wdata),
        .s_axi_control_wstrb  (4'd15),
        .s_axi_control_bvalid (bvalid),
        .s_axi_control_bready (bready),
        .s_axi_control_arvalid(arvalid),
        .s_axi_control_arready(arready),
        .s_axi_control_araddr (araddr),
        .s_axi_control_rvalid (rvalid),
        .s_axi_control_rready (rready),
        .s_axi_control_rdata  (rdata),
        .run_busy             (1'b1),
        .over                 (1'b0),
        .run_state            (4'd0),
        .run_due              (16'd0),
        .owed                 (1'b0),
        .epoch                (2'd0),
        .cycles               (cycles),
        .runs                 (32'd0),
        .fail_valid           (1'b0),
        .fail_cause           (5'd0),
        .fail_where           (16'd0),
        .saturated_valid      (1'b0),
        .saturated_where      (16'd0),
        .scan_active          (1'b0),
        .scan_word            (7'd0),
        .checked              (1'b0),
        .refuse_valid         (1'b0),
        .refuse_cause         (5'd0),
        .refuse_where         (16'd0),
        .queue_free           (16'd0),
        .count_valid          (1'b0),
        .count_data           (32'd0),
        .core_idle            (1'b1),
        .core_rst             (1'b0),
        .writing              (1'b0)
    );

    // Each channel by itself. Outputs are sampled at the edge, inputs change after it.
    task ask(input [11:0] address);
        begin
            @(negedge clk);
            araddr  = address;
            arvalid = 1;
            @(posedge clk);
            while (!arready) @(posedge clk);
            #1 arvalid = 0;
        end
    endtask
    task take(output [31:0] word);
        begin
            @(negedge clk);
            rready = 1;
            @(posedge clk);
            while (!rvalid) @(posedge clk);
            word = rdata;
            #1 rready = 0;
        end
    endtask
    reg aw_taken, w_taken;
    task put(input [11:0] address, input [31:0] data);
        begin
            @(negedge clk);
            {awaddr, awvalid} = {address, 1'b1};
            {wdata, wvalid}   = {data, 1'b1};
            while (awvalid | wvalid) begin
                @(posedge clk);
                aw_taken = awready;
                w_taken  = wready;
                #1;
                if (aw_taken) awvalid = 0;
                if (w_taken) wvalid = 0;
            end
        end
    endtask
    task confirm;
        begin
            @(negedge clk);
            bready = 1;
            @(posedge clk);
            while (!bvalid) @(posedge clk);
            #1 bready = 0;
        end
    endtask
    integer waited;
    task wait_for(input write);
        begin
            waited = 0;
            @(negedge clk);
            while (!(write ? bvalid : rvalid) && waited < MOST) begin
                waited = waited + 1;
                @(negedge clk);
            end
            if (waited == MOST) begin
                if (write) $display("a write waits for the response of a read");
                else $display("a read waits for the response of a write");
                $finish;
            end
        end
    endtask

    // The pair is what the counter was at some time of the read of the low word.
    integer    n, m;
    reg [63:0] first, last;
    reg [31:0] low, high, other;
    reg        two;
    initial begin
        #1;
        repeat (4) @(negedge clk);
        rst = 0;
        for (n = 0; n < looks; n = n + 1) begin
            @(negedge clk);
            cycles = { $random(seed) & 32'h7fff_ffff, 32'hffff_ffff - below(24)};
            repeat (below(4)) @(negedge clk);
            first = cycles;
            ask(LOW[11:0]);
            repeat (below(6)) @(negedge clk);
            take(low);
            last = cycles;
            repeat (below(12)) @(negedge clk);
            if (below(3) == 0) begin
                ask(MAGIC);
                take(other);
            end
            ask(HIGH[11:0]);
            take(high);
            if ({high, low} < first || {high, low} > last) $display("%h is not in %h to %h", {high, low}, first, last);
        end
        for (n = 0; n < holds; n = n + 1) begin
            // Reads beside a write that is answered, and beside a second one that waits behind it.
            two = below(2);
            put(GIE, 32'd1);
            wait_for(1);
            if (two) put(GIE, 32'd0);
            for (m = 0; m < 2; m = m + 1) begin
                ask(GIE);
                wait_for(0);
                take(other);
                if (other !== 32'd1) $display("a write took effect before its turn: %h", other);
            end
            confirm;
            if (!two) put(GIE, 32'd0);
            confirm;
            // Writes beside a read that is answered.
            ask(GIE);
            wait_for(0);
            for (m = 0; m < 2; m = m + 1) begin
                put(GIE, 32'd1);
                wait_for(1);
                confirm;
            end
            take(other);
            if (other !== 32'd0) $display("a word changed before it was taken: %h", other);
        end
        $display("%0d looks, %0d holds", looks, holds);
        $finish;
    end
endmodule
