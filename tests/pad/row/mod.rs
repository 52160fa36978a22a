//! Tests of one row of the PaD array.

mod bench;
mod lint;
mod outputs;
mod schedule;
