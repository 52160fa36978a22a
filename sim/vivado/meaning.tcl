# Meaning of commands that name objects: look-ups, and rules between constraints.

namespace eval vivado::do {
    namespace path ::vivado
    variable serial 0

    # Looks patterns up and notes how many objects were found. `query` answers one pattern.
    proc looked_up {name kind options others query} {
        variable ::vivado::counts
        if {[dict exists $options -of_objects]} {
            error "$name -of_objects cannot be looked up here: name the objects"
        }
        set patterns [expr {[llength $others] ? [lindex $others 0] : {*}}]
        if {[dict exists $options -regexp]} { error "$name -regexp cannot be looked up here: use a glob pattern" }
        set all {}
        set wild 0
        foreach pattern $patterns {
            set found [{*}$query $pattern $options]
            if {![llength $found] && ![dict exists $options -quiet]} {
                error "$name finds nothing named $pattern[why_nothing $pattern]"
            }
            if {[regexp {[*?]} $pattern]} {
                set wild 1
            } elseif {[llength $found] > 1} {
                error "$pattern has no wildcard and finds [llength $found] objects"
            }
            lappend all {*}$found
        }
        if {[dict exists $options -filter]} { set wild 1 }
        if {[llength [lsort -unique $all]] != [llength $all]} { error "$name names an object twice: $patterns" }
        lappend counts [list "$name $patterns" [llength $all] $wild]
        return [new $kind $all]
    }

    proc get_cells {options others} { looked_up get_cells cell $options $others ::vivado::do::cells_named }
    proc get_pins {options others} { looked_up get_pins pin $options $others ::vivado::do::pins_named }
    proc get_ports {options others} { looked_up get_ports port $options $others ::vivado::do::ports_named }
    proc get_nets {options others} { error "nets cannot be looked up here: their names do not survive synthesis" }

    proc cells_named {pattern options} {
        variable ::vivado::scope
        variable ::vivado::hierarchical
        if {![dict exists $options -hierarchical]} {
            set found [netlist::cells_of $scope [split $pattern /]]
            foreach one $found { if {[lindex $one 1] ne {}} { set hierarchical([lindex $one 0]) [lindex $one 1] } }
            return [lmap one $found { lindex $one 0 }]
        }
        # In the whole tree only instances are looked up: registers are named by their paths.
        set filter [expr {[dict exists $options -filter] ? [dict get $options -filter] : {}}]
        if {![regexp {^(?:ORIG_)?REF_NAME == "?([\w.]+)"?(?: \|\| (?:ORIG_)?REF_NAME == "?([\w.]+)"?)?$} $filter -> a b]} {
            error "get_cells -hierarchical is looked up here with -filter {REF_NAME == name} only, not $filter"
        }
        set found {}
        foreach one [netlist::all_instances $scope] {
            lassign $one name module
            if {$::netlist::name($module) in [list $a $b] && [string match [netlist::glob_of $pattern] $name]} {
                set hierarchical($name) $module
                lappend found $name
            }
        }
        return $found
    }

    proc pins_named {pattern options} {
        variable ::vivado::scope
        if {[dict exists $options -hierarchical]} { error "get_pins -hierarchical cannot be looked up here" }
        set pieces [split $pattern /]
        if {[llength $pieces] < 2} { error "$pattern names no pin of a cell" }
        set found {}
        foreach one [netlist::cells_of $scope [lrange $pieces 0 end-1]] {
            lassign $one name module
            foreach pin [netlist::pins_of $module [lindex $pieces end]] { lappend found $name/$pin }
        }
        return $found
    }

    proc ports_named {pattern options} {
        variable ::vivado::scope
        netlist::bits_matching $::netlist::ports($scope) $pattern
    }

    proc get_clocks {options others} {
        variable ::vivado::clocks
        set found {}
        if {[dict exists $options -of_objects]} {
            foreach object [dict get $options -of_objects] {
                set here [lsearch -all -inline -index 1 [lmap n [array names clocks] { list $n {*}$clocks($n) }] $object]
                # Clocks of a script's design are its platform's: each pin has one of its own name.
                if {![llength $here] && ![llength $::vivado::at] && [is $object pin]} {
                    set here [list [list [lindex [split $object /] end]]]
                }
                if {![llength $here]} { error "no clock is known on $object" }
                lappend found {*}[lmap one $here { lindex $one 0 }]
            }
        } else {
            foreach pattern [lindex $others 0] {
                set here [lsearch -all -inline -glob [array names clocks] [netlist::glob_of $pattern]]
                if {![llength $here]} { error "get_clocks finds nothing named $pattern" }
                lappend found {*}$here
            }
        }
        return [new clock $found]
    }

