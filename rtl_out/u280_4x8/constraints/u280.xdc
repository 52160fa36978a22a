# Alveo U280 without a shell: configuration, pins and reference clocks of meshkv_u280.
# The same for every fabric. Sources: board part file xilinx.com:au280:part0:1.1, UG1120 and UG1314.

# Configuration from the quad SPI flash.
set_property CFGBVS GND [current_design]
set_property CONFIG_VOLTAGE 1.8 [current_design]
set_property CONFIG_MODE SPIx4 [current_design]
set_property BITSTREAM.CONFIG.CONFIGFALLBACK ENABLE [current_design]
set_property BITSTREAM.GENERAL.COMPRESS TRUE [current_design]
set_property BITSTREAM.CONFIG.SPI_BUSWIDTH 4 [current_design]
set_property BITSTREAM.CONFIG.CONFIGRATE 85.0 [current_design]
set_property BITSTREAM.CONFIG.EXTMASTERCCLK_EN DISABLE [current_design]
set_property BITSTREAM.CONFIG.SPI_FALL_EDGE YES [current_design]
set_property BITSTREAM.CONFIG.SPI_32BIT_ADDR YES [current_design]
set_property BITSTREAM.CONFIG.UNUSEDPIN PULLUP [current_design]
set_property BITSTREAM.CONFIG.OVERTEMPSHUTDOWN ENABLE [current_design]

# Power budget of the card in watts.
set_operating_conditions -design_power_budget 160

# 100 MHz: all clocks of the fabric and of HBM are made of it.
set_property -dict {PACKAGE_PIN BJ43 IOSTANDARD LVDS} [get_ports sysclk0_p]
set_property -dict {PACKAGE_PIN BJ44 IOSTANDARD LVDS} [get_ports sysclk0_n]
create_clock -period 10.000 -name sysclk0 [get_ports sysclk0_p]

# HBM_CATTRIP must be driven: left to itself it floats high, and the card powers down (UG1314). The wrapper drives it
# with what the two stacks report.
set_property -dict {PACKAGE_PIN D32 IOSTANDARD LVCMOS18 PULLTYPE PULLDOWN} [get_ports hbm_cattrip]
set_false_path -to [get_ports hbm_cattrip]

# PCIe: reference clock of the edge connector, reset, 16 lanes. Lanes are placed by the block PCIE4C_X1Y0.
set_property PACKAGE_PIN AR15 [get_ports pcie_refclk_p]
set_property PACKAGE_PIN AR14 [get_ports pcie_refclk_n]
create_clock -period 10.000 -name pcie_refclk [get_ports pcie_refclk_p]
set_property -dict {PACKAGE_PIN BH26 IOSTANDARD LVCMOS18 PULLTYPE PULLUP} [get_ports pcie_perst_n]
set_false_path -from [get_ports pcie_perst_n]

# The interrupt crosses from the fabric's clock to that of PCIe: one bit, two registers.
# expect 1
set_false_path -to [get_cells irq_first_q_reg*]
