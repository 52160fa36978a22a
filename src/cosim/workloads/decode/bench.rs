//! Runs a plan on the fabric, from the first word of queries to the last flit of outputs.
//!
//! [`super::cycle`] drives a period; this file decides when and how a run ends.

use super::counts::{covered, Decoded};
use super::error::DecodeError;
use super::plan::Plan;
use super::ports::Ports;
use super::run_state::Run;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::model_ports::FabricPorts;
use crate::cosim::dut::network::COUNTERS;
use crate::cosim::dut::pins::Pins;
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::DutError;
use crate::cosim::workloads::shared::limit::{Limit, Moved};
use crate::design::{Design, NodeId};
use crate::emit::{self, ModuleSpec, TILE_EVENTS};

/// Cycles in which the scan reads all counters.
const SCAN: u64 =
    2 * if COUNTERS > TILE_EVENTS.len() { COUNTERS } else { TILE_EVENTS.len() }.next_power_of_two() as u64;
/// Cycles between two checks of errors and of `stop`.
const BATCH: u64 = 256;
/// Cycles in which flits without a receiver leave the fabric.
const QUIET: u64 = 64;

/// Progress of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Cycles run.
    pub cycles: u64,
    /// Flits that tiles took.
    pub flits: u64,
    /// Descriptors accepted.
    pub descriptors: u64,
}

/// A fabric out of reset, ready to run a plan.
pub struct Bench<'a> {
    pub(super) design: &'a Design,
    pub(super) pins: Pins,
    pub(super) ports: Ports,
    pub(super) tiles: Vec<NodeId>,
    pub(super) words: Vec<u32>,
}

