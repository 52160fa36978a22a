//! Slice streamer: reads chunks from the staging memory as flits (`meshkv_slice_streamer`,
//! `meshkv_staging_memory`).
//!
//! Address, memory and output are three stages that advance together. A waiting flit stops all of them.

use crate::model::cycle::common::{some, TileBits};
use crate::model::cycle::mare::messages::{Due, Part};
use crate::model::cycle::mare::params::MareParams;

/// Flit of a slice, for a set of tiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Streamed {
    /// Tag, with the generation above it.
    pub key: u64,
    /// Position in the slice.
    pub index: u32,
    /// Destinations.
    pub dest: TileBits,
    /// Heads that need it.
    pub mask: u64,
    /// Payload.
    pub data: u64,
}

/// Staging memory and its read pipeline.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::mare) struct SliceStreamer {
    staging: Box<[u64]>,
    slice_flits: u32,
    chunk: Option<Due>,
    /// Next flit of the chunk.
    index: u32,
    read: Option<Streamed>,
    out: Option<Streamed>,
}

impl SliceStreamer {
    pub(in crate::model::cycle::mare) fn new(params: &MareParams) -> SliceStreamer {
        SliceStreamer {
            staging: vec![0; params.mare.staging_depth as usize].into_boxed_slice(),
            slice_flits: params.mare.slice_flits,
            chunk: None,
            index: 0,
            read: None,
            out: None,
        }
    }

    pub(in crate::model::cycle::mare) fn out(&self) -> Option<&Streamed> {
        self.out.as_ref()
    }

    /// The next chunk can be taken. `ready`: the output flit is taken. `blocked`: no flit is read.
    pub(in crate::model::cycle::mare) fn has_room(&self, ready: bool, blocked: bool) -> bool {
        let advances = (self.out.is_none() || ready) && !blocked;
        self.chunk.as_ref().is_none_or(|chunk| advances && self.index == chunk.last)
    }

    /// A chunk is being read.
    pub(in crate::model::cycle::mare) fn reads(&self) -> bool {
        self.chunk.is_some()
    }

    /// A slot is still being read.
    pub(in crate::model::cycle::mare) fn uses(&self, slot: u32) -> bool {
        self.chunk.as_ref().is_some_and(|chunk| chunk.slot == slot)
    }

    pub(in crate::model::cycle::mare) fn write(&mut self, address: u32, data: u64) {
        self.staging[address as usize] = data;
    }

    pub(in crate::model::cycle::mare) fn patch(&mut self, part: &Part) {
        let flit = &mut self.staging[part.address as usize];
        *flit = *flit & !part.mask | part.data & part.mask;
    }

    /// Advances one clock period. `chunk` is taken exactly if there is room. `blocked`: no flit is read, because a part of
    /// a flit is written.
    pub(in crate::model::cycle::mare) fn step(&mut self, chunk: Option<&Due>, ready: bool, blocked: bool) {
        let takes = chunk.filter(|_| self.has_room(ready, blocked)).copied();
        if self.out.is_none() || ready {
            self.out = self.read.take();
            let read = self.chunk.as_ref().filter(|_| !blocked);
            let next = read.map(|chunk| self.flit(chunk));
            if let Some(chunk) = read {
                if self.index == chunk.last {
                    self.chunk = None;
                } else {
                    self.index += 1;
                }
            }
            self.read = next;
        }
        if let Some(chunk) = takes {
            self.index = chunk.first;
            // A chunk without destinations is not read.
            self.chunk = some(&chunk.dest).then_some(chunk);
        }
    }

    fn flit(&self, chunk: &Due) -> Streamed {
        let Due { key, dest, mask, slot, .. } = *chunk;
        let data = self.staging[(slot * self.slice_flits + self.index) as usize];
        Streamed { key, index: self.index, dest, mask, data }
    }
}
