//! Memory port: AXI4 read master of adjacent tiles in a row (`meshkv_memory_port`).

use crate::design::depths::REQ_DEPTH;
use crate::design::{Design, Memory};
use crate::model::cycle::common::{after, in_turn, Fifo, Rare, Reached};
use crate::model::cycle::takv::memory::burst::{Answer, Burst};

/// Read request to external memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Read {
    /// ARID: the tile, and its burst.
    pub id: u32,
    /// ARADDR in bytes.
    pub address: u64,
    /// ARLEN: beats less one.
    pub len: u32,
}

/// Beat of an answer.
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

/// Inputs from the memory in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryIn {
    /// The memory takes a request.
    pub request_ready: bool,
    /// Beat of an answer.
    pub beat: Option<Beat>,
    /// The writer has taken a word of a new token.
    pub write_credit: bool,
}

/// Queues of the tiles, and the registers of the port.
#[derive(Debug, Clone)]
pub struct MemoryPort {
    requests: Box<[Fifo<Burst>]>,
    /// Round-robin mask: tiles after the last served one.
    later: u64,
    /// Tile whose request left the queue one period ago.
    credit: Option<usize>,
    read: Option<Read>,
    beat: Option<Beat>,
    memory: Memory,
    flit_bytes: u64,
}

impl MemoryPort {
    /// Creates an idle port for `tiles` tiles.
    pub fn new(design: &Design, tiles: usize) -> MemoryPort {
        MemoryPort {
            requests: (0..tiles).map(|_| Fifo::new(REQ_DEPTH)).collect(),
            later: 0,
            credit: None,
            read: None,
            beat: None,
            memory: design.memory,
            flit_bytes: u64::from(design.flit.data_width / 8),
        }
    }

    /// Request to the memory: a register.
    pub fn read(&self) -> Option<&Read> {
        self.read.as_ref()
    }

    /// A request of a tile, counted from the west, has left the queue: a register.
    pub fn credit(&self, tile: usize) -> bool {
        self.credit == Some(tile)
    }

    /// Answer for a tile, counted from the west: a register.
    pub fn answer(&self, tile: usize) -> Option<Answer> {
        let Beat { id, bad, last, data } =
            self.beat.filter(|beat| beat.id >> self.memory.slot_width == tile as u32)?;
        Some(Answer { id: id & ((1 << self.memory.slot_width) - 1), last, bad, data })
    }

    /// Advances one clock period. `requests` come from the tiles.
    pub fn step<'r>(
        &mut self,
        requests: impl Iterator<Item = Option<&'r Burst>>,
        memory: &MemoryIn,
        reached: &mut Reached,
    ) {
        self.beat = memory.beat;
        let mut granted = None;
        if self.read.is_none() || memory.request_ready {
            let waits = self.requests.iter().enumerate();
            let waits = waits.fold(0, |all, (tile, queue)| all | u64::from(!queue.is_empty()) << tile);
            reached.count_if(waits.count_ones() > 1, Rare::TilesCompete);
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
                reached.count_if(!queue.has_room(), Rare::RequestsFull);
            }
        }
    }

    fn read_of(&self, tile: usize) -> Read {
        let burst = self.requests[tile].front().expect("it asks");
        let address = self.memory.address_of(burst.number) + u64::from(burst.first) * self.flit_bytes;
        Read { id: (tile as u32) << self.memory.slot_width | burst.id, address, len: burst.len }
    }
}
