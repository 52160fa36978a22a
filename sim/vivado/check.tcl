# Runs constraints and scripts as Vivado would, with commands that check their arguments and do nothing.
#
# Patterns are looked up in a netlist (netlist.tcl): of synthesis in the elaborated one, of implementation in the
# flattened one. A finding is one line on standard output:
#     finding FILE LINE TEXT
# and every file that was run to its end says so. A comment `# expect 448 64` before a command of an XDC is the number of
# objects that its queries find, in order; a query with a wildcard must have one, any other finds one object a name.

namespace eval vivado {
    # Properties of the installation: the caller sets its parts, and tests change them.
    variable release 2022.2
    variable parts {}
    variable board_parts {}
    # Modules that scripts package, each with its netlist.
    variable ours {}
    # Macros that the estimate defines.
    variable assumed {}
    # Scope of look-ups: the top module of the open design, and the path of instances before it.
    variable scope {}
    # The same top in the elaborated netlist, if `scope` is in the flattened one: for the reason why nothing is found.
    variable elaborated {}
    # Instances that keep their hierarchy.
    variable kept
    array set kept {}
    variable class
    array set class {}
    # Objects that the constraints have made so far.
    variable clocks
    array set clocks {}
    variable regions
    array set regions {}
    variable placed
    array set placed {}
    # Registers that a timing exception ends at.
    variable covered
    array set covered {}
    variable at {}
    variable counts {}
    variable expected {}
    variable findings 0
    # The last failure of a script's command: text, file, line.
    variable failed {}

    proc finding {text} {
        variable at
        variable findings
        incr findings
        lassign [expr {[llength $at] ? $at : [where]}] file line
        set file [string map [list [pwd]/ {}] $file]
        puts "finding $file $line [string map {\n { }} $text]"
    }

    # File and line of the current command of a script.
    proc where {} {
        for {set level [info frame]} {$level > 0} {incr level -1} {
            set frame [info frame $level]
            if {[dict exists $frame file] && [dict exists $frame line]} {
                set file [dict get $frame file]
                if {[file dirname $file] ne $::vivado::home} { return [list $file [dict get $frame line]] }
            }
        }
        return {? 0}
    }

    proc new {kind names} {
        variable class
        foreach name $names { set class($name) $kind }
        return $names
    }

    proc is {name args} {
        variable class
        expr {[info exists class($name)] && $class($name) in $args}
    }

    # Splits the words of a command into options, a dictionary, and the others.
    proc parse {name words} {
        variable spec
        lassign $spec($name) valued flags fewest most
        set options {}
        set others {}
        while {[llength $words]} {
            set words [lassign $words word]
            if {![regexp {^-[a-zA-Z]} $word]} {
                lappend others $word
                continue
            }
            set full [lsearch -all -inline -glob [concat $valued $flags] $word*]
            if {$word in $full} { set full [list $word] }
            if {[llength $full] != 1} {
                set why [expr {[llength $full] ? "may be any of [join $full {, }]" : "is no option"}]
                error "$word $why of $name"
            }
            if {$full in $valued} {
                if {![llength $words]} { error "$full of $name needs a value" }
                set words [lassign $words value]
                if {[dict exists $options $full] && $full ni {-group}} { error "$full is given twice to $name" }
                dict set options $full $value
            } else {
                dict set options $full 1
            }
        }
        if {[llength $others] < $fewest || [llength $others] > $most} {
            error "$name takes $fewest to $most words beside its options, not [llength $others]: $others"
        }
        return [list $options $others]
    }

    # Checks and runs a command of Vivado.
    proc invoke {name args} {
        variable spec
        if {![info exists spec($name)]} { error "invalid command name \"$name\"" }
        lassign [parse $name $args] options others
        if {[llength [info commands ::vivado::do::$name]]} { return [do::$name $options $others] }
        return [new object [list $name:[join $others ,]]]
    }

    # The same for a command of a script, and records where it failed: Tcl itself only knows the outermost
    # command.
    proc invoke_in_script {args} {
        variable failed
        if {[catch {invoke {*}$args} result options]} { set failed [list $result {*}[where]] }
        return -options $options $result
    }

    proc unheard_of {name} {
        return "invalid command name \"$name\": neither of Tcl nor one of Vivado that sim/vivado/commands.tcl has"
    }

