//! Numbers of the datapath: formats, rounding, powers of two.

pub mod exp2;
pub mod fixed;
pub mod formats;
pub mod fp16;
pub(super) mod rounding;
