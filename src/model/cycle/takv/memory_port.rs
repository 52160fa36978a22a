//! An AXI4 read master of tiles side by side in a row (`meshkv_memory_port`).

use super::filler::{Answer, Burst};
use crate::design::depths::REQ_DEPTH;
use crate::design::Design;
use crate::model::cycle::common::{after, in_turn, Fifo};

/// A read that is asked of the external memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// ARID: the tile, and its burst.
    pub id: u32,
    /// ARADDR in bytes.
    pub address: u64,
    /// ARLEN: beats less one.
    pub len: u32,
}

/// A beat of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Beat {
    /// RID.
    pub id: u32,
    /// RRESP is not OKAY.
    pub bad: bool,
    /// RLAST.
    pub last: bool,
    /// RDATA.
    pub data: u64,
}

/// What the memory shows a port in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryIn {
    /// It takes a request.
    pub request_ready: bool,
    /// A beat.
    pub beat: Option<Beat>,
}

/// Queues of the tiles, and the registers of the port.
#[derive(Debug, Clone)]
pub struct MemoryPort {
    requests: Box<[Fifo<Burst>]>,
    /// Marks those after the one served last.
    later: u64,
    /// The tile whose request left the queue a period ago.
    credit: Option<usize>,
    read: Option<Read>,
    beat: Option<Beat>,
    slot_width: u32,
    slice_bytes: u64,
    flit_bytes: u64,
}

impl MemoryPort {
    /// One for so many tiles that has been asked for nothing.
    pub fn new(design: &Design, tiles: usize) -> MemoryPort {
        MemoryPort {
            requests: (0..tiles).map(|_| Fifo::new(REQ_DEPTH)).collect(),
            later: 0,
            credit: None,
            read: None,
            beat: None,
            slot_width: design.memory.slot_width,
            slice_bytes: design.memory.slice_bytes,
            flit_bytes: u64::from(design.flit.data_width / 8),
        }
    }

    /// What the memory sees: a register.
    pub fn read(&self) -> Option<&Read> {
        self.read.as_ref()
    }

    /// A request of a tile, counted from the west, has left the queue: a register.
    pub fn credit(&self, tile: usize) -> bool {
        self.credit == Some(tile)
    }

    /// What a tile, counted from the west, sees of answers: a register.
    pub fn answer(&self, tile: usize) -> Option<Answer> {
        let Beat { id, bad, last, data } =
            self.beat.filter(|beat| beat.id >> self.slot_width == tile as u32)?;
        Some(Answer { id: id & ((1 << self.slot_width) - 1), last, bad, data })
    }

    /// Passes a period, in which the tiles ask for `requests`.
    pub fn step<'r>(&mut self, requests: impl Iterator<Item = Option<&'r Burst>>, memory: &MemoryIn) {
        self.beat = memory.beat;
        let mut granted = None;
        if self.read.is_none() || memory.request_ready {
            let waits = self.requests.iter().enumerate();
            let waits = waits.fold(0, |all, (tile, queue)| all | u64::from(!queue.is_empty()) << tile);
            granted = in_turn(waits, self.later).map(|tile| tile as usize);
            self.read = granted.map(|tile| self.read_of(tile));
        }
        if let Some(tile) = granted {
            self.requests[tile].pop();
            self.later = after(tile as u32);
        }
        self.credit = granted;
        for (queue, request) in self.requests.iter_mut().zip(requests) {
            if let Some(burst) = request {
                queue.push(*burst);
            }
        }
    }

    fn read_of(&self, tile: usize) -> Read {
        let burst = self.requests[tile].front().expect("it asks");
        let address = burst
            .number
            .wrapping_mul(self.slice_bytes)
            .wrapping_add(u64::from(burst.first) * self.flit_bytes);
        Read { id: (tile as u32) << self.slot_width | burst.id, address, len: burst.len }
    }
}
