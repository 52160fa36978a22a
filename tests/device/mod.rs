//! The device: the fabric as a host sees it.

mod counter_view;
mod errors;
mod host_example;
mod mutants;
mod read_slices;
mod registers;
mod reset;
mod resets;
mod runs;
mod shapes;
