//! TaKV: placement of slices, the column bus, fetching and filling, external memory, swaps of homes.

mod bus_stop;
mod bus_word;
mod column_controller;
mod filler;
mod memory;
mod occupancy;
mod prefetcher;
mod query_words;
mod ranges;
mod swap_unit;

pub use bus_stop::BusStop;
pub use bus_word::{BusWord, Kind, Query, QueryGroup, TokenGroup};
pub(in crate::model::cycle) use column_controller::{ColumnController, Common, Pieces};
pub use filler::{Fill, Filler};
pub use memory::burst::{Answer, Burst};
pub use memory::memory_port::{Beat, MemoryIn, MemoryPort, Read};
pub use memory::new_token::{NewToken, Wanted, WritePort};
pub use occupancy::Occupancy;
pub use prefetcher::{Ask, Prefetcher};
pub(in crate::model::cycle) use query_words::QueryWords;
pub use swap_unit::{Placed, SwapShown, SwapUnit};
