//! PART packets, which tiles send when a layer is closed and which must reach the reduce roots.
//!
//! It knows no arithmetic: a payload is a hash of its sender and time.

use crate::cosim::checks::violation::{ViolationKind, Violations};
use crate::cosim::hash::mix;
use crate::design::{Design, NodeId};
use std::collections::{BTreeMap, VecDeque};

/// Key that identifies a packet within its step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::cosim::workloads::decode) struct PartKey {
    /// Sender.
    pub(in crate::cosim::workloads::decode) tile: NodeId,
    /// Stream.
    pub(in crate::cosim::workloads::decode) stream: u32,
    /// Layer.
    pub(in crate::cosim::workloads::decode) layer: u32,
    /// Query head.
    pub(in crate::cosim::workloads::decode) head: u32,
}

/// One packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cosim::workloads::decode) struct Part {
    pub(in crate::cosim::workloads::decode) key: PartKey,
    /// Position of the closing descriptor in the run: the same head sends one in each step.
    pub(in crate::cosim::workloads::decode) descriptor: usize,
    /// Packets of its head besides it: none if the mapping puts the head on one tile.
    pub(in crate::cosim::workloads::decode) others: u32,
}

/// One flit as it arrives at a root.
#[derive(Debug, Clone, Copy)]
pub(in crate::cosim::workloads::decode) struct Arrived<'a> {
    pub(in crate::cosim::workloads::decode) root: NodeId,
    pub(in crate::cosim::workloads::decode) key: PartKey,
    pub(in crate::cosim::workloads::decode) others: u32,
    pub(in crate::cosim::workloads::decode) first: bool,
    pub(in crate::cosim::workloads::decode) last: bool,
    pub(in crate::cosim::workloads::decode) data: &'a [u32],
}

/// Flits of a packet: maximum and sum, then the output in FP32.
pub(in crate::cosim::workloads::decode) fn part_flits(design: &Design) -> u32 {
    design.part_flits()
}

impl Part {
    /// The payload of one of its flits.
    pub(in crate::cosim::workloads::decode) fn payload(&self, seed: u64, index: u32, words: &mut [u32]) {
        let key = self.key;
        let who = (key.tile.index() as u64) << 48
            | u64::from(key.stream) << 32
            | u64::from(key.layer) << 16
            | u64::from(key.head);
        let packet = mix(mix(seed ^ who) ^ self.descriptor as u64);
        for (at, word) in (0_u64..).zip(words) {
            *word = mix(packet ^ u64::from(index) << 32 ^ at) as u32;
        }
    }
}

/// Packets under way.
#[derive(Debug)]
pub(in crate::cosim::workloads::decode) struct PartBook {
    seed: u64,
    flits: u32,
    /// By key, in the order of their descriptors, each with its next flit.
    open: BTreeMap<PartKey, VecDeque<(Part, u32)>>,
    count: usize,
    expected: Vec<u32>,
    /// Complete packets.
    pub(in crate::cosim::workloads::decode) packets: u64,
}

impl PartBook {
    pub(in crate::cosim::workloads::decode) fn new(design: &Design, seed: u64) -> PartBook {
        PartBook {
            seed,
            flits: part_flits(design),
            open: BTreeMap::new(),
            count: 0,
            expected: vec![0; design.flit.data_width.div_ceil(32) as usize],
            packets: 0,
        }
    }

    /// Adds a packet that is due.
    pub(in crate::cosim::workloads::decode) fn expect(&mut self, part: Part) {
        self.open.entry(part.key).or_default().push_back((part, 0));
        self.count += 1;
    }

    /// Checks a flit that arrived. Returns the descriptor of a packet that it completes.
    pub(in crate::cosim::workloads::decode) fn arrived(
        &mut self,
        design: &Design,
        cycle: u64,
        flit: Arrived,
        violations: &mut Violations,
    ) -> Option<usize> {
        let PartBook { seed, flits, open, expected, .. } = self;
        let text = |what: &str| format!("cycle {cycle}: root {}, {:?}: {what}", flit.root.index(), flit.key);
        let (x, _) = design.mesh.coords(flit.key.tile);
        if design.mesh.coords(flit.root) != (x, 0) {
            violations.add(ViolationKind::WrongTile, || text("is not the root of its column"));
        }
        let Some(queue) = open.get_mut(&flit.key) else {
            violations.add(ViolationKind::Duplicate, || text("nobody sends such a packet, or it has come"));
            return None;
        };
        // Packets of two steps may be under way at once, on two channels: the payload identifies
        // them.
        let mut fits = |(part, next): &(Part, u32)| {
            part.payload(*seed, *next, expected);
            expected.starts_with(flit.data)
        };
        let Some(at) = queue.iter().position(&mut fits) else {
            violations
                .add(ViolationKind::Corrupt, || text(&format!("flit {} has another payload", queue[0].1)));
            return self.advance(flit.key, 0);
        };
        let (part, next) = queue[at];
        if (flit.first, flit.last, flit.others) != (next == 0, next + 1 == *flits, part.others) {
            violations.add(ViolationKind::Interleaved, || text(&format!("flit {next} is marked wrongly")));
        }
        self.advance(flit.key, at)
    }

    fn advance(&mut self, key: PartKey, at: usize) -> Option<usize> {
        let queue = self.open.get_mut(&key).expect("the caller has found it");
        queue[at].1 += 1;
        if queue[at].1 < self.flits {
            return None;
        }
        let (part, _) = queue.remove(at).expect("the caller has found it");
        if queue.is_empty() {
            self.open.remove(&key);
        }
        self.count -= 1;
        self.packets += 1;
        Some(part.descriptor)
    }

    /// Words for the first few packets under way.
    pub(in crate::cosim::workloads::decode) fn waiting(&self) -> Option<String> {
        let all = || self.open.values().flatten();
        let shown = all().take(3).map(|(part, next)| {
            let PartKey { tile, stream, layer, head } = part.key;
            let tile = tile.index();
            format!("flit {next} of PART of head {head}, stream {stream}, layer {layer} from tile {tile}")
        });
        let text = shown.collect::<Vec<_>>().join(", ");
        (self.count > 0).then(|| format!("{} PART packets have not come ({text})", self.count))
    }
}
