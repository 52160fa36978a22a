# Checks of the installation: the release of Vivado, and the part.

# Ends with an error unless this is Vivado 2022.1 to 2023.1; MESHKV_ANY_VIVADO=1 in the environment permits any other.
proc meshkv_check_release {} {
    set release [version -short]
    if {![regexp {^(\d+)\.(\d+)} $release -> year minor]} {
        error "meshkv: cannot read the release of Vivado from \"$release\""
    }
    set number [expr {10 * $year + $minor}]
    if {$number >= 20221 && $number <= 20231} { return }
    set said "Vivado $release is not one of 2022.1 to 2023.1, for which these scripts and the U280's platform were written"
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
