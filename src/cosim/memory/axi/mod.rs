//! The rules of AXI4 and AXI4-Lite, judged period by period from the wires.
//!
//! Both sides of a channel are judged: the design's, and that of co-simulation's slave models. A
//! finding names cycle, interface, channel and rule. Values are two-valued: an X is not detected
//! here.
//!
//! * [`ReadRules`], [`WriteRules`]: AXI4 masters and their memory; [`LiteRules`]: registers.
//! * [`Wires`]: one channel in one period; [`Request`], [`Beat`], [`WriteBeat`], [`WriteResponse`]:
//!   its contents.
//! * [`Limits`]: agreements beyond AXI4.

mod burst;
mod lite;
mod read;
mod signals;
mod stable_until_ready;
mod write;

pub use lite::{LiteRules, LiteWires};
pub use read::ReadRules;
pub use signals::{
    Beat, Limits, Request, Wires, WriteBeat, WriteResponse, DECODE_ERROR, EXCLUSIVE_OKAY, OKAY, SLAVE_ERROR,
};
pub use write::WriteRules;

#[cfg(test)]
mod tests;
