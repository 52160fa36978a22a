// Numbers and factors from a file through a lane of the quantiser, one a cycle: prints the code of each.
`timescale 1ns / 1ns
module quantise_lane_tb;
    parameter LINES = 1, LATENCY = 7;
    reg [8*256-1:0] path;
    reg [47:0]      lines[0:LINES-1];
    reg             clk = 0;
    reg  [15:0]     element;
    reg  [31:0]     factor;
    wire [7:0]      code;
    integer         at;
    meshkv_quantise_lane dut (
        .clk      (clk),
        .s_element(element),
        .s_factor (factor[30:0]),
        .m_code   (code)
    );
    always #5 clk = ~clk;
    initial begin
        if (!$value$plusargs("input=%s", path)) path = "";
        $readmemh(path, lines);
        for (at = 0; at < LINES + LATENCY; at = at + 1) begin
            {factor, element} = at < LINES ? lines[at] : 48'bx;
            @(posedge clk);
            #1;
            if (at >= LATENCY - 1 && at < LINES + LATENCY - 1) $display("%h", code);
        end
        $finish;
    end
endmodule
