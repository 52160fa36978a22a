//! One period of the fabric: every port is set before it and read after it.
//!
//! What a handshake means is for the ledger, the memory and the stand-ins of the tiles.

use super::account::Job;
use super::bench::Bench;
use super::measured::Swap;
use super::parts::{PartKey, RootFlit};
use super::run::Run;
use super::DecodeError;
use crate::cosim::pins::Pin;
use crate::design::{index_bits, NodeId};

impl Bench<'_> {
    /// Drives one period, runs it, and looks at what it carried.
    pub(super) fn period(&mut self, run: &mut Run) -> Result<(), DecodeError> {
        let cycle = self.pins.cycle() - run.start;
        self.present(run);
        self.ports.memory.drive(&mut self.pins, &mut run.memory, cycle);
        for at in 0..self.tiles.len() {
            self.drive(run, at, cycle);
        }
        self.pins.tick()?;
        let mut moved = self.accept(run, cycle);
        moved |= self.ports.memory.observe(&self.pins, &mut run.memory, cycle);
        for at in 0..self.tiles.len() {
            moved |= self.observe(run, at, cycle);
        }
        moved |= self.learn(run, cycle);
        if moved {
            run.moved = self.pins.cycle();
        }
        let event = self.get(self.ports.event_index, 0) as usize;
        let stat = self.get(self.ports.stat_index, 0) as usize;
        for tile in 0..self.tiles.len() {
            if let Some(counter) = run.events[tile].get_mut(event) {
                *counter = self.get(self.ports.event_data, tile) as u32;
            }
            if let Some(counter) = run.links[tile].get_mut(stat) {
                *counter = self.get(self.ports.stat_data, tile) as u32;
            }
        }
        Ok(())
    }

    pub(super) fn get(&self, pin: Pin, part: usize) -> u64 {
        self.pins.get(pin, part)
    }

    fn get32(&self, pin: Pin, part: usize) -> u32 {
        self.pins.get(pin, part) as u32
    }

    /// Puts the next descriptor on its port, if its time has come.
    fn present(&mut self, run: &mut Run) {
        let due = run.is_due();
        // It stays as it is until it is taken, and not a period longer.
        if !run.presented {
            let next = due.then(|| &run.plan.descriptors[run.accepted % run.plan.descriptors.len()]);
            self.ports.descriptors.present(&mut self.pins, next);
        }
        run.presented = due;
    }

    /// Whether the descriptor was accepted.
    fn accept(&mut self, run: &mut Run, cycle: u64) -> bool {
        if !run.presented || !self.ports.descriptors.taken(&self.pins) {
            return false;
        }
        run.presented = false;
        let step = run.step_of(run.accepted);
        let of_step = run.accepted % run.plan.descriptors.len();
        if of_step == 0 {
            run.steps[step].start = cycle;
        }
        run.ledger.accepted(run.plan.descriptors[of_step], step);
        run.accepted += 1;
        true
    }

    /// What a tile's compute takes and sends in this period.
    fn drive(&mut self, run: &mut Run, at: usize, cycle: u64) {
        let compute = &mut run.computes[at];
        let part = compute.drive(cycle, &run.plan.pace, &mut run.ledger);
        let p = &self.ports;
        // Roots take every flit at once, so the slot it came through is free again.
        self.pins.set(p.root_credit, at, run.credits[at]);
        self.pins.set(p.vector_ready, at, 1);
        self.pins.set(p.kv_ready, at, u64::from(compute.takes_flit));
        if let Some(idle) = p.compute_idle {
            self.pins.set(idle, at, u64::from(compute.is_idle(cycle)));
        }
        self.pins.set(p.job_ready, at, u64::from(compute.takes_job));
        self.pins.set(p.part_valid, at, u64::from(part.is_some()));
        let Some((part, index)) = part else { return };
        for (pin, value) in [
            (p.part_first, u32::from(index == 0)),
            (p.part_alone, part.key.alone()),
            (p.part_last, u32::from(index + 1 == self.part_flits)),
            (p.part_stream, part.key.stream),
            (p.part_layer, part.key.layer),
            (p.part_head, self.design.heads.index(part.key.head)),
        ] {
            self.pins.set(pin, at, u64::from(value));
        }
        part.payload(run.plan.seed, index, &mut self.words);
        self.pins.set_part(self.ports.part_data, at, &self.words);
    }

    /// What the period carried at one tile, and whether it was anything.
    fn observe(&mut self, run: &mut Run, at: usize, cycle: u64) -> bool {
        let (p, tile) = (&self.ports, self.tiles[at]);
        let mut moved = false;
        // Jobs first: a flit may come in the cycle in which its job is taken.
        if run.computes[at].takes_job && self.get(p.job_valid, at) == 1 {
            let job = Job {
                close: self.get(p.job_close, at) == 1,
                tag: self.get(p.job_tag, at),
                mask: self.get(p.job_mask, at),
                stream: self.get32(p.job_stream, at),
                streams: self.get32(p.job_streams, at),
                rows: (self.get32(p.job_first_row, at), self.get32(p.job_last_row, at)),
            };
            if let Some(close) = run.ledger.told(cycle, tile, &job) {
                run.computes[at].took_close(close);
            }
            moved = true;
        }
        if run.computes[at].takes_flit && self.get(p.kv_valid, at) == 1 {
            let name = (self.get(p.kv_tag, at), self.get32(p.kv_index, at), self.get(p.kv_mask, at));
            let data = self.pins.payload(p.kv_data, at);
            let of = run.ledger.delivered(cycle, tile, name, data, run.memory.image());
            if let Some((step, layer)) = of {
                run.steps[step].kv.entry(layer).or_insert((cycle, cycle)).1 = cycle;
            }
            run.computes[at].took_flit(cycle, &run.plan.pace);
            moved = true;
        }
        if run.computes[at].sends && self.get(p.part_ready, at) == 1 {
            run.computes[at].sent(self.part_flits);
            moved = true;
        }
        run.credits[at] = self.get(p.root_valid, at);
        if run.credits[at] != 0 {
            self.reduce(run, at, cycle);
            moved = true;
        }
        moved
    }

    /// A flit of PART arrived at a root.
    fn reduce(&mut self, run: &mut Run, at: usize, cycle: u64) {
        let p = &self.ports;
        let source = self.design.mesh.node(self.get32(p.root_x, at), self.get32(p.root_y, at));
        let mut carried = 0;
        for (word, value) in self.words.iter_mut().zip(self.pins.payload(p.root_data, at)) {
            *word = value;
            carried += 1;
        }
        let key = PartKey {
            // A source that no mesh has is taken for the root itself, which the ledger then finds fault with.
            tile: source.unwrap_or(self.tiles[at]),
            stream: self.get32(p.root_stream, at),
            layer: self.get32(p.root_layer, at),
            head: self.design.heads.of_column(self.design.mesh.coords(self.tiles[at]).0).start
                + self.get32(p.root_head, at),
        };
        let flit = RootFlit {
            root: self.tiles[at],
            key,
            alone: self.get32(p.root_alone, at),
            first: self.get(p.root_first, at) == 1,
            last: self.get(p.root_last, at) == 1,
            data: &self.words[..carried],
        };
        if let Some(step) = run.ledger.reduced(cycle, flit) {
            run.steps[step].end = cycle;
        }
    }

    /// What the fabric shows of itself between two steps: occupancies, and homes that are exchanged.
    fn learn(&mut self, run: &mut Run, cycle: u64) -> bool {
        let Some(p) = self.ports.swaps else { return false };
        let tiles = self.tiles.len();
        let shown = self.get(p.occupancy_valid, 0) == 1;
        if shown {
            let step = (run.occupancies / tiles).min(run.steps.len() - 1);
            let occupancy = &mut run.steps[step].occupancy;
            occupancy.resize(tiles, 0);
            if let Some(tile) = self.tile(self.get32(p.occupancy_tile, 0)) {
                occupancy[tile.index()] = self.get(p.occupancy_value, 0);
            }
            run.occupancies += 1;
        }
        let swaps = self.get(p.swap_valid, 0) == 1;
        if swaps {
            let steps = run.occupancies.div_ceil(tiles);
            let pair = [p.swap_a, p.swap_b].map(|pin| self.tile(self.get32(pin, 0)));
            if let [Some(a), Some(b)] = pair {
                run.ledger.swapped(a, b, steps);
                let tiles = [a, b].map(|tile| self.design.mesh.coords(tile));
                run.steps[steps.saturating_sub(1)].swaps.push(Swap { cycle, tiles });
            }
        }
        shown || swaps
    }

    /// The tile that `{y, x}` names.
    fn tile(&self, coords: u32) -> Option<NodeId> {
        let x_bits = index_bits(self.design.mesh.cols());
        self.design.mesh.node(coords & ((1 << x_bits) - 1), coords >> x_bits)
    }
}
