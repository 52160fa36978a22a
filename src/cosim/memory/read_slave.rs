//! One AXI4 read slave: accepts requests and returns beats with the timing of its [`Behaviour`].

use super::axi::{Beat, Request, Wires, DECODE_ERROR, OKAY, SLAVE_ERROR};
use super::behaviour::{Behaviour, FaultKind, Offer, Shape, Struck};
use super::channels::Channels;
use super::image::Image;
use crate::cosim::hash::mix;
use std::collections::VecDeque;

/// Counters of a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Requests accepted.
    pub requests: u64,
    /// Beats taken by the master.
    pub beats: u64,
    /// Cycles in which a beat was valid and not taken.
    pub refused: u64,
}

/// An accepted request.
#[derive(Debug, Clone, Copy)]
struct Burst {
    request: Request,
    /// Number of the request at its port.
    number: u64,
    /// Earliest cycle of its first beat.
    due: u64,
    /// Beats already on the wires or taken.
    shown: u32,
    /// It was answered once, by a fault, and is answered again.
    again: bool,
}

#[derive(Debug)]
pub(super) struct Port {
    index: usize,
    /// In the order in which they were accepted.
    bursts: VecDeque<Burst>,
    request_ready: bool,
    /// The beat on the wires; `shows` is its valid.
    beat: Beat,
    shows: bool,
    random: u64,
    /// The fault by which no request is accepted in this period.
    deaf: Option<usize>,
    pub(super) struck: Struck,
    pub(super) counts: PortCounts,
}

impl Port {
    pub(super) fn new(index: usize, shape: &Shape, behaviour: &Behaviour) -> Port {
        let data = vec![0; shape.flit_bytes as usize / 4];
        Port {
            index,
            bursts: VecDeque::new(),
            request_ready: false,
            beat: Beat { id: 0, response: OKAY, last: false, data },
            shows: false,
            random: mix(behaviour.seed ^ (index as u64) << 32),
            deaf: None,
            struck: Struck::default(),
            counts: PortCounts::default(),
        }
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random = mix(self.random);
        (self.random >> 16) % n
    }

    /// True in so many of 256 cycles, at random.
    fn happens(&mut self, of_256: u8) -> bool {
        of_256 > 0 && self.below(256) < u64::from(of_256)
    }

