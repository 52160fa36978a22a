# Reports of a routed design, and its verdict: one line that says pass or fail, also in build/reports/verdict.txt.
# Vivado runs it with the routed design open: from scripts/system.tcl, and under v++ after post-route optimisation.
#
# What cannot be read, or was not checked, is no pass. Findings of the shell are told from those of the kernel: its
# critical crossings are its vendor's, but a path that misses its time, whosever it is, makes a bitstream that may fail.
set meshkv_root [file dirname [file dirname [file normalize [info script]]]]
source [file join $meshkv_root scripts design.tcl]
set meshkv_reports [file join $meshkv_root build reports]
file mkdir $meshkv_reports
# The verdict of an earlier build must not be taken for this one's.
file delete [file join $meshkv_reports verdict.txt]

# Writes a report and returns its text.
proc meshkv_report {name args} {
    set text [{*}$args -return_string]
    set file [open [file join $::meshkv_reports $name] w]
    puts $file $text
    close $file
    return $text
}

set meshkv_timing [meshkv_report timing.rpt report_timing_summary -max_paths 10 -report_unconstrained -warn_on_violation]
set meshkv_skews [meshkv_report bus_skew.rpt report_bus_skew -warn_on_violation]
set meshkv_cdc [meshkv_report cdc.rpt report_cdc -details]
report_methodology -file [file join $meshkv_reports methodology.rpt]
report_drc -file [file join $meshkv_reports drc.rpt]
report_utilization -slr -file [file join $meshkv_reports utilization_slr.rpt]
report_utilization -hierarchical -hierarchical_depth 6 -file [file join $meshkv_reports utilization.rpt]
report_design_analysis -congestion -file [file join $meshkv_reports congestion.rpt]
report_high_fanout_nets -fanout_greater_than 500 -max_nets 50 -timing -file [file join $meshkv_reports fanout.rpt]
# Advice only: a release that cannot give it ends nothing.
catch { report_qor_suggestions -file [file join $meshkv_reports qor_suggestions.rpt] }

# The kernel, and in the bare system its converters to HBM.
proc meshkv_cells {module} {
    get_cells -quiet -hierarchical -filter "REF_NAME == $module || ORIG_REF_NAME == $module"
}
set meshkv_kernel [meshkv_cells $design_top]
if {[llength $meshkv_kernel] != 1} {
    error "meshkv: found [llength $meshkv_kernel] cells of module $design_top where the reports need one"
}
set meshkv_ours $meshkv_kernel
foreach meshkv_converter $design_converters { lappend meshkv_ours {*}[meshkv_cells [lindex $meshkv_converter 0]] }

# Whose a finding is: a text that names something in our cells is of the kernel.
proc meshkv_owner {text} {
    foreach cell $::meshkv_ours { if {[string first $cell/ $text] >= 0} { return kernel } }
    return shell
}

# Worst slack of a check in nanoseconds, the clock that its path ends at, and whose path it is; nothing without a path
# that has a slack.
proc meshkv_worst {check args} {
    set path [get_timing_paths -$check -max_paths 1 {*}$args]
    if {[llength $path] == 0 || ![string is double -strict [get_property SLACK $path]]} { return {} }
    set ends "[get_property STARTPOINT_PIN $path] [get_property ENDPOINT_PIN $path]"
    return [list [get_property SLACK $path] [get_property ENDPOINT_CLOCK $path] [meshkv_owner $ends]]
}

# Worst slack of pulse widths: the ninth number of the table of the summary.
proc meshkv_pulse_width {text} {
    set table {WNS\(ns\)[^\n]*WPWS\(ns\)[^\n]*\n[- \t]+\n\s*(?:\S+\s+){8}(\S+)}
    if {![regexp $table $text -> slack] || ![string is double -strict $slack]} { return {} }
    return $slack
}

# Slacks of the summary of bus skews, a constraint each.
proc meshkv_bus_skews {text} {
    set slacks {}
    set inside 0
    foreach line [split $text \n] {
        if {[string match {1. Bus Skew Report Summary*} $line]} { set inside 1 }
        if {[string match {2. Bus Skew Report Per Constraint*} $line]} { set inside 0 }
        if {$inside && [regexp {^\s*(?:Slow|Fast)\s+\S+\s+\S+\s+(\S+)\s*$} $line -> slack]} { lappend slacks $slack }
    }
    return $slacks
}

# Critical crossings of the kernel and of the shell by the rows of the details, and all by the summary.
proc meshkv_crossings {text} {
    array set count {kernel 0 shell 0 all 0}
    foreach line [split $text \n] {
        if {[regexp {^CDC-\d+\s+Critical\s+(\d+)\s} $line -> number]} { incr count(all) $number }
        if {[regexp {^\s*\d+\s+CDC-\d+\S*\s+Critical\s} $line]} { incr count([meshkv_owner $line]) }
    }
    return [list $count(kernel) $count(shell) $count(all)]
}

