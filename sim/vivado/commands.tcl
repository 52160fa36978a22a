# Commands of Vivado and Vitis that scripts and constraints of meshkv use, with their options.
#
# Sources: UG835 (Tcl commands), UG903 (commands of an XDC), UG1118 (ipx). A command or option that is not
# here is an error: look it up in these sources and add it. Options may be abbreviated, as in Vivado.

namespace eval vivado {
    variable spec
    # Commands that UG903 lists as valid in an XDC file; of Tcl itself only set, expr and list are.
    variable in_xdc {
        create_clock create_generated_clock set_clock_groups set_clock_latency set_clock_uncertainty set_false_path
        set_input_delay set_output_delay set_max_delay set_min_delay set_multicycle_path set_case_analysis set_bus_skew
        set_input_jitter set_disable_timing create_pblock resize_pblock add_cells_to_pblock remove_cells_from_pblock
        set_property get_property current_design current_instance set_units set_operating_conditions get_cells
        get_pins get_ports get_clocks get_nets get_pblocks all_clocks filter
    }

    # command NAME, options with a value, flags, fewest and most words beside them.
    proc command {name valued flags fewest most} {
        variable spec
        set spec($name) [list $valued [concat $flags {-quiet -verbose}] $fewest $most]
    }

    # Objects.
    set of {-filter -of_objects}
    foreach name {get_cells get_pins get_nets} {
        command $name $of {-hierarchical -regexp -nocase} 0 1
    }
    foreach name {get_ports get_clocks get_pblocks get_slrs get_clock_regions} {
        command $name $of {-regexp -nocase} 0 1
    }
    command get_clocks $of {-regexp -nocase -include_generated_clocks} 0 1
    command all_clocks {} {} 0 0
    command get_parts {-filter} {-regexp -nocase} 0 1
    command get_board_parts {-filter} {-regexp -nocase -latest_file_version -latest_hw_revision} 0 1
    command get_files {-filter -of_objects -compile_order -used_in} {-all -regexp -nocase -norecurse} 0 1
    command get_filesets {-filter} {-regexp -nocase} 0 1
    command get_runs {-filter} {-regexp -nocase} 0 1
    command get_ipdefs {-filter -of_objects} {-all -regexp -nocase} 0 1
    command get_projects {} {} 0 1
    command get_timing_paths {-from -to -max_paths -nworst -delay_type -slack_lesser_than} {-setup -hold} 0 0
    foreach name {get_bd_cells get_bd_pins get_bd_ports get_bd_nets get_bd_intf_pins get_bd_intf_ports get_bd_addr_segs
                  get_bd_addr_spaces} {
        command $name $of {-hierarchical -regexp -nocase} 0 1
    }
    command get_bd_designs {-filter} {} 0 1
    command filter {} {-regexp -nocase} 1 2
    command get_property {} {-min -max} 2 2
    command set_property {-dict} {} 1 3
    command current_design {} {} 0 1
    command current_instance {} {} 0 1
    command current_project {} {} 0 1
    command current_fileset {} {-simset -constrset} 0 0

    # Timing.
    command create_clock {-period -name -waveform} {-add} 0 1
    command create_generated_clock {-name -source -divide_by -multiply_by -edges -master_clock} {-invert -add} 1 1
    set ends {-from -rise_from -fall_from -to -rise_to -fall_to -through -rise_through -fall_through}
    command set_max_delay $ends {-datapath_only -rise -fall -reset_path} 1 1
    command set_min_delay $ends {-rise -fall -reset_path} 1 1
    command set_bus_skew $ends {} 1 1
    command set_false_path $ends {-setup -hold -rise -fall -reset_path} 0 0
    command set_multicycle_path $ends {-setup -hold -rise -fall -start -end -reset_path} 1 1
    command set_clock_groups {-name -group} {-asynchronous -physically_exclusive -logically_exclusive} 0 0
    command set_clock_latency {-clock} {-rise -fall -min -max -source -late -early} 2 2
    command set_clock_uncertainty {-from -to} {-setup -hold} 1 2
    command set_input_delay {-clock} {-rise -fall -min -max -clock_fall -add_delay} 2 2
    command set_output_delay {-clock} {-rise -fall -min -max -clock_fall -add_delay} 2 2
    command set_input_jitter {} {} 2 2
    command set_case_analysis {} {} 2 2
    command set_disable_timing {-from -to} {} 1 1
    command set_units {-capacitance -current -voltage -power -resistance} {} 0 0
    command set_operating_conditions {-design_power_budget -ambient_temp -junction_temp} {} 0 0

    # Places.
    command create_pblock {} {} 1 1
    command resize_pblock {-add -remove -from -to -locs} {-replace} 1 1
    command add_cells_to_pblock {} {-top -add_primitives -clear_locs} 1 2
    command remove_cells_from_pblock {} {} 2 2

