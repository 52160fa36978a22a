# Packages the top as an IP in build/ip, for the Vitis kernel and the bare system.
# Needs design.tcl, and meshkv_root: the folder that meshkv generated.

proc meshkv_package {} {
    global meshkv_root design_top design_part design_masters design_registers
    set build [file join $meshkv_root build]
    set constraints [file join $meshkv_root constraints]
    create_project -force meshkv_package [file join $build package] -part $design_part
    foreach source [meshkv_sources] { add_files -norecurse $source }
    set_property top $design_top [current_fileset]
    foreach name {clocks hierarchy crossings} {
        add_files -fileset constrs_1 -norecurse [file join $constraints $name.xdc]
    }
    # Constraints of an IP are read scoped to it; their names are relative to the top.
    set_property USED_IN {synthesis implementation out_of_context} [get_files [file join $constraints clocks.xdc]]
    set_property USED_IN {synthesis} [get_files [file join $constraints hierarchy.xdc]]
    set_property USED_IN {implementation} [get_files [file join $constraints crossings.xdc]]
    # Read late, because they query the periods of the system's clocks.
    set_property PROCESSING_ORDER LATE [get_files [file join $constraints crossings.xdc]]
    update_compile_order -fileset sources_1

    ipx::package_project -root_dir [file join $build ip] -vendor meshkv -library kernel -taxonomy /KernelIP \
        -import_files -force -set_current true
    set core [ipx::current_core]
    set_property name $design_top $core
    set_property version 1.0 $core
    set_property display_name "meshkv: KV-cache fabric" $core
    # The generator sets all parameters; none is left to the user.
    foreach parameter [ipx::get_user_parameters -of_objects $core] {
        ipx::remove_user_parameter [get_property NAME $parameter] $core
    }
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
    set_property ipi_drc {ignore_freq_hz true} $core
    set_property supported_families {} $core
    set_property auto_family_support_level level_2 $core
    ipx::create_xgui_files $core
    ipx::update_checksums $core
    ipx::check_integrity -kernel $core
    ipx::save_core $core
    close_project -delete
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

# Adds the registers to the packaged IP; a pointer argument names the master that uses it.
proc meshkv_registers {core registers} {
    if {[llength [ipx::get_memory_maps -quiet s_axi_control -of_objects $core]] == 0} {
        ipx::add_memory_map s_axi_control $core
    }
    set map [ipx::get_memory_maps s_axi_control -of_objects $core]
    set_property slave_memory_map_ref s_axi_control [ipx::get_bus_interfaces s_axi_control -of_objects $core]
    if {[llength [ipx::get_address_blocks -quiet reg0 -of_objects $map]] == 0} { ipx::add_address_block reg0 $map }
    set block [ipx::get_address_blocks reg0 -of_objects $map]
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
