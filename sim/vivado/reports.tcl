# Reports of a run that succeeded, without findings, in the layout that Vivado gives them (UG906).
#
# A file `answers/NAME` in the current folder replaces the answer of that name: a report, a property, or objects.

namespace eval vivado::do {
    variable answers {
        STATUS Complete PROGRESS 100% DIRECTORY . SLACK 0.1 ENDPOINT_CLOCK ap_clk
        STARTPOINT_PIN level0_i/ulp/meshkv_1/inst/u_core/a_reg/C ENDPOINT_PIN level0_i/ulp/meshkv_1/inst/u_core/b_reg/D
    }

    proc answer {name otherwise} {
        set file [file join answers $name]
        if {![file exists $file]} { return $otherwise }
        set channel [open $file]
        set text [read $channel]
        close $channel
        return [string trimright $text \n]
    }

    proc get_timing_paths {options others} {
        answer [expr {[dict exists $options -to] ? {paths_of_clock} : {paths}}] path
    }
    proc get_methodology_violations {options others} { answer methodology {} }

    # A report that a script asks for as text.
    proc as_text {name options text} {
        if {![dict exists $options -return_string]} { return {} }
        return [answer $name $text]
    }

    proc report_timing_summary {options others} {
        as_text timing $options {
| Design Timing Summary
| ---------------------

    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)  THS Failing Endpoints  THS Total Endpoints     WPWS(ns)     TPWS(ns)  TPWS Failing Endpoints  TPWS Total Endpoints
    -------      -------  ---------------------  -------------------      -------      -------  ---------------------  -------------------     --------     --------  ----------------------  --------------------
      0.100        0.000                      0                  973        0.100        0.000                      0                  973        0.250        0.000                       0                   570

All user specified timing constraints are met.

| Intra Clock Table

Clock  WNS(ns)  TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints  WHS(ns)  THS(ns)  THS Failing Endpoints  THS Total Endpoints  WPWS(ns)  TPWS(ns)  TPWS Failing Endpoints  TPWS Total Endpoints
}
    }

    # A row a constraint of the kernel, and one of the shell.
    proc report_bus_skew {options others} {
        set channel [open constraints/crossings.xdc]
        set rows [regexp -all -line {^set_bus_skew } [read $channel]]
        close $channel
        set text "Bus Skew Report\n\nTable of Contents\n-----------------\n1. Bus Skew Report Summary\n\
            2. Bus Skew Report Per Constraint\n\n1. Bus Skew Report Summary\n--------------------------\n\n"
        for {set id 1} {$id <= $rows + 1} {incr id} {
            append text "$id  [expr {60 + $id}]  \[get_cells from\]\n         \[get_cells to\]\n             Slow  2.000  0.500  1.500\n"
        }
        append text "\n\n2. Bus Skew Report Per Constraint\n---------------------------------\n\nId: 1\nSlow  2.000  0.500  1.500\n"
        as_text bus_skew $options $text
    }

    proc report_cdc {options others} {
        as_text cdc $options {
CDC Report

ID      Severity  Count  Description
------  --------  -----  -----------
CDC-3   Info          2  1-bit synchronized with ASYNC_REG property
CDC-15  Warning     540  Clock enable controlled CDC structure detected

Row  ID      Severity  Description                                 Depth  Exception       Source (From)  Destination (To)
---  ------  --------  ------------------------------------------  -----  --------------  -------------  ----------------
  1  CDC-3   Info      1-bit synchronized with ASYNC_REG property      2  Max Delay Only  a_reg/C        b_reg/D
}
    }
}
