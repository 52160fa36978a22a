//! The scoreboard of descriptors: every tile must get its jobs and slices, and every head its
//! output.
//!
//! After a descriptor is accepted, every tile that [`super::expected`] names gets the job of each
//! of its slices once. It gets every flit of the slice once, in order and equal to the memory. It
//! sends its partial results when the layer is closed; every head has an output then. The ledger
//! knows no network and no home agent.
//!
//! Homes move between two steps, so a descriptor is resolved only when the first tile has reached
//! it.

use super::expected::{needs, rows_of, senders};
use super::part_packets::{Arrived, Part, PartBook, PartKey};
use super::tile_account::{Account, Awaited, Close, Job, Place, ToTell};
use crate::cosim::checks::violation::{Violation, ViolationKind, Violations};
use crate::cosim::memory::{Image, Shape};
use crate::cosim::workloads::decode::plan::Order;
use crate::cosim::workloads::shared::homes::Homes;
use crate::cosim::workloads::SliceId;
use crate::design::{flits_of_rows, Descriptor, Design, Mapping, NodeId};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// Streams and heads that a descriptor closes.
fn of_close(design: &Design, d: &Descriptor) -> impl Iterator<Item = (u32, u32)> {
    let heads = design.heads.heads();
    (d.stream..d.stream + d.streams).flat_map(move |stream| (0..heads).map(move |head| (stream, head)))
}

/// All accounts of the tiles.
#[derive(Debug)]
pub(in crate::cosim::workloads::decode) struct DecodeScoreboard<'a> {
    pub(in crate::cosim::workloads::decode) design: &'a Design,
    shape: Shape,
    homes: Homes,
    /// Accepted descriptors, with their steps.
    pub(in crate::cosim::workloads::decode) descriptors: Vec<(Descriptor, usize)>,
    /// Number of them that have been resolved.
    pub(in crate::cosim::workloads::decode) resolved: usize,
    pub(in crate::cosim::workloads::decode) accounts: Vec<Account>,
    pub(in crate::cosim::workloads::decode) parts: PartBook,
    /// Descriptors with an output due at their close, by stream and head.
    pub(in crate::cosim::workloads::decode) outputs: BTreeMap<(u32, u32), VecDeque<usize>>,
    /// Streams with a descriptor of another mapping than one tile a head since they were closed.
    scattered: BTreeSet<u32>,
    /// Rows that may have a partial result of a stream's heads since it was closed, by stream and KV head.
    rows: BTreeMap<(u32, u32), u32>,
    /// Number of events still due in each step: jobs, flits, packets and outputs.
    pending: Vec<u64>,
    words: Vec<u32>,
    pub(in crate::cosim::workloads::decode) violations: Violations,
    /// Jobs given.
    pub(in crate::cosim::workloads::decode) jobs: u64,
    /// Flits that came.
    pub(in crate::cosim::workloads::decode) flits: u64,
    /// Head-flits: each flit counted for each of its heads.
    pub(in crate::cosim::workloads::decode) head_flits: u64,
    /// Flits that came before an earlier chunk of their slice was complete.
    pub(in crate::cosim::workloads::decode) overtaking: u64,
    order: Order,
}

