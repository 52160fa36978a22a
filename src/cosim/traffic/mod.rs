//! Packets, and the programs and traces that they come from.

pub mod generator;
pub mod packet;
pub mod pattern;
pub mod trace;
