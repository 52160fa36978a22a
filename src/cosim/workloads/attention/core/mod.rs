//! The whole design with the memory behind it, and one job after another on it: drives queries, new tokens,
//! descriptors and memory, and collects outputs and counters.

mod inputs;
mod source;
mod under_way;

pub(super) use source::Source;
pub(super) use under_way::RunOptions;

use super::error::AttentionError;
use super::growth::Growth;
use super::job::Job;
use super::result::AttentionResult;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::ports::{DutPorts, LinkFlip};
use crate::cosim::dut::{group_pins, DutError};
use crate::cosim::memory::{Behaviour, Image, Memory, Shape};
use crate::cosim::workloads::attention::observed::expected::expected_at;
use crate::cosim::workloads::attention::observed::probes::Probes;
use crate::cosim::workloads::attention::observed::root_sums::RootSums;
use crate::cosim::workloads::shared::fabric_pins::{DescriptorPins, MemoryPins};
use crate::cosim::workloads::shared::homes::Homes;
use crate::cosim::workloads::shared::limit::{Limit, Moved};
use crate::cosim::workloads::shared::page_writer::PageWriter;
use crate::cosim::workloads::shared::tile_errors::ErrorPins;
use crate::cosim::workloads::{Event, Watchdog};
use crate::design::{index_bits, Design, NodeId};
use crate::emit::ModuleSpec;
use crate::model::State;
use source::Output;
use std::collections::BTreeMap;
use under_way::UnderWay;

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
    /// Outputs of a design with swapping homes between two steps.
    SwapPins { swap_valid swap_a swap_b occupancy_valid }
}

