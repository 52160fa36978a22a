//! Messages between transport, home and tile.

use super::staging_directory::Claim;
use crate::model::cycle::common::TileBits;

/// A command: fetch a range of a slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Command {
    /// The slice.
    pub tag: u64,
    /// Column of its home.
    pub x: u32,
    /// Row of its home.
    pub y: u32,
    /// Heads that want it.
    pub mask: u64,
    /// First flit of the range; begins a chunk.
    pub first: u32,
    /// Last flit.
    pub last: u32,
    /// It is not asked for again before some of it has come.
    pub patient: bool,
}

/// A fetch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fetch {
    /// Tag, and generation above it.
    pub key: u64,
    /// Heads that want it.
    pub mask: u64,
    /// Column of the other side: the home for who asks, who asks for the home.
    pub x: u32,
    /// Its row.
    pub y: u32,
    /// First flit of the range; begins a chunk.
    pub first: u32,
    /// Last flit.
    pub last: u32,
    /// The tile has asked for this before and has it not yet.
    pub again: bool,
}

/// A flit of KV_DATA as it comes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Tag, and generation above it.
    pub key: u64,
    /// Position in the slice.
    pub index: u32,
    /// Its payload.
    pub data: u64,
}

/// A flit as what computes gets it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KvFlit {
    /// The slice.
    pub tag: u64,
    /// Position in it.
    pub index: u32,
    /// Heads that want it.
    pub mask: u64,
    /// Its payload.
    pub data: u64,
}

/// A flit of a partial result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartFlit {
    /// First of its packet.
    pub first: bool,
    /// Last of its packet.
    pub last: bool,
    /// The only partial result of its head.
    pub alone: bool,
    /// Stream.
    pub stream: u32,
    /// Layer.
    pub layer: u32,
    /// Query head, by its place in the column.
    pub head: u32,
    /// Its payload.
    pub data: u64,
}

/// One that has arrived at a reduce root.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RootFlit {
    /// Its virtual channel as one bit; the bit above those says that it is of this tile.
    pub valid: u32,
    /// The flit.
    pub part: PartFlit,
    /// Column of who sent it.
    pub x: u32,
    /// Its row.
    pub y: u32,
}

/// A chunk that is to be streamed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) key: u64,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) slot: u32,
    pub(super) dest: TileBits,
    pub(super) mask: u64,
    /// One of who asked has asked before.
    pub(super) again: bool,
}

/// What is said of the staging memory in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Staged {
    /// A flit is written: address and payload.
    pub fill: Option<(u32, u64)>,
    /// A slot is given to a slice.
    pub claim: Option<Claim>,
    /// All of the slice in this slot is written.
    pub publish: Option<u32>,
}
