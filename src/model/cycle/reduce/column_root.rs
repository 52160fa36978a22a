//! Reduce root of a column (`meshkv_column_root`): timing of merges and outputs.
//!
//! Timing does not depend on values, so none are computed. [`Root`](crate::model::Root) computes them,
//! merging in the order given by [`ReduceRoot::merge`].

use super::finisher::{Finisher, OutFlit, Summed};
use super::reduce_inlet::ReduceInlet;
use crate::design::{index_bits, Design};
use crate::kernels::reduce::root_phase::{self, Events, Phase};
use crate::model::cycle::common::DelayLine;
use crate::model::cycle::mare::RootFlit;

/// Cycles from a number to the sum that it is added to.
const SUM: u32 = 5;

/// Start of a merge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Merge {
    /// Stream.
    pub stream: u32,
    /// Query head, by its place in the column.
    pub head: u32,
    /// Row of the sending tile.
    pub y: u32,
}

/// State of all heads, of the packet in progress and of the next one.
#[derive(Debug, Clone)]
pub struct ReduceRoot {
    /// Flit in the register before the inlet.
    arrived: Option<RootFlit>,
    inlet: ReduceInlet,
    heads: u32,
    /// Partials merged, by stream and head, and the largest number that is counted.
    merged: Box<[u32]>,
    most: u32,
    phase: Phase,
    /// Heads that are still to be cleared after reset.
    unclear: u32,
    /// The next packet is the last of its head.
    ahead_ends: bool,
    /// First flit of the packet in progress; it is the last of its head; its state is not yet written.
    of: RootFlit,
    ends: bool,
    merging: bool,
    /// Cycles by which a packet begins later, so that sums are written before they are read; and cycles since numbers
    /// were stored, a bit each.
    gap: u32,
    stored: u32,
    /// l, and the last numbers of a head's last packet, on the way to their sums.
    l: DelayLine,
    lasts: DelayLine,
    finisher: Finisher,
}

impl ReduceRoot {
    /// Creates the root of a column in its reset state.
    pub fn new(design: &Design) -> ReduceRoot {
        let (pe, heads) = (&design.pe, design.heads.most());
        let contexts = design.model.max_streams * heads;
        let (sources, depth) = (design.router.vn0_vcs + 1, design.router.vc_depth);
        let (head_dim, width) = (pe.head_dim, design.flit.data_width);
        let lanes = pe.root_lanes;
        ReduceRoot {
            arrived: None,
            inlet: ReduceInlet::new(sources, depth, head_dim / lanes, width / 32 / lanes),
            heads,
            merged: vec![0; contexts as usize].into(),
            most: (1 << index_bits(design.mesh.rows())) - 1,
            phase: Phase::Clear,
            unclear: contexts,
            ahead_ends: false,
            of: RootFlit::default(),
            ends: false,
            merging: false,
            gap: SUM.saturating_sub(head_dim / lanes),
            stored: 0,
            l: DelayLine::default(),
            lasts: DelayLine::default(),
            finisher: Finisher::new(head_dim, pe.finish_lanes, width),
        }
    }

    /// Freed slots, a bit a source: a register.
    pub fn credit(&self) -> u32 {
        self.inlet.credit()
    }

    /// Flit of an output: a register.
    pub fn out(&self) -> Option<OutFlit> {
        self.finisher.out()
    }

    /// Merge that begins in this cycle.
    pub fn merge(&self) -> Option<Merge> {
        let part = &self.of.part;
        let begins = self.inlet.beat().is_some_and(|beat| beat.first);
        begins.then_some(Merge { stream: part.stream, head: part.head, y: self.of.y })
    }

    /// Numbers of a finished head that are shown in this cycle.
    pub fn summed(&self) -> Option<Summed> {
        self.finisher.shown()
    }

    /// Advances one cycle. `partials`: streams whose heads return partial results, a bit each.
    pub fn step(&mut self, flit: Option<&RootFlit>, out_ready: bool, partials: &[u32]) {
        if flit.is_none() && self.is_still() {
            return;
        }
        let flit = std::mem::replace(&mut self.arrived, flit.copied());
        let place = !self.ahead_ends || !self.finisher.is_full();
        let starts = self.phase == Phase::Prepare && !self.inlet.is_busy() && !self.is_near() && place;
        let (l_summed, whole) = (self.l.comes(), self.lasts.comes());
        if l_summed && self.ends {
            let stream = self.of.part.stream;
            let word = partials.get(stream as usize / 32).copied().unwrap_or_default();
            self.finisher.ask_partial(word >> (stream % 32) & 1 == 1);
        }
        self.finisher.step(l_summed && self.ends, whole, out_ready);
        let beat = self.inlet.beat();
        let stores = beat.is_some_and(|beat| !beat.first) && !self.ends;
        self.stored = self.stored << 1 | u32::from(stores);
        self.l.step(beat.is_some_and(|beat| beat.first), SUM);
        self.lasts.step(beat.is_some_and(|beat| beat.last && self.ends), SUM);
        self.turn(starts);
        self.merging = starts || self.merging && !l_summed;
        self.inlet.step(flit.as_ref(), starts);
    }

    /// Numbers that the next packet reads too early are still to be written.
    fn is_near(&self) -> bool {
        let before = self.gap.checked_sub(1).map(|cycles| self.stored & ((1 << cycles) - 1));
        before.is_some_and(|before| before != 0 || self.inlet.beat().is_some())
    }

    fn is_still(&self) -> bool {
        self.phase == Phase::Wait
            && self.arrived.is_none()
            && !self.merging
            && self.finisher.is_still()
            && self.inlet.is_still()
    }

    /// Advances the phase of the next packet.
    fn turn(&mut self, starts: bool) {
        let events = Events {
            cleared: self.unclear <= 1,
            header_valid: self.inlet.header().is_some(),
            looks: !self.merging,
            start: starts,
        };
        match self.phase {
            Phase::Clear => self.unclear = self.unclear.saturating_sub(1),
            Phase::Compare => self.count_partial(),
            Phase::Prepare if starts => self.start(),
            Phase::Wait | Phase::Look | Phase::Prepare => {}
        }
        self.phase = root_phase::rule(self.phase, &events);
    }

    fn start(&mut self) {
        self.of = self.inlet.header().copied().unwrap_or_default();
        self.ends = self.ahead_ends;
        if self.ends {
            let part = &self.of.part;
            let (stream, layer, head) = (part.stream, part.layer, part.head);
            self.finisher.begin(OutFlit { stream, layer, head, ..OutFlit::default() });
        }
    }

    /// Counts a partial and notes whether the packet is its head's last. The count then restarts.
    fn count_partial(&mut self) {
        let part = self.inlet.header().map(|flit| flit.part).unwrap_or_default();
        let merged = &mut self.merged[(part.stream * self.heads + part.head) as usize];
        self.ahead_ends = *merged == part.others;
        *merged = if self.ahead_ends { 0 } else { (*merged + 1) & self.most };
    }
}
