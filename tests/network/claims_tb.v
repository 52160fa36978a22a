// A router's allocator with heads of its tile that nothing moves, and one of KV_DATA that could leave.
//
// The tile holds PART for north and for south, for which no credit ever comes, from cycle +start on, and KV_DATA for
// north. With several channels of KV_DATA it also holds some for the east, without a credit. Credits for KV_DATA to the
// north come every +period cycles, at +phase. With +rival the input from the south wants them as well.
// Prints how many the tile got, how many the rival got, and after how many cycles the tile got the first.
`timescale 1ns/1ns
`default_nettype none
module claims_tb;
    parameter VN0_VCS = 2;
    parameter VCS     = 4;
    localparam DATA = VN0_VCS + 1;
    localparam N = 0, S = 1, E = 2;

    integer start, period, phase, rival, cycles;
    integer cycle = 0, mine = 0, others = 0, first = 0;
    initial begin
        if (!$value$plusargs("start=%d", start)) $finish;
        if (!$value$plusargs("period=%d", period)) $finish;
        if (!$value$plusargs("phase=%d", phase)) $finish;
        if (!$value$plusargs("rival=%d", rival)) $finish;
        if (!$value$plusargs("cycles=%d", cycles)) $finish;
    end

    reg clk = 1'b0, rst = 1'b1;
    always #1 clk = ~clk;

    reg  [5*VCS-1:0] pending_s = 0, pending_l = 0, avail = 0;
    reg  [VCS-1:0]   occupied_s = 0, occupied_l = 0;
    wire [VCS-1:0]   rd_vc_s, rd_vc_l, send_vc_n;
    wire [4:0]       grant_s, grant_l;

    meshkv_switch_allocator #(
        .VN0_VCS(VN0_VCS),
        .VCS    (VCS)
    ) dut (
        .clk(clk), .rst(rst),
        .pending_n({5*VCS{1'b0}}), .pending_s(pending_s), .pending_e({5*VCS{1'b0}}), .pending_w({5*VCS{1'b0}}), .pending_l(pending_l),
        .occupied_n({VCS{1'b0}}), .occupied_s(occupied_s), .occupied_e({VCS{1'b0}}), .occupied_w({VCS{1'b0}}), .occupied_l(occupied_l),
        .last_n({VCS{1'b0}}), .last_s({VCS{1'b0}}), .last_e({VCS{1'b0}}), .last_w({VCS{1'b0}}), .last_l({VCS{1'b0}}),
        .freed_n({VCS{1'b0}}), .freed_s(rd_vc_s), .freed_e({VCS{1'b0}}), .freed_w({VCS{1'b0}}), .freed_l(rd_vc_l),
        .full_n({VCS{1'b0}}), .full_s({VCS{1'b0}}), .full_e({VCS{1'b0}}), .full_w({VCS{1'b0}}),
        .rx_valid_n({VCS{1'b0}}), .rx_valid_s({VCS{1'b0}}), .rx_valid_e({VCS{1'b0}}), .rx_valid_w({VCS{1'b0}}), .rx_valid_l({VCS{1'b0}}),
        .rx_last_n(1'b0), .rx_last_s(1'b0), .rx_last_e(1'b0), .rx_last_w(1'b0), .rx_last_l(1'b0),
        .tiles_n(3'd3), .tiles_s(3'd4), .tiles_e(3'd3), .tiles_w(3'd4),
        .wants_w_e(1'b0), .wants_e_w(1'b0), .wants_l_e(1'b0), .wants_l_w(1'b0),
        .avail(avail), .free({5*VN0_VCS{1'b0}}), .pick({5*VN0_VCS{1'b0}}),
        .grant_s(grant_s), .grant_l(grant_l), .rd_vc_s(rd_vc_s), .rd_vc_l(rd_vc_l), .send_vc_n(send_vc_n)
    );

    always @(posedge clk) begin
        cycle <= cycle + 1;
        if (cycle == 3) rst <= 1'b0;
        if (cycle == 8) begin
            pending_l[N*VCS+DATA] <= 1'b1;
            occupied_l[DATA]      <= 1'b1;
            pending_s[N*VCS+DATA] <= rival != 0;
            occupied_s[DATA]      <= rival != 0;
            if (VCS > DATA + 1) begin
                pending_l[E*VCS+VCS-1] <= 1'b1;
                occupied_l[VCS-1]      <= 1'b1;
            end
        end
        if (cycle == 8 + start) begin
            pending_l[N*VCS]   <= 1'b1;
            pending_l[S*VCS+1] <= 1'b1;
            occupied_l[1:0]    <= 2'b11;
        end
        if (cycle % period == phase) avail[N*VCS+DATA] <= 1'b1;
        else if (send_vc_n[DATA]) avail[N*VCS+DATA] <= 1'b0;
        if (cycle >= 8 && send_vc_n[DATA]) begin
            if (rd_vc_l[DATA] && grant_l[N]) begin
                if (mine == 0) first <= cycle;
                mine <= mine + 1;
            end else others <= others + 1;
        end
        if (cycle == cycles) begin
            $display("%0d %0d %0d", mine, others, first);
            $finish;
        end
    end
endmodule