set meshkv_failures {}
set meshkv_numbers {}
foreach meshkv_check {setup hold} {
    lassign [meshkv_worst $meshkv_check] meshkv_slack meshkv_clock meshkv_owner
    if {$meshkv_slack eq {}} {
        lappend meshkv_failures "no path was checked for $meshkv_check (timing.rpt)"
        continue
    }
    lappend meshkv_numbers "$meshkv_check slack $meshkv_slack ns on $meshkv_clock"
    if {$meshkv_slack < 0} {
        lappend meshkv_failures "$meshkv_check slack $meshkv_slack ns on $meshkv_clock, a path of the $meshkv_owner (timing.rpt)"
    }
    # A shell has paths of its own, so those of the kernel's clocks are looked for apart.
    foreach meshkv_pin {ap_clk ap_clk_2} {
        set meshkv_clock [get_clocks -quiet -of_objects [get_pins $meshkv_kernel/$meshkv_pin]]
        if {[llength $meshkv_clock] == 0 || [meshkv_worst $meshkv_check -to $meshkv_clock] eq {}} {
            lappend meshkv_failures "no path of the kernel's $meshkv_pin was checked for $meshkv_check (timing.rpt)"
        }
    }
}

set meshkv_slack [meshkv_pulse_width $meshkv_timing]
if {$meshkv_slack eq {}} {
    lappend meshkv_failures "no pulse width was checked (timing.rpt)"
} else {
    lappend meshkv_numbers "pulse width slack $meshkv_slack ns"
    if {$meshkv_slack < 0} { lappend meshkv_failures "pulse width slack $meshkv_slack ns (timing.rpt)" }
}

# Every constraint of the kernel has a row; the shell has others.
set meshkv_file [open [file join $meshkv_root constraints crossings.xdc]]
set meshkv_due [regexp -all -line {^set_bus_skew } [read $meshkv_file]]
close $meshkv_file
set meshkv_slacks [meshkv_bus_skews $meshkv_skews]
set meshkv_missed [lsearch -all -inline -not -regexp $meshkv_slacks {^(\d+\.?\d*|inf)$}]
lappend meshkv_numbers "[llength $meshkv_slacks] bus skews"
if {[llength $meshkv_slacks] < $meshkv_due} {
    lappend meshkv_failures "[llength $meshkv_slacks] bus skews were checked, and the kernel has $meshkv_due (bus_skew.rpt)"
}
if {[llength $meshkv_missed] > 0} {
    lappend meshkv_failures "[llength $meshkv_missed] bus skews miss their limit, slack [join $meshkv_missed {, }] ns (bus_skew.rpt)"
}

# A design with two clocks has crossings, be they all safe.
lassign [meshkv_crossings $meshkv_cdc] meshkv_kernels meshkv_shells meshkv_all
lappend meshkv_numbers "$meshkv_shells critical crossings of the shell"
if {![regexp -line {^CDC-\d+\s} $meshkv_cdc]} {
    lappend meshkv_failures "no clock crossing was found (cdc.rpt)"
} elseif {$meshkv_kernels + $meshkv_shells != $meshkv_all} {
    lappend meshkv_failures "of $meshkv_all critical clock crossings [expr {$meshkv_kernels + $meshkv_shells}] have a row (cdc.rpt)"
}
if {$meshkv_kernels > 0} { lappend meshkv_failures "$meshkv_kernels critical clock crossings of the kernel (cdc.rpt)" }

# Findings of methodology do not decide: many are advice.
array set meshkv_found {kernel 0 shell 0}
foreach meshkv_one [get_methodology_violations -quiet] {
    if {![string match Critical* [get_property SEVERITY $meshkv_one]]} continue
    incr meshkv_found([meshkv_owner [get_property -quiet DESCRIPTION $meshkv_one]])
}
lappend meshkv_numbers "critical findings of methodology: kernel $meshkv_found(kernel), shell $meshkv_found(shell)" \
    "clocks of $design_noc_mhz and $design_pe_mhz MHz"

set meshkv_verdict [expr {[llength $meshkv_failures] == 0
    ? "meshkv: PASS: [join $meshkv_numbers {, }]"
    : "meshkv: FAIL: [join $meshkv_failures {; }]: see docs/board.md, What to do when it fails"}]
set meshkv_file [open [file join $meshkv_reports verdict.txt] w]
puts $meshkv_file $meshkv_verdict
close $meshkv_file
puts $meshkv_verdict
