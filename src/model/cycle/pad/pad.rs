//! What computes beside every tile (`meshkv_pad`): when it takes flits and jobs, and when its partial results leave.
//!
//! No number depends on a cycle, and no cycle on a number, so none is computed here: contexts, tokens and blocks are
//! counted. Numbers follow from the jobs in their order ([`Contexts::wanted`]) and are the datapath's.
//!
//! * [`sequencer`](Sequencer): jobs and passes; [`loader`](Loader): weights of a block; [`rows`](Rows): how long
//!   the array takes; [`former`](Former): packets;
//! * [`crossing`]: between the network's clock and that of what computes.
//!
//! In a period of the network there may be edges of the other clock. [`Pad::look`] is what they are about to do,
//! [`Pad::pe_edge`] is one, and [`Pad::noc_edge`] ends the period.

use super::contexts::Contexts;
use super::event_counters::EventCounters;
use super::ports::ComputeIn;
use super::sequencer::{Now, Sequencer, Told};
use crate::design::{Design, JOB_DEPTH};
use crate::model::cycle::common::{AsyncFifo, AsyncRegister};
use crate::model::cycle::mare::{KvFlit, PartFlit};
use crate::model::cycle::reduce::PartFormer;

/// What each side shows the other before an edge.
#[derive(Debug, Clone, Copy, Default)]
pub struct Between {
    written: u32,
    read: u32,
    sent: bool,
    taken: bool,
}

/// What computes at one tile.
#[derive(Debug, Clone)]
pub struct Pad {
    contexts: Contexts,
    jobs: AsyncFifo<Told>,
    sequencer: Sequencer,
    former: PartFormer,
    parts: AsyncRegister<PartFlit>,
    counts: EventCounters,
    now: Now,
}

impl Pad {
    /// That of the tile at (x, y), out of reset.
    pub fn new(design: &Design, x: u32, y: u32) -> Pad {
        let contexts = Contexts::new(design, x, y);
        Pad {
            sequencer: Sequencer::new(design, &contexts),
            contexts,
            jobs: AsyncFifo::new(JOB_DEPTH),
            former: PartFormer::new(design.config.pe.head_dim, design.flit.data_width),
            parts: AsyncRegister::default(),
            counts: EventCounters::new(design.config.pe.array_rows),
            now: Now::default(),
        }
    }

    /// What the next edge of this clock finds, the flit that is shown being `flit`; true if it takes it.
    pub fn look(&mut self, flit: Option<&KvFlit>) -> bool {
        self.now = self.sequencer.look(flit);
        self.now.accepts
    }

    /// What the tile is shown; `hears_query` if it has a part of a query to tell, which goes before a job.
    pub fn offers(&self, hears_query: bool) -> ComputeIn {
        let room = self.jobs.has_room();
        ComputeIn {
            vector_ready: room,
            job_ready: room && !hears_query,
            kv_ready: self.now.accepts,
            idle: self.sequencer.is_idle(&self.now),
            part: self.parts.out().copied(),
            ..ComputeIn::default()
        }
    }

    /// What stages do, a bit each, as `pad_state` has them.
    pub fn state(&self) -> u32 {
        self.sequencer.state(&self.now)
    }

    /// The counter that is shown, and its total.
    pub fn counter(&self) -> (usize, u32) {
        self.counts.shown()
    }

    /// All that was counted.
    pub fn counts(&self) -> &EventCounters {
        &self.counts
    }

    /// What both sides show each other.
    pub fn between(&self) -> Between {
        Between {
            written: self.jobs.written(),
            read: self.jobs.read(),
            sent: self.parts.sent(),
            taken: self.parts.taken(),
        }
    }

    /// An edge of the network's clock: what is told, and whether the flit of PART is taken.
    pub fn noc_edge(&mut self, told: Option<Told>, part_ready: bool, before: &Between) {
        self.jobs.write_edge(told, before.read);
        self.parts.read_edge(part_ready, before.sent);
    }

    /// An edge of the clock of what computes, after [`Pad::look`].
    pub fn pe_edge(&mut self, before: &Between) {
        self.counts.scan();
        if self.is_still() {
            return;
        }
        let (happens, passing) = self.sequencer.happens(&self.now);
        self.counts.count(&happens, passing);
        let ready = self.parts.has_room();
        let part = self.former.out().copied().filter(|_| ready);
        let did = self.sequencer.step(&self.now, self.jobs.out(), self.former.has_room(), &self.contexts);
        self.former.step(did.number, ready);
        self.parts.write_edge(part, before.taken);
        self.jobs.read_edge(did.takes, before.written);
    }

    /// Nothing of it would change but the scan.
    fn is_still(&self) -> bool {
        !self.now.flit
            && self.sequencer.is_still()
            && self.jobs.is_still()
            && self.former.is_still()
            && self.parts.is_still()
    }
}
