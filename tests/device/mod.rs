//! Tests of the device: the fabric with its registers, resets and AXI interfaces.

mod append;
mod append_faults;
mod append_mutants;
mod calls;
mod control_registers;
mod counter_view;
mod dead_hosts;
mod doorbells;
mod errors;
mod four_state;
mod host_example;
mod library;
mod library_equals;
mod lists;
mod mutants;
mod partials;
mod quantise_lane;
mod read_slices;
mod registers;
mod reset;
mod resets;
mod runs;
mod saturation;
mod shapes;
mod trials;
mod xdma;
