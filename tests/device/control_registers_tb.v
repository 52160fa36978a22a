// A host reads a counter of two words while it moves, at every phase of its carry; pairs that are torn are printed.
`timescale 1ns / 1ps
module control_registers_tb;
    parameter LOW = 0, HIGH = 4;  // Byte addresses of the two words.
    integer seed, looks;
    initial begin
        if (!$value$plusargs("seed=%d", seed)) seed = 1;
        if (!$value$plusargs("looks=%d", looks)) looks = 100;
    end
    function integer below(input integer n);
        below = $unsigned($random(seed)) % n;
    endfunction

    reg clk = 0, rst = 1;
    always #2 clk = ~clk;
    reg [63:0] cycles = 0;
    always @(posedge clk) cycles <= cycles + 64'd1;

    reg         arvalid = 0, rready = 0;
    reg  [11:0] araddr = 0;
    wire        arready, rvalid;
    wire [31:0] rdata;
    meshkv_control_registers dut (
        .clk                  (clk),
        .rst                  (rst),
        .s_axi_control_awvalid(1'b0),
        .s_axi_control_awaddr (12'd0),
        .s_axi_control_wvalid (1'b0),
        .s_axi_control_wdata  (32'd0),
        .s_axi_control_wstrb  (4'd0),
        .s_axi_control_bready (1'b1),
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

    task read(input [11:0] address, output [31:0] word);
        begin
            @(negedge clk);
            araddr  = address;
            arvalid = 1;
            @(posedge clk);
            while (!arready) @(posedge clk);
            #1 arvalid = 0;
            repeat (below(6)) @(negedge clk);
            rready = 1;
            @(posedge clk);
            while (!rvalid) @(posedge clk);
            word = rdata;
            #1 rready = 0;
        end
    endtask

    // The pair is what the counter was at some time of the read of the low word.
    integer    n;
    reg [63:0] first, last;
    reg [31:0] low, high, other;
    initial begin
        #1;
        repeat (4) @(negedge clk);
        rst = 0;
        for (n = 0; n < looks; n = n + 1) begin
            @(negedge clk);
            cycles = { $random(seed) & 32'h7fff_ffff, 32'hffff_ffff - below(24)};
            repeat (below(4)) @(negedge clk);
            first = cycles;
            read(LOW[11:0], low);
            last = cycles;
            repeat (below(12)) @(negedge clk);
            if (below(3) == 0) read(12'h800, other);
            read(HIGH[11:0], high);
            if ({high, low} < first || {high, low} > last) $display("%h is not in %h to %h", {high, low}, first, last);
        end
        $display("%0d looks", looks);
        $finish;
    end
endmodule
