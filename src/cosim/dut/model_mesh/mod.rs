//! The cycle-exact model as a [`Network`]: the same flits in the same cycles, without Verilator.
//!
//! It adds the tiles' sides of the local links to [`RouterMesh`], as `sim/harness.cpp` does for the
//! verilated fabric. Source queues choose the flits that enter. A tile takes a flit in the period
//! it appears and returns its credit in the next. Flits carry the number of their header and
//! payload, not the words.

mod payloads;
mod source_queues;

use super::network::{Ejection, Entry, Injection, Network, StepStatus, COUNTERS};
use crate::cosim::tile_set::TileSet;
use crate::design::{Design, DestKind, Mesh, NodeId, Port};
use crate::model::cycle::network::{Flit, RouterMesh, Upset, TOTALS};
use payloads::Payloads;
use source_queues::Sources;

/// Words of a payload that is a number.
const NUMBER: usize = 2;

/// A delivery, kept until the next step.
#[derive(Debug, Clone, Copy)]
struct Delivery {
    cycle: u64,
    tile: u32,
    vc: u32,
    payload: u32,
}

/// A tile that frees at most one slot a cycle, its virtual channels in turn, and with some
/// probability none.
#[derive(Debug)]
struct Stall {
    tile: usize,
    /// Of 2^32.
    probability: u64,
    seed: u64,
    random: u64,
    next_vc: u32,
}

/// The model, and the tiles' ends of its local links.
#[derive(Debug)]
pub struct ModelMesh {
    mesh: Mesh,
    vcs: u32,
    dest_kind: DestKind,
    routers: RouterMesh,
    sources: Sources,
    payloads: Payloads,
    /// Slots freed in the last period: tile and virtual channel.
    freed: Vec<(usize, u32)>,
    stalls: Vec<Stall>,
    /// Occupied slots by tile and virtual channel, for tiles that stall; `None` for others.
    held: Vec<Option<Box<[u32]>>>,
    entries: Vec<Entry>,
    deliveries: Vec<Delivery>,
    entries_taken: bool,
    deliveries_taken: bool,
    watchdog: u64,
    /// Periods without movement.
    still: u64,
}

impl ModelMesh {
    /// The fabric of a design after reset.
    pub fn new(design: &Design) -> ModelMesh {
        let (mesh, vcs, depth) = (design.mesh, design.router.vcs(), design.router.vc_depth);
        ModelMesh {
            mesh,
            vcs,
            dest_kind: design.flit.dest_kind,
            routers: RouterMesh::new(design),
            sources: Sources::new(mesh, vcs, depth),
            payloads: {
                let words = |bits: u32| bits.div_ceil(32) as usize;
                Payloads::new(words(design.flit.head_width), words(design.flit.data_width))
            },
            freed: Vec::new(),
            stalls: Vec::new(),
            held: vec![None; mesh.tiles()],
            entries: Vec::new(),
            deliveries: Vec::new(),
            entries_taken: false,
            deliveries_taken: false,
            watchdog: 0,
            still: 0,
        }
    }

    /// The same with numbers as payloads: only the first two words of each are carried, enough to
    /// tell flits apart. A number cannot change in part on its way, so more words would find no
    /// more errors.
    pub fn with_numbers(design: &Design) -> ModelMesh {
        let head = design.flit.head_width.div_ceil(32) as usize;
        ModelMesh { payloads: Payloads::new(head, NUMBER), ..ModelMesh::new(design) }
    }

    /// Ends a step as [`StepStatus::Stuck`] if flits are inside and for `cycles` none has entered
    /// or left and no credit has moved. 0 switches it off.
    pub fn watchdog(&mut self, cycles: u64) {
        self.watchdog = cycles;
    }

    /// Makes a tile stall, as [`crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh::stall`] does.
    pub fn stall(&mut self, tile: NodeId, probability: f64, seed: u64) {
        let probability = (probability.clamp(0.0, 1.0) * 4_294_967_296.0) as u64;
        let tile = tile.index();
        let stall = Stall { tile, probability, seed, random: seed, next_vc: 0 };
        // Once stalling, a tile keeps counting its slots: it may still hold flits.
        match self.stalls.iter_mut().find(|stall| stall.tile == tile) {
            Some(known) => *known = Stall { next_vc: known.next_vc, ..stall },
            None if probability != 0 => {
                self.held[tile] = Some(vec![0; self.vcs as usize].into());
                self.stalls.push(stall);
            }
            None => {}
        }
    }

    /// Changes the state of a router, which a test expects to be found.
    pub fn upset(&mut self, tile: NodeId, upset: Upset) {
        self.routers.upset(tile, upset);
    }

    /// The header of a flit under way.
    pub(in crate::cosim) fn head(&self, flit: &Flit) -> &[u32] {
        self.payloads.words(flit.data as u32).0
    }

    /// The routers, read-only.
    pub fn routers(&self) -> &RouterMesh {
        &self.routers
    }

    /// Records for flits in queues and under way, used or free: its memory grows with them.
    pub fn records(&self) -> usize {
        self.payloads.records()
    }

    /// Drops the records of the last step.
    fn forget_records(&mut self) {
        if self.entries_taken {
            self.entries.clear();
        }
        if self.deliveries_taken {
            for delivery in self.deliveries.drain(..) {
                self.payloads.delivered(delivery.payload);
            }
        }
        (self.entries_taken, self.deliveries_taken) = (false, false);
    }

    /// Runs one period; true if a flit or a credit moved at a tile.
    fn period(&mut self) -> bool {
        let cycle = self.routers.cycle();
        for (tile, vc) in self.freed.drain(..) {
            self.routers.credit(tile, vc);
        }
        let mut moved = self.take_flits(cycle);
        moved |= !self.stalls.is_empty() && self.consume_slowly();
        moved |= self.sources.offer(cycle, &mut self.routers, &mut self.entries);
        // After the offers: a credit seen in this period is spent from the next on.
        for (tile, vc) in self.routers.credits_shown() {
            self.sources.credit(tile, vc);
            moved = true;
        }
        self.routers.tick();
        moved
    }

