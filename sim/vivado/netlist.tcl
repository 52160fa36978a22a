# A netlist under the names that Vivado gives its objects: elaborated, or flattened.
#
# `netlist::module` describes each module once. The tree of instances is searched by pattern, one level of
# hierarchy for each `/`. The matches of a module for a piece of a pattern are cached, so that 64 tiles cost
# little more than one. A register `x_q` of several bits is the cells `x_q_reg[0]`, `x_q_reg[1]`, ... One of a
# single bit is `x_q_reg` or, if it was declared with a range, `x_q_reg[0]`: a pattern must match under either
# name.
#
# In a flattened netlist the name of an object may have a `/` of an instance that was dissolved around it. Such a `/` is
# no level, and only a wildcard matches it. Vivado also takes a `/` of a pattern for it (UG903, Hierarchical Names), but
# only for what synthesis left of the cell, and never for an instance.

namespace eval netlist {
    # By module: its name in the source, ports, registers, instances. `seen`: cached matches.
    variable name
    variable ports
    variable regs
    variable cells
    variable seen
    array set seen {}

    # ports: {name width}...; regs: {name width first_bit async}...; cells: {instance module}...
    proc module {id source_name its_ports its_regs its_cells} {
        variable name
        variable ports
        variable regs
        variable cells
        set name($id) $source_name
        set ports($id) $its_ports
        set regs($id) $its_regs
        set cells($id) $its_cells
    }

    # Only * and ? are special in a pattern of Vivado; Tcl's own brackets are not.
    proc glob_of {pattern} {
        string map {\\ \\\\ [ \\[ ] \\]} $pattern
    }

    # Instances of a module that match: {instance module}...
    proc instances {id piece} {
        variable seen
        variable cells
        if {![info exists seen($id,i,$piece)]} {
            set glob [glob_of $piece]
            set seen($id,i,$piece) [lsearch -all -inline -index 0 -glob $cells($id) $glob]
        }
        return $seen($id,i,$piece)
    }

    # Registers of a module that match, as cells.
    proc registers {id piece} {
        variable seen
        variable regs
        if {[info exists seen($id,r,$piece)]} { return $seen($id,r,$piece) }
        set glob [glob_of $piece]
        set found {}
        foreach reg $regs($id) {
            lassign $reg reg_name width first
            set cell ${reg_name}_reg
            if {$width == 1} {
                if {[string match $glob $cell] && [string match $glob $cell\[0\]]} { lappend found $cell }
                continue
            }
            for {set bit 0} {$bit < $width} {incr bit} {
                set one $cell\[[expr {$first + $bit}]\]
                if {[string match $glob $one]} { lappend found $one }
            }
        }
        set seen($id,r,$piece) $found
        return $found
    }

    # Cells below a module: instances and registers at the last piece of the pattern, {name module} each; module is
    # empty for a register.
    proc cells_of {id pieces {prefix {}}} {
        set pieces [lassign $pieces piece]
        set found {}
        if {![llength $pieces]} {
            foreach instance [instances $id $piece] {
                lappend found [list $prefix[lindex $instance 0] [lindex $instance 1]]
            }
            foreach cell [registers $id $piece] { lappend found [list $prefix$cell {}] }
            return $found
        }
        foreach instance [instances $id $piece] {
            lassign $instance name child
            lappend found {*}[cells_of $child $pieces $prefix$name/]
        }
        return $found
    }

    # True if an instance matches the pieces of a pattern.
    proc has_instance {id pieces} {
        set pieces [lassign $pieces piece]
        foreach instance [instances $id $piece] {
            if {![llength $pieces] || [has_instance [lindex $instance 1] $pieces]} { return 1 }
        }
        return 0
    }

    # Every instance below a module, at any depth: {name module}...
    proc all_instances {id {prefix {}}} {
        variable cells
        set found {}
        foreach instance $cells($id) {
            lassign $instance name child
            lappend found [list $prefix$name $child]
            lappend found {*}[all_instances $child $prefix$name/]
        }
        return $found
    }

    # Pins of a cell that match: of an instance its ports, of a register those of a flip-flop.
    proc pins_of {module piece} {
        variable seen
        variable ports
        if {$module eq {}} { return [lsearch -all -inline -glob {C CE CLR D PRE Q R S} [glob_of $piece]] }
        if {![info exists seen($module,p,$piece)]} {
            set seen($module,p,$piece) [bits_matching $ports($module) $piece]
        }
        return $seen($module,p,$piece)
    }

    # Bits of ports, {name width}..., that match.
    proc bits_matching {those pattern} {
        set glob [glob_of $pattern]
        set found {}
        foreach port $those {
            lassign $port port_name width
            if {$width == 1} {
                if {[string match $glob $port_name]} { lappend found $port_name }
                continue
            }
            for {set bit 0} {$bit < $width} {incr bit} {
                if {[string match $glob $port_name\[$bit\]]} { lappend found $port_name\[$bit\] }
            }
        }
        return $found
    }
}
