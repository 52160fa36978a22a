# The system without a shell, from sources to a bitstream: the top, HBM, PCIe with DMA (XDMA), clocks, resets, interrupt.
#     vivado -mode batch -source scripts/system.tcl             to build/system/*.bit
#     vivado -mode batch -source scripts/system.tcl -tclargs project   only the project
set meshkv_root [file dirname [file dirname [file normalize [info script]]]]
foreach meshkv_part {design check package} { source [file join $meshkv_root scripts $meshkv_part.tcl] }
meshkv_check_release
meshkv_check_part $design_part
meshkv_package
meshkv_package_converters

set build [file join $meshkv_root build]
create_project -force meshkv_system [file join $build system] -part $design_part
set_property ip_repo_paths [file join $build ip] [current_project]
update_ip_catalog -rebuild
create_bd_design meshkv_system

# Creates a cell of the IP catalogue with its settings. The release decides the version.
proc cell {name vlnv {settings {}}} {
    create_bd_cell -type ip -vlnv $vlnv $name
    if {[llength $settings] > 0} { set_property -dict $settings [get_bd_cells $name] }
}

# Connects a pin to others by one net.
proc net {from args} {
    foreach to $args { connect_bd_net [get_bd_pins $from] [get_bd_pins $to] }
}

# External ports.
create_bd_intf_port -mode Slave -vlnv xilinx.com:interface:diff_clock_rtl:1.0 sysclk0
set_property CONFIG.FREQ_HZ 100000000 [get_bd_intf_ports sysclk0]
create_bd_intf_port -mode Slave -vlnv xilinx.com:interface:diff_clock_rtl:1.0 pcie_refclk
set_property CONFIG.FREQ_HZ 100000000 [get_bd_intf_ports pcie_refclk]
create_bd_intf_port -mode Master -vlnv xilinx.com:interface:pcie_7x_mgt_rtl:1.0 pcie_mgt
create_bd_port -dir I -type rst pcie_perst_n
create_bd_port -dir O -type clk pcie_clk
create_bd_port -dir O interrupt
create_bd_port -dir I -from 0 -to 0 pcie_irq
create_bd_port -dir O cattrip_0
create_bd_port -dir O cattrip_1

# The top.
cell u_meshkv meshkv:kernel:$design_top:1.0

# Clocks: one source of 100 MHz. The network's clock and PaD's are unrelated and have a generator each.
cell u_sysclk xilinx.com:ip:util_ds_buf {CONFIG.C_BUF_TYPE IBUFDS}
cell u_sysclk_bufg xilinx.com:ip:util_ds_buf {CONFIG.C_BUF_TYPE BUFG}
connect_bd_intf_net [get_bd_intf_ports sysclk0] [get_bd_intf_pins u_sysclk/CLK_IN_D]
net u_sysclk/IBUF_OUT u_sysclk_bufg/BUFG_I
foreach {name mhz} [list noc $design_noc_mhz pe $design_pe_mhz hbm $design_hbm_mhz] {
    cell u_clock_$name xilinx.com:ip:clk_wiz [list CONFIG.PRIM_SOURCE Global_buffer CONFIG.PRIM_IN_FREQ 100.000 \
        CONFIG.CLKOUT1_REQUESTED_OUT_FREQ $mhz CONFIG.USE_RESET false CONFIG.USE_LOCKED true]
    cell u_reset_$name xilinx.com:ip:proc_sys_reset
    net u_sysclk_bufg/BUFG_O u_clock_$name/clk_in1
    net u_clock_$name/clk_out1 u_reset_$name/slowest_sync_clk
    net u_clock_$name/locked u_reset_$name/dcm_locked
}
net u_clock_noc/clk_out1 u_meshkv/ap_clk
net u_reset_noc/peripheral_aresetn u_meshkv/ap_rst_n
net u_clock_pe/clk_out1 u_meshkv/ap_clk_2
net u_reset_pe/peripheral_aresetn u_meshkv/ap_rst_n_2

# PCIe Gen3 x16 with DMA; its AXI4-Lite master reaches the registers, its interrupt 0 is the top's.
cell u_pcie_refclk xilinx.com:ip:util_ds_buf {CONFIG.C_BUF_TYPE IBUFDSGTE}
connect_bd_intf_net [get_bd_intf_ports pcie_refclk] [get_bd_intf_pins u_pcie_refclk/CLK_IN_D]
cell u_xdma xilinx.com:ip:xdma [list \
    CONFIG.functional_mode DMA CONFIG.mode_selection Advanced CONFIG.pcie_blk_locn $design_pcie_block \
    CONFIG.pl_link_cap_max_link_width X16 CONFIG.pl_link_cap_max_link_speed 8.0_GT/s \
    CONFIG.axi_data_width 512_bit CONFIG.axisten_freq 250 CONFIG.axilite_master_en true \
    CONFIG.axilite_master_size 4 CONFIG.axilite_master_scale Kilobytes CONFIG.xdma_num_usr_irq 1]
