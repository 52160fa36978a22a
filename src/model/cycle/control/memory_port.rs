//! An AXI4 read master for two tiles side by side (`meshkv_memory_port`).

use super::super::parts::{Arbiter2, Fifo};
use super::super::tile::{Answer, Burst};
use crate::design::depths::REQ_DEPTH;
use crate::design::Design;

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

/// Queues of two tiles, and the registers of the port.
#[derive(Debug, Clone)]
pub struct MemoryPort {
    requests: [Fifo<Burst>; 2],
    turns: Arbiter2,
    credit: [bool; 2],
    read: Option<Read>,
    beat: Option<Beat>,
    id_width: u32,
    slice_bytes: u64,
    flit_bytes: u64,
}

impl MemoryPort {
    /// One that has been asked for nothing.
    pub fn new(design: &Design) -> MemoryPort {
        MemoryPort {
            requests: [Fifo::new(REQ_DEPTH), Fifo::new(REQ_DEPTH)],
            turns: Arbiter2::default(),
            credit: [false; 2],
            read: None,
            beat: None,
            id_width: design.memory.id_width - 1,
            slice_bytes: design.memory.slice_bytes,
            flit_bytes: u64::from(design.flit.data_width / 8),
        }
    }

    /// What the memory sees: a register.
    pub fn read(&self) -> Option<&Read> {
        self.read.as_ref()
    }

    /// A request of a tile, 0 the western one, has left the queue: a register.
    pub fn credit(&self, tile: usize) -> bool {
        self.credit[tile]
    }

    /// What a tile, 0 the western one, sees of answers: a register.
    pub fn answer(&self, tile: usize) -> Option<Answer> {
        let Beat { id, bad, last, data } =
            self.beat.filter(|beat| beat.id >> self.id_width == tile as u32)?;
        Some(Answer { id: id & ((1 << self.id_width) - 1), last, bad, data })
    }

    /// Passes a period.
    pub fn step(&mut self, requests: [Option<&Burst>; 2], memory: &MemoryIn) {
        self.beat = memory.beat;
        let takes = self.read.is_none() || memory.request_ready;
        let granted = match takes {
            true => self.turns.grant([0, 1].map(|tile: usize| !self.requests[tile].is_empty())),
            false => [false; 2],
        };
        if takes {
            self.read = granted.iter().position(|&g| g).map(|tile| self.read_of(tile));
        }
        self.credit = granted;
        for (tile, queue) in self.requests.iter_mut().enumerate() {
            if granted[tile] {
                queue.pop();
            }
            if let Some(burst) = requests[tile] {
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
        Read { id: (tile as u32) << self.id_width | burst.id, address, len: burst.len }
    }
}