    proc create_clock {options others} {
        variable ::vivado::clocks
        if {![dict exists $options -period]} { error "create_clock needs -period" }
        set period [dict get $options -period]
        if {![string is double -strict $period] || $period <= 0} { error "a period of $period ns" }
        set on [lindex $others 0]
        if {[llength $on] != 1 || ![is $on port pin]} { error "create_clock needs one port or pin, not \"$on\"" }
        set name [expr {[dict exists $options -name] ? [dict get $options -name] : $on}]
        if {[info exists clocks($name)] && [lindex $clocks($name) 0] ne $on} { error "there is a clock $name already" }
        set clocks($name) [list $on $period]
        return [new clock [list $name]]
    }

    proc get_property {options others} {
        variable ::vivado::clocks
        lassign $others property object
        if {[info exists clocks($object)] && $property eq {PERIOD}} { return [lindex $clocks($object) 1] }
        if {$property eq {PERIOD}} { error "PERIOD is a property of a clock, and \"$object\" is none" }
        if {$object eq {}} { error "get_property $property of nothing" }
        variable answers
        return [answer $property [expr {[dict exists $answers $property] ? [dict get $answers $property] : $object}]]
    }

    proc ends_of {name options} {
        set found {}
        foreach {option value} $options {
            if {![regexp {^-(?:rise_|fall_)?(from|to|through)$} $option -> side]} { continue }
            if {![llength $value]} { error "$option of $name is empty" }
            foreach object $value {
                if {![is $object cell pin port clock]} { error "$option of $name: \"$object\" is no cell, pin, port or clock" }
            }
            dict lappend found $side {*}$value
        }
        if {![llength $found]} { error "$name has neither -from nor -to" }
        foreach object [expr {[dict exists $found to] ? [dict get $found to] : {}}] {
            set ::vivado::covered([regsub {/[A-Z]+$} $object {}]) 1
        }
        return $found
    }

    proc positive {name value} {
        if {![string is double -strict $value] || $value <= 0} { error "$name of \"$value\" ns" }
    }

    proc set_max_delay {options others} {
        set ends [ends_of set_max_delay $options]
        positive set_max_delay [lindex $others 0]
        if {[dict exists $options -datapath_only] && ![dict exists $ends from]} {
            error "set_max_delay -datapath_only needs -from"
        }
    }
    proc set_min_delay {options others} { ends_of set_min_delay $options }
    proc set_false_path {options others} { ends_of set_false_path $options }
    proc set_multicycle_path {options others} { ends_of set_multicycle_path $options }
    proc set_bus_skew {options others} {
        set ends [ends_of set_bus_skew $options]
        positive set_bus_skew [lindex $others 0]
        foreach side {from to} { if {![dict exists $ends $side]} { error "set_bus_skew needs -$side" } }
        set counts [list [llength [dict get $ends from]] [llength [dict get $ends to]]]
        if {[lindex $counts 0] != [lindex $counts 1]} {
            error "set_bus_skew from [lindex $counts 0] to [lindex $counts 1] cells: a bit has one of each"
        }
    }
    proc set_clock_groups {options others} {
        if {[dict exists $options -asynchronous]} {
            error "set_clock_groups -asynchronous overrides the delays that crossings need"
        }
    }

    # Properties of netlist objects and of the design, with the values they may have.
    variable properties {
        PACKAGE_PIN {^[A-Z]{1,2}[0-9]{1,2}$} IOSTANDARD {^(LVDS|LVCMOS18|DIFF_SSTL12|LVCMOS12|SSTL12_DCI)$}
        PULLTYPE {^(PULLUP|PULLDOWN|KEEPER|NONE)$} ASYNC_REG {^TRUE$} USER_SLL_REG {^TRUE$} KEEP_HIERARCHY {^(yes|soft)$}
        CFGBVS {^(GND|VCCO)$} CONFIG_VOLTAGE {^1\.8$} CONFIG_MODE {^SPIx4$} IS_SOFT {^(TRUE|FALSE)$}
        SNAPPING_MODE {^(ON|OFF)$} CONTAIN_ROUTING {^(TRUE|FALSE)$} CLOCK_DEDICATED_ROUTE {^(TRUE|FALSE|BACKBONE|ANY_CMT_COLUMN)$}
        BITSTREAM.CONFIG.CONFIGFALLBACK {^(ENABLE|DISABLE)$} BITSTREAM.GENERAL.COMPRESS {^(TRUE|FALSE)$}
        BITSTREAM.CONFIG.SPI_BUSWIDTH {^4$} BITSTREAM.CONFIG.CONFIGRATE {^85\.0$}
        BITSTREAM.CONFIG.EXTMASTERCCLK_EN {^(DISABLE|DIV-1)$} BITSTREAM.CONFIG.SPI_FALL_EDGE {^(YES|NO)$}
        BITSTREAM.CONFIG.SPI_32BIT_ADDR {^(YES|NO)$} BITSTREAM.CONFIG.UNUSEDPIN {^(PULLUP|PULLDOWN|PULLNONE)$}
        BITSTREAM.CONFIG.OVERTEMPSHUTDOWN {^(ENABLE|DISABLE)$}
    }
    # Class of objects of each property: those of the device's configuration belong to the design, and so on.
    variable owners {
        PACKAGE_PIN port IOSTANDARD port PULLTYPE port ASYNC_REG cell USER_SLL_REG cell KEEP_HIERARCHY cell
        IS_SOFT pblock SNAPPING_MODE pblock CONTAIN_ROUTING pblock
    }
    variable pins
    array set pins {}

