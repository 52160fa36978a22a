//! Tests of the reduction of partial results to outputs.

mod part_former;
mod partials;
mod reduce_root;
mod root_slips;
mod root_sums;
