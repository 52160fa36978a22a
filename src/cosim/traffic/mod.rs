//! Packets, and their sources: generators and traces.

pub mod generator;
pub mod packet;
pub mod pattern;
pub mod trace;
