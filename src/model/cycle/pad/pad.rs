//! PaD of a tile (`meshkv_pad`): when it takes flits and jobs, and when partial results leave.
//!
//! Jobs and partial results cross between the network's clock and the PaD's. A period of the network's clock
//! may contain edges of the PaD's clock. [`Pad::look`] computes the next of them, [`Pad::pe_edge`] runs it,
//! and [`Pad::noc_edge`] ends the period.

use super::contexts::Contexts;
use super::event_counters::EventCounters;
use super::ports::ComputeIn;
use super::sequencer::{Now, PadCommand, Sequencer};
use crate::design::{Design, JOB_DEPTH};
use crate::model::cycle::common::{AsyncFifo, AsyncRegister};
use crate::model::cycle::mare::{KvFlit, PartFlit};
use crate::model::cycle::reduce::PartFormer;

/// Signals of both sides before an edge.
#[derive(Debug, Clone, Copy, Default)]
pub struct Between {
    written: u32,
    read: u32,
    sent: bool,
    taken: bool,
}

/// PaD of one tile.
#[derive(Debug, Clone)]
pub struct Pad {
    contexts: Contexts,
    jobs: AsyncFifo<PadCommand>,
    sequencer: Sequencer,
    former: PartFormer,
    parts: AsyncRegister<PartFlit>,
    counts: EventCounters,
    now: Now,
    /// Nothing was left to do before the last edge of its clock.
    idle: bool,
}

impl Pad {
    /// Creates the PaD of the tile at (x, y) in its reset state.
    pub fn new(design: &Design, x: u32, y: u32) -> Pad {
        let contexts = Contexts::new(design, x, y);
        Pad {
            sequencer: Sequencer::new(design, &contexts),
            contexts,
            jobs: AsyncFifo::new(JOB_DEPTH),
            former: PartFormer::new(design.pe.head_dim, design.flit.data_width),
            parts: AsyncRegister::default(),
            counts: EventCounters::new(design.pe.array_rows),
            now: Now::default(),
            idle: false,
        }
    }

    /// Computes the next edge of the PaD's clock with `flit` at the input. Returns true if the edge takes the
    /// flit.
    pub fn look(&mut self, flit: Option<&KvFlit>) -> bool {
        self.now = self.sequencer.look(flit);
        self.now.accepts
    }

    /// Outputs to the tile. `hears_query`: the tile has part of a query, which has priority over a job.
    pub fn offers(&self, hears_query: bool) -> ComputeIn {
        let room = self.jobs.has_room();
        ComputeIn {
            vector_ready: room,
            job_ready: room && !hears_query,
            kv_ready: self.now.accepts,
            idle: self.idle,
            part: self.parts.out().copied(),
            ..ComputeIn::default()
        }
    }

    /// Activity of the stages, a bit each, as in `pad_state`.
    pub fn state(&self) -> u32 {
        self.sequencer.state(&self.now)
    }

    /// Counter at the port, and its total.
    pub fn counter(&self) -> (usize, u32) {
        self.counts.shown()
    }

    /// All counters.
    pub fn counts(&self) -> &EventCounters {
        &self.counts
    }

    /// Signals of both sides.
    pub fn between(&self) -> Between {
        Between {
            written: self.jobs.written(),
            read: self.jobs.read(),
            sent: self.parts.sent(),
            taken: self.parts.taken(),
        }
    }

    /// Runs an edge of the network's clock. `command` is the job or query sent; `part_ready`: the flit of PART
    /// is taken.
    pub fn noc_edge(&mut self, command: Option<PadCommand>, part_ready: bool, before: &Between) {
        self.jobs.write_edge(command, before.read);
        self.parts.read_edge(part_ready, before.sent);
    }

    /// Runs an edge of the PaD's clock, after [`Pad::look`].
    pub fn pe_edge(&mut self, before: &Between) {
        self.counts.scan();
        self.idle = self.sequencer.is_idle(&self.now);
        if self.is_still() {
            return;
        }
        let (happens, passing) = self.sequencer.happens(&self.now, self.former.has_room());
        self.counts.count(&happens, passing);
        let ready = self.parts.has_room();
        let part = self.former.out().copied().filter(|_| ready);
        let out = self.sequencer.step(&self.now, self.jobs.out(), self.former.has_room(), &self.contexts);
        self.former.step(out.pair, ready);
        self.parts.write_edge(part, before.taken);
        self.jobs.read_edge(out.takes, before.written);
    }

    /// Only the scan would change.
    fn is_still(&self) -> bool {
        !self.now.flit
            && self.sequencer.is_still()
            && self.jobs.is_still()
            && self.former.is_still()
            && self.parts.is_still()
    }
}
