//! Tests of the whole fabric.

mod attention;
mod clocks;
mod formats;
mod kept_queries;
mod lockstep;
mod parity;
mod pieces;
mod random_configs;
mod rare;
