//! Tests of the whole fabric.

mod attention;
mod clocks;
mod lockstep;
mod pieces;
mod random_configs;