    # Runs an XDC command by command; each may fail separately.
    proc run_xdc {file} {
        variable at
        variable counts
        variable expected
        variable in_xdc
        set outer $at
        set words {}
        set line 0
        set channel [open $file]
        set lines [split [read $channel] \n]
        close $channel
        foreach text $lines {
            incr line
            if {$words eq {}} {
                set first $line
                if {[regexp {^\s*#\s*expect\s+([\d ]+)$} $text -> numbers]} { set expected $numbers }
                if {[regexp {^\s*(#|$)} $text]} { continue }
            }
            append words $text \n
            if {![info complete $words]} { continue }
            set at [list $file $first]
            set counts {}
            set name [regexp -inline {^\s*\S+} $words]
            set name [string trim [lindex $name 0]]
            if {$name ni $in_xdc && $name ni {set expr list}} {
                finding "$name is not valid in an XDC file (UG903)"
            } elseif {[catch {interp eval xdc $words} why]} {
                finding $why
            } else {
                check_counts
            }
            set expected {}
            set words {}
        }
        set at [list $file $first]
        if {$words ne {}} { finding "a bracket, brace or quote that opens here is not closed" }
        set at $outer
    }

    # Compares the queries of a command with the numbers in its comment.
    proc check_counts {} {
        variable counts
        variable expected
        if {![llength $counts] && ![llength $expected]} { return }
        set needed [lsearch -all -inline -index 2 $counts 1]
        if {[llength $expected]} {
            set found [lmap count $counts { lindex $count 1 }]
            if {$found ne [lrange $expected 0 end]} {
                set what [lmap count $counts { lindex $count 0 }]
                finding "expected [join $expected { and }] objects, found [join $found { and }]: [join $what {; }]"
            }
        } elseif {[llength $needed]} {
            finding "[lindex $needed 0 0] has a wildcard, and no comment `# expect` says how many objects it finds"
        }
    }

    # Says what happened to a pattern that finds nothing: where one of its instances is dissolved, or that there is none.
    proc why_nothing {pattern} {
        variable scope
        variable elaborated
        if {$elaborated eq {}} { return {} }
        set pieces [split $pattern /]
        for {set level 0} {$level < [llength $pieces]} {incr level} {
            set here [lrange $pieces 0 $level]
            if {![netlist::has_instance $elaborated $here]} { return {} }
            if {[netlist::has_instance $scope $here]} { continue }
            return ": synthesis dissolves [join $here /]; keep that instance in constraints/hierarchy.xdc, or name a cell\
                that is not in it"
        }
        return {}
    }

    # Prints the instances that keep their hierarchy.
    proc print_kept {} {
        variable kept
        foreach path [lsort [array names kept]] { puts "kept $path" }
    }

    # Makes the interpreter of an XDC: no Tcl but set, expr and list.
    proc prepare_xdc {} {
        variable in_xdc
        interp create xdc
        foreach name [interp eval xdc {info commands}] {
            if {$name ni {set expr list}} { interp hide xdc $name }
        }
        foreach name $in_xdc { interp alias xdc $name {} ::vivado::invoke $name }
        interp alias xdc unknown {} ::vivado::not_in_xdc
    }

    proc not_in_xdc {name args} {
        error "$name is not valid in an XDC file (UG903)"
    }

    # Finds registers that sample bits of another clock without an exception that ends at them. `async_reg`
    # marks them; the second register of a chain is fed by the first.
    proc check_crossings {file} {
        variable scope
        variable covered
        variable at
        set outer $at
        set at [list $file 1]
        foreach one [concat [list [list {} $scope]] [netlist::all_instances $scope]] {
            lassign $one path module
            foreach reg $::netlist::regs($module) {
                lassign $reg name width first async
                if {!$async || [string match *second* $name]} { continue }
                foreach cell [netlist::registers $module ${name}_reg*] {
                    set full [expr {$path eq {} ? $cell : "$path/$cell"}]
                    if {![info exists covered($full)]} {
                        finding "$full takes a bit of another clock, and no constraint ends there"
                        break
                    }
                }
            }
        }
        set at $outer
    }

    # Runs a script with the commands of Vivado in addition to those of Tcl.
    proc run_script {file arguments} {
        variable findings
        variable failed
        set ::argv $arguments
        set ::argc [llength $arguments]
        if {[catch {uplevel #0 [list ::vivado::sourced $file]} why options]} {
            set line [expr {[dict exists $options -errorline] ? [dict get $options -errorline] : 0}]
            set stack [dict get $options -errorinfo]
            if {[regexp {\(file "[^"]*" line (\d+)\)} $stack -> in_file]} { set line $in_file }
            if {$why eq [lindex $failed 0]} { lassign $failed -> file line }
            incr findings
            puts "finding [string map [list [pwd]/ {}] $file] $line [string map {\n { }} $why]"
        }
    }

    proc prepare_script {} {
        variable spec
        rename ::source ::vivado::sourced
        rename ::unknown ::vivado::tcl_unknown
        foreach name [array names spec] {
            if {[string match *::* $name]} { namespace eval ::[namespace qualifiers $name] {} }
            interp alias {} ::$name {} ::vivado::invoke_in_script $name
        }
        proc ::unknown {name args} {
            set ::vivado::failed [list [::vivado::unheard_of $name] {*}[::vivado::where]]
            error [lindex $::vivado::failed 0]
        }
        # A check starts no programs.
        proc ::exec {args} { return {} }
    }
}
