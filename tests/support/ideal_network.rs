//! A network without routers: every flit takes two cycles a hop, whatever the load.
//!
//! It is exact, so a run over it must find no violation. It can inject one fault, which the scoreboard must name.

use meshkv::cosim::dut::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use meshkv::design::{index_bits, Class, Design, DestKind, NodeId, Port};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A fault injected into the flit of the chosen number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    None,
    Lose,
    Duplicate,
    DuplicateLate,
    InvertPayload(usize),
    InvertHead(usize),
    Misroute,
    WrongVc,
    /// Delivered ten cycles late, behind its successors.
    Delay,
    /// Delivered so many cycles late.
    Late(u64),
    /// A flit of one packet appears between those of another.
    Interleave,
    KeepCredit,
    KeepFlit,
    CountTwice,
    /// Nothing moves from then on.
    Stall,
}

#[derive(Clone)]
struct Queued {
    vc: u32,
    ready: u64,
    last: bool,
    dests: Vec<NodeId>,
    head: Vec<u32>,
    data: Vec<u32>,
}

#[derive(Clone)]
struct Shown {
    tile: NodeId,
    vc: u32,
    head: Vec<u32>,
    data: Vec<u32>,
}

pub struct IdealNetwork {
    design: Design,
    fault: Fault,
    /// Number of the delivery that the fault hits.
    victim: u64,
    deliveries: u64,
    cycle: u64,
    queues: Vec<[VecDeque<Queued>; 3]>,
    /// Flits of a PART packet wait here for its last one, so that no other flit comes between them.
    assembling: HashMap<(NodeId, NodeId), Vec<Shown>>,
    /// First cycle in which a channel of a tile is free for a whole packet.
    free: HashMap<(NodeId, u32), u64>,
    on_the_way: BTreeMap<(u64, u64), Shown>,
    sequence: u64,
    entries: Vec<Entry>,
    shown: Vec<(u64, Shown)>,
    counters: Vec<[u32; COUNTERS]>,
}

impl IdealNetwork {
    pub fn new(design: &Design, fault: Fault, victim: u64) -> IdealNetwork {
        IdealNetwork {
            design: design.clone(),
            fault,
            victim,
            deliveries: 0,
            cycle: 0,
            queues: design.mesh.nodes().map(|_| Default::default()).collect(),
            assembling: HashMap::new(),
            free: HashMap::new(),
            on_the_way: BTreeMap::new(),
            sequence: 0,
            entries: Vec::new(),
            shown: Vec::new(),
            counters: vec![[0; COUNTERS]; design.mesh.tiles()],
        }
    }

    fn broken(&self) -> bool {
        self.deliveries >= self.victim
    }

    fn dests(&self, words: &[u32]) -> Vec<NodeId> {
        let mesh = self.design.mesh;
        let bits = index_bits(mesh.cols());
        match self.design.flit.dest_kind {
            DestKind::Set => {
                mesh.nodes().filter(|n| words[n.index() / 32] >> (n.index() % 32) & 1 == 1).collect()
            }
            DestKind::Coord => {
                mesh.node(words[0] & ((1 << bits) - 1), words[0] >> bits).into_iter().collect()
            }
        }
    }

    fn send_from(&mut self, tile: NodeId) {
        for class in Class::ALL {
            let queue = &mut self.queues[tile.index()][class as usize];
            if queue.front().is_none_or(|flit| flit.ready > self.cycle) {
                continue;
            }
            let Some(flit) = queue.pop_front() else { continue };
            self.entries.push(Entry { cycle: self.cycle, tile, class, sequence: 0, vc: flit.vc });
            let links = self.design.mesh.xym_tree_links(tile, &flit.dests);
            self.counters[tile.index()][Port::East.index() * 5 + class as usize] += links;
            if self.fault == Fault::CountTwice && self.cycle == self.victim {
                self.counters[tile.index()][0] += 1;
            }
            for &dest in &flit.dests {
                self.route(tile, dest, class, &flit);
            }
            return;
        }
    }

