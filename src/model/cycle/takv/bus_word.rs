//! A word of the column bus.

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A slice: who fetches it, and whether its home is to fill it.
    #[default]
    Slice,
    /// Partial results are due.
    Close,
    /// Occupancies are called in.
    Call,
    /// Four elements of a query.
    Query,
}

/// Four elements of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Query {
    /// Stream.
    pub stream: u32,
    /// Query head; on the bus by its place in the column.
    pub head: u32,
    /// Which four of the elements.
    pub word: u32,
    /// FP16, the first in the lowest bits.
    pub data: u64,
}

/// A word of a slice or a close, or of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BusWord {
    /// What it is.
    pub kind: Kind,
    /// The slice.
    pub tag: u64,
    /// Column of the tile where its home is now.
    pub home_x: u32,
    /// Its row.
    pub home_y: u32,
    /// Rows that fetch it.
    pub ask: u32,
    /// Heads of the column that want it.
    pub mask: u64,
    /// First flit of K that is wanted; of V likewise.
    pub first: u32,
    /// Last flit of K.
    pub last: u32,
    /// Its home is to fill it.
    pub fill: bool,
    /// For how many tiles.
    pub expected: u32,
    /// Which slice of external memory it is.
    pub number: u64,
    /// Mapping, as a descriptor numbers it.
    pub mapping: u32,
    /// Rows of the streams, from the first row on.
    pub spread: u32,
    /// First stream that attends.
    pub stream: u32,
    /// How many.
    pub streams: u32,
    /// First token.
    pub first_row: u32,
    /// Last token.
    pub last_row: u32,
    /// Of [`Kind::Query`].
    pub query: Query,
}
