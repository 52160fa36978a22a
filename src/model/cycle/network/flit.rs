//! A flit as it passes between router and tile.

/// What a flit carries, by value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flit {
    /// Header bits as [`FlitLayout`](crate::design::FlitLayout) lays them out.
    pub head: u128,
    /// An opaque number that stands for the payload, or its low 64 bits where hardware reads them.
    pub data: u64,
    /// Destination bits as [`FlitLayout`](crate::design::FlitLayout) has them: a set, or `{y, x}`.
    pub dest: [u64; 4],
}
