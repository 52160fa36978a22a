//! Checks every flit that leaves a network against every flit that entered it.
//!
//! Each flit must reach each tile of its destination set exactly once, intact to the last bit, and
//! on a virtual channel of its class. Order is checked where it is promised. The flits of a PART
//! packet follow each other on one channel with nothing in between. KV_DATA of one tag from one
//! source reaches one destination in the order in which it was sent. No flit waits longer than [`crate::design::WaitBound`]
//! allows. The scoreboard knows nothing of routers. It names its findings and leaves the reaction to the caller.

mod mismatch;
mod records;
mod slab;
mod waits;

use super::violation::{Violation, ViolationKind, Violations};
use crate::cosim::dut::network::{Ejection, Entry};
use crate::cosim::tile_set::TileSet;
use crate::cosim::traffic::packet::{FlitBits, Packet};
use crate::design::{Class, Design, Mesh, NodeId, Router};
use records::{slot_of, FlitRecord, PacketRecord, SLOT_BITS};
use slab::Slab;
use std::collections::{HashMap, VecDeque};
use waits::Waits;

/// A flit that arrived as it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Sending tile.
    pub source: NodeId,
    /// Class of its packet.
    pub class: Class,
    /// Flits of its packet.
    pub flits: u32,
    /// Cycle in which its packet was generated.
    pub generated: u64,
    /// Cycle in which the first flit of its packet left the source queue.
    pub entered: u64,
    /// Cycle in which this flit came to the head of its source queue, ready to leave.
    pub headed: u64,
    /// True if its packet belongs to the sample.
    pub measured: bool,
    /// True for the last flit of its packet, with which this tile has all of it.
    pub last: bool,
    /// True for the last delivery of its packet to any tile.
    pub complete: bool,
}

/// A flit that is about to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    /// Record of its packet.
    pub packet: u32,
    /// Position in its packet, from 0.
    pub index: u32,
    /// Key of the flit before it in its packet.
    pub before: Option<u64>,
    /// Destinations.
    pub dests: TileSet,
    /// Header.
    pub head: &'a [u32],
}

/// All flits under way, and all violations so far.
#[derive(Debug)]
pub struct FlitScoreboard {
    mesh: Mesh,
    router: Router,
    bits: FlitBits,
    flits: Slab<FlitRecord>,
    packets: Slab<PacketRecord>,
    sent_flits: u64,
    outstanding: u64,
    expected_links: u64,
    /// Keys of the flits in each source queue, by tile and class, and the cycle from which its head was free to leave.
    waiting: Vec<[(VecDeque<u64>, u64); 3]>,
    /// For each tile and channel, the PART packet that is arriving and its next flit.
    open: Vec<Option<(u64, u32)>>,
    /// For tags that a trace shares between packets: the last flit that came, by source, tile and
    /// tag.
    tagged: HashMap<(NodeId, NodeId, u64), u64>,
    waits: Waits,
    violations: Violations,
    /// Headers of the flits under way, by the slot of their records.
    heads: Vec<u32>,
    // Reused for every flit: its payload, and the members of a set.
    data: Vec<u32>,
    members: Vec<NodeId>,
}

impl FlitScoreboard {
    /// A scoreboard for an empty network of this design.
    pub fn new(design: &Design) -> FlitScoreboard {
        FlitScoreboard {
            mesh: design.mesh,
            router: design.router,
            bits: FlitBits::new(design),
            flits: Slab::default(),
            packets: Slab::default(),
            sent_flits: 0,
            outstanding: 0,
            expected_links: 0,
            waiting: design.mesh.nodes().map(|_| Default::default()).collect(),
            open: vec![None; design.mesh.tiles() * design.router.vcs() as usize],
            tagged: HashMap::new(),
            waits: Waits::new(design),
            violations: Violations::default(),
            heads: Vec::new(),
            data: Vec::new(),
            members: Vec::new(),
        }
    }

    /// The same for a network that carries so many words of a payload.
    pub fn carrying(self, words: usize) -> FlitScoreboard {
        FlitScoreboard { bits: self.bits.carrying(words), ..self }
    }

    /// The same where tiles stall: by tile, the part of all cycles in which it takes no flit.
    pub fn stalled(mut self, stalls: &[f64]) -> FlitScoreboard {
        self.waits.stalled(stalls);
        self
    }

    /// Most cycles that any flit sent so far may wait.
    pub fn wait_bound(&self) -> u64 {
        self.waits.longest()
    }

    /// Records a packet before its flits, and returns the number of the record.
    pub fn expect_packet(&mut self, packet: &Packet, serial: u64) -> u32 {
        self.waits.sends(packet);
        let left = packet.flits * packet.dests.len();
        self.outstanding += u64::from(left);
        let entered = packet.cycle;
        self.packets.insert(PacketRecord { packet: *packet, serial, left, entered, in_network: false })
    }

    /// Counts the links that the flits of a copy take to its destinations.
    pub fn expect_links(&mut self, packet: &Packet, dests: &TileSet) {
        let links = match dests.only().and_then(|index| self.mesh.node_at(index)) {
            Some(only) => self.mesh.hops(packet.source, only),
            None => {
                self.members.clear();
                self.members.extend(dests.iter().filter_map(|index| self.mesh.node_at(index)));
                self.mesh.xym_tree_links(packet.source, &self.members)
            }
        };
        self.expected_links += u64::from(links) * u64::from(packet.flits);
    }

