//! Numbers of the datapath: formats, rounding, powers of two.

pub mod element;
pub mod exp2;
pub mod fixed;
pub mod formats;
pub mod fp16;
pub(super) mod rounding;
pub mod scales;
pub mod sink;
