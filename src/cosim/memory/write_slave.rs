//! An AXI4 write slave: accepts requests and data, and responds with the timing of its behaviour. Data is stored with its
//! response, no earlier.

use super::axi::{
    Limits, Request, Wires, WriteBeat, WriteResponse, WriteRules, DECODE_ERROR, OKAY, SLAVE_ERROR,
};
use super::behaviour::{Behaviour, Fault, FaultKind, Interface, Struck, LONGEST};
use super::host_buffers::Bytes;
use crate::cosim::checks::violation::{Violation, ViolationKind, Violations};
use crate::cosim::hash::mix;
use std::collections::VecDeque;

/// Outputs of the slave in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOffer {
    /// Ready for a request.
    pub request_ready: bool,
    /// Ready for data.
    pub data_ready: bool,
    /// The response on the wires.
    pub response: Option<WriteResponse>,
}

/// Outputs of the master in a period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The request on the wires.
    pub request: Option<Request>,
    /// The data on the wires.
    pub beat: Option<WriteBeat>,
    /// Ready for a response.
    pub response_ready: bool,
}

/// Target of the writes of a slave.
pub trait Store {
    /// True if all bytes of words that `strobes` select have a place.
    fn holds(&self, address: u64, words: &[u32], strobes: u128) -> bool;

    /// Writes those bytes.
    fn store(&mut self, address: u64, words: &[u32], strobes: u128);
}

impl Store for Bytes {
    fn holds(&self, address: u64, words: &[u32], strobes: u128) -> bool {
        Bytes::holds(self, address, words, strobes)
    }

    fn store(&mut self, address: u64, words: &[u32], strobes: u128) {
        self.write(address, words, strobes);
    }
}

/// A response, the cycle in which it is due, and the data that is stored with it, by address.
#[derive(Debug)]
struct Due {
    cycle: u64,
    response: WriteResponse,
    data: Vec<(u64, WriteBeat)>,
}

/// One write slave, with the checker of its master.
#[derive(Debug)]
pub struct WriteMemory {
    rules: WriteRules,
    of: Interface,
    port: usize,
    beat_bytes: u32,
    behaviour: Behaviour,
    /// Requests without their data, each with its number.
    requests: VecDeque<(Request, u64)>,
    /// Data that is not written yet.
    data: VecDeque<WriteBeat>,
    /// Responses, in the order of their writes.
    due: VecDeque<Due>,
    /// Data of the response on the wires that is not stored yet.
    fresh: Vec<(u64, WriteBeat)>,
    offer: WriteOffer,
    taken: u64,
    beats: u64,
    random: u64,
    /// The fault by which no request is accepted in this period, and that by which no data is.
    refused: [Option<usize>; 2],
    struck: Struck,
    violations: Violations,
}

impl WriteMemory {
    /// The slave of a port, before its first request. IDs need not be unique.
    pub fn new(of: Interface, port: usize, beat_bytes: u32, behaviour: Behaviour) -> WriteMemory {
        let limits = Limits { beat_bytes, beats: LONGEST, unique_ids: false };
        WriteMemory {
            rules: WriteRules::new(of.name.as_str(), limits),
            of,
            port,
            beat_bytes,
            random: mix(behaviour.seed ^ 0x7772_6974 ^ port as u64),
            behaviour,
            requests: VecDeque::new(),
            data: VecDeque::new(),
            due: VecDeque::new(),
            fresh: Vec::new(),
            offer: WriteOffer { request_ready: false, data_ready: false, response: None },
            taken: 0,
            beats: 0,
            refused: [None; 2],
            struck: Struck::default(),
            violations: Violations::default(),
        }
    }

    /// Replaces the faults.
    pub fn set_faults(&mut self, faults: Vec<Fault>) {
        self.behaviour.faults = faults;
        self.struck = Struck::default();
    }

    /// The first cycle in which each fault took effect, in the order of the faults; `None` for one that has not.
    pub fn struck(&self) -> Vec<Option<u64>> {
        (0..self.behaviour.faults.len()).map(|fault| self.struck.at(fault)).collect()
    }

    /// Requests accepted so far.
    pub fn requests(&self) -> u64 {
        self.taken
    }

    /// Beats written so far.
    pub fn beats(&self) -> u64 {
        self.beats
    }

    /// Writes that are not complete or not answered.
    pub fn waiting(&self) -> usize {
        self.rules.outstanding()
    }

    /// Violations of the master so far: their number, and the first of them.
    pub fn violations(&self) -> (u64, &[Violation]) {
        (self.violations.count, &self.violations.first)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random = mix(self.random);
        (self.random >> 16) % n
    }

    fn happens(&mut self, of_256: u8) -> bool {
        of_256 > 0 && self.below(256) < u64::from(of_256)
    }

    /// The fault at an address, for the request of a number, and its place in the list.
    fn fault(&self, address: u64, number: u64, of: impl Fn(FaultKind) -> bool) -> Option<(usize, FaultKind)> {
        let mut all = self.behaviour.faults.iter().enumerate();
        all.find(|(_, f)| f.hits(self.port, address, number) && of(f.kind)).map(|(at, f)| (at, f.kind))
    }

