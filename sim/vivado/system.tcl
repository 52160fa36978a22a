# Block designs: cells must be made before their pins are named, and settings of IP must be known ones.

namespace eval vivado::do {
    # IP of each cell, by name; ports and interface ports.
    variable bd_cells
    array set bd_cells {}
    variable bd_ports
    array set bd_ports {}
    # Settings that scripts may make, by the name of the IP (PG276, PG195, PG065, PG247, PG164).
    variable settings {
        util_ds_buf {C_BUF_TYPE C_SIZE}
        clk_wiz {PRIM_SOURCE PRIM_IN_FREQ CLKOUT1_REQUESTED_OUT_FREQ USE_RESET USE_LOCKED}
        proc_sys_reset {}
        smartconnect {NUM_SI NUM_MI NUM_CLKS}
        xdma {functional_mode mode_selection pcie_blk_locn pl_link_cap_max_link_width pl_link_cap_max_link_speed
            axi_data_width axisten_freq axilite_master_en axilite_master_size axilite_master_scale xdma_num_usr_irq}
        hbm {USER_HBM_DENSITY USER_HBM_STACK USER_AXI_INPUT_CLK_FREQ USER_AXI_INPUT_CLK1_FREQ USER_SWITCH_ENABLE_00
            USER_SWITCH_ENABLE_01 USER_APB_EN USER_XSDB_INTF_EN USER_CLK_SEL_LIST0 USER_CLK_SEL_LIST1 USER_SAXI_*}
    }
    # Pins of an IP, as patterns.
    variable pins_of {
        util_ds_buf {CLK_IN_D IBUF_OUT IBUF_DS_ODIV2 BUFG_I BUFG_O}
        clk_wiz {clk_in1 clk_out1 locked}
        proc_sys_reset {slowest_sync_clk ext_reset_in dcm_locked peripheral_aresetn interconnect_aresetn}
        smartconnect {aclk aclk1 aclk2 aresetn S??_AXI M??_AXI}
        xdma {sys_clk sys_clk_gt sys_rst_n axi_aclk axi_aresetn usr_irq_req usr_irq_ack pcie_mgt M_AXI M_AXI_LITE}
        hbm {HBM_REF_CLK_? APB_?_PCLK APB_?_PRESET_N DRAM_?_STAT_CATTRIP AXI_??_ACLK AXI_??_ARESET_N SAXI_?? SAXI_??_8HI}
    }

    # End of the names of HBM's AXI interfaces: stacks of 16 GB in all have dies eight high, and other names.
    variable hbm_interface {}

    proc create_bd_cell {options others} {
        variable bd_cells
        set name [lindex $others 0]
        if {[info exists bd_cells($name)]} { error "there is a cell $name already" }
        if {![dict exists $options -vlnv]} { error "create_bd_cell needs -vlnv" }
        set parts [split [dict get $options -vlnv] :]
        # The default version is the release's.
        if {[llength $parts] ni {3 4}} { error "[dict get $options -vlnv] is not vendor:library:name:version" }
        set bd_cells($name) [lindex $parts 2]
        variable settings
        if {![dict exists $::vivado::ours $bd_cells($name)] && ![dict exists $settings $bd_cells($name)]} {
            error "IP $bd_cells($name) is not known here"
        }
        return [new bd_cell [list $name]]
    }

    proc create_bd_port {options others} { make_port [lindex $others 0] }
    proc create_bd_intf_port {options others} { make_port [lindex $others 0] }
    proc make_port {name} {
        variable bd_ports
        if {[info exists bd_ports($name)]} { error "there is a port $name already" }
        set bd_ports($name) 1
        return [new bd_port [list $name]]
    }

    proc get_bd_cells {options others} { made bd_cells [lindex $others 0] }
    proc get_bd_ports {options others} { made bd_ports [lindex $others 0] }
    proc get_bd_intf_ports {options others} { made bd_ports [lindex $others 0] }
    proc made {table names} {
        variable $table
        foreach name $names {
            if {![info exists ${table}($name)]} { error "nothing named $name was made in the block design" }
        }
        return $names
    }

    proc get_bd_pins {options others} { bd_pins [lindex $others 0] pin }
    proc get_bd_intf_pins {options others} { bd_pins [lindex $others 0] interface }
    proc get_bd_addr_spaces {options others} { bd_pins [lindex $others 0] interface }
    proc get_bd_addr_segs {options others} {
        bd_pins [lmap name [lindex $others 0] { join [lrange [split $name /] 0 1] / }] interface
        return [lindex $others 0]
    }
    proc bd_pins {names kind} {
        variable bd_cells
        variable pins_of
        foreach name $names {
            lassign [split $name /] cell pin
            made bd_cells [list $cell]
            set ip $bd_cells($cell)
            if {[dict exists $::vivado::ours $ip]} {
                # Our ports are those of the netlist; an interface is their common prefix.
                set known [lmap port $::netlist::ports([dict get $::vivado::ours $ip]) { lindex $port 0 }]
                set glob [expr {$kind eq {pin} ? $pin : "${pin}_*valid"}]
                if {[lsearch -glob $known $glob] < 0} { error "$ip has no $kind $pin" }
                continue
            }
            variable hbm_interface
            if {$ip eq {hbm} && [string match SAXI_* $pin] && ![string match SAXI_??$hbm_interface $pin]} {
                error "$pin is no interface of hbm with these stacks: it has SAXI_00$hbm_interface"
            }
            if {![llength [lmap known [dict get $pins_of $ip] { expr {[string match $known $pin] ? 1 : [continue]} }]]} {
                error "$ip has no $kind $pin that is known here"
            }
        }
        return $names
    }

    # A pin has one driver: a second connection to the end of a net is an error.
    variable bound
    array set bound {}
    proc connect_bd_intf_net {options others} {
        variable bound
        foreach end $others {
            if {[info exists bound($end)]} { error "$end is connected already" }
            set bound($end) 1
        }
    }
    proc connect_bd_net {options others} {
        variable bound
        foreach end [lrange $others 1 end] {
            if {[info exists bound($end)]} { error "$end is connected already" }
            set bound($end) 1
        }
    }

    # Checks the whole design: every clock and reset of our modules has a driver, and every interface of them an
    # end.
    proc validate_bd_design {options others} {
        variable bd_cells
        variable bound
        foreach cell [array names bd_cells] {
            if {![dict exists $::vivado::ours $bd_cells($cell)]} { continue }
            foreach port $::netlist::ports([dict get $::vivado::ours $bd_cells($cell)]) {
                set name [lindex $port 0]
                if {[regexp {^(\w+)_(ar|aw)valid$} $name -> bus]} { set name $bus } elseif {[regexp {^[sm]_axi} $name]} { continue }
                if {$name ni {interrupt} && ![info exists bound($cell/$name)]} { error "$cell/$name is not connected" }
            }
        }
    }

    proc check_settings {pairs objects} {
        variable bd_cells
        variable settings
        foreach object $objects {
            if {![info exists bd_cells($object)] || [dict exists $::vivado::ours $bd_cells($object)]} { continue }
            set ip $bd_cells($object)
            foreach {name value} $pairs {
                set known [lsearch -inline -glob [lmap k [dict get $settings $ip] { expr {[string match [string map {CONFIG. {}} $k] [string map {CONFIG. {}} $name]] ? $k : {}} }] ?*]
                if {$known eq {}} { error "$name of $ip is not known here" }
                variable hbm_interface
                if {$name eq {CONFIG.USER_HBM_DENSITY}} { set hbm_interface [expr {$value eq {16GB} ? {_8HI} : {}}] }
            }
        }
    }
}
