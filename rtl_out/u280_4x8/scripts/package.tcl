# Packages the top as an IP in build/ip, for the Vitis kernel and the bare system, and the converters to HBM, which only
# the bare system has.
# Needs design.tcl, and meshkv_root: the folder that meshkv generated.

# Opens a project of some sources with their constraints, and packages it below build/ip.
proc meshkv_core {module sources prefix folder display_name} {
    global meshkv_root design_part
    set build [file join $meshkv_root build]
    set constraints [file join $meshkv_root constraints]
    create_project -force meshkv_package [file join $build package] -part $design_part
    foreach source $sources { add_files -norecurse $source }
    set_property top $module [current_fileset]
    foreach name {clocks hierarchy crossings} {
        add_files -fileset constrs_1 -norecurse [file join $constraints $prefix$name.xdc]
    }
    # Constraints of an IP are read scoped to it; their names are relative to the top.
    set_property USED_IN {synthesis implementation out_of_context} [get_files [file join $constraints ${prefix}clocks.xdc]]
    set_property USED_IN {synthesis} [get_files [file join $constraints ${prefix}hierarchy.xdc]]
    set_property USED_IN {implementation} [get_files [file join $constraints ${prefix}crossings.xdc]]
    # Read late, because they query the periods of the system's clocks.
    set_property PROCESSING_ORDER LATE [get_files [file join $constraints ${prefix}crossings.xdc]]
    update_compile_order -fileset sources_1

    ipx::package_project -root_dir $folder -vendor meshkv -library kernel -taxonomy /KernelIP \
        -import_files -force -set_current true
    set core [ipx::current_core]
    set_property name $module $core
    set_property version 1.0 $core
    set_property display_name $display_name $core
    # The generator sets all parameters; none is left to the user.
    foreach parameter [ipx::get_user_parameters -of_objects $core] {
        ipx::remove_user_parameter [get_property NAME $parameter] $core
    }
    set_property ipi_drc {ignore_freq_hz true} $core
    set_property supported_families {} $core
    set_property auto_family_support_level level_2 $core
    return $core
}

# Packages the top.
proc meshkv_package {} {
    global meshkv_root design_top design_masters design_registers
    set core [meshkv_core $design_top [meshkv_sources] {} [file join $meshkv_root build ip] "meshkv: KV-cache fabric"]
    # Interfaces that are not inferred from their names.
    foreach {port kind} {interrupt interrupt ap_clk_2 clock ap_rst_n_2 reset} {
        if {[llength [ipx::get_bus_interfaces -quiet $port -of_objects $core]] == 0} {
            ipx::infer_bus_interface $port xilinx.com:signal:${kind}_rtl:1.0 $core
        }
    }
    ipx::associate_bus_interfaces -clock ap_clk -reset ap_rst_n $core
    ipx::associate_bus_interfaces -clock ap_clk_2 -reset ap_rst_n_2 $core
    ipx::associate_bus_interfaces -busif s_axi_control -clock ap_clk $core
    foreach master $design_masters { ipx::associate_bus_interfaces -busif $master -clock ap_clk $core }
    meshkv_registers $core $design_registers

    set_property sdx_kernel true $core
    set_property sdx_kernel_type rtl $core
    # The host program drives the registers itself: XRT does not start or stop the kernel.
    set_property vitis_drc {ctrl_protocol user_managed} $core
    ipx::create_xgui_files $core
    ipx::update_checksums $core
    ipx::check_integrity -kernel $core
    ipx::save_core $core
    close_project -delete
}

# Packages each converter in a folder of its own below build/ip. Its slave is all of HBM to the top, and its master has an
# address space of its own.
proc meshkv_package_converters {} {
    global meshkv_root design_converters
    foreach converter $design_converters {
        lassign $converter module sources
        set paths [lmap source $sources { file join $meshkv_root $source }]
        set folder [file join $meshkv_root build ip $module]
        set core [meshkv_core $module $paths ${module}_ $folder "meshkv: AXI4 to a port of HBM"]
        foreach {bus protocol clock reset} {s_axi AXI4 aclk aresetn m_axi AXI3 hbm_aclk hbm_aresetn} {
            set one [ipx::get_bus_interfaces $bus -of_objects $core]
            if {[llength [ipx::get_bus_parameters -quiet PROTOCOL -of_objects $one]] == 0} {
                ipx::add_bus_parameter PROTOCOL $one
            }
            set_property value $protocol [ipx::get_bus_parameters PROTOCOL -of_objects $one]
            ipx::associate_bus_interfaces -busif $bus -clock $clock $core
            ipx::associate_bus_interfaces -clock $clock -reset $reset $core
        }
        set_property range 8589934592 [meshkv_block s_axi $core]
        ipx::create_xgui_files $core
        ipx::update_checksums $core
        ipx::check_integrity $core
        ipx::save_core $core
        close_project -delete
    }
}

# Returns the sources to package. A packaged IP keeps neither the macros of its project nor a global include. So each
# source that uses a macro is copied to build/defined with the definition in front.
proc meshkv_sources {} {
    global meshkv_root design_sources design_defines
    set folder [file join $meshkv_root build defined]
    file delete -force $folder
    file mkdir $folder
    set paths {}
    foreach source $design_sources {
        set path [file join $meshkv_root $source]
        set channel [open $path]
        set text [read $channel]
        close $channel
        set defined {}
        foreach macro $design_defines {
            if {[regexp "`ifn?def\\s+$macro\\M" $text]} { append defined "`ifndef $macro\n`define $macro\n`endif\n" }
        }
        if {$defined ne {}} {
            set path [file join $folder [file tail $source]]
            set channel [open $path w]
            puts -nonewline $channel $defined$text
            close $channel
        }
        lappend paths $path
    }
    return $paths
}

# The block of addresses of a slave, which is made where packaging did not.
proc meshkv_block {bus core} {
    if {[llength [ipx::get_memory_maps -quiet $bus -of_objects $core]] == 0} { ipx::add_memory_map $bus $core }
    set map [ipx::get_memory_maps $bus -of_objects $core]
    set_property slave_memory_map_ref $bus [ipx::get_bus_interfaces $bus -of_objects $core]
    if {[llength [ipx::get_address_blocks -quiet reg0 -of_objects $map]] == 0} { ipx::add_address_block reg0 $map }
    return [ipx::get_address_blocks reg0 -of_objects $map]
}

# Adds the registers to the packaged IP; a pointer argument names the master that uses it.
proc meshkv_registers {core registers} {
    set block [meshkv_block s_axi_control $core]
    set_property range 4096 $block
    foreach register $registers {
        lassign $register name offset size master
        set one [ipx::add_register $name $block]
        set_property address_offset $offset $one
        set_property size $size $one
        if {$master ne {}} {
            set_property value $master [ipx::add_register_parameter ASSOCIATED_BUSIF $one]
        }
    }
}
