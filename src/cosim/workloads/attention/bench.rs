//! Runs attention on the whole design: drives queries, descriptors and memory, and collects outputs
//! and counters.

use super::expected::{expected, Numbers};
use super::job::Job;
use super::probes::Probes;
use super::result::{AttentionResult, HeadSums};
use super::root_sums::RootSums;
use super::visit_order::Visit;
use crate::cosim::build::Library;
use crate::cosim::checks::lockstep::PortLockstep;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::model_ports::FabricPorts;
use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::verilated_ports::verilated;
use crate::cosim::dut::{group_pins, DutError};
use crate::cosim::memory::{Behaviour, Image, Memory, Shape};
use crate::cosim::workloads::fabric_pins::{DescriptorPins, MemoryPins};
use crate::cosim::workloads::Watchdog;
use crate::design::Design;
use crate::emit::{self, ModuleSpec};
use crate::model::State;
use std::collections::BTreeMap;
use std::sync::mpsc::channel;

/// Cycles between two calls of `stop`.
const BATCH: u64 = 256;
/// Cycles in which the scan reads every counter.
const SCAN: u64 = 128;

/// Reason why a run gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AttentionError {
    /// The fabric stopped.
    #[error(transparent)]
    Dut(#[from] DutError),
    /// Nothing moved for too long.
    #[error(
        "nothing has moved for {cycles} cycles at cycle {at}: {missing} of {heads} outputs have not come"
    )]
    Stuck {
        /// Cycles without an output, a read or a flit of PART.
        cycles: u64,
        /// Cycle.
        at: u64,
        /// Outputs still missing.
        missing: usize,
        /// All outputs.
        heads: usize,
    },
    /// The caller gave up waiting.
    #[error("the run was stopped")]
    Stopped,
}

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
enum Source {
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

    /// Contents of the external memory: anything, if no numbers are computed.
    fn image(&self, job: &Job) -> Image {
        match self {
            Source::Pins | Source::Model(_) => job.image(),
            Source::Nobody => Image::Hash(0),
        }
    }
}

/// The whole design out of reset, ready to run.
pub struct Bench<'a> {
    job: &'a Job<'a>,
    pins: Pins,
    clocks: Clocks,
    one: OnePins,
    columns: ColumnPins,
    tiles: TilePins,
    probes: Probes,
    sums: RootSums,
    descriptors: DescriptorPins,
    memory_pins: MemoryPins,
    memory: Memory,
    source: Source,
}

