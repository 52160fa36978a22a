//! One period of the fabric: sets every port before it and reads every port after it.
//!
//! The ledger, the memory, and the models of arrays and roots interpret the handshakes.

use super::bench::Bench;
use super::counts::Swap;
use super::error::DecodeError;
use super::run_state::Run;
use super::scoreboard::part_packets::{Arrived, PartKey};
use super::scoreboard::tile_account::Job;
use crate::cosim::dut::pins::Pin;
use crate::cosim::workloads::decode::played::new_tokens::NewTokens;
use crate::cosim::workloads::decode::played::tile_array::Sending;
use crate::design::{index_bits, Mapping, NodeId};
use crate::model::cycle::mare::{KvFlit, PartFlit, RootFlit};
use crate::model::cycle::pad::PadCommand;
use crate::model::cycle::reduce::ReduceRoot;
use crate::model::cycle::takv::Ask;

impl Bench<'_> {
    /// Drives one period, runs it, and reads the outputs.
    pub(super) fn period(&mut self, run: &mut Run) -> Result<(), DecodeError> {
        let cycle = self.pins.cycle() - run.start;
        self.present(run);
        run.queries.present(&mut self.pins, &self.ports.queries);
        if let (Some(tokens), Some((into, out))) = (&mut run.tokens, &self.ports.tokens) {
            tokens.present(&mut self.pins, into, out);
        }
        self.ports.memory.drive(&mut self.pins, &mut run.memory, cycle);
        for at in 0..self.tiles.len() {
            self.drive(run, at, cycle);
        }
        self.pins.tick()?;
        let mut moved = self.accept(run, cycle);
        let edges = run.clock.period(false);
        moved |= self.ports.memory.observe(&self.pins, &mut run.memory, cycle);
        for at in 0..self.tiles.len() {
            moved |= self.observe(run, at, cycle);
            run.computes[at].step(edges);
        }
        if let (Some(tokens), Some((_, out))) = (&mut run.tokens, &self.ports.tokens) {
            moved |= tokens.observe(&self.pins, out, &mut run.memory, cycle);
        }
        moved |= self.learn(run, cycle);
        if moved {
            run.moved = self.pins.cycle();
        }
        Ok(())
    }

    /// Reads the counters that the scans show in this period.
    pub(super) fn read_counters(&self, run: &mut Run) {
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
    }

    pub(super) fn get(&self, pin: Pin, part: usize) -> u64 {
        self.pins.get(pin, part)
    }

    fn get32(&self, pin: Pin, part: usize) -> u32 {
        self.pins.get(pin, part) as u32
    }

    /// Puts the next descriptor on its port, if it is due.
    fn present(&mut self, run: &mut Run) {
        let due = run.is_due();
        // A descriptor stays until it is taken, and not a period longer.
        if !run.presented {
            let next = due.then(|| &run.plan.descriptors[run.accepted % run.plan.descriptors.len()]);
            self.ports.descriptors.present(&mut self.pins, next);
            if let Some((tokens, _)) = &self.ports.tokens {
                let append = next.is_some_and(|descriptor| descriptor.append);
                self.pins.set(tokens.desc_append, 0, u64::from(append));
            }
        }
        run.presented = due;
    }

    /// Notes a query or descriptor that was accepted; true if there was one.
    fn accept(&mut self, run: &mut Run, cycle: u64) -> bool {
        if run.queries.taken(&self.pins, &self.ports.queries) {
            let step = run.step_of(run.accepted);
            run.steps[step].start.get_or_insert(cycle);
            return true;
        }
        if !run.presented || !self.ports.descriptors.taken(&self.pins) {
            return false;
        }
        run.presented = false;
        let step = run.step_of(run.accepted);
        let of_step = run.accepted % run.plan.descriptors.len();
        run.ledger.accepted(run.plan.descriptors[of_step], step);
        run.accepted += 1;
        true
    }

    /// Sets a tile's array's ready signals and outputs in this period.
    fn drive(&mut self, run: &mut Run, at: usize, cycle: u64) {
        let compute = &mut run.computes[at];
        compute.drive(cycle, &run.plan.pace);
        let p = &self.ports;
        let credit = run.roots.get(at).map_or(0, ReduceRoot::credit);
        self.pins.set(p.root_credit, at, u64::from(credit));
        self.pins.set(p.vector_ready, at, u64::from(compute.takes_word));
        self.pins.set(p.kv_ready, at, u64::from(compute.takes_flit));
        if let Some(idle) = p.compute_idle {
            self.pins.set(idle, at, u64::from(compute.is_idle(cycle)));
        }
        self.pins.set(p.job_ready, at, u64::from(compute.takes_word));
        let sending = compute.sending().copied();
        self.pins.set(p.part_valid, at, u64::from(sending.is_some()));
        let Some(Sending { part, index, flit }) = sending else { return };
        for (pin, value) in [
            (p.part_first, u32::from(flit.first)),
            (p.part_others, flit.others),
            (p.part_last, u32::from(flit.last)),
            (p.part_stream, flit.stream),
            (p.part_layer, flit.layer),
            (p.part_head, flit.head),
        ] {
            self.pins.set(pin, at, u64::from(value));
        }
        part.payload(run.plan.seed, index, &mut self.words);
        self.pins.set_part(self.ports.part_data, at, &self.words);
        if let Some(parity) = self.ports.part_parity {
            let ones: u32 = self.words.iter().map(|word| word.count_ones()).sum();
            self.pins.set(parity, at, u64::from(ones % 2));
        }
    }

    /// Takes the events of the period at one tile; true if there was one.
    fn observe(&mut self, run: &mut Run, at: usize, cycle: u64) -> bool {
        let (p, tile) = (&self.ports, self.tiles[at]);
        let mut moved = false;
        if run.computes[at].takes_word && self.get(p.vector_valid, at) == 1 {
            run.computes[at].took_word(PadCommand::Query);
            moved = true;
        }
        // Jobs first: a flit may come in the cycle in which its job is taken.
        if run.computes[at].takes_word && self.get(p.job_valid, at) == 1 {
            let job = Job {
                close: self.get(p.job_close, at) == 1,
                tag: self.get(p.job_tag, at),
                mask: self.get(p.job_mask, at),
                stream: self.get32(p.job_stream, at),
                streams: self.get32(p.job_streams, at),
                rows: (self.get32(p.job_first_row, at), self.get32(p.job_last_row, at)),
            };
            if let Some(close) = run.ledger.told(cycle, tile, &job) {
                run.computes[at].expects(close);
            }
            run.computes[at].took_word(PadCommand::Job(Ask {
                close: job.close,
                tag: job.tag,
                mask: job.mask,
                stream: job.stream,
                streams: job.streams,
                rows: job.rows,
                mapping: Mapping::of_number(self.get32(p.job_mapping, at)),
                lag: self.get32(p.job_lag, at),
                ..Ask::default()
            }));
            moved = true;
        }
        if run.computes[at].takes_flit && self.get(p.kv_valid, at) == 1 {
            let name = (self.get(p.kv_tag, at), self.get32(p.kv_index, at), self.get(p.kv_mask, at));
            let (tag, index, mask) = name;
            let flit = KvFlit { tag, index, mask, data: 0 };
            let data = self.pins.payload(p.kv_data, at);
            let image = run.tokens.as_ref().map_or(run.memory.image(), NewTokens::image);
            let of = run.ledger.delivered(cycle, tile, name, data, image);
            if let Some((step, layer)) = of {
                run.steps[step].kv.entry(layer).or_insert((cycle, cycle)).1 = cycle;
            }
            run.computes[at].took_flit(cycle, flit, &run.plan.pace);
            moved = true;
        }
        if run.computes[at].sending().is_some() && self.get(p.part_ready, at) == 1 {
            run.computes[at].sent();
            moved = true;
        }
        let valid = self.get32(p.root_valid, at);
        let flit = (valid != 0).then(|| self.reduce(run, at, cycle, valid));
        moved |= flit.is_some();
        if let Some(root) = run.roots.get_mut(at) {
            let out = root.out();
            root.step(flit.flatten().as_ref(), true, &[]);
            moved |= out.is_some();
            if let Some(out) = out.filter(|out| out.last) {
                let head = self.design.heads.of_column(at as u32).start + out.head;
                if let Some(step) = run.ledger.output(cycle, (out.stream, head, out.layer)) {
                    run.steps[step].end = cycle;
                }
            }
        }
        moved
    }

    /// Takes a flit of PART at a root, unless the root has no such context.
    fn reduce(&mut self, run: &mut Run, at: usize, cycle: u64, valid: u32) -> Option<RootFlit> {
        let p = &self.ports;
        let source = self.design.mesh.node(self.get32(p.root_x, at), self.get32(p.root_y, at));
        let mut carried = 0;
        for (word, value) in self.words.iter_mut().zip(self.pins.payload(p.root_data, at)) {
            *word = value;
            carried += 1;
        }
        let key = PartKey {
            // An impossible source is replaced by the root's own tile, which the ledger reports.
            tile: source.unwrap_or(self.tiles[at]),
            stream: self.get32(p.root_stream, at),
            layer: self.get32(p.root_layer, at),
            head: self.design.heads.of_column(self.design.mesh.coords(self.tiles[at]).0).start
                + self.get32(p.root_head, at),
        };
        let part = PartFlit {
            first: self.get(p.root_first, at) == 1,
            last: self.get(p.root_last, at) == 1,
            others: self.get32(p.root_others, at),
            stream: key.stream,
            layer: key.layer,
            head: self.get32(p.root_head, at),
            data: 0,
        };
        let arrived = Arrived {
            root: self.tiles[at],
            key,
            others: part.others,
            first: part.first,
            last: part.last,
            data: &self.words[..carried],
        };
        if let Some(step) = run.ledger.reduced(cycle, arrived) {
            run.steps[step].end = cycle;
        }
        if let Some(packets) = run.packets.get_mut(at).filter(|_| part.last) {
            *packets += 1;
        }
        let known = part.stream < self.design.model.max_streams && part.head < self.design.heads.most();
        let (x, y) = (self.get32(p.root_x, at), self.get32(p.root_y, at));
        known.then_some(RootFlit { valid, part, x, y })
    }

    /// Takes the events between two steps: occupancies and exchanged homes.
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
