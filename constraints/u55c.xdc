# Alveo U55C without a shell: configuration, pins and reference clocks of meshkv_u55c.
# The same for every fabric. Sources: corundum, fpga/mqnic/Alveo/fpga_25g/fpga_au55.xdc (pins, clocks, configuration), and
# github.com/DouglasWWolf/u55c_smem, xdc/u55c.xdc (the same pins, and blocks of PCIe); UG1469 for the card.

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

# 100 MHz from output 2 of the SI5394: all clocks of the fabric and of HBM are made of it. The same output is at BK10 and
# BL10, and output 3, 100 MHz too, at F24 and F23.
set_property -dict {PACKAGE_PIN BK43 IOSTANDARD LVDS} [get_ports sysclk0_p]
set_property -dict {PACKAGE_PIN BK44 IOSTANDARD LVDS} [get_ports sysclk0_n]
create_clock -period 10.000 -name sysclk0 [get_ports sysclk0_p]

# HBM_CATTRIP must be driven: the card's controller powers the card down when it is high, and left to itself it floats. The
# wrapper drives it with what the two stacks report.
set_property -dict {PACKAGE_PIN BE45 IOSTANDARD LVCMOS18 PULLTYPE PULLDOWN} [get_ports hbm_cattrip]
set_false_path -to [get_ports hbm_cattrip]

# PCIe: reference clock of the edge connector for 16 lanes (clock 0 of quad 225), reset. Lanes are placed by the block
# PCIE4C_X1Y0: quads 227, with lane 0, to 224.
set_property PACKAGE_PIN AR15 [get_ports pcie_refclk_p]
set_property PACKAGE_PIN AR14 [get_ports pcie_refclk_n]
create_clock -period 10.000 -name pcie_refclk [get_ports pcie_refclk_p]
set_property -dict {PACKAGE_PIN BF41 IOSTANDARD LVCMOS18 PULLTYPE PULLUP} [get_ports pcie_perst_n]
set_false_path -from [get_ports pcie_perst_n]

# The interrupt crosses from the fabric's clock to that of PCIe: one bit, two registers.
# expect 1
set_false_path -to [get_cells irq_first_q_reg*]
