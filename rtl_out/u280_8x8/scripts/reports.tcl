# Reports of a routed design, and its verdict: one line that says pass or fail, also in build/reports/verdict.txt.
# Vivado runs it with the routed design open: from scripts/system.tcl, and under v++ after post-route optimisation.
set meshkv_root [file dirname [file dirname [file normalize [info script]]]]
source [file join $meshkv_root scripts design.tcl]
set meshkv_reports [file join $meshkv_root build reports]
file mkdir $meshkv_reports
# The verdict of an earlier build must not be taken for this one's.
file delete [file join $meshkv_reports verdict.txt]

report_timing_summary -max_paths 10 -report_unconstrained -warn_on_violation -file [file join $meshkv_reports timing.rpt]
report_bus_skew -warn_on_violation -file [file join $meshkv_reports bus_skew.rpt]
report_cdc -details -file [file join $meshkv_reports cdc.rpt]
report_methodology -file [file join $meshkv_reports methodology.rpt]
report_drc -file [file join $meshkv_reports drc.rpt]
report_utilization -slr -file [file join $meshkv_reports utilization_slr.rpt]
report_utilization -hierarchical -hierarchical_depth 6 -file [file join $meshkv_reports utilization.rpt]
report_design_analysis -congestion -file [file join $meshkv_reports congestion.rpt]
report_high_fanout_nets -fanout_greater_than 500 -max_nets 50 -timing -file [file join $meshkv_reports fanout.rpt]
# Advice only: a release that cannot give it ends nothing.
catch { report_qor_suggestions -file [file join $meshkv_reports qor_suggestions.rpt] }

# Worst slack of a kind of check, in nanoseconds, and the clock that its path ends at.
proc meshkv_worst {check} {
    set path [get_timing_paths $check -max_paths 1]
    if {[llength $path] == 0} { return {0 {no path}} }
    return [list [get_property SLACK $path] [get_property ENDPOINT_CLOCK $path]]
}

# Findings of a report that its own scale calls critical.
proc meshkv_critical {findings} {
    llength [lsearch -all -inline -glob [lmap one $findings { get_property SEVERITY $one }] Critical*]
}

lassign [meshkv_worst -setup] meshkv_setup meshkv_clock
lassign [meshkv_worst -hold] meshkv_hold meshkv_hold_clock
set meshkv_crossings [meshkv_critical [get_cdc_violations -quiet]]
set meshkv_methodology [meshkv_critical [get_methodology_violations -quiet]]

set meshkv_failures {}
if {$meshkv_setup < 0} {
    lappend meshkv_failures "setup slack $meshkv_setup ns on $meshkv_clock (timing.rpt)"
}
if {$meshkv_hold < 0} { lappend meshkv_failures "hold slack $meshkv_hold ns on $meshkv_hold_clock (timing.rpt)" }
if {$meshkv_crossings > 0} { lappend meshkv_failures "$meshkv_crossings critical clock crossings (cdc.rpt)" }
set meshkv_numbers "setup slack $meshkv_setup ns on $meshkv_clock, hold slack $meshkv_hold ns,\
    $meshkv_methodology critical findings of methodology; clocks of $design_noc_mhz and $design_pe_mhz MHz"
set meshkv_verdict [expr {[llength $meshkv_failures] == 0
    ? "meshkv: PASS: $meshkv_numbers"
    : "meshkv: FAIL: [join $meshkv_failures {; }]: see docs/board.md, What to do when it fails"}]
set meshkv_file [open [file join $meshkv_reports verdict.txt] w]
puts $meshkv_file $meshkv_verdict
close $meshkv_file
puts $meshkv_verdict
