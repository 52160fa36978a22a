//! The whole design with the memory behind it, and one job after another on it: drives queries, new tokens,
//! descriptors and memory, and collects outputs and counters.

use super::error::AttentionError;
use super::expected::{expected_at, Numbers};
use super::growth::Growth;
use super::job::Job;
use super::probes::Probes;
use super::result::{AttentionResult, HeadSums};
use super::root_sums::RootSums;
use super::visit_order::Visit;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::{group_pins, DutError};
use crate::cosim::memory::{Behaviour, Image, Memory, Shape};
use crate::cosim::workloads::fabric_pins::{DescriptorPins, MemoryPins};
use crate::cosim::workloads::homes::Homes;
use crate::cosim::workloads::{Event, Watchdog};
use crate::design::{index_bits, Design, NodeId};
use crate::emit::ModuleSpec;
use crate::model::State;
use std::collections::BTreeMap;

/// Cycles between two calls of `stop`.
const BATCH: u64 = 256;
/// Cycles in which the scan reads every counter.
const SCAN: u64 = 128;

group_pins! {
    /// One of each.
    OnePins {
        query_valid query_ready query_stream query_head query_group query_data partials idle
    }
}

group_pins! {
    /// One a column.
    ColumnPins {
        out_valid out_ready out_stream out_layer out_head out_index out_last out_saturated out_partial out_data
    }
}

group_pins! {
    /// One a tile.
    TilePins { error_memory error_timeout }
}

group_pins! {
    /// Outputs of a design with swapping homes between two steps.
    SwapPins { swap_valid swap_a swap_b occupancy_valid }
}

/// An output of a head.
#[derive(Debug, Default)]
struct Output {
    /// FP16.
    elements: Vec<u16>,
    /// A logit of the head saturated.
    void: bool,
    /// Its sums, if they are computed.
    sums: Option<HeadSums>,
}

/// Source of the outputs.
#[derive(Debug)]
pub(super) enum Source {
    /// The output ports.
    Pins,
    /// Computed from the jobs and merges of the model.
    Model(Box<Numbers>),
    /// None.
    Nobody,
}

impl Source {
    /// Notes that the partial result of a row is merged; false if there can be none.
    fn merge(&mut self, design: &Design, x: u32, (stream, head): (u32, u32), y: u32) -> bool {
        let Source::Model(numbers) = self else { return true };
        let tile = design.mesh.node(x, y);
        tile.is_some_and(|tile| numbers.merge(design, Visit { tile, stream, head }))
    }

    /// The output of a head; `shown` is what the ports have of it.
    fn output(&mut self, job: &Job, of: (u32, u32), shown: Output) -> Output {
        match self {
            Source::Pins => shown,
            Source::Model(numbers) => {
                let head = numbers.output(job, of);
                Output { elements: head.output, void: head.void, sums: Some(head.sums) }
            }
            Source::Nobody => Output::default(),
        }
    }
}

/// How a job is run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    /// Cycles of each tile that are recorded, from the first descriptor on.
    pub(super) timeline: usize,
    /// Of 256 cycles, those in which a root's output is refused.
    pub(super) stall: u8,
    /// Another job follows: the run ends when the design has settled. Counters are not read.
    pub(super) goes_on: bool,
    /// The design has the queries of the job from one before.
    pub(super) has_queries: bool,
}

/// The whole design out of reset.
pub(super) struct Core<'a> {
    design: &'a Design,
    pins: Pins,
    clocks: Clocks,
    one: OnePins,
    columns: ColumnPins,
    tiles: TilePins,
    /// `None` if homes never swap.
    swaps: Option<SwapPins>,
    probes: Probes,
    sums: RootSums,
    descriptors: DescriptorPins,
    /// `None` if the cache is read only.
    growth: Option<Growth<'a>>,
    memory_pins: MemoryPins,
    memory: Memory,
    source: Source,
    homes: Homes,
    /// Occupancies that are still to be shown.
    occupancies: usize,
    /// Violations of the memory that a result has.
    told: usize,
    random: u64,
    /// Cycle of the first descriptor of the first job, from which memory counts.
    since: Option<u64>,
}

