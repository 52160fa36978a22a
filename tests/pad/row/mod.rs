//! One row of the array of PaD.

mod bench;
mod lint;
mod outputs;
mod schedule;
