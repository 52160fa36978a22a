// A testbench of meshkv_top in plain Verilog-2005: memory behind every AXI port, a host that writes registers, a verdict.
//
// Design: tiny. `meshkv run CONFIG --vectors DIR` writes what it plays; docs/simulators.md has the commands of each
// simulator. It prints PASS or FAIL in its last line.
//
//   +vectors=DIR   folder with pages.hex, memory.hex, program.hex and expected.hex [.]
//   +gaps=N        of 256 cycles, those in which a memory neither takes a request nor answers [0]
//   +seed=N        seed of the gaps [1]
//   +dump=FILE     waves of the ports as VCD
`timescale 1ns / 1ps
module meshkv_tb #(
    // Pages of 4 KiB of memory, outputs included.
    parameter PAGES = 4096,
    // Cycles from a request to its first beat.
    parameter LATENCY = 31
) ();
    localparam WIDTH = 64, BYTES = WIDTH / 8, ID_WIDTH = 5, WORDS = 4096 / BYTES;
    localparam PORTS = 6, READERS = PORTS + 1;  // The last is m_axi_io.
    localparam [63:0] OUTPUTS = 64'h2000000000000;
    // The largest difference from the expected number, as between two orders of the sums.
    real TOLERANCE = 0.002;

    // Clocks change on the other edge of what the bench drives, so nothing races.
    reg clk = 0, pe_clk = 0, rst_n = 0;
    always #(2.000) clk = ~clk;
    always #(2.000) pe_clk = ~pe_clk;

    // Memory: pages by rising address.
    reg [51:0]      page_at [0:PAGES-1];
    reg [WIDTH-1:0] memory [0:PAGES*WORDS-1];
    integer         pages = 0;
    // The number of the word of an address, or -1.
    function integer word_at(input [63:0] address);
        integer low, high, middle;
        begin
            low  = 0;
            high = pages;
            while (low < high) begin
                middle = (low + high) / 2;
                if (page_at[middle] < address[63:12]) low = middle + 1;
                else high = middle;
            end
            word_at = low < pages && page_at[low] == address[63:12] ? low * WORDS + (address[11:0] / BYTES) : -1;
        end
    endfunction
    integer gaps = 0, seed = 1;

    // Read channels, in order, one port a bit or a part of each vector.
    wire [READERS-1:0]          arvalid, rready;
    wire [READERS*64-1:0]       araddr;
    wire [READERS*ID_WIDTH-1:0] arid;
    wire [READERS*8-1:0]        arlen;
    reg  [READERS-1:0]          arready = 0, rvalid = 0, rlast = 0;
    reg  [READERS*2-1:0]        rresp = 0;
    reg  [READERS*ID_WIDTH-1:0] rid = 0;
    reg  [READERS*WIDTH-1:0]    rdata = 0;
    genvar p;
    generate
        for (p = 0; p < READERS; p = p + 1) begin : gen_reader
            localparam DEPTH = 64;
            reg [63:0]         address [0:DEPTH-1];
            reg [ID_WIDTH-1:0] id [0:DEPTH-1];
            reg [7:0]          length [0:DEPTH-1];
            integer            due [0:DEPTH-1];
            integer            head, tail, beat, cycle, word, luck;
            initial begin
                head  = 0;
                tail  = 0;
                beat  = 0;
                cycle = 0;
                luck  = 0;
            end
            // Inputs change behind the falling edge; what was shaken at the rising edge is kept for that.
            reg asked, taken;
            initial {asked, taken} = 2'b00;
            always @(posedge clk) begin
                asked = arvalid[p] & arready[p] & rst_n;
                taken = rvalid[p] & rready[p] & rst_n;
                if (asked) begin
                    address[tail % DEPTH] = araddr[p*64+:64];
                    id[tail % DEPTH]      = arid[p*ID_WIDTH+:ID_WIDTH];
                    length[tail % DEPTH]  = arlen[p*8+:8];
                    due[tail % DEPTH]     = cycle + LATENCY;
                    tail                  = tail + 1;
                end
                cycle = cycle + 1;
            end
            always @(negedge clk) begin
                if (taken) begin
                    rvalid[p] = 1'b0;
                    beat      = beat + 1;
                    if (rlast[p]) begin
                        beat = 0;
                        head = head + 1;
                    end
                end
                luck       = gaps == 0 ? 256 : $random(seed) & 255;
                arready[p] = tail - head < DEPTH && luck >= gaps;
                luck       = gaps == 0 ? 256 : $random(seed) & 255;
                if (!rvalid[p] && head != tail && cycle >= due[head % DEPTH] && luck >= gaps) begin
                    word                      = word_at(address[head % DEPTH] + beat * BYTES);
                    rvalid[p]                 = 1'b1;
                    rid[p*ID_WIDTH+:ID_WIDTH] = id[head % DEPTH];
                    rlast[p]                  = beat == length[head % DEPTH];
                    rresp[p*2+:2]             = word < 0 ? 2'b11 : 2'b00;
                    rdata[p*WIDTH+:WIDTH]     = word < 0 ? {WIDTH{1'bx}} : memory[word];
                    if (word < 0) $display("note: port %0d reads %h, where nothing is", p, address[head % DEPTH]);
                end
            end
        end
    endgenerate

    // Write channels: one request at a time.
    localparam WRITERS = 1;
    wire [WRITERS-1:0]          awvalid, wvalid, wlast, bready;
    wire [WRITERS*64-1:0]       awaddr;
    wire [WRITERS*ID_WIDTH-1:0] awid;
    wire [WRITERS*WIDTH-1:0]    wdata;
    wire [WRITERS*BYTES-1:0]    wstrb;
    reg  [WRITERS-1:0]          awready = 0, wready = 0, bvalid = 0;
    reg  [WRITERS*ID_WIDTH-1:0] bid = 0;
    generate
        for (p = 0; p < WRITERS; p = p + 1) begin : gen_writer
            reg [63:0] address;
            reg        open, asked, taken, ends, told;
            integer    i, word;
            initial {open, asked, taken, ends, told} = 5'b00000;
            always @(posedge clk) begin
                asked = awvalid[p] & awready[p] & rst_n;
                taken = wvalid[p] & wready[p] & rst_n;
                ends  = taken & wlast[p];
                told  = bvalid[p] & bready[p];
                if (asked) begin
                    address                   = awaddr[p*64+:64];
                    bid[p*ID_WIDTH+:ID_WIDTH] = awid[p*ID_WIDTH+:ID_WIDTH];
                end
                if (taken) begin
                    word = word_at(address);
                    if (word < 0) $display("note: writer %0d writes %h, where nothing is", p, address);
                    else
                        for (i = 0; i < BYTES; i = i + 1)
                            if (wstrb[p*BYTES+i]) memory[word][8*i+:8] = wdata[p*WIDTH+8*i+:8];
                    address = address + BYTES;
                end
            end
            always @(negedge clk) begin
                if (told) bvalid[p] = 1'b0;
                if (asked) open = 1'b1;
                if (ends) begin
                    open      = 1'b0;
                    bvalid[p] = 1'b1;
                end
                awready[p] = !open && !bvalid[p];
                wready[p]  = open;
            end
        end
    endgenerate

    // Registers.
    reg         c_awvalid = 0, c_wvalid = 0, c_arvalid = 0;
    reg  [11:0] c_awaddr = 0, c_araddr = 0;
    reg  [31:0] c_wdata = 0;
    wire        c_awready, c_wready, c_bvalid, c_arready, c_rvalid, interrupt;
    wire [31:0] c_rdata;
    wire [1:0]  unused_bresp, unused_rresp;
    meshkv_top dut (
        .ap_clk    (clk),
        .ap_rst_n  (rst_n),
        .ap_clk_2  (pe_clk),
        .ap_rst_n_2(rst_n),
        .interrupt (interrupt),
        .m_axi_hbm00_arvalid(arvalid[0]),
        .m_axi_hbm00_arready(arready[0]),
        .m_axi_hbm00_araddr(araddr[0*64+:64]),
        .m_axi_hbm00_arid(arid[0*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm00_arlen(arlen[0*8+:8]),
        .m_axi_hbm00_arsize(),
        .m_axi_hbm00_arburst(),
        .m_axi_hbm00_rvalid(rvalid[0]),
        .m_axi_hbm00_rready(rready[0]),
        .m_axi_hbm00_rdata(rdata[0*WIDTH+:WIDTH]),
        .m_axi_hbm00_rid(rid[0*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm00_rresp(rresp[0*2+:2]),
        .m_axi_hbm00_rlast(rlast[0]),
        .m_axi_hbm01_arvalid(arvalid[1]),
        .m_axi_hbm01_arready(arready[1]),
        .m_axi_hbm01_araddr(araddr[1*64+:64]),
        .m_axi_hbm01_arid(arid[1*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm01_arlen(arlen[1*8+:8]),
        .m_axi_hbm01_arsize(),
        .m_axi_hbm01_arburst(),
        .m_axi_hbm01_rvalid(rvalid[1]),
        .m_axi_hbm01_rready(rready[1]),
        .m_axi_hbm01_rdata(rdata[1*WIDTH+:WIDTH]),
        .m_axi_hbm01_rid(rid[1*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm01_rresp(rresp[1*2+:2]),
        .m_axi_hbm01_rlast(rlast[1]),
        .m_axi_hbm02_arvalid(arvalid[2]),
        .m_axi_hbm02_arready(arready[2]),
        .m_axi_hbm02_araddr(araddr[2*64+:64]),
        .m_axi_hbm02_arid(arid[2*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm02_arlen(arlen[2*8+:8]),
        .m_axi_hbm02_arsize(),
        .m_axi_hbm02_arburst(),
        .m_axi_hbm02_rvalid(rvalid[2]),
        .m_axi_hbm02_rready(rready[2]),
        .m_axi_hbm02_rdata(rdata[2*WIDTH+:WIDTH]),
        .m_axi_hbm02_rid(rid[2*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm02_rresp(rresp[2*2+:2]),
        .m_axi_hbm02_rlast(rlast[2]),
        .m_axi_hbm03_arvalid(arvalid[3]),
        .m_axi_hbm03_arready(arready[3]),
        .m_axi_hbm03_araddr(araddr[3*64+:64]),
        .m_axi_hbm03_arid(arid[3*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm03_arlen(arlen[3*8+:8]),
        .m_axi_hbm03_arsize(),
        .m_axi_hbm03_arburst(),
        .m_axi_hbm03_rvalid(rvalid[3]),
        .m_axi_hbm03_rready(rready[3]),
        .m_axi_hbm03_rdata(rdata[3*WIDTH+:WIDTH]),
        .m_axi_hbm03_rid(rid[3*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm03_rresp(rresp[3*2+:2]),
        .m_axi_hbm03_rlast(rlast[3]),
        .m_axi_hbm04_arvalid(arvalid[4]),
        .m_axi_hbm04_arready(arready[4]),
        .m_axi_hbm04_araddr(araddr[4*64+:64]),
        .m_axi_hbm04_arid(arid[4*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm04_arlen(arlen[4*8+:8]),
        .m_axi_hbm04_arsize(),
        .m_axi_hbm04_arburst(),
        .m_axi_hbm04_rvalid(rvalid[4]),
        .m_axi_hbm04_rready(rready[4]),
        .m_axi_hbm04_rdata(rdata[4*WIDTH+:WIDTH]),
        .m_axi_hbm04_rid(rid[4*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm04_rresp(rresp[4*2+:2]),
        .m_axi_hbm04_rlast(rlast[4]),
        .m_axi_hbm05_arvalid(arvalid[5]),
        .m_axi_hbm05_arready(arready[5]),
        .m_axi_hbm05_araddr(araddr[5*64+:64]),
        .m_axi_hbm05_arid(arid[5*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm05_arlen(arlen[5*8+:8]),
        .m_axi_hbm05_arsize(),
        .m_axi_hbm05_arburst(),
        .m_axi_hbm05_rvalid(rvalid[5]),
        .m_axi_hbm05_rready(rready[5]),
        .m_axi_hbm05_rdata(rdata[5*WIDTH+:WIDTH]),
        .m_axi_hbm05_rid(rid[5*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm05_rresp(rresp[5*2+:2]),
        .m_axi_hbm05_rlast(rlast[5]),
        .m_axi_io_arvalid(arvalid[6]),
        .m_axi_io_arready(arready[6]),
        .m_axi_io_araddr(araddr[6*64+:64]),
        .m_axi_io_arid(arid[6*ID_WIDTH+:ID_WIDTH]),
        .m_axi_io_arlen(arlen[6*8+:8]),
        .m_axi_io_arsize(),
        .m_axi_io_arburst(),
        .m_axi_io_rvalid(rvalid[6]),
        .m_axi_io_rready(rready[6]),
        .m_axi_io_rdata(rdata[6*WIDTH+:WIDTH]),
        .m_axi_io_rid(rid[6*ID_WIDTH+:ID_WIDTH]),
        .m_axi_io_rresp(rresp[6*2+:2]),
        .m_axi_io_rlast(rlast[6]),
        .m_axi_io_awvalid(awvalid[0]),
        .m_axi_io_awready(awready[0]),
        .m_axi_io_awaddr(awaddr[0*64+:64]),
        .m_axi_io_awid(awid[0*ID_WIDTH+:ID_WIDTH]),
        .m_axi_io_awlen(),
        .m_axi_io_awsize(),
        .m_axi_io_awburst(),
        .m_axi_io_wvalid(wvalid[0]),
        .m_axi_io_wready(wready[0]),
        .m_axi_io_wdata(wdata[0*WIDTH+:WIDTH]),
        .m_axi_io_wstrb(wstrb[0*BYTES+:BYTES]),
        .m_axi_io_wlast(wlast[0]),
        .m_axi_io_bvalid(bvalid[0]),
        .m_axi_io_bready(bready[0]),
        .m_axi_io_bid(bid[0*ID_WIDTH+:ID_WIDTH]),
        .m_axi_io_bresp(2'b00),
        .s_axi_control_awvalid(c_awvalid),
        .s_axi_control_awready(c_awready),
        .s_axi_control_awaddr(c_awaddr),
        .s_axi_control_wvalid(c_wvalid),
        .s_axi_control_wready(c_wready),
        .s_axi_control_wdata(c_wdata),
        .s_axi_control_wstrb(4'hf),
        .s_axi_control_bvalid(c_bvalid),
        .s_axi_control_bready(1'b1),
        .s_axi_control_bresp(unused_bresp),
        .s_axi_control_arvalid(c_arvalid),
        .s_axi_control_arready(c_arready),
        .s_axi_control_araddr(c_araddr),
        .s_axi_control_rvalid(c_rvalid),
        .s_axi_control_rready(1'b1),
        .s_axi_control_rdata(c_rdata),
        .s_axi_control_rresp(unused_rresp)
    );

    reg address_taken, data_taken, answered;
    task write(input [31:0] address, input [31:0] value);
        begin
            @(negedge clk);
            c_awaddr  = address[11:0];
            c_wdata   = value;
            c_awvalid = 1'b1;
            c_wvalid  = 1'b1;
            answered  = 1'b0;
            while (!answered) begin
                @(posedge clk);
                address_taken = c_awvalid & c_awready;
                data_taken    = c_wvalid & c_wready;
                answered      = c_bvalid;
                @(negedge clk);
                if (address_taken) c_awvalid = 1'b0;
                if (data_taken) c_wvalid = 1'b0;
            end
        end
    endtask
    task read(input [31:0] address, output [31:0] value);
        begin
            @(negedge clk);
            c_araddr  = address[11:0];
            c_arvalid = 1'b1;
            answered  = 1'b0;
            while (!answered) begin
                @(posedge clk);
                address_taken = c_arvalid & c_arready;
                answered      = c_rvalid;
                value         = c_rdata;
                @(negedge clk);
                if (address_taken) c_arvalid = 1'b0;
            end
        end
    endtask

    // Value of a half.
    function real number(input [15:0] half);
        integer power;
        begin
            number = half[9:0] / 1024.0 + (half[14:10] == 5'd0 ? 0.0 : 1.0);
            for (power = half[14:10] == 5'd0 ? 1 : half[14:10]; power < 15; power = power + 1) number = number / 2.0;
            for (power = half[14:10]; power > 15; power = power - 1) number = number * 2.0;
            if (half[15]) number = -number;
        end
    endfunction

    integer file, found, i, word, beat, equal, polls, failed;
    reg [4095:0]    folder;
    reg [8191:0]    path;
    reg [63:0]      page;
    reg [WIDTH-1:0] value;
    reg [31:0]      address, mask, wanted, got;
    reg [7:0]       op;
    reg [15:0]      half, other;
    real            difference, largest;
    task open(input [8*12-1:0] name);
        begin
            $sformat(path, "%0s/%0s", folder, name);
            file = $fopen(path, "r");
            if (file == 0) begin
                $display("FAIL: no file %0s; write it with `meshkv run CONFIG --vectors DIR`, and give +vectors=DIR", path);
                $finish;
            end
        end
    endtask
    task fail(input [8*40-1:0] what);
        begin
            $display("%0s: register %h is %h, not %h of %h", what, address, got, wanted, mask);
            failed = failed + 1;
        end
    endtask

    initial begin
        folder  = ".";
        failed  = 0;
        found   = $value$plusargs("vectors=%s", folder);
        found   = $value$plusargs("gaps=%d", gaps);
        found   = $value$plusargs("seed=%d", seed);
        if ($value$plusargs("dump=%s", path)) begin
            $dumpfile(path);
            $dumpvars(1, dut);
        end
        open("pages.hex");
        while ($fscanf(file, "%h", page) == 1) begin
            if (pages == PAGES) begin
                $display("FAIL: more than %0d pages; raise the parameter PAGES of meshkv_tb", PAGES);
                $finish;
            end
            page_at[pages] = page[63:12];
            pages = pages + 1;
        end
        $fclose(file);
        open("memory.hex");
        for (i = 0; i < pages * WORDS; i = i + 1) begin
            found = $fscanf(file, "%h", value);
            memory[i] = value;
        end
        $fclose(file);

        repeat (64) @(negedge clk);
        rst_n = 1'b1;
        repeat (64) @(negedge clk);
        open("program.hex");
        op = 8'd0;
        while ($fscanf(file, "%h %h %h %h", op, address, mask, wanted) == 4) begin
            case (op)
                8'd1: write(address, wanted);
                8'd2: begin
                    read(address, got);
                    if ((got & mask) !== wanted) fail("a read");
                end
                default: begin
                    polls = 0;
                    got   = ~wanted;
                    while ((got & mask) !== wanted && polls < 1000000) begin
                        read(address, got);
                        polls = polls + 1;
                        if (^got === 1'bx) polls = 1000000;
                    end
                    if ((got & mask) !== wanted) fail("a wait");
                end
            endcase
        end
        $fclose(file);

        open("expected.hex");
        equal   = 0;
        largest = 0.0;
        i       = 0;
        while ($fscanf(file, "%h", half) == 1) begin
            word = word_at(OUTPUTS + 2 * i);
            beat = (2 * i) % BYTES;
            value = memory[word];
            other = value[8*beat+:16];
            if (other === half) equal = equal + 1;
            difference = number(other) - number(half);
            if (difference < 0.0) difference = -difference;
            if (difference > largest) largest = difference;
            if (^other === 1'bx || !(difference <= TOLERANCE) || (other[14:10] == 5'd31 && other !== half)) begin
                if (failed < 8) $display("output %0d is %h, not %h", i, other, half);
                failed = failed + 1;
            end
            i = i + 1;
        end
        $fclose(file);
        if (failed == 0 && i > 0)
            $display("PASS: %0d outputs, %0d equal in every bit, largest difference %0.6f", i, equal, largest);
        else $display("FAIL: %0d findings, %0d outputs", failed, i);
        $finish;
    end
endmodule
