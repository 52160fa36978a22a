// The U280 without a shell: the block design meshkv_system at the card's pins.
//
// HBM_CATTRIP reports an overheated HBM stack. The card powers down when it is high, so it is always driven.
`default_nettype none
module meshkv_u280 (
    // The card's 100 MHz clock.
    input  wire        sysclk0_p,
    input  wire        sysclk0_n,

    // PCIe.
    input  wire        pcie_refclk_p,
    input  wire        pcie_refclk_n,
    input  wire        pcie_perst_n,
    input  wire [15:0] pcie_rx_p,
    input  wire [15:0] pcie_rx_n,
    output wire [15:0] pcie_tx_p,
    output wire [15:0] pcie_tx_n,

    // To the card's controller.
    output wire        hbm_cattrip
);
    wire [1:0] cattrip;
    assign hbm_cattrip = |cattrip;

    // The interrupt is a level that lasts until the host clears it: two registers synchronize it.
    wire interrupt, pcie_clk;
    (* async_reg = "true" *) reg irq_first_q, irq_second_q;
    always @(posedge pcie_clk) begin
        irq_first_q  <= interrupt;
        irq_second_q <= irq_first_q;
    end

    meshkv_system u_system (
        .sysclk0_clk_p    (sysclk0_p),
        .sysclk0_clk_n    (sysclk0_n),
        .pcie_refclk_clk_p(pcie_refclk_p),
        .pcie_refclk_clk_n(pcie_refclk_n),
        .pcie_perst_n     (pcie_perst_n),
        .pcie_mgt_rxp     (pcie_rx_p),
        .pcie_mgt_rxn     (pcie_rx_n),
        .pcie_mgt_txp     (pcie_tx_p),
        .pcie_mgt_txn     (pcie_tx_n),
        .pcie_clk         (pcie_clk),
        .interrupt        (interrupt),
        .pcie_irq         (irq_second_q),
        .cattrip_0        (cattrip[0]),
        .cattrip_1        (cattrip[1])
    );
endmodule
`default_nettype wire