    pub(super) fn drive(
        &mut self,
        cycle: u64,
        shape: &Shape,
        behaviour: &Behaviour,
        image: &Image,
        channels: &mut Channels,
    ) -> Offer<'_> {
        let full = self.bursts.len() >= behaviour.outstanding;
        let now = (0, self.counts.requests);
        self.deaf = self.fault(behaviour, now, |kind| kind == FaultKind::Deaf).map(|(fault, _)| fault);
        let still = self.fault(behaviour, now, |kind| kind.stills(cycle));
        if let Some((fault, _)) = still {
            self.struck.by(fault, cycle);
        }
        let refuses = self.deaf.is_some() || still.is_some() || full;
        self.request_ready = !(refuses || self.happens(behaviour.request_stall));
        // A valid beat stays until it is taken.
        if !self.shows && still.is_none() && !self.happens(behaviour.beat_gap) {
            let chosen = self.choose(cycle, behaviour);
            if let Some(at) = chosen.filter(|&at| channels.take(self.index, self.next(at, shape), cycle)) {
                self.show(at, cycle, shape, behaviour, image);
            }
        }
        Offer { request_ready: self.request_ready, beat: self.shows.then_some(&self.beat) }
    }

    /// Chooses the burst of the next beat.
    fn choose(&mut self, cycle: u64, behaviour: &Behaviour) -> Option<usize> {
        if !behaviour.reorder {
            return self.bursts.front().filter(|b| b.due <= cycle).map(|_| 0);
        }
        if let Some(begun) = self.bursts.iter().position(|b| b.shown > 0).filter(|_| !behaviour.interleave) {
            return Some(begun);
        }
        let first_of_id = |at: usize| {
            let id = self.bursts[at].request.id;
            self.bursts.iter().take(at).all(|b| b.request.id != id)
        };
        let may: Vec<usize> =
            (0..self.bursts.len()).filter(|&at| self.bursts[at].due <= cycle && first_of_id(at)).collect();
        if may.is_empty() {
            return None;
        }
        Some(may[self.below(may.len() as u64) as usize])
    }

    /// The address of the next beat of a burst.
    fn next(&self, at: usize, shape: &Shape) -> u64 {
        let burst = &self.bursts[at];
        burst.request.address + u64::from(burst.shown) * u64::from(shape.flit_bytes)
    }

    fn show(&mut self, at: usize, cycle: u64, shape: &Shape, behaviour: &Behaviour, image: &Image) {
        let address = self.next(at, shape);
        let Burst { request, number, again, .. } = self.bursts[at];
        let shown = self.bursts[at].shown + 1;
        self.bursts[at].shown = shown;
        let last = shown > request.len;
        (self.beat.id, self.beat.last) = (request.id, last);
        let faults = |kind| self.fault(behaviour, (request.address, number), |of| of == kind);
        let (twice, early, none) = (
            faults(FaultKind::Twice).filter(|_| last && !again),
            faults(FaultKind::EarlyLast).filter(|_| shown == request.len),
            faults(FaultKind::NoLast).filter(|_| last),
        );
        for (fault, _) in [twice, early, none].into_iter().flatten() {
            self.struck.by(fault, cycle);
        }
        self.beat.last = last && none.is_none() || early.is_some();
        if twice.is_some() {
            (self.bursts[at].shown, self.bursts[at].again) = (0, true);
        } else if last {
            self.bursts.remove(at);
        }
        let there = image.read(shape, address, &mut self.beat.data);
        let of_beats = |kind| matches!(kind, FaultKind::SlaveError | FaultKind::DecodeError);
        let wrong = self.fault(behaviour, (address, number), of_beats);
        if let Some((fault, _)) = wrong {
            self.struck.by(fault, cycle);
        }
        self.beat.response = match wrong.map(|(_, kind)| kind) {
            Some(FaultKind::SlaveError) => SLAVE_ERROR,
            Some(_) => DECODE_ERROR,
            None if there => OKAY,
            None => DECODE_ERROR,
        };
        let flips = |kind| matches!(kind, FaultKind::Flip(_));
        let flip = self.fault(behaviour, (request.address, number), flips).filter(|_| shown == 1);
        if let Some((fault, FaultKind::Flip(bit))) = flip {
            self.struck.by(fault, cycle);
            self.beat.data[bit as usize / 32] ^= 1 << (bit % 32);
        }
        if self.beat.response != OKAY {
            // Data of an error has no meaning and must not look valid.
            self.beat.data.iter_mut().for_each(|word| *word = !*word);
        }
        self.shows = true;
    }

    /// The beat on the wires, for the checker.
    pub(super) fn beat(&self, ready: bool) -> Wires<&Beat> {
        Wires { shown: self.shows.then_some(&self.beat), ready }
    }

    /// Takes the beat on the wires; false if there is none.
    pub(super) fn take_beat(&mut self) -> bool {
        let taken = std::mem::take(&mut self.shows);
        self.counts.beats += u64::from(taken);
        taken
    }

    /// True if a request on the wires is accepted in this period.
    pub(super) fn takes_requests(&self) -> bool {
        self.request_ready
    }

    /// Accepts a request; false if it will never be answered.
    pub(super) fn accept(&mut self, cycle: u64, request: Request, behaviour: &Behaviour) -> bool {
        let number = self.counts.requests;
        self.counts.requests += 1;
        let delayed = |kind| matches!(kind, FaultKind::Mute | FaultKind::Late(_));
        let fault = self.fault(behaviour, (request.address, number), delayed);
        if let Some((fault, _)) = fault {
            self.struck.by(fault, cycle);
        }
        let late = match fault.map(|(_, kind)| kind) {
            Some(FaultKind::Late(cycles)) => cycles,
            Some(_) => return false,
            None => 0,
        };
        let jitter = if behaviour.jitter > 0 { self.below(u64::from(behaviour.jitter) + 1) } else { 0 };
        let due = cycle + u64::from(behaviour.latency.max(1)) + u64::from(late) + jitter;
        self.bursts.push_back(Burst { request, number, due, shown: 0, again: false });
        true
    }

    /// Notes that a request is on the wires and refused by a fault, if there is one.
    pub(super) fn refuse(&mut self, cycle: u64) {
        if let Some(fault) = self.deaf {
            self.struck.by(fault, cycle);
        }
    }

    /// Counts a refused beat, if there is one.
    pub(super) fn count_refused(&mut self) {
        self.counts.refused += u64::from(self.shows);
    }

    /// Drops all requests and the beat.
    pub(super) fn forget(&mut self) {
        self.bursts.clear();
        self.shows = false;
    }

    pub(super) fn waiting(&self) -> usize {
        self.bursts.len()
    }

    /// The fault at an address, for the request of a number, and its place in the list.
    fn fault(
        &self,
        behaviour: &Behaviour,
        (address, number): (u64, u64),
        of: impl Fn(FaultKind) -> bool,
    ) -> Option<(usize, FaultKind)> {
        let mut all = behaviour.faults.iter().enumerate();
        all.find(|(_, f)| f.hits(self.index, address, number) && of(f.kind)).map(|(at, f)| (at, f.kind))
    }
}