    fn route(&mut self, source: NodeId, dest: NodeId, class: Class, flit: &Queued) {
        let arrival = self.cycle + 2 * u64::from(self.design.mesh.hops(source, dest)) + 2;
        let shown = Shown { tile: dest, vc: flit.vc, head: flit.head.clone(), data: flit.data.clone() };
        if class != Class::Part {
            self.show(arrival, shown);
            return;
        }
        let packet = self.assembling.entry((source, dest)).or_default();
        packet.push(shown);
        if flit.last {
            let packet = std::mem::take(packet);
            let free = self.free.entry((dest, flit.vc)).or_default();
            let first = arrival.max(*free);
            *free = first + packet.len() as u64;
            for (cycle, shown) in (first..).zip(packet) {
                self.show(cycle, shown);
            }
        }
    }

    /// Schedules a delivery, altered by the fault if it is the victim.
    fn show(&mut self, cycle: u64, mut flit: Shown) {
        self.deliveries += 1;
        let mesh = self.design.mesh;
        let mut at = cycle;
        if self.deliveries == self.victim {
            match self.fault {
                Fault::Lose => return,
                Fault::Duplicate => self.put(cycle, flit.clone()),
                Fault::DuplicateLate => self.put(cycle + 500, flit.clone()),
                Fault::InvertPayload(bit) => flit.data[bit / 32] ^= 1 << (bit % 32),
                Fault::InvertHead(bit) => flit.head[bit / 32] ^= 1 << (bit % 32),
                Fault::Misroute => {
                    let next = (flit.tile.index() + 1) % mesh.tiles();
                    flit.tile = mesh.node_at(next).expect("the mesh has it");
                }
                Fault::WrongVc => flit.vc = (flit.vc + self.design.router.vn0_vcs) % self.design.router.vcs(),
                Fault::Delay => at += 10,
                Fault::Late(cycles) => at += cycles,
                _ => {}
            }
        }
        self.put(at, flit);
    }

    fn put(&mut self, cycle: u64, flit: Shown) {
        self.sequence += 1;
        self.on_the_way.insert((cycle, self.sequence), flit);
    }
}

impl Network for IdealNetwork {
    fn reset(&mut self) -> anyhow::Result<()> {
        *self = IdealNetwork::new(&self.design, self.fault, self.victim);
        Ok(())
    }

    fn cycle(&self) -> u64 {
        self.cycle
    }

    fn stalls(&self) -> Vec<f64> {
        Vec::new()
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        // Interleaving is what happens when two packets share a channel without holding it.
        let last = flit.last || self.fault == Fault::Interleave;
        let dests = self.dests(flit.dest);
        let (head, data) = (flit.head.to_vec(), flit.data.to_vec());
        let vc = flit.vc_mask.trailing_zeros();
        let queued = Queued { vc, ready: flit.ready_cycle, last, dests, head, data };
        self.queues[flit.tile.index()][flit.class as usize].push_back(queued);
        Ok(())
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        for _ in 0..cycles {
            if self.fault == Fault::Stall && self.broken() {
                return Ok(StepStatus::Stuck);
            }
            for tile in self.design.mesh.nodes() {
                self.send_from(tile);
            }
            while let Some(first) = self.on_the_way.first_entry().filter(|f| f.key().0 <= self.cycle) {
                self.shown.push((self.cycle, first.remove()));
            }
            self.cycle += 1;
        }
        Ok(StepStatus::Done)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        self.entries.drain(..).for_each(receive);
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        for (cycle, flit) in self.shown.drain(..) {
            receive(Ejection { cycle, tile: flit.tile, vc: flit.vc, head: &flit.head, data: &flit.data });
        }
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        self.counters.clone()
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        let held = matches!(self.fault, Fault::KeepFlit | Fault::Stall) && self.broken();
        let node = self.design.mesh.node(1, 0).expect("every mesh has (1, 0)");
        if held {
            vec![(node, Port::West, 1)]
        } else {
            Vec::new()
        }
    }

    fn credits_home(&self) -> bool {
        !(self.fault == Fault::KeepCredit && self.broken())
    }
}