    proc set_property {options others} {
        variable ::vivado::at
        variable properties
        variable owners
        variable pins
        variable ::vivado::hierarchical
        variable ::vivado::kept
        if {[dict exists $options -dict]} {
            lassign $others objects
            set pairs [dict get $options -dict]
            if {[llength $pairs] % 2} { error "set_property -dict needs pairs, not [llength $pairs] words" }
        } else {
            if {[llength $others] != 3} { error "set_property takes a name, a value and objects, not: $others" }
            lassign $others name value objects
            set pairs [list $name $value]
        }
        if {![llength $objects]} { error "set_property [lindex $pairs 0] of nothing" }
        # Outside an XDC there are projects, runs and IP, whose properties only Vivado knows.
        if {![llength $at]} { return [check_settings $pairs $objects] }
        foreach {name value} $pairs {
            if {![dict exists $properties $name]} { error "property $name is not known here" }
            if {![regexp [dict get $properties $name] $value]} { error "$name cannot be \"$value\"" }
            set owner [expr {[dict exists $owners $name] ? [dict get $owners $name] : {design net}}]
            foreach object $objects {
                if {![is $object {*}$owner]} { error "$name is a property of a $owner, and \"$object\" is none" }
                if {$name eq {KEEP_HIERARCHY}} {
                    if {![info exists hierarchical($object)]} { error "$name is a property of an instance, and $object is none" }
                    set kept($object) 1
                }
                if {$name ne {PACKAGE_PIN}} { continue }
                if {[info exists pins($value)] && $pins($value) ne $object} { error "pin $value has $pins($value) already" }
                set pins($value) $object
            }
        }
    }

    proc current_design {options others} { new design {design} }

    # Projects and files.
    proc version {options others} { return $::vivado::release }
    proc get_parts {options others} { lsearch -all -inline $::vivado::parts [lindex $others 0] }
    proc get_board_parts {options others} { lsearch -all -inline $::vivado::board_parts [lindex $others 0] }
    proc get_ipdefs {options others} { lindex $others 0 }
    proc source {options others} { uplevel #0 [list ::vivado::sourced [lindex $others 0]] }
    proc added {files} {
        variable ::vivado::sources
        foreach file $files {
            if {![file exists $file]} { error "there is no file $file" }
            set sources([file tail $file]) $file
        }
    }
    # Packaged sources contain the macros that they test: no other macro reaches the synthesis of an IP.
    namespace eval ipx {}
    proc ipx::package_project {options others} {
        foreach {name file} [array get ::vivado::sources *.v] {
            set channel [open $file]
            set text [read $channel]
            close $channel
            foreach macro $::vivado::assumed {
                if {![regexp -indices "`(ifdef|elsif)\\s+$macro\\M" $text asks]} { continue }
                if {![regexp "`define\\s+$macro\\M" [string range $text 0 [lindex $asks 0]]]} {
                    error "$name is packaged without $macro, which meshkv estimate assumes: the card would get other logic\
                        than was estimated"
                }
            }
        }
        return [::vivado::new object [list ipx::package_project]]
    }
    proc add_files {options others} { added [lindex $others 0]; return [lindex $others 0] }
    proc read_verilog {options others} { added [lindex $others 0] }
    proc get_files {options others} {
        variable ::vivado::sources
        set found {}
        foreach name [lindex $others 0] {
            if {![regexp {\.bd$} $name] && ![info exists sources([file tail $name])]} { error "no file $name was added" }
            lappend found $name
        }
        return $found
    }

    # Constraints that a script reads are run in the scope that it names.
    proc read_xdc {options others} {
        variable ::vivado::scope
        variable ::vivado::hierarchical
        set file [lindex $others 0]
        if {![file exists $file]} { error "there is no file $file" }
        set outer $scope
        if {[dict exists $options -cells]} {
            set cell [dict get $options -cells]
            if {![info exists hierarchical($cell)]} { error "read_xdc -cells: \"$cell\" is no instance" }
            set scope $hierarchical($cell)
        }
        run_xdc $file
        set scope $outer
    }

}