impl<'a> DecodeScoreboard<'a> {
    pub(in crate::cosim::workloads::decode) fn new(
        design: &'a Design,
        seed: u64,
        order: Order,
    ) -> DecodeScoreboard<'a> {
        DecodeScoreboard {
            design,
            shape: Shape::of(design),
            homes: Homes::new(design),
            descriptors: Vec::new(),
            resolved: 0,
            accounts: (0..design.mesh.tiles()).map(|_| Account::default()).collect(),
            parts: PartBook::new(design, seed),
            outputs: BTreeMap::new(),
            scattered: BTreeSet::new(),
            rows: BTreeMap::new(),
            pending: Vec::new(),
            words: vec![0; design.flit.data_width.div_ceil(32) as usize],
            violations: Violations::default(),
            jobs: 0,
            flits: 0,
            head_flits: 0,
            overtaking: 0,
            order,
        }
    }

    /// Notes that the fabric accepted a descriptor of a step.
    pub(in crate::cosim::workloads::decode) fn accepted(&mut self, descriptor: Descriptor, step: usize) {
        self.descriptors.push((descriptor, step));
        self.pending.resize(self.pending.len().max(step + 1), 0);
    }

    /// Exchanges the homes of two tiles after `steps` steps.
    pub(in crate::cosim::workloads::decode) fn swapped(&mut self, a: NodeId, b: NodeId, steps: usize) {
        // Descriptors from before the swap use the old homes.
        while self.descriptors.get(self.resolved).is_some_and(|(_, step)| *step < steps) {
            self.resolve();
        }
        self.homes.swap(a, b);
    }

    /// Forgets the rows of closed streams. Returns those with a partial result of any of them, by KV head.
    fn close_rows(&mut self, streams: std::ops::Range<u32>) -> Vec<u32> {
        let of_kv_head = |kv_head| {
            streams.clone().fold(0, |rows, stream| rows | self.rows.remove(&(stream, kv_head)).unwrap_or(0))
        };
        (0..self.design.model.kv_heads).map(of_kv_head).collect()
    }

    /// Resolves the next descriptor.
    fn resolve(&mut self) {
        let number = self.resolved;
        let (descriptor, step) = self.descriptors[number];
        self.resolved += 1;
        let needs = needs(self.design, &self.homes, &descriptor);
        let mut to_tell: Vec<ToTell> = (0..self.accounts.len())
            .map(|_| ToTell { descriptor: number, slices: HashMap::new(), close: None })
            .collect();
        let mut left = vec![0; self.accounts.len()];
        for need in needs {
            let (tile, SliceId { stream, layer, segment, slice }) = (need.tile.index(), need.slice);
            let ranges: Vec<_> =
                flits_of_rows(self.design, need.rows).iter().map(|r| (*r.start(), *r.end())).collect();
            let tag = need.slice.tag(self.design);
            let address = self.design.slice_address(stream, layer, segment, slice);
            let awaited = Awaited::new(number, need.mask, address, ranges);
            left[tile] += u64::from(awaited.left());
            self.accounts[tile].open.entry(tag).or_default().push(awaited);
            to_tell[tile].slices.insert(tag, need);
        }
        let streams = descriptor.stream..descriptor.stream + descriptor.streams;
        if descriptor.mapping != Mapping::HeadTile {
            self.scattered.extend(streams.clone());
        }
        let model = &self.design.model;
        for kv_head in 0..model.kv_heads {
            let rows = rows_of(self.design, &self.homes, &descriptor, kv_head);
            streams.clone().for_each(|stream| *self.rows.entry((stream, kv_head)).or_default() |= rows);
        }
        if descriptor.close {
            let rows = self.close_rows(streams.clone());
            let gathers = streams.clone().any(|stream| self.scattered.contains(&stream));
            self.scattered.retain(|stream| !streams.contains(stream));
            to_tell.iter_mut().for_each(|tell| tell.close = Some(Vec::new()));
            for (stream, head) in of_close(self.design, &descriptor) {
                self.outputs.entry((stream, head)).or_default().push_back(number);
                self.pending[step] += 1;
                let kv_head = head / model.group_heads();
                let senders = senders(self.design, gathers.then(|| rows[kv_head as usize]), stream, head);
                let others = senders.len() as u32 - 1;
                for tile in senders {
                    let key = PartKey { tile, stream, layer: descriptor.layer, head };
                    let part = Part { key, descriptor: number, others };
                    to_tell[tile.index()].close.get_or_insert_default().push(part);
                }
            }
        }
        for ((account, tell), left) in self.accounts.iter_mut().zip(to_tell).zip(left) {
            // A packet is due twice: the tile is told to send it, and it reaches its root.
            let closes = tell.close.as_ref().map_or(0, |parts| 2 * parts.len() as u64);
            self.pending[step] += tell.slices.len() as u64 + left + closes;
            account.to_tell.push_back(tell);
        }
    }

    /// Notes a job given to a tile. Of a close, which may name some heads and not yet others, returns the packets that
    /// the tile must send.
    pub(in crate::cosim::workloads::decode) fn told(
        &mut self,
        cycle: u64,
        tile: NodeId,
        job: &Job,
    ) -> Option<Close> {
        self.jobs += 1;
        let text = |what: &str| format!("cycle {cycle}: tile {}, {job:x?}: {what}", tile.index());
        let layer = SliceId::of_tag(self.design, job.tag).layer;
        let (descriptors, heads) = (&self.descriptors, &self.design.heads);
        let names = |part: &Part| job.mask >> heads.index(part.key.head) & 1 == 1;
        let fits = |tell: &ToTell| match job.close {
            false => tell.slices.contains_key(&job.tag),
            true => {
                let d = &descriptors[tell.descriptor].0;
                let due = |parts: &Vec<Part>| parts.is_empty() || parts.iter().any(names);
                tell.close.as_ref().is_some_and(due)
                    && (d.stream, d.streams, d.layer) == (job.stream, job.streams, layer)
            }
        };
        let Some(at) = self.accounts[tile.index()].to_tell.iter().position(fits) else {
            if self.resolved < self.descriptors.len() {
                self.resolve();
                self.jobs -= 1;
                return self.told(cycle, tile, job);
            }
            self.violations.add(ViolationKind::Duplicate, || text("nobody asked for it, or it has come"));
            return None;
        };
        let account = &mut self.accounts[tile.index()];
        let early = account.to_tell.iter().take(at).any(|tell| !tell.is_done())
            || job.close && account.to_tell[at].slices.values().any(|need| need.mask & job.mask != 0);
        if early {
            self.violations.add(ViolationKind::OutOfOrder, || text("others come before it"));
        }
        let tell = &mut account.to_tell[at];
        let number = tell.descriptor;
        let (descriptor, step) = descriptors[number];
        let mut close = None;
        if job.close {
            let (parts, later): (Vec<_>, Vec<_>) =
                tell.close.take().unwrap_or_default().into_iter().partition(names);
            tell.close = (!later.is_empty()).then_some(later);
            self.pending[step] -= parts.len() as u64;
            parts.iter().for_each(|part| self.parts.expect(*part));
            close = Some(Close { parts });
        } else if let Some(need) = tell.slices.remove(&job.tag) {
            self.pending[step] -= 1;
            let wanted = Job {
                close: false,
                tag: job.tag,
                mask: need.mask,
                stream: descriptor.stream,
                streams: descriptor.streams,
                rows: need.rows,
            };
            if wanted != *job {
                self.violations.add(ViolationKind::Corrupt, || text(&format!("should be {wanted:x?}")));
            }
        }
        while account.to_tell.front().is_some_and(|tell| tell.is_done() && tell.close.is_none()) {
            account.to_tell.pop_front();
        }
        close
    }

    /// Checks a flit that a tile took, with `data` as the known part of its payload. Returns its
    /// step and layer.
    pub(in crate::cosim::workloads::decode) fn delivered(
        &mut self,
        cycle: u64,
        tile: NodeId,
        (tag, index, mask): (u64, u32, u64),
        data: impl Iterator<Item = u32>,
        image: &Image,
    ) -> Option<(usize, u32)> {
        let text = |what: &str| {
            format!("cycle {cycle}: tile {}, flit {index} of tag {tag:#x}: {what}", tile.index())
        };
        let account = &mut self.accounts[tile.index()];
        let open = account.open.get_mut(&tag).map_or([].as_mut_slice(), Vec::as_mut_slice);
        let Some(at) = open.iter().position(|a| a.waits_for(index)) else {
            if open.is_empty() && self.resolved < self.descriptors.len() {
                self.resolve();
                return self.delivered(cycle, tile, (tag, index, mask), data, image);
            }
            self.flits += 1;
            self.violations.add(ViolationKind::Duplicate, || text("nobody waits for it"));
            return None;
        };
        self.flits += 1;
        self.head_flits += u64::from(mask.count_ones());
        let awaited = &mut open[at];
        let address = awaited.address + u64::from(index) * u64::from(self.shape.flit_bytes);
        let there = image.read(&self.shape, address, &mut self.words);
        if !there || !data.zip(&self.words).all(|(word, wanted)| word == *wanted) {
            self.violations.add(ViolationKind::Corrupt, || text("is not what the memory holds"));
        }
        if mask != awaited.mask {
            let wanted = awaited.mask;
            self.violations.add(ViolationKind::Corrupt, || {
                text(&format!("is for heads {mask:#x}, should be {wanted:#x}"))
            });
        }
        let place = awaited.take(index, self.design.mare.chunk_flits);
        self.overtaking += u64::from(place == Place::OtherChunk);
        if place == Place::Overtook || place == Place::OtherChunk && self.order == Order::Slice {
            self.violations.add(ViolationKind::OutOfOrder, || text("others come before it"));
        }
        let (descriptor, left) = (awaited.descriptor, awaited.left());
        if left == 0 {
            let open = account.open.get_mut(&tag).expect("it was found above");
            open.remove(at);
            if open.is_empty() {
                account.open.remove(&tag);
            }
        }
        let (of, step) = self.descriptors[descriptor];
        self.pending[step] -= 1;
        Some((step, of.layer))
    }

    /// Checks a flit of PART at a root. Returns the step of a packet that it completes.
    pub(in crate::cosim::workloads::decode) fn reduced(
        &mut self,
        cycle: u64,
        flit: Arrived,
    ) -> Option<usize> {
        let descriptor = self.parts.arrived(self.design, cycle, flit, &mut self.violations)?;
        let step = self.descriptors[descriptor].1;
        self.pending[step] -= 1;
        Some(step)
    }

    /// Checks the last flit of a head's output at a root. Returns its step.
    pub(in crate::cosim::workloads::decode) fn output(
        &mut self,
        cycle: u64,
        (stream, head, layer): (u32, u32, u32),
    ) -> Option<usize> {
        let text = |what: &str| {
            format!("cycle {cycle}: output of head {head}, stream {stream}, layer {layer}: {what}")
        };
        let Some(number) = self.outputs.get_mut(&(stream, head)).and_then(VecDeque::pop_front) else {
            self.violations.add(ViolationKind::Duplicate, || text("nobody waits for it"));
            return None;
        };
        let (descriptor, step) = self.descriptors[number];
        // Where layers overlap, partial results of two may be merged: no driver may allow it.
        if descriptor.layer != layer && self.outputs[&(stream, head)].is_empty() {
            self.violations.add(ViolationKind::Corrupt, || text("is of another layer"));
        }
        self.pending[step] -= 1;
        Some(step)
    }

    /// Complete packets of PART.
    pub(in crate::cosim::workloads::decode) fn packets(&self) -> u64 {
        self.parts.packets
    }

    /// True if nothing is due of a step, all of whose descriptors have been accepted.
    pub(in crate::cosim::workloads::decode) fn is_done(&self, step: usize) -> bool {
        let unresolved = self.descriptors.get(self.resolved).is_some_and(|(_, s)| *s <= step);
        !unresolved && self.pending.get(step).is_none_or(|left| *left == 0)
    }

    /// Reports a router that holds flits after everything has come.
    pub(in crate::cosim::workloads::decode) fn left_inside(&mut self, tile: usize, busy: u64) {
        if busy != 0 {
            self.violations.add(ViolationKind::Stuck, || {
                format!("the router of tile {tile} still holds flits (virtual channels {busy:#x})")
            });
        }
    }

    /// Reports deliveries that are still due as lost. Returns the number of violations, and the first of them.
    pub(in crate::cosim::workloads::decode) fn close(mut self) -> (u64, Vec<Violation>) {
        if self.pending.iter().any(|left| *left > 0) || self.resolved < self.descriptors.len() {
            let text = self.waiting();
            self.violations.add(ViolationKind::Lost, || text);
        }
        (self.violations.count, self.violations.first)
    }
}
