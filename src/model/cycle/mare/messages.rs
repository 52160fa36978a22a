//! Messages between requester, home agent, port and tile.

use crate::model::cycle::common::TileBits;
use crate::model::cycle::mare::home::staging_directory::Claim;

/// Command to fetch a range of a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Command {
    /// Tag of the slice.
    pub tag: u64,
    /// Column of its home.
    pub x: u32,
    /// Row of its home.
    pub y: u32,
    /// Heads that need it.
    pub mask: u64,
    /// First flit of the range; begins a chunk.
    pub first: u32,
    /// Last flit.
    pub last: u32,
    /// The requester repeats this fetch only after its first flit has arrived.
    pub patient: bool,
}

/// Fetch of a range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fetch {
    /// Tag, with the generation above it.
    pub key: u64,
    /// Heads that need it.
    pub mask: u64,
    /// Column of the other side: the home for the requester, the requester for the home.
    pub x: u32,
    /// Row of the other side.
    pub y: u32,
    /// First flit of the range; begins a chunk.
    pub first: u32,
    /// Last flit.
    pub last: u32,
    /// The tile repeats an earlier fetch that is still incomplete.
    pub again: bool,
}

/// Arriving flit of KV_DATA.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Tag, with the generation above it.
    pub key: u64,
    /// Position in the slice.
    pub index: u32,
    /// Payload.
    pub data: u64,
}

/// Flit of a slice, as the PaD receives it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KvFlit {
    /// Tag of the slice.
    pub tag: u64,
    /// Position in the slice.
    pub index: u32,
    /// Heads that need it.
    pub mask: u64,
    /// Payload.
    pub data: u64,
}

/// Flit of a partial result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartFlit {
    /// First of its packet.
    pub first: bool,
    /// Last of its packet.
    pub last: bool,
    /// Partial results of its head besides this one.
    pub others: u32,
    /// Stream.
    pub stream: u32,
    /// Layer.
    pub layer: u32,
    /// Query head, by its place in the column.
    pub head: u32,
    /// Payload.
    pub data: u64,
}

/// Flit of a partial result at a reduce root.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RootFlit {
    /// Virtual channel as one bit; the bit above them marks a flit of this tile.
    pub valid: u32,
    /// The flit.
    pub part: PartFlit,
    /// Column of the sender.
    pub x: u32,
    /// Row of the sender.
    pub y: u32,
}

/// Chunk to be streamed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) key: u64,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) slot: u32,
    pub(super) dest: TileBits,
    pub(super) mask: u64,
    /// One of the requesters repeats an earlier fetch.
    pub(super) again: bool,
}

/// Part of a new token that is written into a flit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    /// Address of the flit.
    pub address: u32,
    /// Bits that are written.
    pub mask: u64,
    /// Payload at these bits.
    pub data: u64,
}

/// Writes and slot updates of the staging memory in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Staged {
    /// Flit written: address and payload.
    pub fill: Option<(u32, u64)>,
    /// Part of a flit written through the port that reads.
    pub part: Option<Part>,
    /// Slot assigned to a slice.
    pub claim: Option<Claim>,
    /// Slot whose slice has its first flit.
    pub publish: Option<u32>,
    /// Slot whose slice is written completely.
    pub complete: Option<u32>,
    /// Some of the burst that the home reads next is still to come.
    pub pending: bool,
}