net u_pcie_refclk/IBUF_DS_ODIV2 u_xdma/sys_clk
net u_pcie_refclk/IBUF_OUT u_xdma/sys_clk_gt
connect_bd_net [get_bd_ports pcie_perst_n] [get_bd_pins u_xdma/sys_rst_n]
connect_bd_intf_net [get_bd_intf_ports pcie_mgt] [get_bd_intf_pins u_xdma/pcie_mgt]
connect_bd_net [get_bd_pins u_xdma/axi_aclk] [get_bd_ports pcie_clk]
# The wrapper synchronizes the interrupt to the clock of PCIe.
connect_bd_net [get_bd_pins u_meshkv/interrupt] [get_bd_ports interrupt]
connect_bd_net [get_bd_ports pcie_irq] [get_bd_pins u_xdma/usr_irq_req]
foreach name {noc pe hbm} { net u_xdma/axi_aresetn u_reset_$name/ext_reset_in }

cell u_control xilinx.com:ip:smartconnect {CONFIG.NUM_SI 1 CONFIG.NUM_MI 1 CONFIG.NUM_CLKS 2}
net u_xdma/axi_aclk u_control/aclk
net u_clock_noc/clk_out1 u_control/aclk1
net u_xdma/axi_aresetn u_control/aresetn
connect_bd_intf_net [get_bd_intf_pins u_xdma/M_AXI_LITE] [get_bd_intf_pins u_control/S00_AXI]
connect_bd_intf_net [get_bd_intf_pins u_control/M00_AXI] [get_bd_intf_pins u_meshkv/s_axi_control]

# HBM: both stacks, 256 bits of AXI3 at 450 MHz a port, every port reaches every pseudo-channel.
set settings [list CONFIG.USER_HBM_DENSITY ${design_hbm_gib}GB CONFIG.USER_HBM_STACK 2 CONFIG.USER_AXI_INPUT_CLK_FREQ 450 \
    CONFIG.USER_AXI_INPUT_CLK1_FREQ 450 CONFIG.USER_SWITCH_ENABLE_00 TRUE CONFIG.USER_SWITCH_ENABLE_01 TRUE \
    CONFIG.USER_APB_EN false CONFIG.USER_XSDB_INTF_EN FALSE]
set used [lmap channel $design_channels { lindex $channel 0 }]
for {set channel 0} {$channel < $design_hbm_memories} {incr channel} {
    lappend settings CONFIG.USER_SAXI_[format %02d $channel] [expr {$channel in $used ? {true} : {false}}]
}
# Each stack takes its clock from one of its used ports.
set second [lindex [lsearch -all -inline -not -regexp $used {^(\d|1[0-5])$}] 0]
lappend settings CONFIG.USER_CLK_SEL_LIST0 AXI_[format %02d [lindex $used 0]]_ACLK \
    CONFIG.USER_CLK_SEL_LIST1 AXI_[format %02d $second]_ACLK
cell u_hbm xilinx.com:ip:hbm $settings
foreach stack {0 1} {
    net u_sysclk_bufg/BUFG_O u_hbm/HBM_REF_CLK_$stack u_hbm/APB_${stack}_PCLK
    net u_reset_noc/peripheral_aresetn u_hbm/APB_${stack}_PRESET_N
    connect_bd_net [get_bd_pins u_hbm/DRAM_${stack}_STAT_CATTRIP] [get_bd_ports cattrip_$stack]
}

# A master of the top meets HBM through a converter of ours, from the network's clock and width to those of a port.
# Returns the pin to connect to HBM and its clock. Without converters that is the master's own.
set wide {}
proc converted {master} {
    global design_append design_converters wide
    if {[llength $design_converters] == 0} { return [list u_meshkv/$master u_clock_noc/clk_out1] }
    set name u_[string map {m_axi axi3} $master]
    set module [expr {$design_append || $master eq {m_axi_io} ? {meshkv_axi3_io} : {meshkv_axi3_read}}]
    cell $name meshkv:kernel:$module:1.0
    net u_clock_noc/clk_out1 $name/aclk
    net u_reset_noc/peripheral_aresetn $name/aresetn
    net u_clock_hbm/clk_out1 $name/hbm_aclk
    net u_reset_hbm/peripheral_aresetn $name/hbm_aresetn
    connect_bd_intf_net [get_bd_intf_pins u_meshkv/$master] [get_bd_intf_pins $name/s_axi]
    lappend wide u_meshkv/$master $name/s_axi/reg0
    return [list $name/m_axi u_clock_hbm/clk_out1]
}

