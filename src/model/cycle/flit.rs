//! A flit as it passes between a router and its tile.

/// One flit. The virtual channel, which tells its class, travels beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flit {
    /// Header bits, as [`FlitLayout`](crate::design::FlitLayout) lays them out.
    pub head: u128,
    /// A number that stands for the payload, or its low 64 bits where hardware reads them, as in KV_FETCH.
    pub data: u64,
    /// Destination bits, as [`FlitLayout`](crate::design::FlitLayout) has them.
    pub dest: [u64; 4],
}