impl<'a> Bench<'a> {
    /// Runs on the model instead.
    pub fn on_model(design: &'a Design) -> Bench<'a> {
        Bench::on(Bench::model(design), design).expect("the model has all ports of a design")
    }

    /// Ports of the whole fabric.
    pub fn ports(design: &Design) -> ModuleSpec {
        let modules = emit::modules(design);
        modules.into_iter().find(|m| m.name == emit::FABRIC).expect("every design has a fabric")
    }

    /// The model behind these ports.
    pub fn model(design: &Design) -> Box<dyn DutPorts> {
        Box::new(FabricPorts::new(design, &Bench::ports(design)))
    }

    /// Takes a fabric with these ports out of reset.
    ///
    /// # Errors
    /// If it lacks one, or does not start.
    pub fn on(dut: Box<dyn DutPorts>, design: &'a Design) -> Result<Bench<'a>, DutError> {
        let top = &Bench::ports(design);
        let mut pins = Pins::open(dut, top, &Clocks::IN_STEP)?;
        let tiles: Vec<_> = design.mesh.nodes().collect();
        let ports = Ports::find(&mut pins, top, tiles.len() as u32, design.memory.ports)?;
        let words = vec![0; design.flit.data_width.div_ceil(32) as usize];
        Ok(Bench { design, pins, ports, tiles, words })
    }

    /// Runs a plan to its end. `stop` is called from time to time with the progress.
    ///
    /// # Errors
    /// If the fabric stops, is stuck, does not end or reports a failed memory, or if `stop` returns true. Other
    /// violations are in the result.
    pub fn run(self, plan: &Plan, stop: &mut dyn FnMut(Progress) -> bool) -> Result<Decoded, DecodeError> {
        self.run_through(plan, stop)?.trusted()
    }

    /// The same; reports of a failed memory are in the result, too.
    ///
    /// # Errors
    /// As [`Bench::run`], without a failed memory.
    pub fn run_through(
        mut self,
        plan: &Plan,
        stop: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Decoded, DecodeError> {
        if let Some(pages) = &mut self.ports.pages {
            pages.write(&mut self.pins, (self.design, &plan.descriptors))?;
        }
        let mut run = Run::new(self.design, plan, self.ports.swaps.is_some(), self.pins.cycle());
        let mut limit = Limit::new(plan.bound(self.design), run.start);
        plan.flip.iter().try_for_each(|flip| self.pins.flip(flip))?;
        while !(run.over() && self.pins.get(self.ports.idle, 0) == 1) {
            self.period(&mut run)?;
            let now = self.pins.cycle();
            if now.is_multiple_of(BATCH) {
                self.look_for_faults(&mut run);
                let (cycles, flits) = (now - run.start, run.ledger.flits);
                if stop(Progress { cycles, flits, descriptors: run.accepted as u64 }) {
                    return Err(DecodeError::Stopped);
                }
            }
            if plan.watchdog.is_over(now - run.moved, &run.memory) {
                let blocked = self.awaited(&mut run);
                return Err(DecodeError::Stuck { cycles: now - run.moved, at: now, blocked });
            }
            if limit.is_near(now) {
                self.read_counters(&mut run);
            }
            let read = || Moved::of(&run.links, &run.events, Some(&run.memory));
            if let Some(moving) = limit.passed(now, self.design, read) {
                let moving = format!("{moving}\n  awaited: {}", self.awaited(&mut run));
                return Err(DecodeError::Endless { at: now, moving });
            }
        }
        for _ in 0..QUIET + SCAN {
            self.period(&mut run)?;
            self.read_counters(&mut run);
        }
        self.look_for_faults(&mut run);
        Ok(self.close(run))
    }

    fn look_for_faults(&self, run: &mut Run) {
        for error in self.ports.errors.standing(&self.pins, self.design) {
            if !run.faults.contains(&error) {
                run.faults.push(error);
            }
        }
    }

    /// What tiles and memory wait for, in words.
    fn awaited(&self, run: &mut Run) -> String {
        self.look_for_faults(run);
        let list = |tiles: Vec<usize>| match tiles.len() {
            0 => "none".to_owned(),
            _ => tiles.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        let all = 0..self.tiles.len();
        let held = all.clone().filter(|&t| self.get(self.ports.vc_busy, t) != 0).collect();
        let unsent = all.filter(|&t| run.computes[t].unsent() > 0).collect();
        let mut blocked = format!(
            "{}; {} of {} descriptors are accepted; {} reads wait in memory; PART waits to be sent at tiles {}; \
             flits are held by the routers of tiles {}",
            run.ledger.waiting(),
            run.accepted,
            run.descriptors(),
            run.memory.waiting(),
            list(unsent),
            list(held)
        );
        let shown = run.occupancies;
        let due = run.steps.len() * run.shown_by_step;
        if shown < due {
            blocked += &format!("; {shown} of {due} occupancies were shown");
        }
        for fault in &run.faults {
            blocked += &format!("; {fault}");
        }
        if let Some(tokens) = run.tokens.as_ref().filter(|tokens| !tokens.are_written()) {
            blocked += &format!("; {}", tokens.waiting());
        }
        let of_tokens = run.tokens.as_ref().and_then(|tokens| tokens.violations.first.first());
        let violations = [&run.ledger.violations.first, run.memory.violations().1].map(|list| list.first());
        for violation in violations.into_iter().flatten().chain(of_tokens) {
            blocked += &format!("; before that: {}", violation.message);
        }
        blocked
    }

    /// Collects the results.
    fn close(&mut self, mut run: Run) -> Decoded {
        for tile in 0..self.tiles.len() {
            run.ledger.left_inside(tile, self.pins.get(self.ports.vc_busy, tile));
        }
        let end = run.steps.iter().map(|s| s.end).max().unwrap_or(0);
        let start = run.steps.first().and_then(|s| s.start).unwrap_or(end);
        let (of_memory, list_of_memory) = run.memory.violations();
        let list_of_memory = list_of_memory.to_vec();
        let (tokens_written, of_tokens, list_of_tokens) = run.tokens.map_or((0, 0, Vec::new()), |tokens| {
            (tokens.written, tokens.violations.count, tokens.violations.first)
        });
        let overtaking = run.ledger.overtaking;
        let (head_flits, jobs, packets) = (run.ledger.head_flits, run.ledger.jobs, run.ledger.packets());
        let (violations, mut violation_list) = run.ledger.close();
        violation_list.extend(list_of_memory);
        violation_list.extend(list_of_tokens);
        Decoded {
            periods: self.pins.cycle(),
            cycles: end + 1 - start,
            kv_cycles: covered(run.steps.iter().flat_map(|s| s.kv.values().copied()).collect()),
            ports: (0..run.memory.ports()).map(|port| run.memory.counts(port)).collect(),
            taken: run.computes.iter().map(|c| c.taken).collect(),
            pad: run.computes.iter().map(|c| c.counts().totals().to_vec()).collect(),
            steps: run.steps,
            links: run.links,
            events: run.events,
            packets_by_column: run.packets,
            head_flits,
            overtaking,
            jobs,
            packets,
            tokens_written,
            faults: run.faults,
            struck: run.memory.struck(),
            flipped: self.pins.flipped().map(|at| at.saturating_sub(run.start)),
            reached: self.pins.reached(),
            violations: violations + of_memory + of_tokens,
            violation_list,
        }
    }
}
