# The Vitis kernel: build/meshkv.xo.
#     vivado -mode batch -source scripts/kernel.tcl
set meshkv_root [file dirname [file dirname [file normalize [info script]]]]
foreach meshkv_part {design check package} { source [file join $meshkv_root scripts $meshkv_part.tcl] }
meshkv_check_release
meshkv_check_part $design_part
meshkv_package
package_xo -force -xo_path [file join $meshkv_root build meshkv.xo] -kernel_name $design_top \
    -ctrl_protocol user_managed -ip_directory [file join $meshkv_root build ip]
puts "meshkv: wrote [file join $meshkv_root build meshkv.xo]"
