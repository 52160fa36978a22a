//! Packets, and their sources: generators, matrices and traces.

pub(in crate::cosim) mod draw;
pub mod generator;
pub mod line_error;
pub mod matrix;
pub mod packet;
pub mod pattern;
pub mod synthetic;
pub mod trace;