    fn take_flits(&mut self, cycle: u64) -> bool {
        let shown = self.routers.shown();
        let moved = shown.len() > 0;
        for shown in shown {
            match &mut self.held[shown.tile] {
                Some(held) => held[shown.vc as usize] += 1,
                None => self.freed.push((shown.tile, shown.vc)),
            }
            let (tile, vc, payload) = (shown.tile as u32, shown.vc, shown.flit.data as u32);
            self.deliveries.push(Delivery { cycle, tile, vc, payload });
        }
        moved
    }

    fn consume_slowly(&mut self) -> bool {
        let mut moved = false;
        for stall in &mut self.stalls {
            // Drawn every cycle, so that the pattern does not depend on the traffic.
            if draw(&mut stall.random) >> 32 < stall.probability {
                continue;
            }
            let Some(held) = &mut self.held[stall.tile] else { continue };
            let mut turn = (0..self.vcs).map(|i| (stall.next_vc + i) % self.vcs);
            if let Some(vc) = turn.find(|&vc| held[vc as usize] > 0) {
                held[vc as usize] -= 1;
                self.freed.push((stall.tile, vc));
                stall.next_vc = vc + 1;
                moved = true;
            }
        }
        moved
    }

    /// Number of tiles that destination bits name.
    fn deliveries_of(&self, dest: &[u64; 4]) -> u32 {
        match self.dest_kind {
            DestKind::Set => TileSet::of_bits(*dest).len(),
            DestKind::Coord => 1,
        }
    }

    fn anything_inside(&self) -> bool {
        self.sources.ready() || !self.credits_home() || self.routers.any_busy()
    }
}

/// SplitMix64, as in the harness of the verilated fabric.
fn draw(state: &mut u64) -> u64 {
    let drawn = crate::cosim::hash::mix(*state);
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    drawn
}

impl Network for ModelMesh {
    fn reset(&mut self) -> anyhow::Result<()> {
        self.routers.reset();
        self.sources.reset();
        self.payloads.reset();
        self.freed.clear();
        self.entries.clear();
        self.deliveries.clear();
        self.stalls.iter_mut().for_each(|stall| stall.random = stall.seed);
        self.held.iter_mut().flatten().for_each(|held| held.fill(0));
        self.still = 0;
        Ok(())
    }

    fn cycle(&self) -> u64 {
        self.routers.cycle()
    }

    fn inject(&mut self, flit: &Injection<'_>) -> anyhow::Result<()> {
        let mut dest = [0; 4];
        for (i, &word) in flit.dest.iter().enumerate() {
            dest[i / 2] |= u64::from(word) << (32 * (i % 2));
        }
        let data = &flit.data[..self.payloads.data_words()];
        let payload = self.payloads.insert(flit.head, data, self.deliveries_of(&dest));
        // Routers read the lowest bit of a header; all of it is stored with the payload.
        let head = u128::from(flit.head[0]);
        let kept = self.routers.keep(&Flit { head, data: u64::from(payload), dest });
        self.sources.push(self.routers.cycle(), flit, kept);
        Ok(())
    }

    fn payload_words(&self, all: usize) -> usize {
        self.payloads.data_words().min(all)
    }

    fn stalls(&self) -> Vec<f64> {
        self.stalls.iter().map(|stall| stall.probability as f64 / 4_294_967_296.0).collect()
    }

    fn step(&mut self, cycles: u64) -> anyhow::Result<StepStatus> {
        self.forget_records();
        for _ in 0..cycles {
            self.still = if self.period() { 0 } else { self.still + 1 };
            if self.watchdog != 0 && self.still >= self.watchdog {
                self.still = 0;
                if self.anything_inside() {
                    return Ok(StepStatus::Stuck);
                }
            }
        }
        Ok(StepStatus::Done)
    }

    fn take_entries(&mut self, receive: &mut dyn FnMut(Entry)) {
        if !std::mem::replace(&mut self.entries_taken, true) {
            self.entries.iter().copied().for_each(receive);
        }
    }

    fn take_ejections(&mut self, receive: &mut dyn FnMut(Ejection<'_>)) {
        if std::mem::replace(&mut self.deliveries_taken, true) {
            return;
        }
        for d in &self.deliveries {
            let tile = self.mesh.node_at(d.tile as usize).expect("the model has the tiles of its mesh");
            let (head, data) = self.payloads.words(d.payload);
            receive(Ejection { cycle: d.cycle, tile, vc: d.vc, head, data });
        }
    }

    fn counters(&self) -> Vec<[u32; COUNTERS]> {
        let total = |tile, i| if i < TOTALS { self.routers.counter(tile, i) } else { 0 };
        (0..self.mesh.tiles()).map(|tile| std::array::from_fn(|i| total(tile, i))).collect()
    }

    fn busy_vcs(&self) -> Vec<(NodeId, Port, u32)> {
        let inputs = self.mesh.nodes().flat_map(|node| Port::ALL.map(|port| (node, port)));
        let busy = |(node, port): (NodeId, Port)| {
            let set = self.routers.busy(node.index(), port);
            (0..self.vcs).filter(move |vc| set >> vc & 1 == 1).map(move |vc| (node, port, vc))
        };
        inputs.flat_map(busy).collect()
    }

    fn credits_home(&self) -> bool {
        let nothing_held = self.held.iter().flatten().all(|held| held.iter().all(|&n| n == 0));
        self.sources.credits_home() && nothing_held && self.freed.is_empty()
    }
}
