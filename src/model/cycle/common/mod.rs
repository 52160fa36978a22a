//! Cells that know nothing of the fabric: FIFOs, arbiters, delays, clock crossings, sets of tiles.

mod arbiter;
mod clock_crossing;
mod delay_line;
mod fifo;
mod period;
mod rare;
mod tile_bits;

pub use arbiter::{after, in_turn, lowest_free};
pub use clock_crossing::{AsyncFifo, AsyncRegister};
pub use delay_line::{DelayLine, LONGEST};
pub use fifo::Fifo;
pub use period::BloomPeriod;
pub use rare::{Rare, Reached, RARE};
pub use tile_bits::{bits, lowest, meet, only, several, some, union, without, TileBits};