/// The whole design out of reset.
pub(super) struct Core<'a> {
    design: &'a Design,
    pins: Pins,
    clocks: Clocks,
    one: OnePins,
    columns: ColumnPins,
    errors: ErrorPins,
    /// `None` if homes never swap.
    swaps: Option<SwapPins>,
    probes: Probes,
    sums: RootSums,
    descriptors: DescriptorPins,
    /// `None` if the cache is read only.
    growth: Option<Growth<'a>>,
    /// `None` without pages.
    pages: Option<PageWriter>,
    memory_pins: MemoryPins,
    memory: Memory,
    behaviour: Behaviour,
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
    /// Takes a design out of reset, and finds all its ports.
    pub(super) fn new(
        dut: Box<dyn DutPorts>,
        top: &ModuleSpec,
        design: &'a Design,
        (behaviour, image): (Behaviour, Image),
        clocks: Clocks,
        source: Source,
    ) -> Result<Core<'a>, DutError> {
        let mut pins = Pins::open(dut, top, &clocks)?;
        let (cols, tiles) = (design.mesh.cols(), design.mesh.tiles() as u32);
        let has = |name: &str| top.ports.iter().any(|p| p.name == name);
        Ok(Core {
            design,
            clocks,
            one: OnePins::find(&mut pins, top, 1)?,
            columns: ColumnPins::find(&mut pins, top, cols)?,
            errors: ErrorPins::find(&mut pins, top, tiles)?,
            swaps: has("swap_valid").then(|| SwapPins::find(&mut pins, top, 1)).transpose()?,
            probes: Probes::find(&mut pins, top, design)?,
            sums: RootSums::find(&mut pins, top, design)?,
            descriptors: DescriptorPins::find(&mut pins, top, 1)?,
            growth: Growth::find(&mut pins, top, design)?,
            pages: PageWriter::find(&mut pins, top)?,
            memory_pins: MemoryPins::named(&mut pins, top, "m_axi_", design.memory.ports)?,
            memory: Memory::new(Shape::of(design), behaviour.clone(), image),
            behaviour,
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

    /// Inverts a bit of a flit on a link.
    pub(super) fn flip(&mut self, flip: &LinkFlip) -> Result<(), DutError> {
        self.pins.flip(flip)
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
        options: RunOptions,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<AttentionResult, AttentionError> {
        if let Some(pages) = &mut self.pages {
            pages.write(&mut self.pins, (job.design, &job.descriptors().expect("the job was checked")))?;
        }
        let (start, homes) = (self.pins.cycle(), self.homes.clone());
        self.prepare(job, options, stop)?;
        let mut run = self.begin(job, options, start);
        let watchdog = Watchdog::of(self.design);
        while !self.is_over(run.end, options.goes_on) {
            run.cycle = self.pins.cycle() - run.begun;
            self.drive(&mut run);
            self.pins.tick()?;
            self.observe_inputs(&mut run);
            self.observe_merges(&mut run);
            for x in 0..run.takes.len() {
                if run.takes[x] && self.pins.get(self.columns.out_valid, x) == 1 {
                    self.take_flit(&mut run, x)?;
                }
            }
            self.probes.look(&self.pins, &mut run.result, run.cycle, options.timeline);
            if run.result.kv_cycles == run.cycle + 1 {
                run.moves();
            }
            self.watch(&mut run, &watchdog, stop)?;
        }
        Ok(self.finish(run, &homes))
    }

    /// Sends the inputs that go before a job's descriptors: the request for partial results, queries and new tokens.
    fn prepare(
        &mut self,
        job: &Job,
        options: RunOptions,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), AttentionError> {
        if let Some(growth) = &mut self.growth {
            growth.begin(job);
        }
        self.occupancies = if self.swaps.is_some() { self.design.mesh.tiles() } else { 0 };
        if job.partials {
            let asked = vec![u32::MAX; self.design.model.max_streams.div_ceil(32) as usize];
            self.pins.set_part(self.one.partials, 0, &asked);
        }
        if !options.has_queries {
            self.send_queries(job, stop)?;
        }
        while self.growth.as_ref().is_some_and(|growth| !growth.are_in()) {
            self.tick_inputs()?;
        }
        Ok(())
    }

    /// A job before its first descriptor; its queries began to go in at `start`.
    fn begin<'j>(&mut self, job: &'j Job<'j>, options: RunOptions, start: u64) -> UnderWay<'j> {
        let begun = self.pins.cycle();
        let cols = self.design.mesh.cols() as usize;
        let numbers = !matches!(self.source, Source::Nobody);
        let mut result = AttentionResult::begun(self.design, self.clocks, numbers);
        result.query_cycles = begun - start;
        result.passed.first(Event::QueriesIn, result.query_cycles);
        UnderWay {
            job,
            options,
            pending: job.descriptors().expect("the job was checked"),
            next: 0,
            begun,
            since: *self.since.get_or_insert(begun),
            cycle: 0,
            moved: begun,
            moved_before: self.memory.moved(),
            takes: vec![false; cols],
            partial: vec![Vec::new(); cols],
            merged: BTreeMap::new(),
            computed: BTreeMap::new(),
            end: None,
            limit: Limit::new(job.bound(&self.behaviour, options.stall, self.clocks), begun),
            result,
        }
    }

    /// Drives descriptors, new tokens, memory, and the readiness for outputs.
    fn drive(&mut self, run: &mut UnderWay) {
        let next = run.pending.get(run.next);
        self.descriptors.present(&mut self.pins, next);
        if let Some(growth) = &mut self.growth {
            growth.present(&mut self.pins, next);
        }
        self.memory_pins.drive(&mut self.pins, &mut self.memory, run.of_memory());
        for (x, takes) in run.takes.iter_mut().enumerate() {
            self.random = crate::cosim::hash::mix(self.random);
            *takes = (self.random >> 56) as u8 >= run.options.stall;
            self.pins.set(self.columns.out_ready, x, u64::from(*takes));
        }
    }

    /// Notes the inputs that the design takes, and the transfers between it and memory.
    fn observe_inputs(&mut self, run: &mut UnderWay) {
        let passed = run.passed();
        if run.next < run.pending.len() && self.descriptors.taken(&self.pins) {
            run.next += 1;
            run.moves();
            run.result.passed.first(Event::Descriptor, passed);
        }
        if self.memory_pins.observe(&self.pins, &mut self.memory, run.of_memory()) {
            run.moves();
            run.result.passed.memory(passed, run.moved_before, &self.memory);
        }
        if let Some(growth) = &mut self.growth {
            if growth.observe(&self.pins, &mut self.memory, run.cycle, &mut run.result.violations) {
                run.moves();
            }
        }
        if self.learn(&mut run.result) {
            run.moves();
        }
    }

    /// Notes the partial results that roots merge.
    fn observe_merges(&mut self, run: &mut UnderWay) {
        self.sums.look(&self.pins);
        for (x, of, y) in self.probes.merges(&self.pins, self.design) {
            if !self.source.merge(self.design, x, of, y) {
                run.violates(format!("row {y} of column {x} has no partial result of {of:?}"));
            }
            run.result.packets[x as usize] += 1;
            run.result.passed.last(Event::Merging, run.passed());
            run.merged.entry(of).or_default().push(y);
            run.moves();
        }
    }

    /// Takes a flit of an output of a column.
    fn take_flit(&mut self, run: &mut UnderWay, x: usize) -> Result<(), DutError> {
        let get = |pin: Pin| self.pins.get(pin, x) as u32;
        let words: Vec<u32> = self.pins.part(self.columns.out_data, x).collect();
        let (index, layer) = (get(self.columns.out_index), get(self.columns.out_layer));
        let due = run.partial[x].len() / (2 * words.len());
        if due == 0 {
            run.result.passed.last(Event::Output, run.passed());
        }
        if (index as usize, layer) != (due, run.pending[0].layer) {
            let what = format!("flit {index} of layer {layer} came as flit {due}");
            run.violates(format!("output of column {x}: {what}"));
        }
        run.partial[x].extend(words.iter().flat_map(|w| [*w as u16, (*w >> 16) as u16]));
        if get(self.columns.out_last) == 1 {
            self.take_output(run, x, 2 * words.len());
        }
        run.moves();
        if run.result.outputs.len() == run.job.outputs() && run.end.is_none() {
            run.result.cycles = run.cycle + 1;
            run.end = Some(self.pins.cycle());
            // The last run is over and every counter must be read: a faster scan could skip some.
            if !run.options.goes_on {
                self.pins.set_clocks(&self.clocks.into_step())?;
            }
        }
        Ok(())
    }

    /// Takes an output whose last flit has come; a flit has so many elements.
    fn take_output(&mut self, run: &mut UnderWay, x: usize, lanes: usize) {
        let get = |pin: Pin| self.pins.get(pin, x) as u32;
        let first_head = self.design.heads.of_column(x as u32).start;
        let of = (get(self.columns.out_stream), first_head + get(self.columns.out_head));
        let mut elements = std::mem::take(&mut run.partial[x]);
        let is_partial = get(self.columns.out_partial) == 1;
        if is_partial {
            State::out_of_flits(&mut elements, lanes);
        } else {
            elements.truncate(self.design.pe.head_dim as usize);
        }
        if is_partial != run.job.partials {
            run.violates(format!("{of:?} returns the other of output and partial result"));
        }
        let shown = Output { elements, void: get(self.columns.out_saturated) == 1, sums: None };
        self.sums.output(x, of);
        let output = self.source.output(run.job, of, shown);
        run.result.outputs.insert(of, output.elements);
        run.result.void.extend(output.void.then_some(of));
        run.computed.extend(output.sums.map(|sums| (of, sums)));
    }

    /// Ends a job that is stopped from outside, or in which nothing has moved for too long.
    fn watch(
        &self,
        run: &mut UnderWay,
        watchdog: &Watchdog,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), AttentionError> {
        let (at, heads, outputs) = (self.pins.cycle(), run.job.outputs(), run.result.outputs.len());
        if at.is_multiple_of(BATCH) && stop(outputs) {
            return Err(AttentionError::Stopped);
        }
        let (cycles, missing) = (at - run.moved, heads - outputs);
        if !watchdog.is_over(cycles, &self.memory) {
            let UnderWay { limit, result, .. } = run;
            let now = || Moved::of(&result.links, &result.events, Some(&self.memory));
            return match limit.passed(at, self.design, now) {
                None => Ok(()),
                Some(moving) => {
                    let moving = format!("{moving}\n  awaited: {missing} of {heads} outputs");
                    Err(AttentionError::Endless { at, moving })
                }
            };
        }
        Err(match &self.growth {
            Some(growth) if missing == 0 && !growth.are_written() => {
                AttentionError::Unwritten { cycles, at, waiting: growth.waiting() }
            }
            _ => AttentionError::Stuck { cycles, at, missing, heads, which: awaited(run) },
        })
    }

    /// Checks what is left of a job that is over; `homes` are those before it.
    fn finish(&mut self, run: UnderWay, homes: &Homes) -> AttentionResult {
        let mut result = run.result;
        result.settle_cycles = self.pins.cycle() - run.end.unwrap_or(run.begun);
        if let Some(growth) = &mut self.growth {
            result.tokens_written =
                growth.end(result.numbers.then(|| self.memory.image_mut()), &mut result.violations);
        }
        if self.pins.get(self.one.idle, 0) == 0 {
            result.violations.push("a column controller is not idle after the last output".to_owned());
        }
        result.beats = (0..self.memory.ports()).map(|port| self.memory.counts(port).beats).collect();
        let broken = self.memory.violations().1;
        result.rules = broken[self.told..].iter().map(|v| v.message.clone()).collect();
        result.violations.extend(result.rules.iter().cloned());
        result.struck = self.memory.struck();
        result.flipped = self.pins.flipped().map(|at| at.saturating_sub(run.begun));
        result.reached = self.pins.reached();
        self.told = broken.len();
        for error in self.errors.standing(&self.pins, self.design) {
            result.reported.push(error.in_registers(self.design.mesh));
            result.violations.push(error.to_string());
        }
        if result.numbers {
            let expected = expected_at(run.job, homes, &run.merged, &mut result.violations);
            expected.judge(&result.void, &mut result.violations);
            (result.expected, result.expected_sums) = (expected.outputs, expected.sums);
            result.saturated = expected.saturated;
            // The model's roots have no numbers on their ports.
            let shown = matches!(self.source, Source::Pins);
            result.sums = Some(if shown { self.sums.take() } else { run.computed });
        }
        result
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

    /// Takes the reports between two steps: occupancies, and homes that exchange their places. True if there was
    /// a report.
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
}

/// Outputs that a hang names.
const NAMED: usize = 4;

/// The first outputs that have not come, as words.
fn awaited(run: &UnderWay) -> String {
    let heads = run.job.design.model.heads;
    let all = (0..run.job.streams).flat_map(|stream| (0..heads).map(move |head| (stream, head)));
    let missing: Vec<_> = all.filter(|of| !run.result.outputs.contains_key(of)).collect();
    let names = missing.iter().take(NAMED).map(|(stream, head)| format!("head {head} of stream {stream}"));
    let names = names.collect::<Vec<_>>().join(", ");
    let more = missing.len().saturating_sub(NAMED);
    format!(": {names}{}", if more > 0 { format!(" and {more} more") } else { String::new() })
}