impl<'a> Core<'a> {
    /// Finds all ports of a design out of reset.
    pub(super) fn new(
        mut pins: Pins,
        top: &ModuleSpec,
        design: &'a Design,
        (behaviour, image): (Behaviour, Image),
        clocks: Clocks,
        source: Source,
    ) -> Result<Core<'a>, DutError> {
        pins.silence(top)?;
        let (cols, tiles) = (design.mesh.cols(), design.mesh.tiles() as u32);
        let has = |name: &str| top.ports.iter().any(|p| p.name == name);
        Ok(Core {
            design,
            clocks,
            one: OnePins::find(&mut pins, top, 1)?,
            columns: ColumnPins::find(&mut pins, top, cols)?,
            tiles: TilePins::find(&mut pins, top, tiles)?,
            swaps: has("swap_valid").then(|| SwapPins::find(&mut pins, top, 1)).transpose()?,
            probes: Probes::find(&mut pins, top, design)?,
            sums: RootSums::find(&mut pins, top, design)?,
            descriptors: DescriptorPins::find(&mut pins, top, 1)?,
            growth: Growth::find(&mut pins, top, design)?,
            memory_pins: MemoryPins::named(&mut pins, top, "m_axi_", design.memory.ports)?,
            memory: Memory::new(Shape::of(design), behaviour, image),
            homes: Homes::new(design),
            occupancies: 0,
            told: 0,
            random: 1,
            since: None,
            source,
            pins,
        })
    }

    /// Contents of the external memory.
    pub(super) fn image(&self) -> &Image {
        self.memory.image()
    }

    /// The same, to be changed.
    pub(super) fn image_mut(&mut self) -> &mut Image {
        self.memory.image_mut()
    }

    /// Runs a job to its last output, and to the end of all that follows from it if another job follows. `stop` is called
    /// from time to time with the outputs so far.
    ///
    /// # Errors
    /// If the fabric stops, nothing moves any more, or `stop` returns true.
    pub(super) fn attend(
        &mut self,
        job: &Job,
        manner: Manner,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<AttentionResult, AttentionError> {
        let design = self.design;
        let cols = design.mesh.cols() as usize;
        let heads = (design.model.heads * job.streams) as usize;
        let start = self.pins.cycle();
        let homes = self.homes.clone();
        if let Some(growth) = &mut self.growth {
            growth.begin(job);
        }
        self.occupancies = if self.swaps.is_some() { design.mesh.tiles() } else { 0 };
        if job.partials {
            let asked = vec![u32::MAX; design.model.max_streams.div_ceil(32) as usize];
            self.pins.set_part(self.one.partials, 0, &asked);
        }
        if !manner.has_queries {
            self.send_queries(job, heads, stop)?;
        }
        while self.growth.as_ref().is_some_and(|growth| !growth.are_in()) {
            self.tick_inputs()?;
        }
        let begun = self.pins.cycle();
        let since = *self.since.get_or_insert(begun);
        let pending = job.descriptors().expect("the job was checked");
        let mut next = 0;
        let mut result = AttentionResult::begun(design, self.clocks, !matches!(self.source, Source::Nobody));
        result.query_cycles = begun - start;
        let mut partial: Vec<Vec<u16>> = vec![Vec::new(); cols];
        let mut merged: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        let mut computed = BTreeMap::new();
        let watchdog = Watchdog::of(design);
        let (mut moved, moved_before) = (begun, self.memory.moved());
        let mut end = None;
        result.passed.first(Event::QueriesIn, result.query_cycles);
        while !self.is_over(end, manner.goes_on) {
            let cycle = self.pins.cycle() - begun;
            let passed = result.query_cycles + cycle + 1;
            self.descriptors.present(&mut self.pins, pending.get(next));
            if let Some(growth) = &mut self.growth {
                growth.present(&mut self.pins, pending.get(next));
            }
            let of_memory = self.pins.cycle() - since;
            self.memory_pins.drive(&mut self.pins, &mut self.memory, of_memory);
            let mut takes = vec![false; cols];
            for (x, takes) in takes.iter_mut().enumerate() {
                self.random = crate::cosim::hash::mix(self.random);
                *takes = (self.random >> 56) as u8 >= manner.stall;
                self.pins.set(self.columns.out_ready, x, u64::from(*takes));
            }
            self.pins.tick()?;
            if next < pending.len() && self.descriptors.taken(&self.pins) {
                next += 1;
                moved = self.pins.cycle();
                result.passed.first(Event::Descriptor, passed);
            }
            if self.memory_pins.observe(&self.pins, &mut self.memory, of_memory) {
                moved = self.pins.cycle();
                result.passed.memory(passed, moved_before, &self.memory);
            }
            if let Some(growth) = &mut self.growth {
                if growth.observe(&self.pins, &mut self.memory, cycle, &mut result.violations) {
                    moved = self.pins.cycle();
                }
            }
            if self.learn(&mut result) {
                moved = self.pins.cycle();
            }
            self.sums.look(&self.pins);
            for (x, of, y) in self.probes.merges(&self.pins, design) {
                if !self.source.merge(design, x, of, y) {
                    let what = format!("row {y} of column {x} has no partial result of {of:?}");
                    result.violations.push(format!("cycle {cycle}: {what}"));
                }
                result.packets[x as usize] += 1;
                result.passed.last(Event::Merging, passed);
                merged.entry(of).or_default().push(y);
                moved = self.pins.cycle();
            }
            for x in 0..cols {
                let get = |pin: Pin| self.pins.get(pin, x) as u32;
                let first_head = design.heads.of_column(x as u32).start;
                if get(self.columns.out_valid) == 1 && takes[x] {
                    let words: Vec<u32> = self.pins.part(self.columns.out_data, x).collect();
                    let (index, layer) = (get(self.columns.out_index), get(self.columns.out_layer));
                    let due = partial[x].len() / (2 * words.len());
                    if due == 0 {
                        result.passed.last(Event::Output, passed);
                    }
                    if (index as usize, layer) != (due, pending[0].layer) {
                        let what = format!("flit {index} of layer {layer} came as flit {due}");
                        result.violations.push(format!("cycle {cycle}: output of column {x}: {what}"));
                    }
                    partial[x].extend(words.iter().flat_map(|w| [*w as u16, (*w >> 16) as u16]));
                    if get(self.columns.out_last) == 1 {
                        let mut shown = std::mem::take(&mut partial[x]);
                        let of = (get(self.columns.out_stream), first_head + get(self.columns.out_head));
                        if get(self.columns.out_partial) == 1 {
                            State::out_of_flits(&mut shown, 2 * words.len());
                        } else {
                            shown.truncate(design.pe.head_dim as usize);
                        }
                        if (get(self.columns.out_partial) == 1) != job.partials {
                            let what = format!("{of:?} returns the other of output and partial result");
                            result.violations.push(format!("cycle {cycle}: {what}"));
                        }
                        self.sums.output(x, of);
                        let void = get(self.columns.out_saturated) == 1;
                        let shown = Output { elements: shown, void, sums: None };
                        let output = self.source.output(job, of, shown);
                        result.outputs.insert(of, output.elements);
                        result.void.extend(output.void.then_some(of));
                        computed.extend(output.sums.map(|sums| (of, sums)));
                    }
                    moved = self.pins.cycle();
                    if result.outputs.len() == heads && end.is_none() {
                        result.cycles = cycle + 1;
                        end = Some(self.pins.cycle());
                        // The last run is over and every counter must be read: a faster scan could skip some.
                        if !manner.goes_on {
                            self.pins.set_clocks(&self.clocks.into_step())?;
                        }
                    }
                }
            }
            self.probes.look(&self.pins, &mut result, cycle, manner.timeline);
            if result.kv_cycles == cycle + 1 {
                moved = self.pins.cycle();
            }
            let now = self.pins.cycle();
            if now.is_multiple_of(BATCH) && stop(result.outputs.len()) {
                return Err(AttentionError::Stopped);
            }
            if watchdog.is_over(now - moved, &self.memory) {
                let (cycles, missing) = (now - moved, heads - result.outputs.len());
                if let Some(growth) =
                    self.growth.as_ref().filter(|growth| missing == 0 && !growth.are_written())
                {
                    return Err(AttentionError::Unwritten { cycles, at: now, waiting: growth.waiting() });
                }
                return Err(AttentionError::Stuck { cycles, at: now, missing, heads });
            }
        }
        result.settle_cycles = self.pins.cycle() - end.unwrap_or(begun);
        if let Some(growth) = &mut self.growth {
            result.tokens_written =
                growth.end(result.numbers.then(|| self.memory.image_mut()), &mut result.violations);
        }
        if self.pins.get(self.one.idle, 0) == 0 {
            result.violations.push("a column controller is not idle after the last output".to_owned());
        }
        result.beats = (0..self.memory.ports()).map(|port| self.memory.counts(port).beats).collect();
        let broken = self.memory.violations().1;
        result.violations.extend(broken[self.told..].iter().map(|v| v.message.clone()));
        self.told = broken.len();
        for (tile, node) in design.mesh.nodes().enumerate() {
            for (pin, what) in
                [(self.tiles.error_memory, "an error"), (self.tiles.error_timeout, "a time-out")]
            {
                if self.pins.get(pin, tile) == 1 {
                    let at = design.mesh.coords(node);
                    result.violations.push(format!("tile {at:?} reports {what} of its memory"));
                }
            }
        }
        if result.numbers {
            let expected = expected_at(job, &homes, &merged, &mut result.violations);
            expected.judge(&result.void, &mut result.violations);
            (result.expected, result.expected_sums) = (expected.outputs, expected.sums);
            result.saturated = expected.saturated;
            // The model's roots have no numbers on their ports.
            let shown = matches!(self.source, Source::Pins);
            result.sums = Some(if shown { self.sums.take() } else { computed });
        }
        Ok(result)
    }

    /// The run is over, whose last output came in the cycle `end`.
    fn is_over(&self, end: Option<u64>, goes_on: bool) -> bool {
        let settled = || {
            self.pins.get(self.one.idle, 0) == 1
                && self.occupancies == 0
                && self.growth.as_ref().is_none_or(Growth::are_written)
        };
        end.is_some_and(|end| if goes_on { settled() } else { self.pins.cycle() >= end + SCAN })
    }

    /// Takes what is shown between two steps: occupancies, and homes that exchange their places. True if there was
    /// something.
    fn learn(&mut self, result: &mut AttentionResult) -> bool {
        let Some(at) = self.swaps else { return false };
        let shown = self.pins.get(at.occupancy_valid, 0) == 1;
        let swap = self.pins.get(at.swap_valid, 0) == 1;
        self.occupancies = self.occupancies.saturating_sub(usize::from(shown));
        if swap {
            match [at.swap_a, at.swap_b].map(|pin| self.tile(self.pins.get(pin, 0) as u32)) {
                [Some(a), Some(b)] => {
                    self.homes.swap(a, b);
                    result.swaps.push([a, b].map(|tile| self.design.mesh.coords(tile)));
                }
                _ => result.violations.push("homes of tiles that do not exist swap".to_owned()),
            }
        }
        shown || swap
    }

    /// The tile that `{y, x}` names.
    fn tile(&self, coords: u32) -> Option<NodeId> {
        let x_bits = index_bits(self.design.mesh.cols());
        self.design.mesh.node(coords & ((1 << x_bits) - 1), coords >> x_bits)
    }

    /// Sends the queries of a job, and its new tokens beside them as far as they come.
    fn send_queries(
        &mut self,
        job: &Job,
        missing: usize,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), AttentionError> {
        let heads = self.design.model.heads;
        let elements = 4 * self.design.bus.query_group_words as usize;
        let watchdog = Watchdog::of(self.design);
        for stream in 0..job.streams {
            for head in 0..heads {
                for (at, group) in job.query(head, stream).chunks(elements).enumerate() {
                    let pair = |two: &[u16]| u32::from(two[0]) | u32::from(two[1]) << 16;
                    let data: Vec<u32> = group.chunks(2).map(pair).collect();
                    self.pins.set_part(self.one.query_data, 0, &data);
                    for (pin, value) in [
                        (self.one.query_valid, 1),
                        (self.one.query_stream, u64::from(stream)),
                        (self.one.query_head, u64::from(head)),
                        (self.one.query_group, at as u64),
                    ] {
                        self.pins.set(pin, 0, value);
                    }
                    let asked = self.pins.cycle();
                    loop {
                        self.tick_inputs()?;
                        if self.pins.get(self.one.query_ready, 0) == 1 {
                            break;
                        }
                        let at = self.pins.cycle();
                        if at.is_multiple_of(BATCH) && stop(0) {
                            return Err(AttentionError::Stopped);
                        }
                        if watchdog.is_over(at - asked, &self.memory) {
                            let cycles = at - asked;
                            return Err(AttentionError::Stuck { cycles, at, missing, heads: missing });
                        }
                    }
                }
            }
        }
        self.pins.set(self.one.query_valid, 0, 0);
        Ok(())
    }

    /// Runs a period before the descriptors of a job, in which a new token may go in. Memory is there from the first
    /// descriptor of the first job on.
    fn tick_inputs(&mut self) -> Result<(), DutError> {
        if let Some(growth) = &mut self.growth {
            growth.present(&mut self.pins, None);
        }
        let cycle = self.since.map(|since| self.pins.cycle() - since);
        if let Some(cycle) = cycle {
            self.memory_pins.drive(&mut self.pins, &mut self.memory, cycle);
        }
        self.pins.tick()?;
        if let Some(cycle) = cycle {
            self.memory_pins.observe(&self.pins, &mut self.memory, cycle);
        }
        Ok(())
    }
}
