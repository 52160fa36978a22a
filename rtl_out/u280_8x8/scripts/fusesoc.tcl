# Properties of the project that FuseSoC makes for the core's target card. package.tcl sets the same for the packaged IP.
# The core names this file after the constraints.
set_property USED_IN {synthesis implementation out_of_context} [get_files clocks.xdc]
set_property USED_IN {synthesis} [get_files hierarchy.xdc]
set_property USED_IN {implementation} [get_files crossings.xdc]
# Read late, because they query the periods of the clocks.
set_property PROCESSING_ORDER LATE [get_files crossings.xdc]
# The ports of the top are no pins of the card.
set_property -name {STEPS.SYNTH_DESIGN.ARGS.MORE OPTIONS} -value {-mode out_of_context} -objects [get_runs synth_1]
