//! Flit on the link between a router and its tile.

/// Flit, by value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Flit {
    /// Header bits in the order of [`FlitLayout`](crate::design::FlitLayout).
    pub head: u128,
    /// Opaque number that identifies the payload, or its low 64 bits where hardware reads them.
    pub data: u64,
    /// Destination bits in the order of [`FlitLayout`](crate::design::FlitLayout): a set, or `{y, x}`.
    pub dest: [u64; 4],
}