# A port of HBM with one master behind a converter needs nothing else. A crossbar is where masters share a port (queries
# and outputs the first, the host's DMA the last), and where there are no converters.
set spaces {}
foreach channel $design_channels {
    lassign $channel number masters
    set at [format %02d $number]
    net u_clock_hbm/clk_out1 u_hbm/AXI_${at}_ACLK
    net u_reset_hbm/peripheral_aresetn u_hbm/AXI_${at}_ARESET_N
    set ends [lmap master $masters {
        expr {$master eq {xdma} ? {u_xdma/M_AXI u_xdma/axi_aclk} : [converted $master]}
    }]
    foreach end $ends { lappend spaces [lindex $end 0] $at }
    if {[llength $masters] == 1 && [llength $design_converters] > 0} {
        connect_bd_intf_net [get_bd_intf_pins [lindex $ends 0 0]] [get_bd_intf_pins u_hbm/SAXI_$at$design_hbm_interface]
        continue
    }
    set clocks u_clock_hbm/clk_out1
    foreach end $ends { if {[lindex $end 1] ni $clocks} { lappend clocks [lindex $end 1] } }
    cell u_to_hbm_$at xilinx.com:ip:smartconnect \
        [list CONFIG.NUM_SI [llength $masters] CONFIG.NUM_MI 1 CONFIG.NUM_CLKS [llength $clocks]]
    foreach clock $clocks pin [lrange {aclk aclk1 aclk2} 0 [expr {[llength $clocks] - 1}]] {
        net $clock u_to_hbm_$at/$pin
    }
    net u_reset_hbm/peripheral_aresetn u_to_hbm_$at/aresetn
    set slot 0
    foreach end $ends {
        connect_bd_intf_net [get_bd_intf_pins [lindex $end 0]] [get_bd_intf_pins u_to_hbm_$at/S[format %02d $slot]_AXI]
        incr slot
    }
    connect_bd_intf_net [get_bd_intf_pins u_to_hbm_$at/M00_AXI] [get_bd_intf_pins u_hbm/SAXI_$at$design_hbm_interface]
}

# Addresses: for every master pseudo-channel n begins behind the n before it; registers at 0 of the host's window. To the
# top a converter is all of HBM.
foreach {pin segment} $wide {
    assign_bd_address -offset 0x00000000 -range ${design_hbm_gib}G -target_address_space [get_bd_addr_spaces $pin] \
        [get_bd_addr_segs $segment] -force
}
foreach {pin at} $spaces {
    for {set memory 0} {$memory < $design_hbm_memories} {incr memory} {
        assign_bd_address -offset [format 0x%09llX [expr {$memory * $design_hbm_memory_bytes}]] \
            -range [expr {$design_hbm_memory_bytes >> 20}]M -target_address_space [get_bd_addr_spaces $pin] \
            [get_bd_addr_segs u_hbm/SAXI_$at$design_hbm_interface/HBM_MEM[format %02d $memory]] -force
    }
}
assign_bd_address -offset 0x00000000 -range 4K -target_address_space [get_bd_addr_spaces u_xdma/M_AXI_LITE] \
    [get_bd_addr_segs u_meshkv/s_axi_control/reg0] -force
validate_bd_design
save_bd_design
generate_target all [get_files [file join $build system meshkv_system.srcs sources_1 bd meshkv_system meshkv_system.bd]]

# The wrapper, pins, floorplan.
add_files -norecurse [file join $meshkv_root board meshkv_$design_board.v]
add_files -fileset constrs_1 -norecurse [file join $meshkv_root constraints $design_board.xdc]
set_property top meshkv_$design_board [current_fileset]
update_compile_order -fileset sources_1
set_property STEPS.OPT_DESIGN.TCL.PRE [file join $meshkv_root scripts floorplan.tcl] [get_runs impl_1]
set_property STEPS.PHYS_OPT_DESIGN.IS_ENABLED true [get_runs impl_1]
set_property STEPS.POST_ROUTE_PHYS_OPT_DESIGN.IS_ENABLED true [get_runs impl_1]
if {[lindex $argv 0] eq {project}} {
    puts "meshkv: the project is [file join $build system meshkv_system.xpr]"
    return
}

launch_runs impl_1 -to_step write_bitstream -jobs 8
wait_on_runs impl_1
set progress [get_property PROGRESS [get_runs impl_1]]
if {$progress ne {100%}} { error "meshkv: implementation ended at $progress; see build/system/meshkv_system.runs" }
puts "meshkv: the bitstream is in [get_property DIRECTORY [get_runs impl_1]]"
open_run impl_1
source [file join $meshkv_root scripts reports.tcl]
if {[string match {meshkv: FAIL*} $meshkv_verdict]} { exit 1 }
