# Regions of the device and the cells in them.

namespace eval vivado::do {
    proc create_pblock {options others} {
        variable ::vivado::regions
        set name [lindex $others 0]
        if {[info exists regions($name)]} { error "there is a pblock $name already" }
        set regions($name) {}
        return [new pblock [list $name]]
    }

    proc get_pblocks {options others} {
        variable ::vivado::regions
        foreach name [lindex $others 0] {
            if {![info exists regions($name)]} { error "get_pblocks finds nothing named $name" }
        }
        return [new pblock [lindex $others 0]]
    }

    proc resize_pblock {options others} {
        variable ::vivado::regions
        set name [lindex $others 0]
        if {![is $name pblock]} { error "there is no pblock $name" }
        foreach option {-add -remove} {
            if {![dict exists $options $option]} { continue }
            foreach range [dict get $options $option] {
                if {![regexp {^CLOCKREGION_X(\d+)Y(\d+):CLOCKREGION_X(\d+)Y(\d+)$} $range -> x y u v] || $u < $x || $v < $y
                        || $u > 7 || $v > 11} {
                    error "$range are no clock regions of the FPGA, X0Y0 to X7Y11"
                }
                lappend regions($name) $range
            }
        }
    }

    proc add_cells_to_pblock {options others} {
        variable ::vivado::placed
        variable ::vivado::regions
        lassign $others name cells
        if {![is $name pblock]} { error "there is no pblock $name" }
        if {![llength $regions($name)]} { error "pblock $name has no place yet" }
        if {![llength $cells] && ![dict exists $options -top]} { error "no cells for pblock $name" }
        foreach cell $cells {
            if {![is $cell cell]} { error "\"$cell\" is no cell" }
            if {[info exists placed($cell)]} { error "$cell is in pblock $placed($cell) already" }
            set placed($cell) $name
        }
    }
}