impl<'a> Bench<'a> {
    /// Opens a library of the whole design. `seed` sets what registers hold before reset.
    ///
    /// # Errors
    /// If it was built for another design, or does not start.
    pub fn new(
        library: &Library,
        job: &'a Job<'a>,
        behaviour: Behaviour,
        seed: u64,
    ) -> Result<Bench<'a>, DutError> {
        Bench::with_clocks(library, job, behaviour, seed, Clocks::IN_STEP)
    }

    /// The same with a separate clock for PaD, which a library with one clock cannot have.
    ///
    /// # Errors
    /// As [`Bench::new`].
    pub fn with_clocks(
        library: &Library,
        job: &'a Job<'a>,
        behaviour: Behaviour,
        seed: u64,
        clocks: Clocks,
    ) -> Result<Bench<'a>, DutError> {
        Bench::on(verilated(library, seed)?, job, behaviour, clocks)
    }

    /// Runs on the model of the design, with the same cycles. Without `numbers` only times are
    /// computed: outputs are empty and not checked.
    ///
    /// # Errors
    /// If PaD's clock is to have jitter.
    pub fn on_model(
        job: &'a Job<'a>,
        behaviour: Behaviour,
        clocks: Clocks,
        numbers: bool,
    ) -> Result<Bench<'a>, DutError> {
        let (design, top) = (job.design, Bench::ports(job.design));
        let (tell, told) = channel();
        let model = FabricPorts::core(design, &top, numbers.then_some(tell));
        let pins = Pins::clocked(Box::new(model), &clocks)?;
        let source = match numbers {
            true => Source::Model(Box::new(Numbers::new(design, told))),
            false => Source::Nobody,
        };
        Bench::of(pins, job, behaviour, clocks, source)
    }

    /// Runs both and compares them at every port in every cycle. Numbers are the Verilog's.
    ///
    /// # Errors
    /// As [`Bench::with_clocks`] and [`Bench::on_model`].
    pub fn in_lockstep(
        library: &Library,
        job: &'a Job<'a>,
        behaviour: Behaviour,
        seed: u64,
        clocks: Clocks,
    ) -> Result<Bench<'a>, DutError> {
        let (rtl, model) = (verilated(library, seed)?, Bench::model(job.design));
        let both = PortLockstep::beside(rtl, model, &Bench::ports(job.design), job.design)?;
        Bench::on(Box::new(both), job, behaviour, clocks)
    }

    /// Ports of the whole design.
    pub fn ports(design: &Design) -> ModuleSpec {
        let modules = emit::modules(design);
        modules.into_iter().find(|m| m.name == emit::CORE).expect("every design has a top")
    }

    /// The model behind these ports, which computes no numbers.
    pub fn model(design: &Design) -> Box<dyn DutPorts> {
        Box::new(FabricPorts::core(design, &Bench::ports(design), None))
    }

    /// Takes a device with these ports and with numbers out of reset.
    ///
    /// # Errors
    /// If it lacks a port, does not start, or cannot have these clocks.
    pub fn on(
        dut: Box<dyn DutPorts>,
        job: &'a Job<'a>,
        behaviour: Behaviour,
        clocks: Clocks,
    ) -> Result<Bench<'a>, DutError> {
        Bench::of(Pins::clocked(dut, &clocks)?, job, behaviour, clocks, Source::Pins)
    }

    fn of(
        mut pins: Pins,
        job: &'a Job<'a>,
        behaviour: Behaviour,
        clocks: Clocks,
        source: Source,
    ) -> Result<Bench<'a>, DutError> {
        let (design, top) = (job.design, &Bench::ports(job.design));
        pins.silence(top)?;
        let (cols, tiles) = (design.mesh.cols(), design.mesh.tiles() as u32);
        Ok(Bench {
            job,
            clocks,
            one: OnePins::find(&mut pins, top, 1)?,
            columns: ColumnPins::find(&mut pins, top, cols)?,
            tiles: TilePins::find(&mut pins, top, tiles)?,
            probes: Probes::find(&mut pins, top, design)?,
            sums: RootSums::find(&mut pins, top, design)?,
            descriptors: DescriptorPins::find(&mut pins, top, 1)?,
            memory_pins: MemoryPins::named(&mut pins, top, "m_axi_", design.memory.ports)?,
            memory: Memory::new(Shape::of(design), behaviour, source.image(job)),
            source,
            pins,
        })
    }

    /// Runs to the last output and records the first `timeline` cycles of each tile. A root's
    /// output is refused in `stall` of 256 cycles. `stop` is called from time to time with the
    /// outputs so far.
    ///
    /// # Errors
    /// If the fabric stops, nothing moves any more, or `stop` returns true.
    pub fn run(
        mut self,
        timeline: usize,
        stall: u8,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<AttentionResult, AttentionError> {
        let design = self.job.design;
        let cols = design.mesh.cols() as usize;
        let heads = (design.config.model.heads * self.job.streams) as usize;
        let start = self.pins.cycle();
        if self.job.partials {
            let asked = vec![u32::MAX; design.config.model.max_streams.div_ceil(32) as usize];
            self.pins.set_part(self.one.partials, 0, &asked);
        }
        self.send_queries(heads, stop)?;
        let begun = self.pins.cycle();
        let pending = self.job.descriptors().expect("the job was checked");
        let mut next = 0;
        let mut result = AttentionResult::begun(design, self.clocks, !matches!(self.source, Source::Nobody));
        result.query_cycles = begun - start;
        let mut partial: Vec<Vec<u16>> = vec![Vec::new(); cols];
        let mut merged: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        let mut computed = BTreeMap::new();
        let watchdog = Watchdog::of(design);
        let mut moved = begun;
        let mut random = 1_u64;
        let mut end = None;
        while end.is_none_or(|end| self.pins.cycle() < end + SCAN) {
            let cycle = self.pins.cycle() - begun;
            self.descriptors.present(&mut self.pins, pending.get(next));
            self.memory_pins.drive(&mut self.pins, &mut self.memory, cycle);
            let mut takes = vec![false; cols];
            for (x, takes) in takes.iter_mut().enumerate() {
                random = crate::cosim::hash::mix(random);
                *takes = (random >> 56) as u8 >= stall;
                self.pins.set(self.columns.out_ready, x, u64::from(*takes));
            }
            self.pins.tick()?;
            if next < pending.len() && self.descriptors.taken(&self.pins) {
                next += 1;
                moved = self.pins.cycle();
            }
            if self.memory_pins.observe(&self.pins, &mut self.memory, cycle) {
                moved = self.pins.cycle();
            }
            self.sums.look(&self.pins);
            for (x, of, y) in self.probes.merges(&self.pins, design) {
                if !self.source.merge(design, x, of, y) {
                    let what = format!("row {y} of column {x} has no partial result of {of:?}");
                    result.violations.push(format!("cycle {cycle}: {what}"));
                }
                result.packets[x as usize] += 1;
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
                            shown.truncate(design.config.pe.head_dim as usize);
                        }
                        if (get(self.columns.out_partial) == 1) != self.job.partials {
                            let what = format!("{of:?} returns the other of output and partial result");
                            result.violations.push(format!("cycle {cycle}: {what}"));
                        }
                        self.sums.output(x, of);
                        let void = get(self.columns.out_saturated) == 1;
                        let shown = Output { elements: shown, void, sums: None };
                        let output = self.source.output(self.job, of, shown);
                        result.outputs.insert(of, output.elements);
                        result.void.extend(output.void.then_some(of));
                        computed.extend(output.sums.map(|sums| (of, sums)));
                    }
                    moved = self.pins.cycle();
                    if result.outputs.len() == heads && end.is_none() {
                        result.cycles = cycle + 1;
                        end = Some(self.pins.cycle());
                        // The run is over and every counter must be read: a faster scan could skip
                        // some.
                        self.pins.set_clocks(&self.clocks.into_step())?;
                    }
                }
            }
            self.probes.look(&self.pins, &mut result, cycle, timeline);
            if result.kv_cycles == cycle + 1 {
                moved = self.pins.cycle();
            }
            let now = self.pins.cycle();
            if now.is_multiple_of(BATCH) && stop(result.outputs.len()) {
                return Err(AttentionError::Stopped);
            }
            if watchdog.is_over(now - moved, &self.memory) {
                let (cycles, missing) = (now - moved, heads - result.outputs.len());
                return Err(AttentionError::Stuck { cycles, at: now, missing, heads });
            }
        }
        if self.pins.get(self.one.idle, 0) == 0 {
            result.violations.push("a column controller is not idle after the last output".to_owned());
        }
        result.beats = (0..self.memory.ports()).map(|port| self.memory.counts(port).beats).collect();
        result.violations.extend(self.memory.violations().1.iter().map(|v| v.message.clone()));
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
            let expected = expected(self.job, &merged, &mut result.violations);
            expected.judge(&result.void, &mut result.violations);
            (result.expected, result.expected_sums) = (expected.outputs, expected.sums);
            result.saturated = expected.saturated;
            // The model's roots have no numbers on their ports.
            let shown = matches!(self.source, Source::Pins);
            result.sums = Some(if shown { self.sums.take() } else { computed });
        }
        Ok(result)
    }

    fn send_queries(
        &mut self,
        missing: usize,
        stop: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), AttentionError> {
        let heads = self.job.design.config.model.heads;
        let elements = 4 * self.job.design.bus.query_group_words as usize;
        let watchdog = Watchdog::of(self.job.design);
        for stream in 0..self.job.streams {
            for head in 0..heads {
                for (at, group) in self.job.query(head, stream).chunks(elements).enumerate() {
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
                        self.pins.tick()?;
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
}
