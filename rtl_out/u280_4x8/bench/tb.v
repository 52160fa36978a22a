// A testbench of meshkv_top in plain Verilog-2005: memory behind every AXI port, a host that writes registers, a verdict.
//
// Design: u280_4x8. `meshkv run CONFIG --vectors DIR` writes what it plays; docs/simulators.md has the commands of each
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
    localparam WIDTH = 512, BYTES = WIDTH / 8, ID_WIDTH = 5, WORDS = 4096 / BYTES;
    localparam PORTS = 32, READERS = PORTS + 1;  // The last is m_axi_io.
    localparam [63:0] OUTPUTS = 64'h2000000000000;
    // The largest difference from the expected number, as between two orders of the sums.
    real TOLERANCE = 0.002;

    // Clocks change on the other edge of what the bench drives, so nothing races.
    reg clk = 0, pe_clk = 0, rst_n = 0;
    always #(2.000) clk = ~clk;
    always #(1.667) pe_clk = ~pe_clk;

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
    localparam WRITERS = 33;
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
        .m_axi_hbm06_arvalid(arvalid[6]),
        .m_axi_hbm06_arready(arready[6]),
        .m_axi_hbm06_araddr(araddr[6*64+:64]),
        .m_axi_hbm06_arid(arid[6*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm06_arlen(arlen[6*8+:8]),
        .m_axi_hbm06_arsize(),
        .m_axi_hbm06_arburst(),
        .m_axi_hbm06_rvalid(rvalid[6]),
        .m_axi_hbm06_rready(rready[6]),
        .m_axi_hbm06_rdata(rdata[6*WIDTH+:WIDTH]),
        .m_axi_hbm06_rid(rid[6*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm06_rresp(rresp[6*2+:2]),
        .m_axi_hbm06_rlast(rlast[6]),
        .m_axi_hbm07_arvalid(arvalid[7]),
        .m_axi_hbm07_arready(arready[7]),
        .m_axi_hbm07_araddr(araddr[7*64+:64]),
        .m_axi_hbm07_arid(arid[7*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm07_arlen(arlen[7*8+:8]),
        .m_axi_hbm07_arsize(),
        .m_axi_hbm07_arburst(),
        .m_axi_hbm07_rvalid(rvalid[7]),
        .m_axi_hbm07_rready(rready[7]),
        .m_axi_hbm07_rdata(rdata[7*WIDTH+:WIDTH]),
        .m_axi_hbm07_rid(rid[7*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm07_rresp(rresp[7*2+:2]),
        .m_axi_hbm07_rlast(rlast[7]),
        .m_axi_hbm08_arvalid(arvalid[8]),
        .m_axi_hbm08_arready(arready[8]),
        .m_axi_hbm08_araddr(araddr[8*64+:64]),
        .m_axi_hbm08_arid(arid[8*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm08_arlen(arlen[8*8+:8]),
        .m_axi_hbm08_arsize(),
        .m_axi_hbm08_arburst(),
        .m_axi_hbm08_rvalid(rvalid[8]),
        .m_axi_hbm08_rready(rready[8]),
        .m_axi_hbm08_rdata(rdata[8*WIDTH+:WIDTH]),
        .m_axi_hbm08_rid(rid[8*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm08_rresp(rresp[8*2+:2]),
        .m_axi_hbm08_rlast(rlast[8]),
        .m_axi_hbm09_arvalid(arvalid[9]),
        .m_axi_hbm09_arready(arready[9]),
        .m_axi_hbm09_araddr(araddr[9*64+:64]),
        .m_axi_hbm09_arid(arid[9*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm09_arlen(arlen[9*8+:8]),
        .m_axi_hbm09_arsize(),
        .m_axi_hbm09_arburst(),
        .m_axi_hbm09_rvalid(rvalid[9]),
        .m_axi_hbm09_rready(rready[9]),
        .m_axi_hbm09_rdata(rdata[9*WIDTH+:WIDTH]),
        .m_axi_hbm09_rid(rid[9*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm09_rresp(rresp[9*2+:2]),
        .m_axi_hbm09_rlast(rlast[9]),
        .m_axi_hbm10_arvalid(arvalid[10]),
        .m_axi_hbm10_arready(arready[10]),
        .m_axi_hbm10_araddr(araddr[10*64+:64]),
        .m_axi_hbm10_arid(arid[10*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm10_arlen(arlen[10*8+:8]),
        .m_axi_hbm10_arsize(),
        .m_axi_hbm10_arburst(),
        .m_axi_hbm10_rvalid(rvalid[10]),
        .m_axi_hbm10_rready(rready[10]),
        .m_axi_hbm10_rdata(rdata[10*WIDTH+:WIDTH]),
        .m_axi_hbm10_rid(rid[10*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm10_rresp(rresp[10*2+:2]),
        .m_axi_hbm10_rlast(rlast[10]),
        .m_axi_hbm11_arvalid(arvalid[11]),
        .m_axi_hbm11_arready(arready[11]),
        .m_axi_hbm11_araddr(araddr[11*64+:64]),
        .m_axi_hbm11_arid(arid[11*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm11_arlen(arlen[11*8+:8]),
        .m_axi_hbm11_arsize(),
        .m_axi_hbm11_arburst(),
        .m_axi_hbm11_rvalid(rvalid[11]),
        .m_axi_hbm11_rready(rready[11]),
        .m_axi_hbm11_rdata(rdata[11*WIDTH+:WIDTH]),
        .m_axi_hbm11_rid(rid[11*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm11_rresp(rresp[11*2+:2]),
        .m_axi_hbm11_rlast(rlast[11]),
        .m_axi_hbm12_arvalid(arvalid[12]),
        .m_axi_hbm12_arready(arready[12]),
        .m_axi_hbm12_araddr(araddr[12*64+:64]),
        .m_axi_hbm12_arid(arid[12*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm12_arlen(arlen[12*8+:8]),
        .m_axi_hbm12_arsize(),
        .m_axi_hbm12_arburst(),
        .m_axi_hbm12_rvalid(rvalid[12]),
        .m_axi_hbm12_rready(rready[12]),
        .m_axi_hbm12_rdata(rdata[12*WIDTH+:WIDTH]),
        .m_axi_hbm12_rid(rid[12*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm12_rresp(rresp[12*2+:2]),
        .m_axi_hbm12_rlast(rlast[12]),
        .m_axi_hbm13_arvalid(arvalid[13]),
        .m_axi_hbm13_arready(arready[13]),
        .m_axi_hbm13_araddr(araddr[13*64+:64]),
        .m_axi_hbm13_arid(arid[13*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm13_arlen(arlen[13*8+:8]),
        .m_axi_hbm13_arsize(),
        .m_axi_hbm13_arburst(),
        .m_axi_hbm13_rvalid(rvalid[13]),
        .m_axi_hbm13_rready(rready[13]),
        .m_axi_hbm13_rdata(rdata[13*WIDTH+:WIDTH]),
        .m_axi_hbm13_rid(rid[13*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm13_rresp(rresp[13*2+:2]),
        .m_axi_hbm13_rlast(rlast[13]),
        .m_axi_hbm14_arvalid(arvalid[14]),
        .m_axi_hbm14_arready(arready[14]),
        .m_axi_hbm14_araddr(araddr[14*64+:64]),
        .m_axi_hbm14_arid(arid[14*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm14_arlen(arlen[14*8+:8]),
        .m_axi_hbm14_arsize(),
        .m_axi_hbm14_arburst(),
        .m_axi_hbm14_rvalid(rvalid[14]),
        .m_axi_hbm14_rready(rready[14]),
        .m_axi_hbm14_rdata(rdata[14*WIDTH+:WIDTH]),
        .m_axi_hbm14_rid(rid[14*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm14_rresp(rresp[14*2+:2]),
        .m_axi_hbm14_rlast(rlast[14]),
        .m_axi_hbm15_arvalid(arvalid[15]),
        .m_axi_hbm15_arready(arready[15]),
        .m_axi_hbm15_araddr(araddr[15*64+:64]),
        .m_axi_hbm15_arid(arid[15*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm15_arlen(arlen[15*8+:8]),
        .m_axi_hbm15_arsize(),
        .m_axi_hbm15_arburst(),
        .m_axi_hbm15_rvalid(rvalid[15]),
        .m_axi_hbm15_rready(rready[15]),
        .m_axi_hbm15_rdata(rdata[15*WIDTH+:WIDTH]),
        .m_axi_hbm15_rid(rid[15*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm15_rresp(rresp[15*2+:2]),
        .m_axi_hbm15_rlast(rlast[15]),
        .m_axi_hbm16_arvalid(arvalid[16]),
        .m_axi_hbm16_arready(arready[16]),
        .m_axi_hbm16_araddr(araddr[16*64+:64]),
        .m_axi_hbm16_arid(arid[16*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm16_arlen(arlen[16*8+:8]),
        .m_axi_hbm16_arsize(),
        .m_axi_hbm16_arburst(),
        .m_axi_hbm16_rvalid(rvalid[16]),
        .m_axi_hbm16_rready(rready[16]),
        .m_axi_hbm16_rdata(rdata[16*WIDTH+:WIDTH]),
        .m_axi_hbm16_rid(rid[16*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm16_rresp(rresp[16*2+:2]),
        .m_axi_hbm16_rlast(rlast[16]),
        .m_axi_hbm17_arvalid(arvalid[17]),
        .m_axi_hbm17_arready(arready[17]),
        .m_axi_hbm17_araddr(araddr[17*64+:64]),
        .m_axi_hbm17_arid(arid[17*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm17_arlen(arlen[17*8+:8]),
        .m_axi_hbm17_arsize(),
        .m_axi_hbm17_arburst(),
        .m_axi_hbm17_rvalid(rvalid[17]),
        .m_axi_hbm17_rready(rready[17]),
        .m_axi_hbm17_rdata(rdata[17*WIDTH+:WIDTH]),
        .m_axi_hbm17_rid(rid[17*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm17_rresp(rresp[17*2+:2]),
        .m_axi_hbm17_rlast(rlast[17]),
        .m_axi_hbm18_arvalid(arvalid[18]),
        .m_axi_hbm18_arready(arready[18]),
        .m_axi_hbm18_araddr(araddr[18*64+:64]),
        .m_axi_hbm18_arid(arid[18*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm18_arlen(arlen[18*8+:8]),
        .m_axi_hbm18_arsize(),
        .m_axi_hbm18_arburst(),
        .m_axi_hbm18_rvalid(rvalid[18]),
        .m_axi_hbm18_rready(rready[18]),
        .m_axi_hbm18_rdata(rdata[18*WIDTH+:WIDTH]),
        .m_axi_hbm18_rid(rid[18*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm18_rresp(rresp[18*2+:2]),
        .m_axi_hbm18_rlast(rlast[18]),
        .m_axi_hbm19_arvalid(arvalid[19]),
        .m_axi_hbm19_arready(arready[19]),
        .m_axi_hbm19_araddr(araddr[19*64+:64]),
        .m_axi_hbm19_arid(arid[19*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm19_arlen(arlen[19*8+:8]),
        .m_axi_hbm19_arsize(),
        .m_axi_hbm19_arburst(),
        .m_axi_hbm19_rvalid(rvalid[19]),
        .m_axi_hbm19_rready(rready[19]),
        .m_axi_hbm19_rdata(rdata[19*WIDTH+:WIDTH]),
        .m_axi_hbm19_rid(rid[19*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm19_rresp(rresp[19*2+:2]),
        .m_axi_hbm19_rlast(rlast[19]),
        .m_axi_hbm20_arvalid(arvalid[20]),
        .m_axi_hbm20_arready(arready[20]),
        .m_axi_hbm20_araddr(araddr[20*64+:64]),
        .m_axi_hbm20_arid(arid[20*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm20_arlen(arlen[20*8+:8]),
        .m_axi_hbm20_arsize(),
        .m_axi_hbm20_arburst(),
        .m_axi_hbm20_rvalid(rvalid[20]),
        .m_axi_hbm20_rready(rready[20]),
        .m_axi_hbm20_rdata(rdata[20*WIDTH+:WIDTH]),
        .m_axi_hbm20_rid(rid[20*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm20_rresp(rresp[20*2+:2]),
        .m_axi_hbm20_rlast(rlast[20]),
        .m_axi_hbm21_arvalid(arvalid[21]),
        .m_axi_hbm21_arready(arready[21]),
        .m_axi_hbm21_araddr(araddr[21*64+:64]),
        .m_axi_hbm21_arid(arid[21*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm21_arlen(arlen[21*8+:8]),
        .m_axi_hbm21_arsize(),
        .m_axi_hbm21_arburst(),
        .m_axi_hbm21_rvalid(rvalid[21]),
        .m_axi_hbm21_rready(rready[21]),
        .m_axi_hbm21_rdata(rdata[21*WIDTH+:WIDTH]),
        .m_axi_hbm21_rid(rid[21*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm21_rresp(rresp[21*2+:2]),
        .m_axi_hbm21_rlast(rlast[21]),
        .m_axi_hbm22_arvalid(arvalid[22]),
        .m_axi_hbm22_arready(arready[22]),
        .m_axi_hbm22_araddr(araddr[22*64+:64]),
        .m_axi_hbm22_arid(arid[22*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm22_arlen(arlen[22*8+:8]),
        .m_axi_hbm22_arsize(),
        .m_axi_hbm22_arburst(),
        .m_axi_hbm22_rvalid(rvalid[22]),
        .m_axi_hbm22_rready(rready[22]),
        .m_axi_hbm22_rdata(rdata[22*WIDTH+:WIDTH]),
        .m_axi_hbm22_rid(rid[22*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm22_rresp(rresp[22*2+:2]),
        .m_axi_hbm22_rlast(rlast[22]),
        .m_axi_hbm23_arvalid(arvalid[23]),
        .m_axi_hbm23_arready(arready[23]),
        .m_axi_hbm23_araddr(araddr[23*64+:64]),
        .m_axi_hbm23_arid(arid[23*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm23_arlen(arlen[23*8+:8]),
        .m_axi_hbm23_arsize(),
        .m_axi_hbm23_arburst(),
        .m_axi_hbm23_rvalid(rvalid[23]),
        .m_axi_hbm23_rready(rready[23]),
        .m_axi_hbm23_rdata(rdata[23*WIDTH+:WIDTH]),
        .m_axi_hbm23_rid(rid[23*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm23_rresp(rresp[23*2+:2]),
        .m_axi_hbm23_rlast(rlast[23]),
        .m_axi_hbm24_arvalid(arvalid[24]),
        .m_axi_hbm24_arready(arready[24]),
        .m_axi_hbm24_araddr(araddr[24*64+:64]),
        .m_axi_hbm24_arid(arid[24*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm24_arlen(arlen[24*8+:8]),
        .m_axi_hbm24_arsize(),
        .m_axi_hbm24_arburst(),
        .m_axi_hbm24_rvalid(rvalid[24]),
        .m_axi_hbm24_rready(rready[24]),
        .m_axi_hbm24_rdata(rdata[24*WIDTH+:WIDTH]),
        .m_axi_hbm24_rid(rid[24*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm24_rresp(rresp[24*2+:2]),
        .m_axi_hbm24_rlast(rlast[24]),
        .m_axi_hbm25_arvalid(arvalid[25]),
        .m_axi_hbm25_arready(arready[25]),
        .m_axi_hbm25_araddr(araddr[25*64+:64]),
        .m_axi_hbm25_arid(arid[25*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm25_arlen(arlen[25*8+:8]),
        .m_axi_hbm25_arsize(),
        .m_axi_hbm25_arburst(),
        .m_axi_hbm25_rvalid(rvalid[25]),
        .m_axi_hbm25_rready(rready[25]),
        .m_axi_hbm25_rdata(rdata[25*WIDTH+:WIDTH]),
        .m_axi_hbm25_rid(rid[25*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm25_rresp(rresp[25*2+:2]),
        .m_axi_hbm25_rlast(rlast[25]),
        .m_axi_hbm26_arvalid(arvalid[26]),
        .m_axi_hbm26_arready(arready[26]),
        .m_axi_hbm26_araddr(araddr[26*64+:64]),
        .m_axi_hbm26_arid(arid[26*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm26_arlen(arlen[26*8+:8]),
        .m_axi_hbm26_arsize(),
        .m_axi_hbm26_arburst(),
        .m_axi_hbm26_rvalid(rvalid[26]),
        .m_axi_hbm26_rready(rready[26]),
        .m_axi_hbm26_rdata(rdata[26*WIDTH+:WIDTH]),
        .m_axi_hbm26_rid(rid[26*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm26_rresp(rresp[26*2+:2]),
        .m_axi_hbm26_rlast(rlast[26]),
        .m_axi_hbm27_arvalid(arvalid[27]),
        .m_axi_hbm27_arready(arready[27]),
        .m_axi_hbm27_araddr(araddr[27*64+:64]),
        .m_axi_hbm27_arid(arid[27*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm27_arlen(arlen[27*8+:8]),
        .m_axi_hbm27_arsize(),
        .m_axi_hbm27_arburst(),
        .m_axi_hbm27_rvalid(rvalid[27]),
        .m_axi_hbm27_rready(rready[27]),
        .m_axi_hbm27_rdata(rdata[27*WIDTH+:WIDTH]),
        .m_axi_hbm27_rid(rid[27*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm27_rresp(rresp[27*2+:2]),
        .m_axi_hbm27_rlast(rlast[27]),
        .m_axi_hbm28_arvalid(arvalid[28]),
        .m_axi_hbm28_arready(arready[28]),
        .m_axi_hbm28_araddr(araddr[28*64+:64]),
        .m_axi_hbm28_arid(arid[28*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm28_arlen(arlen[28*8+:8]),
        .m_axi_hbm28_arsize(),
        .m_axi_hbm28_arburst(),
        .m_axi_hbm28_rvalid(rvalid[28]),
        .m_axi_hbm28_rready(rready[28]),
        .m_axi_hbm28_rdata(rdata[28*WIDTH+:WIDTH]),
        .m_axi_hbm28_rid(rid[28*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm28_rresp(rresp[28*2+:2]),
        .m_axi_hbm28_rlast(rlast[28]),
        .m_axi_hbm29_arvalid(arvalid[29]),
        .m_axi_hbm29_arready(arready[29]),
        .m_axi_hbm29_araddr(araddr[29*64+:64]),
        .m_axi_hbm29_arid(arid[29*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm29_arlen(arlen[29*8+:8]),
        .m_axi_hbm29_arsize(),
        .m_axi_hbm29_arburst(),
        .m_axi_hbm29_rvalid(rvalid[29]),
        .m_axi_hbm29_rready(rready[29]),
        .m_axi_hbm29_rdata(rdata[29*WIDTH+:WIDTH]),
        .m_axi_hbm29_rid(rid[29*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm29_rresp(rresp[29*2+:2]),
        .m_axi_hbm29_rlast(rlast[29]),
        .m_axi_hbm30_arvalid(arvalid[30]),
        .m_axi_hbm30_arready(arready[30]),
        .m_axi_hbm30_araddr(araddr[30*64+:64]),
        .m_axi_hbm30_arid(arid[30*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm30_arlen(arlen[30*8+:8]),
        .m_axi_hbm30_arsize(),
        .m_axi_hbm30_arburst(),
        .m_axi_hbm30_rvalid(rvalid[30]),
        .m_axi_hbm30_rready(rready[30]),
        .m_axi_hbm30_rdata(rdata[30*WIDTH+:WIDTH]),
        .m_axi_hbm30_rid(rid[30*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm30_rresp(rresp[30*2+:2]),
        .m_axi_hbm30_rlast(rlast[30]),
        .m_axi_hbm31_arvalid(arvalid[31]),
        .m_axi_hbm31_arready(arready[31]),
        .m_axi_hbm31_araddr(araddr[31*64+:64]),
        .m_axi_hbm31_arid(arid[31*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm31_arlen(arlen[31*8+:8]),
        .m_axi_hbm31_arsize(),
        .m_axi_hbm31_arburst(),
        .m_axi_hbm31_rvalid(rvalid[31]),
        .m_axi_hbm31_rready(rready[31]),
        .m_axi_hbm31_rdata(rdata[31*WIDTH+:WIDTH]),
        .m_axi_hbm31_rid(rid[31*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm31_rresp(rresp[31*2+:2]),
        .m_axi_hbm31_rlast(rlast[31]),
        .m_axi_io_arvalid(arvalid[32]),
        .m_axi_io_arready(arready[32]),
        .m_axi_io_araddr(araddr[32*64+:64]),
        .m_axi_io_arid(arid[32*ID_WIDTH+:ID_WIDTH]),
        .m_axi_io_arlen(arlen[32*8+:8]),
        .m_axi_io_arsize(),
        .m_axi_io_arburst(),
        .m_axi_io_rvalid(rvalid[32]),
        .m_axi_io_rready(rready[32]),
        .m_axi_io_rdata(rdata[32*WIDTH+:WIDTH]),
        .m_axi_io_rid(rid[32*ID_WIDTH+:ID_WIDTH]),
        .m_axi_io_rresp(rresp[32*2+:2]),
        .m_axi_io_rlast(rlast[32]),
        .m_axi_hbm00_awvalid(awvalid[0]),
        .m_axi_hbm00_awready(awready[0]),
        .m_axi_hbm00_awaddr(awaddr[0*64+:64]),
        .m_axi_hbm00_awid(awid[0*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm00_awlen(),
        .m_axi_hbm00_awsize(),
        .m_axi_hbm00_awburst(),
        .m_axi_hbm00_wvalid(wvalid[0]),
        .m_axi_hbm00_wready(wready[0]),
        .m_axi_hbm00_wdata(wdata[0*WIDTH+:WIDTH]),
        .m_axi_hbm00_wstrb(wstrb[0*BYTES+:BYTES]),
        .m_axi_hbm00_wlast(wlast[0]),
        .m_axi_hbm00_bvalid(bvalid[0]),
        .m_axi_hbm00_bready(bready[0]),
        .m_axi_hbm00_bid(bid[0*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm00_bresp(2'b00),
        .m_axi_hbm01_awvalid(awvalid[1]),
        .m_axi_hbm01_awready(awready[1]),
        .m_axi_hbm01_awaddr(awaddr[1*64+:64]),
        .m_axi_hbm01_awid(awid[1*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm01_awlen(),
        .m_axi_hbm01_awsize(),
        .m_axi_hbm01_awburst(),
        .m_axi_hbm01_wvalid(wvalid[1]),
        .m_axi_hbm01_wready(wready[1]),
        .m_axi_hbm01_wdata(wdata[1*WIDTH+:WIDTH]),
        .m_axi_hbm01_wstrb(wstrb[1*BYTES+:BYTES]),
        .m_axi_hbm01_wlast(wlast[1]),
        .m_axi_hbm01_bvalid(bvalid[1]),
        .m_axi_hbm01_bready(bready[1]),
        .m_axi_hbm01_bid(bid[1*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm01_bresp(2'b00),
        .m_axi_hbm02_awvalid(awvalid[2]),
        .m_axi_hbm02_awready(awready[2]),
        .m_axi_hbm02_awaddr(awaddr[2*64+:64]),
        .m_axi_hbm02_awid(awid[2*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm02_awlen(),
        .m_axi_hbm02_awsize(),
        .m_axi_hbm02_awburst(),
        .m_axi_hbm02_wvalid(wvalid[2]),
        .m_axi_hbm02_wready(wready[2]),
        .m_axi_hbm02_wdata(wdata[2*WIDTH+:WIDTH]),
        .m_axi_hbm02_wstrb(wstrb[2*BYTES+:BYTES]),
        .m_axi_hbm02_wlast(wlast[2]),
        .m_axi_hbm02_bvalid(bvalid[2]),
        .m_axi_hbm02_bready(bready[2]),
        .m_axi_hbm02_bid(bid[2*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm02_bresp(2'b00),
        .m_axi_hbm03_awvalid(awvalid[3]),
        .m_axi_hbm03_awready(awready[3]),
        .m_axi_hbm03_awaddr(awaddr[3*64+:64]),
        .m_axi_hbm03_awid(awid[3*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm03_awlen(),
        .m_axi_hbm03_awsize(),
        .m_axi_hbm03_awburst(),
        .m_axi_hbm03_wvalid(wvalid[3]),
        .m_axi_hbm03_wready(wready[3]),
        .m_axi_hbm03_wdata(wdata[3*WIDTH+:WIDTH]),
        .m_axi_hbm03_wstrb(wstrb[3*BYTES+:BYTES]),
        .m_axi_hbm03_wlast(wlast[3]),
        .m_axi_hbm03_bvalid(bvalid[3]),
        .m_axi_hbm03_bready(bready[3]),
        .m_axi_hbm03_bid(bid[3*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm03_bresp(2'b00),
        .m_axi_hbm04_awvalid(awvalid[4]),
        .m_axi_hbm04_awready(awready[4]),
        .m_axi_hbm04_awaddr(awaddr[4*64+:64]),
        .m_axi_hbm04_awid(awid[4*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm04_awlen(),
        .m_axi_hbm04_awsize(),
        .m_axi_hbm04_awburst(),
        .m_axi_hbm04_wvalid(wvalid[4]),
        .m_axi_hbm04_wready(wready[4]),
        .m_axi_hbm04_wdata(wdata[4*WIDTH+:WIDTH]),
        .m_axi_hbm04_wstrb(wstrb[4*BYTES+:BYTES]),
        .m_axi_hbm04_wlast(wlast[4]),
        .m_axi_hbm04_bvalid(bvalid[4]),
        .m_axi_hbm04_bready(bready[4]),
        .m_axi_hbm04_bid(bid[4*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm04_bresp(2'b00),
        .m_axi_hbm05_awvalid(awvalid[5]),
        .m_axi_hbm05_awready(awready[5]),
        .m_axi_hbm05_awaddr(awaddr[5*64+:64]),
        .m_axi_hbm05_awid(awid[5*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm05_awlen(),
        .m_axi_hbm05_awsize(),
        .m_axi_hbm05_awburst(),
        .m_axi_hbm05_wvalid(wvalid[5]),
        .m_axi_hbm05_wready(wready[5]),
        .m_axi_hbm05_wdata(wdata[5*WIDTH+:WIDTH]),
        .m_axi_hbm05_wstrb(wstrb[5*BYTES+:BYTES]),
        .m_axi_hbm05_wlast(wlast[5]),
        .m_axi_hbm05_bvalid(bvalid[5]),
        .m_axi_hbm05_bready(bready[5]),
        .m_axi_hbm05_bid(bid[5*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm05_bresp(2'b00),
        .m_axi_hbm06_awvalid(awvalid[6]),
        .m_axi_hbm06_awready(awready[6]),
        .m_axi_hbm06_awaddr(awaddr[6*64+:64]),
        .m_axi_hbm06_awid(awid[6*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm06_awlen(),
        .m_axi_hbm06_awsize(),
        .m_axi_hbm06_awburst(),
        .m_axi_hbm06_wvalid(wvalid[6]),
        .m_axi_hbm06_wready(wready[6]),
        .m_axi_hbm06_wdata(wdata[6*WIDTH+:WIDTH]),
        .m_axi_hbm06_wstrb(wstrb[6*BYTES+:BYTES]),
        .m_axi_hbm06_wlast(wlast[6]),
        .m_axi_hbm06_bvalid(bvalid[6]),
        .m_axi_hbm06_bready(bready[6]),
        .m_axi_hbm06_bid(bid[6*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm06_bresp(2'b00),
        .m_axi_hbm07_awvalid(awvalid[7]),
        .m_axi_hbm07_awready(awready[7]),
        .m_axi_hbm07_awaddr(awaddr[7*64+:64]),
        .m_axi_hbm07_awid(awid[7*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm07_awlen(),
        .m_axi_hbm07_awsize(),
        .m_axi_hbm07_awburst(),
        .m_axi_hbm07_wvalid(wvalid[7]),
        .m_axi_hbm07_wready(wready[7]),
        .m_axi_hbm07_wdata(wdata[7*WIDTH+:WIDTH]),
        .m_axi_hbm07_wstrb(wstrb[7*BYTES+:BYTES]),
        .m_axi_hbm07_wlast(wlast[7]),
        .m_axi_hbm07_bvalid(bvalid[7]),
        .m_axi_hbm07_bready(bready[7]),
        .m_axi_hbm07_bid(bid[7*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm07_bresp(2'b00),
        .m_axi_hbm08_awvalid(awvalid[8]),
        .m_axi_hbm08_awready(awready[8]),
        .m_axi_hbm08_awaddr(awaddr[8*64+:64]),
        .m_axi_hbm08_awid(awid[8*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm08_awlen(),
        .m_axi_hbm08_awsize(),
        .m_axi_hbm08_awburst(),
        .m_axi_hbm08_wvalid(wvalid[8]),
        .m_axi_hbm08_wready(wready[8]),
        .m_axi_hbm08_wdata(wdata[8*WIDTH+:WIDTH]),
        .m_axi_hbm08_wstrb(wstrb[8*BYTES+:BYTES]),
        .m_axi_hbm08_wlast(wlast[8]),
        .m_axi_hbm08_bvalid(bvalid[8]),
        .m_axi_hbm08_bready(bready[8]),
        .m_axi_hbm08_bid(bid[8*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm08_bresp(2'b00),
        .m_axi_hbm09_awvalid(awvalid[9]),
        .m_axi_hbm09_awready(awready[9]),
        .m_axi_hbm09_awaddr(awaddr[9*64+:64]),
        .m_axi_hbm09_awid(awid[9*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm09_awlen(),
        .m_axi_hbm09_awsize(),
        .m_axi_hbm09_awburst(),
        .m_axi_hbm09_wvalid(wvalid[9]),
        .m_axi_hbm09_wready(wready[9]),
        .m_axi_hbm09_wdata(wdata[9*WIDTH+:WIDTH]),
        .m_axi_hbm09_wstrb(wstrb[9*BYTES+:BYTES]),
        .m_axi_hbm09_wlast(wlast[9]),
        .m_axi_hbm09_bvalid(bvalid[9]),
        .m_axi_hbm09_bready(bready[9]),
        .m_axi_hbm09_bid(bid[9*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm09_bresp(2'b00),
        .m_axi_hbm10_awvalid(awvalid[10]),
        .m_axi_hbm10_awready(awready[10]),
        .m_axi_hbm10_awaddr(awaddr[10*64+:64]),
        .m_axi_hbm10_awid(awid[10*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm10_awlen(),
        .m_axi_hbm10_awsize(),
        .m_axi_hbm10_awburst(),
        .m_axi_hbm10_wvalid(wvalid[10]),
        .m_axi_hbm10_wready(wready[10]),
        .m_axi_hbm10_wdata(wdata[10*WIDTH+:WIDTH]),
        .m_axi_hbm10_wstrb(wstrb[10*BYTES+:BYTES]),
        .m_axi_hbm10_wlast(wlast[10]),
        .m_axi_hbm10_bvalid(bvalid[10]),
        .m_axi_hbm10_bready(bready[10]),
        .m_axi_hbm10_bid(bid[10*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm10_bresp(2'b00),
        .m_axi_hbm11_awvalid(awvalid[11]),
        .m_axi_hbm11_awready(awready[11]),
        .m_axi_hbm11_awaddr(awaddr[11*64+:64]),
        .m_axi_hbm11_awid(awid[11*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm11_awlen(),
        .m_axi_hbm11_awsize(),
        .m_axi_hbm11_awburst(),
        .m_axi_hbm11_wvalid(wvalid[11]),
        .m_axi_hbm11_wready(wready[11]),
        .m_axi_hbm11_wdata(wdata[11*WIDTH+:WIDTH]),
        .m_axi_hbm11_wstrb(wstrb[11*BYTES+:BYTES]),
        .m_axi_hbm11_wlast(wlast[11]),
        .m_axi_hbm11_bvalid(bvalid[11]),
        .m_axi_hbm11_bready(bready[11]),
        .m_axi_hbm11_bid(bid[11*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm11_bresp(2'b00),
        .m_axi_hbm12_awvalid(awvalid[12]),
        .m_axi_hbm12_awready(awready[12]),
        .m_axi_hbm12_awaddr(awaddr[12*64+:64]),
        .m_axi_hbm12_awid(awid[12*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm12_awlen(),
        .m_axi_hbm12_awsize(),
        .m_axi_hbm12_awburst(),
        .m_axi_hbm12_wvalid(wvalid[12]),
        .m_axi_hbm12_wready(wready[12]),
        .m_axi_hbm12_wdata(wdata[12*WIDTH+:WIDTH]),
        .m_axi_hbm12_wstrb(wstrb[12*BYTES+:BYTES]),
        .m_axi_hbm12_wlast(wlast[12]),
        .m_axi_hbm12_bvalid(bvalid[12]),
        .m_axi_hbm12_bready(bready[12]),
        .m_axi_hbm12_bid(bid[12*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm12_bresp(2'b00),
        .m_axi_hbm13_awvalid(awvalid[13]),
        .m_axi_hbm13_awready(awready[13]),
        .m_axi_hbm13_awaddr(awaddr[13*64+:64]),
        .m_axi_hbm13_awid(awid[13*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm13_awlen(),
        .m_axi_hbm13_awsize(),
        .m_axi_hbm13_awburst(),
        .m_axi_hbm13_wvalid(wvalid[13]),
        .m_axi_hbm13_wready(wready[13]),
        .m_axi_hbm13_wdata(wdata[13*WIDTH+:WIDTH]),
        .m_axi_hbm13_wstrb(wstrb[13*BYTES+:BYTES]),
        .m_axi_hbm13_wlast(wlast[13]),
        .m_axi_hbm13_bvalid(bvalid[13]),
        .m_axi_hbm13_bready(bready[13]),
        .m_axi_hbm13_bid(bid[13*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm13_bresp(2'b00),
        .m_axi_hbm14_awvalid(awvalid[14]),
        .m_axi_hbm14_awready(awready[14]),
        .m_axi_hbm14_awaddr(awaddr[14*64+:64]),
        .m_axi_hbm14_awid(awid[14*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm14_awlen(),
        .m_axi_hbm14_awsize(),
        .m_axi_hbm14_awburst(),
        .m_axi_hbm14_wvalid(wvalid[14]),
        .m_axi_hbm14_wready(wready[14]),
        .m_axi_hbm14_wdata(wdata[14*WIDTH+:WIDTH]),
        .m_axi_hbm14_wstrb(wstrb[14*BYTES+:BYTES]),
        .m_axi_hbm14_wlast(wlast[14]),
        .m_axi_hbm14_bvalid(bvalid[14]),
        .m_axi_hbm14_bready(bready[14]),
        .m_axi_hbm14_bid(bid[14*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm14_bresp(2'b00),
        .m_axi_hbm15_awvalid(awvalid[15]),
        .m_axi_hbm15_awready(awready[15]),
        .m_axi_hbm15_awaddr(awaddr[15*64+:64]),
        .m_axi_hbm15_awid(awid[15*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm15_awlen(),
        .m_axi_hbm15_awsize(),
        .m_axi_hbm15_awburst(),
        .m_axi_hbm15_wvalid(wvalid[15]),
        .m_axi_hbm15_wready(wready[15]),
        .m_axi_hbm15_wdata(wdata[15*WIDTH+:WIDTH]),
        .m_axi_hbm15_wstrb(wstrb[15*BYTES+:BYTES]),
        .m_axi_hbm15_wlast(wlast[15]),
        .m_axi_hbm15_bvalid(bvalid[15]),
        .m_axi_hbm15_bready(bready[15]),
        .m_axi_hbm15_bid(bid[15*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm15_bresp(2'b00),
        .m_axi_hbm16_awvalid(awvalid[16]),
        .m_axi_hbm16_awready(awready[16]),
        .m_axi_hbm16_awaddr(awaddr[16*64+:64]),
        .m_axi_hbm16_awid(awid[16*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm16_awlen(),
        .m_axi_hbm16_awsize(),
        .m_axi_hbm16_awburst(),
        .m_axi_hbm16_wvalid(wvalid[16]),
        .m_axi_hbm16_wready(wready[16]),
        .m_axi_hbm16_wdata(wdata[16*WIDTH+:WIDTH]),
        .m_axi_hbm16_wstrb(wstrb[16*BYTES+:BYTES]),
        .m_axi_hbm16_wlast(wlast[16]),
        .m_axi_hbm16_bvalid(bvalid[16]),
        .m_axi_hbm16_bready(bready[16]),
        .m_axi_hbm16_bid(bid[16*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm16_bresp(2'b00),
        .m_axi_hbm17_awvalid(awvalid[17]),
        .m_axi_hbm17_awready(awready[17]),
        .m_axi_hbm17_awaddr(awaddr[17*64+:64]),
        .m_axi_hbm17_awid(awid[17*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm17_awlen(),
        .m_axi_hbm17_awsize(),
        .m_axi_hbm17_awburst(),
        .m_axi_hbm17_wvalid(wvalid[17]),
        .m_axi_hbm17_wready(wready[17]),
        .m_axi_hbm17_wdata(wdata[17*WIDTH+:WIDTH]),
        .m_axi_hbm17_wstrb(wstrb[17*BYTES+:BYTES]),
        .m_axi_hbm17_wlast(wlast[17]),
        .m_axi_hbm17_bvalid(bvalid[17]),
        .m_axi_hbm17_bready(bready[17]),
        .m_axi_hbm17_bid(bid[17*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm17_bresp(2'b00),
        .m_axi_hbm18_awvalid(awvalid[18]),
        .m_axi_hbm18_awready(awready[18]),
        .m_axi_hbm18_awaddr(awaddr[18*64+:64]),
        .m_axi_hbm18_awid(awid[18*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm18_awlen(),
        .m_axi_hbm18_awsize(),
        .m_axi_hbm18_awburst(),
        .m_axi_hbm18_wvalid(wvalid[18]),
        .m_axi_hbm18_wready(wready[18]),
        .m_axi_hbm18_wdata(wdata[18*WIDTH+:WIDTH]),
        .m_axi_hbm18_wstrb(wstrb[18*BYTES+:BYTES]),
        .m_axi_hbm18_wlast(wlast[18]),
        .m_axi_hbm18_bvalid(bvalid[18]),
        .m_axi_hbm18_bready(bready[18]),
        .m_axi_hbm18_bid(bid[18*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm18_bresp(2'b00),
        .m_axi_hbm19_awvalid(awvalid[19]),
        .m_axi_hbm19_awready(awready[19]),
        .m_axi_hbm19_awaddr(awaddr[19*64+:64]),
        .m_axi_hbm19_awid(awid[19*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm19_awlen(),
        .m_axi_hbm19_awsize(),
        .m_axi_hbm19_awburst(),
        .m_axi_hbm19_wvalid(wvalid[19]),
        .m_axi_hbm19_wready(wready[19]),
        .m_axi_hbm19_wdata(wdata[19*WIDTH+:WIDTH]),
        .m_axi_hbm19_wstrb(wstrb[19*BYTES+:BYTES]),
        .m_axi_hbm19_wlast(wlast[19]),
        .m_axi_hbm19_bvalid(bvalid[19]),
        .m_axi_hbm19_bready(bready[19]),
        .m_axi_hbm19_bid(bid[19*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm19_bresp(2'b00),
        .m_axi_hbm20_awvalid(awvalid[20]),
        .m_axi_hbm20_awready(awready[20]),
        .m_axi_hbm20_awaddr(awaddr[20*64+:64]),
        .m_axi_hbm20_awid(awid[20*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm20_awlen(),
        .m_axi_hbm20_awsize(),
        .m_axi_hbm20_awburst(),
        .m_axi_hbm20_wvalid(wvalid[20]),
        .m_axi_hbm20_wready(wready[20]),
        .m_axi_hbm20_wdata(wdata[20*WIDTH+:WIDTH]),
        .m_axi_hbm20_wstrb(wstrb[20*BYTES+:BYTES]),
        .m_axi_hbm20_wlast(wlast[20]),
        .m_axi_hbm20_bvalid(bvalid[20]),
        .m_axi_hbm20_bready(bready[20]),
        .m_axi_hbm20_bid(bid[20*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm20_bresp(2'b00),
        .m_axi_hbm21_awvalid(awvalid[21]),
        .m_axi_hbm21_awready(awready[21]),
        .m_axi_hbm21_awaddr(awaddr[21*64+:64]),
        .m_axi_hbm21_awid(awid[21*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm21_awlen(),
        .m_axi_hbm21_awsize(),
        .m_axi_hbm21_awburst(),
        .m_axi_hbm21_wvalid(wvalid[21]),
        .m_axi_hbm21_wready(wready[21]),
        .m_axi_hbm21_wdata(wdata[21*WIDTH+:WIDTH]),
        .m_axi_hbm21_wstrb(wstrb[21*BYTES+:BYTES]),
        .m_axi_hbm21_wlast(wlast[21]),
        .m_axi_hbm21_bvalid(bvalid[21]),
        .m_axi_hbm21_bready(bready[21]),
        .m_axi_hbm21_bid(bid[21*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm21_bresp(2'b00),
        .m_axi_hbm22_awvalid(awvalid[22]),
        .m_axi_hbm22_awready(awready[22]),
        .m_axi_hbm22_awaddr(awaddr[22*64+:64]),
        .m_axi_hbm22_awid(awid[22*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm22_awlen(),
        .m_axi_hbm22_awsize(),
        .m_axi_hbm22_awburst(),
        .m_axi_hbm22_wvalid(wvalid[22]),
        .m_axi_hbm22_wready(wready[22]),
        .m_axi_hbm22_wdata(wdata[22*WIDTH+:WIDTH]),
        .m_axi_hbm22_wstrb(wstrb[22*BYTES+:BYTES]),
        .m_axi_hbm22_wlast(wlast[22]),
        .m_axi_hbm22_bvalid(bvalid[22]),
        .m_axi_hbm22_bready(bready[22]),
        .m_axi_hbm22_bid(bid[22*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm22_bresp(2'b00),
        .m_axi_hbm23_awvalid(awvalid[23]),
        .m_axi_hbm23_awready(awready[23]),
        .m_axi_hbm23_awaddr(awaddr[23*64+:64]),
        .m_axi_hbm23_awid(awid[23*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm23_awlen(),
        .m_axi_hbm23_awsize(),
        .m_axi_hbm23_awburst(),
        .m_axi_hbm23_wvalid(wvalid[23]),
        .m_axi_hbm23_wready(wready[23]),
        .m_axi_hbm23_wdata(wdata[23*WIDTH+:WIDTH]),
        .m_axi_hbm23_wstrb(wstrb[23*BYTES+:BYTES]),
        .m_axi_hbm23_wlast(wlast[23]),
        .m_axi_hbm23_bvalid(bvalid[23]),
        .m_axi_hbm23_bready(bready[23]),
        .m_axi_hbm23_bid(bid[23*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm23_bresp(2'b00),
        .m_axi_hbm24_awvalid(awvalid[24]),
        .m_axi_hbm24_awready(awready[24]),
        .m_axi_hbm24_awaddr(awaddr[24*64+:64]),
        .m_axi_hbm24_awid(awid[24*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm24_awlen(),
        .m_axi_hbm24_awsize(),
        .m_axi_hbm24_awburst(),
        .m_axi_hbm24_wvalid(wvalid[24]),
        .m_axi_hbm24_wready(wready[24]),
        .m_axi_hbm24_wdata(wdata[24*WIDTH+:WIDTH]),
        .m_axi_hbm24_wstrb(wstrb[24*BYTES+:BYTES]),
        .m_axi_hbm24_wlast(wlast[24]),
        .m_axi_hbm24_bvalid(bvalid[24]),
        .m_axi_hbm24_bready(bready[24]),
        .m_axi_hbm24_bid(bid[24*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm24_bresp(2'b00),
        .m_axi_hbm25_awvalid(awvalid[25]),
        .m_axi_hbm25_awready(awready[25]),
        .m_axi_hbm25_awaddr(awaddr[25*64+:64]),
        .m_axi_hbm25_awid(awid[25*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm25_awlen(),
        .m_axi_hbm25_awsize(),
        .m_axi_hbm25_awburst(),
        .m_axi_hbm25_wvalid(wvalid[25]),
        .m_axi_hbm25_wready(wready[25]),
        .m_axi_hbm25_wdata(wdata[25*WIDTH+:WIDTH]),
        .m_axi_hbm25_wstrb(wstrb[25*BYTES+:BYTES]),
        .m_axi_hbm25_wlast(wlast[25]),
        .m_axi_hbm25_bvalid(bvalid[25]),
        .m_axi_hbm25_bready(bready[25]),
        .m_axi_hbm25_bid(bid[25*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm25_bresp(2'b00),
        .m_axi_hbm26_awvalid(awvalid[26]),
        .m_axi_hbm26_awready(awready[26]),
        .m_axi_hbm26_awaddr(awaddr[26*64+:64]),
        .m_axi_hbm26_awid(awid[26*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm26_awlen(),
        .m_axi_hbm26_awsize(),
        .m_axi_hbm26_awburst(),
        .m_axi_hbm26_wvalid(wvalid[26]),
        .m_axi_hbm26_wready(wready[26]),
        .m_axi_hbm26_wdata(wdata[26*WIDTH+:WIDTH]),
        .m_axi_hbm26_wstrb(wstrb[26*BYTES+:BYTES]),
        .m_axi_hbm26_wlast(wlast[26]),
        .m_axi_hbm26_bvalid(bvalid[26]),
        .m_axi_hbm26_bready(bready[26]),
        .m_axi_hbm26_bid(bid[26*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm26_bresp(2'b00),
        .m_axi_hbm27_awvalid(awvalid[27]),
        .m_axi_hbm27_awready(awready[27]),
        .m_axi_hbm27_awaddr(awaddr[27*64+:64]),
        .m_axi_hbm27_awid(awid[27*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm27_awlen(),
        .m_axi_hbm27_awsize(),
        .m_axi_hbm27_awburst(),
        .m_axi_hbm27_wvalid(wvalid[27]),
        .m_axi_hbm27_wready(wready[27]),
        .m_axi_hbm27_wdata(wdata[27*WIDTH+:WIDTH]),
        .m_axi_hbm27_wstrb(wstrb[27*BYTES+:BYTES]),
        .m_axi_hbm27_wlast(wlast[27]),
        .m_axi_hbm27_bvalid(bvalid[27]),
        .m_axi_hbm27_bready(bready[27]),
        .m_axi_hbm27_bid(bid[27*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm27_bresp(2'b00),
        .m_axi_hbm28_awvalid(awvalid[28]),
        .m_axi_hbm28_awready(awready[28]),
        .m_axi_hbm28_awaddr(awaddr[28*64+:64]),
        .m_axi_hbm28_awid(awid[28*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm28_awlen(),
        .m_axi_hbm28_awsize(),
        .m_axi_hbm28_awburst(),
        .m_axi_hbm28_wvalid(wvalid[28]),
        .m_axi_hbm28_wready(wready[28]),
        .m_axi_hbm28_wdata(wdata[28*WIDTH+:WIDTH]),
        .m_axi_hbm28_wstrb(wstrb[28*BYTES+:BYTES]),
        .m_axi_hbm28_wlast(wlast[28]),
        .m_axi_hbm28_bvalid(bvalid[28]),
        .m_axi_hbm28_bready(bready[28]),
        .m_axi_hbm28_bid(bid[28*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm28_bresp(2'b00),
        .m_axi_hbm29_awvalid(awvalid[29]),
        .m_axi_hbm29_awready(awready[29]),
        .m_axi_hbm29_awaddr(awaddr[29*64+:64]),
        .m_axi_hbm29_awid(awid[29*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm29_awlen(),
        .m_axi_hbm29_awsize(),
        .m_axi_hbm29_awburst(),
        .m_axi_hbm29_wvalid(wvalid[29]),
        .m_axi_hbm29_wready(wready[29]),
        .m_axi_hbm29_wdata(wdata[29*WIDTH+:WIDTH]),
        .m_axi_hbm29_wstrb(wstrb[29*BYTES+:BYTES]),
        .m_axi_hbm29_wlast(wlast[29]),
        .m_axi_hbm29_bvalid(bvalid[29]),
        .m_axi_hbm29_bready(bready[29]),
        .m_axi_hbm29_bid(bid[29*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm29_bresp(2'b00),
        .m_axi_hbm30_awvalid(awvalid[30]),
        .m_axi_hbm30_awready(awready[30]),
        .m_axi_hbm30_awaddr(awaddr[30*64+:64]),
        .m_axi_hbm30_awid(awid[30*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm30_awlen(),
        .m_axi_hbm30_awsize(),
        .m_axi_hbm30_awburst(),
        .m_axi_hbm30_wvalid(wvalid[30]),
        .m_axi_hbm30_wready(wready[30]),
        .m_axi_hbm30_wdata(wdata[30*WIDTH+:WIDTH]),
        .m_axi_hbm30_wstrb(wstrb[30*BYTES+:BYTES]),
        .m_axi_hbm30_wlast(wlast[30]),
        .m_axi_hbm30_bvalid(bvalid[30]),
        .m_axi_hbm30_bready(bready[30]),
        .m_axi_hbm30_bid(bid[30*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm30_bresp(2'b00),
        .m_axi_hbm31_awvalid(awvalid[31]),
        .m_axi_hbm31_awready(awready[31]),
        .m_axi_hbm31_awaddr(awaddr[31*64+:64]),
        .m_axi_hbm31_awid(awid[31*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm31_awlen(),
        .m_axi_hbm31_awsize(),
        .m_axi_hbm31_awburst(),
        .m_axi_hbm31_wvalid(wvalid[31]),
        .m_axi_hbm31_wready(wready[31]),
        .m_axi_hbm31_wdata(wdata[31*WIDTH+:WIDTH]),
        .m_axi_hbm31_wstrb(wstrb[31*BYTES+:BYTES]),
        .m_axi_hbm31_wlast(wlast[31]),
        .m_axi_hbm31_bvalid(bvalid[31]),
        .m_axi_hbm31_bready(bready[31]),
        .m_axi_hbm31_bid(bid[31*ID_WIDTH+:ID_WIDTH]),
        .m_axi_hbm31_bresp(2'b00),
        .m_axi_io_awvalid(awvalid[32]),
        .m_axi_io_awready(awready[32]),
        .m_axi_io_awaddr(awaddr[32*64+:64]),
        .m_axi_io_awid(awid[32*ID_WIDTH+:ID_WIDTH]),
        .m_axi_io_awlen(),
        .m_axi_io_awsize(),
        .m_axi_io_awburst(),
        .m_axi_io_wvalid(wvalid[32]),
        .m_axi_io_wready(wready[32]),
        .m_axi_io_wdata(wdata[32*WIDTH+:WIDTH]),
        .m_axi_io_wstrb(wstrb[32*BYTES+:BYTES]),
        .m_axi_io_wlast(wlast[32]),
        .m_axi_io_bvalid(bvalid[32]),
        .m_axi_io_bready(bready[32]),
        .m_axi_io_bid(bid[32*ID_WIDTH+:ID_WIDTH]),
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