    /// Records a flit that is about to enter its source queue, and returns the key that its payload must carry.
    pub fn expect(&mut self, packet: &Packet, flit: Expected<'_>) -> u64 {
        let Expected { packet: record, index, before, dests, head } = flit;
        let slot = self.flits.next_slot();
        let key = self.sent_flits << SLOT_BITS | u64::from(slot);
        self.sent_flits += 1;
        let (headed, all, left) = (packet.cycle, dests, dests);
        self.flits.insert(FlitRecord { key, packet: record, index, headed, before, all, left });
        let at = slot as usize * head.len();
        if self.heads.len() < at + head.len() {
            self.heads.resize(at + head.len(), 0);
        }
        self.heads[at..at + head.len()].copy_from_slice(head);
        self.waiting[packet.source.index()][packet.class as usize].0.push_back(key);
        key
    }

    /// Flits that wait in a source queue of the network.
    pub fn queued(&self, tile: NodeId, class: Class) -> usize {
        self.waiting[tile.index()][class as usize].0.len()
    }

    /// Notes that the first flit of a source queue has left it.
    pub fn enter(&mut self, entry: &Entry) {
        let (queue, last) = &mut self.waiting[entry.tile.index()][entry.class as usize];
        let free = std::mem::replace(last, entry.cycle + 1);
        let Some(key) = queue.pop_front() else { return };
        let Some(flit) = self.flits.get_mut(slot_of(key)).filter(|flit| flit.key == key) else { return };
        flit.headed = flit.headed.max(free);
        if let Some(record) = self.packets.get_mut(flit.packet).filter(|record| !record.in_network) {
            (record.entered, record.in_network) = (entry.cycle, true);
        }
    }

    /// Checks a flit that arrived. None if it should not have come, or not here.
    pub fn receive(&mut self, e: &Ejection<'_>) -> Option<Arrival> {
        let key = self.bits.key(e.data);
        let slot = slot_of(key);
        let Some(flit) = self.flits.get(slot).filter(|flit| flit.key == key) else {
            self.unknown(e, key, slot);
            return None;
        };
        let (at, index, headed) = (flit.packet, flit.index, flit.headed);
        let &PacketRecord {
            packet: Packet { source, class, flits, cycle, measured, tag, .. }, entered, ..
        } = self.packets.get(at)?;
        if !flit.left.contains(e.tile.index()) {
            let flit = *flit;
            let (kind, what) = match flit.all.contains(e.tile.index()) {
                true => (ViolationKind::Duplicate, "came a second time"),
                false => (ViolationKind::WrongTile, "is not meant for this tile"),
            };
            self.violation(kind, |board| board.describe(e, &flit, what));
            return None;
        }
        // Violations are rare, so the fast path only detects that there is one.
        let alone = flits == 1 && tag.is_none();
        if !self.is_intact(e, flit) || self.router.class_of_vc(e.vc) != class {
            let flit = *flit;
            self.check_bits(e, &flit);
            if self.router.class_of_vc(e.vc) != class {
                self.violation(ViolationKind::WrongVc, |board| {
                    board.describe(e, &flit, "came on a channel of another class")
                });
            }
        }
        // A packet of one flit has no order to keep, unless it arrives inside a packet.
        if !alone || self.open[self.channel(e)].is_some() {
            let (flit, record) = (*self.flits.get(slot)?, *self.packets.get(at)?);
            self.check_order(e, &flit, &record.packet, record.serial);
        }
        let waited = e.cycle.saturating_sub(headed);
        if let Some(bound) = self.waits.exceeded(class, source, waited) {
            let flit = *self.flits.get(slot)?;
            self.violation(ViolationKind::Overdue, |board| {
                board.describe(
                    e,
                    &flit,
                    &format!("waited {waited} cycles, and no flit may wait more than {bound}"),
                )
            });
        }
        let complete = self.deliver(e.tile, slot);
        Some(Arrival {
            source,
            class,
            flits,
            generated: cycle,
            entered,
            headed,
            measured,
            last: index + 1 == flits,
            complete,
        })
    }

    /// Index of a tile's channel among the open packets.
    fn channel(&self, e: &Ejection<'_>) -> usize {
        e.tile.index() * self.router.vcs() as usize + e.vc as usize
    }

    /// Removes a delivery from the records; true if it was the last of its packet.
    fn deliver(&mut self, tile: NodeId, slot: u32) -> bool {
        self.outstanding -= 1;
        let Some(flit) = self.flits.get_mut(slot) else { return false };
        let at = flit.packet;
        flit.left.remove(tile.index());
        if flit.left.is_empty() {
            self.flits.remove(slot);
        }
        let left = self.packets.get_mut(at).map_or(0, |record| {
            record.left -= 1;
            record.left
        });
        if left == 0 {
            self.packets.remove(at);
        }
        left == 0
    }

    /// Deliveries still to come, one for each flit and tile.
    pub fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Links in the trees of all flits sent so far: the final value of the counters.
    pub fn expected_links(&self) -> u64 {
        self.expected_links
    }

    /// Sample packets under way: the cycle of generation, repeated for each tile still to be
    /// reached.
    pub fn late_sample(&self) -> impl Iterator<Item = u64> + '_ {
        self.flits.iter().flat_map(|flit| {
            let record = self
                .packets
                .get(flit.packet)
                .filter(|r| r.packet.measured && flit.index + 1 == r.packet.flits);
            record.into_iter().flat_map(|r| flit.left.iter().map(|_| r.packet.cycle))
        })
    }

    /// The earliest cycle since when a flit under way has been out of its source queue or at its
    /// head.
    pub fn oldest(&self) -> Option<u64> {
        self.flits.iter().map(|flit| flit.headed).min()
    }

    /// All violations so far.
    pub fn violation_count(&self) -> u64 {
        self.violations.count
    }

    /// The first violations, with their messages.
    pub fn violations(&self) -> &[Violation] {
        &self.violations.first
    }
}
