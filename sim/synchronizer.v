// Delays bits at random on their way to a synchroniser, in designs whose clocks run apart.
//
// A bit that changes as it is sampled may be read old or new. Each bit that changed at the last edge of
// either clock is therefore drawn. A code in which one bit changes at a time is right either way; any
// other code, or one that is decoded too early, is not. The synchroniser itself is the emitted one.
`default_nettype none
module meshkv_synchronizer #(
    parameter             WIDTH = 5,
    parameter [WIDTH-1:0] RESET = {WIDTH{1'b0}}
) (
    input  wire             clk,
    input  wire             rst,
    input  wire [WIDTH-1:0] s_data,
    output wire [WIDTH-1:0] m_data
);
    // The bits before the last edge of either clock.
    reg [WIDTH-1:0] before_q;
    always @(posedge meshkv_wrapper.clk or posedge meshkv_wrapper.pe_clk) before_q <= s_data;

    // Never reset: every instance draws from the noise that it starts with.
    reg  [63:0] random_q;
    always @(posedge clk) random_q <= random_q * 64'd6364136223846793005 + 64'd1442695040888963407;
    wire [WIDTH-1:0] late = (s_data ^ before_q) & random_q[63-:WIDTH] & {WIDTH{meshkv_wrapper.doubt}};

    meshkv_synchronizer_itself #(
        .WIDTH(WIDTH),
        .RESET(RESET)
    ) u_itself (
        .clk   (clk),
        .rst   (rst),
        .s_data(s_data ^ late),
        .m_data(m_data)
    );
endmodule
