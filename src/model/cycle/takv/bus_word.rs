//! Words of the column bus, and queries on their way to it.

use crate::design::{Mapping, QUERY_GROUP_WORDS};

/// Kind of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Slice: the rows that fetch it, and whether its home fills it.
    #[default]
    Slice,
    /// Partial results are due.
    Close,
    /// Occupancies are collected.
    Call,
    /// Four elements of a query.
    Query,
    /// Word of a new token.
    Token,
    /// Queries come, or all have come.
    Mark,
}

/// Four elements of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Query {
    /// Stream.
    pub stream: u32,
    /// Query head; on the bus by its place in the column.
    pub head: u32,
    /// Index of the four elements.
    pub word: u32,
    /// FP16, the first in the lowest bits.
    pub data: u64,
}

/// Words of a query that come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueryGroup {
    /// Stream.
    pub stream: u32,
    /// Query head.
    pub head: u32,
    /// Index of the group.
    pub group: u32,
    /// FP16, the first in the lowest bits; words that a group does not have are 0.
    pub words: [u64; QUERY_GROUP_WORDS as usize],
}

/// Words of new tokens that come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TokenGroup {
    /// Index of the group: by stream, KV head, K before V.
    pub group: u32,
    /// FP16, the first in the lowest bits; words that a group does not have are 0.
    pub words: [u64; QUERY_GROUP_WORDS as usize],
}

/// Word of the column bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BusWord {
    /// Kind.
    pub kind: Kind,
    /// Tag of the slice.
    pub tag: u64,
    /// Column of the tile that is its home now.
    pub home_x: u32,
    /// Row of that tile.
    pub home_y: u32,
    /// Rows that fetch it.
    pub ask: u32,
    /// Heads of the column that need it.
    pub mask: u64,
    /// First flit of K that is needed; of V likewise.
    pub first: u32,
    /// Last flit of K.
    pub last: u32,
    /// Its home fills it.
    pub fill: bool,
    /// Tiles that will request it.
    pub expected: u32,
    /// Number of the slice in external memory.
    pub number: u64,
    /// Mapping of heads to tiles.
    pub mapping: Mapping,
    /// Rows of the streams, from the first row on.
    pub spread: u32,
    /// First stream that attends.
    pub stream: u32,
    /// Number of streams.
    pub streams: u32,
    /// First token.
    pub first_row: u32,
    /// Last token.
    pub last_row: u32,
    /// Payload of [`Kind::Query`].
    pub query: Query,
    /// The last token of the slice is new.
    pub append: bool,
    /// Payload of [`Kind::Mark`]: they come, so jobs are kept.
    pub barred: bool,
    /// Payload of [`Kind::Token`].
    pub token: u64,
}