    # Projects, sources, runs.
    command create_project {-part} {-force -in_memory -ip -rtl_kernel} 0 2
    command close_project {} {-delete} 0 0
    command set_part {} {} 1 1
    command add_files {-fileset} {-norecurse -copy_to -force -scan_for_includes} 0 1
    command import_files {-fileset} {-norecurse -force} 0 1
    command read_verilog {-library} {-sv} 1 1
    command read_xdc {-cells -ref -mode} {-unmanaged -no_add} 1 1
    command read_ip {} {} 1 1
    command update_compile_order {-fileset} {} 0 0
    command update_ip_catalog {} {-rebuild} 0 0
    command create_ip {-vlnv -name -vendor -library -version -module_name -dir} {-force} 0 1
    command get_ips {-filter} {-all -exclude_bd_ips} 0 1
    command generate_target {} {-force} 2 2
    command synth_design {-top -part -mode -flatten_hierarchy -include_dirs -directive -generic -verilog_define} {-rtl -retiming} 0 0
    command opt_design {-directive} {-retarget -propconst -sweep} 0 0
    command place_design {-directive} {-no_timing_driven} 0 0
    command phys_opt_design {-directive} {} 0 0
    command route_design {-directive} {-tns_cleanup} 0 0
    command write_bitstream {} {-force -bin_file} 1 1
    command write_checkpoint {} {-force} 1 1
    command open_run {-name} {} 1 1
    command launch_runs {-jobs -to_step -scripts_only} {-force} 1 1
    command wait_on_runs {-timeout} {} 1 1
    command reset_runs {} {} 1 1
    # Reports of a design that is open.
    set to_file {-file -name}
    set as_text {-append -return_string}
    set paths {-delay_type -max_paths -nworst -path_type -slack_lesser_than -significant_digits -rpx}
    set of_paths {-setup -hold -unique_pins -input_pins -no_header -routable_nets -no_detailed_paths -warn_on_violation}
    command report_timing_summary [concat $to_file $paths -cells] [concat $as_text $of_paths {
        -check_timing_verbose -report_unconstrained -no_reused_label -datasheet}] 0 0
    command report_bus_skew [concat $to_file $paths -slack_greater_than] [concat $as_text $of_paths -sort_by_slack] 0 0
    command report_clock_interaction [concat $to_file {-delay_type -significant_digits -cells}] [concat $as_text {
        -setup -hold -no_header}] 0 0
    command report_cdc [concat $to_file {-from -to -cells -severity}] [concat $as_text {
        -details -summary -all_checks_per_endpoint -show_waiver -waived -no_waiver -no_header}] 0 0
    command report_methodology [concat $to_file {-checks -rpx -slack_lesser_than}] [concat $as_text {
        -waived -no_waivers}] 0 0
    command report_drc [concat $to_file {-checks -ruledecks -of_objects -rpx}] [concat $as_text {
        -upgrade_cw -waived -no_waivers}] 0 0
    command report_utilization [concat $to_file {-pblocks -cells -hierarchical_depth}] [concat $as_text {
        -slr -hierarchical -hierarchical_percentages -packthru -no_primitives -omit_locs -exclude_child_pblocks
        -exclude_non_assigned}] 0 0
    command report_design_analysis [concat $to_file {-cells -max_paths -hierarchical_depth -logic_level_dist_paths}] [
        concat $as_text {-complexity -congestion -timing -setup -hold -qor_summary -extend -show_all}] 0 0
    command report_high_fanout_nets [concat $to_file {-max_nets -fanout_greater_than -fanout_lesser_than -cells -clocks}] [
        concat $as_text {-timing -histogram -load_types -clock_regions -slr -ascending}] 0 0
    command report_qor_suggestions [concat $to_file {-max_strategies -max_paths -cells -of_objects}] [concat $as_text {
        -no_split -report_all_suggestions}] 0 0
    foreach name {get_methodology_violations} {
        command $name {-filter -name} {-regexp -nocase} 0 1
    }
    command version {} {-short} 0 0
    command source {} {-notrace} 1 1
    command set_param {} {} 2 2
    command set_msg_config {-id -severity -new_severity -limit -string} {-suppress} 0 0
    command send_msg_id {} {} 3 3

    # Block designs.
    command create_bd_design {-dir} {} 1 1
    command create_bd_cell {-type -vlnv -reference} {} 1 1
    command create_bd_port {-dir -type -from -to -freq_hz} {} 1 1
    command create_bd_intf_port {-mode -vlnv} {} 1 1
    command connect_bd_net {-net -boundary_type} {} 1 1000
    command connect_bd_intf_net {-intf_net -boundary_type} {} 2 2
    command assign_bd_address {-offset -range -target_address_space} {-force -external -import_from_file} 0 1
    command validate_bd_design {} {-force -design} 0 0
    command save_bd_design {} {} 0 1
    command make_wrapper {-files -fileset} {-top -force -import} 0 1

    # Packaging of IP and kernels.
    command ipx::package_project {-root_dir -vendor -library -taxonomy -name -version -set_current} {
        -import_files -force -generated_files} 0 1
    command ipx::current_core {} {} 0 1
    command ipx::associate_bus_interfaces {-busif -clock -reset} {-clear -remove} 0 1
    command ipx::infer_bus_interface {} {} 2 3
    foreach name {get_user_parameters get_memory_maps get_address_blocks get_registers get_bus_interfaces get_ports
                  get_register_parameters get_bus_parameters get_file_groups get_files} {
        command ipx::$name $of {-regexp -nocase} 0 2
    }
    foreach name {remove_user_parameter add_memory_map add_address_block add_register add_register_parameter
                  add_bus_parameter remove_register} {
        command ipx::$name {} {} 2 2
    }
    foreach name {create_xgui_files update_checksums save_core unload_core} { command ipx::$name {} {} 0 1 }
    command ipx::check_integrity {} {-kernel -xrt} 0 1
    command package_xo {-xo_path -kernel_name -ctrl_protocol -ip_directory -kernel_xml -kernel_files -design_xml} {
        -force} 0 0
}
