//! Cells that know nothing of the fabric: FIFOs, arbiters, delays, clock crossings, sets of tiles.

mod arbiter;
mod clock_crossing;
mod decisions;
mod delay_line;
mod fifo;
mod period;
mod tile_bits;

pub use arbiter::{after, in_turn, lowest_free, Arbiter2};
pub use clock_crossing::{AsyncFifo, AsyncRegister};
pub(in crate::model::cycle) use decisions::{
    class_turn, credit_gauge, eager_fork, k_then_v, shared_turn, straight_turn, ClassOrder, Progress, Shares,
    Turn,
};
pub use delay_line::{DelayLine, LONGEST};
pub use fifo::Fifo;
pub use period::BloomPeriod;
pub use tile_bits::{bits, lowest, meet, only, several, some, union, without, TileBits};