    /// Outputs in the period of this cycle. Call it once per cycle.
    pub fn drive(&mut self, cycle: u64) -> WriteOffer {
        let never = |kind| self.fault(0, self.taken, |of| of == kind).map(|(fault, _)| fault);
        self.refused = [never(FaultKind::Deaf), never(FaultKind::Shut)];
        let still = self.fault(0, self.taken, |kind| kind.stills(cycle));
        if let Some((fault, _)) = still {
            self.struck.by(fault, cycle);
        }
        let [deaf, shut] = self.refused.map(|by| by.is_some() || still.is_some());
        let full = self.requests.len() + self.due.len() >= self.behaviour.outstanding;
        let (stall, gap) = (self.behaviour.request_stall, self.behaviour.beat_gap);
        self.offer.request_ready = !(self.happens(stall) || deaf || full);
        self.offer.data_ready = !(self.happens(gap) || shut || self.data.len() >= LONGEST as usize);
        // A valid response stays until it is taken.
        if self.offer.response.is_none() && still.is_none() && !self.happens(gap) {
            let first_of_id =
                |at: usize| self.due.iter().take(at).all(|d| d.response.id != self.due[at].response.id);
            let most = if self.behaviour.reorder { self.due.len() } else { self.due.len().min(1) };
            let may: Vec<usize> =
                (0..most).filter(|&at| self.due[at].cycle <= cycle && first_of_id(at)).collect();
            if !may.is_empty() {
                let at = may[self.below(may.len() as u64) as usize];
                if let Some(due) = self.due.remove(at) {
                    (self.offer.response, self.fresh) = (Some(due.response), due.data);
                }
            }
        }
        self.offer
    }

    /// Takes the inputs of the period, and writes what is complete. Returns whether anything passed.
    pub fn observe(&mut self, cycle: u64, written: Written, store: &mut dyn Store) -> bool {
        for (address, beat) in self.fresh.drain(..) {
            store.store(address, &beat.data, beat.strobes);
            self.beats += 1;
        }
        let shown = [written.request.is_some(), written.beat.is_some()];
        for fault in self.refused.into_iter().zip(shown).filter_map(|(by, shown)| by.filter(|_| shown)) {
            self.struck.by(fault, cycle);
        }
        let request = Wires { shown: written.request, ready: self.offer.request_ready };
        let beat = Wires { shown: written.beat, ready: self.offer.data_ready };
        let response = Wires { shown: self.offer.response, ready: written.response_ready };
        self.rules.judge(cycle, &request, &beat, &response, &mut self.violations);
        let moved = request.taken().is_some() || beat.taken().is_some() || response.taken().is_some();
        if response.taken().is_some() {
            self.offer.response = None;
        }
        if let Some(request) = request.taken() {
            self.requests.push_back((*request, self.taken));
            self.taken += 1;
        }
        if beat.ready {
            self.data.extend(beat.shown);
        }
        while self.requests.front().is_some_and(|(r, _)| self.data.len() > r.len as usize) {
            self.finish(cycle, store);
        }
        moved
    }

    /// Completes the first request, whose data has all come.
    fn finish(&mut self, cycle: u64, store: &dyn Store) {
        let Some((request, number)) = self.requests.pop_front() else { return };
        let data: Vec<WriteBeat> = self.data.drain(..=request.len as usize).collect();
        let start = self.of.base.inside(request.address);
        let of_answers = |kind| !matches!(kind, FaultKind::Deaf | FaultKind::Shut | FaultKind::Still { .. });
        let fault = self.fault(start, number, of_answers);
        if let Some((fault, _)) = fault {
            self.struck.by(fault, cycle);
        }
        let fault = fault.map(|(_, kind)| kind);
        let mut answer = match fault {
            Some(FaultKind::SlaveError) => SLAVE_ERROR,
            Some(FaultKind::DecodeError) => DECODE_ERROR,
            _ => OKAY,
        };
        let size = u64::from(self.beat_bytes);
        let mut kept = Vec::new();
        // A failing write changes nothing.
        let writes = answer == OKAY;
        for (beat, at) in data.into_iter().zip(0..).filter(|_| writes) {
            let address = start.wrapping_add(at * size);
            if store.holds(address, &beat.data, beat.strobes) {
                kept.push((address, beat));
            } else {
                answer = DECODE_ERROR;
                let (name, address) = (&self.of.name, request.address + at * size);
                let message = || format!("cycle {cycle}: {name} W: {address:#x} is in no buffer");
                self.violations.add(ViolationKind::Protocol, message);
            }
        }
        let late = match fault {
            Some(FaultKind::Mute) => return self.rules.abandon(request.id),
            Some(FaultKind::Late(cycles)) => u64::from(cycles),
            _ => 0,
        };
        let jitter = self.below(u64::from(self.behaviour.jitter) + 1);
        let due = cycle + u64::from(self.behaviour.latency.max(1)) + late + jitter;
        let response = WriteResponse { id: request.id, response: answer };
        self.due.push_back(Due { cycle: due, response, data: kept });
        if fault == Some(FaultKind::Twice) {
            self.due.push_back(Due { cycle: due, response, data: Vec::new() });
        }
    }

    /// Runs a period in reset, with or without a request or data of the master, and forgets
    /// everything but what is written.
    pub fn in_reset(&mut self, cycle: u64, shown: (bool, bool)) {
        self.rules.in_reset(cycle, shown, &mut self.violations);
        self.requests.clear();
        self.data.clear();
        self.due.clear();
        self.fresh.clear();
        self.offer.response = None;
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
