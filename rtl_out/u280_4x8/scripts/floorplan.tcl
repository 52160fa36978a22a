# Floorplan of the fabric in a system: run by Vivado before opt_design, in the bare system and under v++. opt_design then
# sees the regions and registers of the floorplan, and all names are still those of synthesis.
# Finds the top in the system's hierarchy and reads constraints/floorplan.xdc scoped to it.
set meshkv_root [file dirname [file dirname [file normalize [info script]]]]
source [file join $meshkv_root scripts design.tcl]
set meshkv_cell [get_cells -quiet -hierarchical -filter "REF_NAME == $design_top || ORIG_REF_NAME == $design_top"]
if {[llength $meshkv_cell] != 1} {
    error "meshkv: found [llength $meshkv_cell] cells of module $design_top where the floorplan needs one"
}
read_xdc -cells $meshkv_cell [file join $meshkv_root constraints floorplan.xdc]
# Converters to HBM are next to it; only the bare system has them.
foreach meshkv_module {meshkv_axi3_read meshkv_axi3_write} {
    set meshkv_cells [get_cells -quiet -hierarchical -filter "REF_NAME == $meshkv_module || ORIG_REF_NAME == $meshkv_module"]
    if {[llength $meshkv_cells] > 0} { add_cells_to_pblock [get_pblocks meshkv_slr0] $meshkv_cells }
}
# The shell owns the easternmost clock regions except the lowest.
if {[llength [get_cells -quiet level0_i]] > 0} {
    foreach meshkv_taken $design_shell {
        resize_pblock [get_pblocks [lindex $meshkv_taken 0]] -remove [lindex $meshkv_taken 1]
    }
}
