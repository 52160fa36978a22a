# Checks of the installation: the release of Vivado, and the part.

# Ends with an error unless this is one of the card's releases of Vivado, of which design.tcl has the first and the last;
# MESHKV_ANY_VIVADO=1 in the environment permits any other.
proc meshkv_check_release {} {
    global design_releases design_card
    set release [version -short]
    if {![regexp {^(\d+)\.(\d+)} $release -> year minor]} {
        error "meshkv: cannot read the release of Vivado from \"$release\""
    }
    lassign $design_releases first last
    # A release is a number: a year, a point, a digit.
    if {"$year.$minor" >= $first && "$year.$minor" <= $last} { return }
    set said "Vivado $release is not one of $first to $last, for which these scripts and the $design_card's platform were written"
    if {[info exists ::env(MESHKV_ANY_VIVADO)] && $::env(MESHKV_ANY_VIVADO) eq {1}} {
        puts "meshkv: $said; going on because MESHKV_ANY_VIVADO is 1"
        return
    }
    error "meshkv: $said; use one of those, or set MESHKV_ANY_VIVADO=1 to try this one"
}

# Ends with an error unless Vivado has the part.
proc meshkv_check_part {part} {
    if {[llength [get_parts -quiet $part]] > 0} { return }
    error "meshkv: part $part is not installed in this Vivado: add the device family Virtex UltraScale+ HBM with the\
        installer (Help, Add Design Tools or Devices), and see that a licence for it is found"
}
