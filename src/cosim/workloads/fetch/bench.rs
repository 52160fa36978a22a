//! Fetches on the whole fabric: drives the tiles' commands cycle by cycle and checks the answers.
//!
//! A plan has the slices with their homes, and the commands of each tile with their cycles. The
//! bench fills the homes, presents the commands, takes the flits, and passes every event to the
//! scoreboard. It knows the ports of the fabric by name and nothing of how a home answers.

use super::plan::{Command, Plan, Resident};
use super::ports::Ports;
use super::scoreboard::FetchScoreboard;
use crate::cosim::build::node_ports;
use crate::cosim::checks::violation::Violation;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::model_ports::NodePorts;
use crate::cosim::dut::network::COUNTERS;
use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::DutError;
use crate::cosim::hash::mix;
use crate::cosim::workloads::shared::limit::{Limit, Moved};
use crate::cosim::workloads::Bound;
pub use crate::cosim::workloads::SliceId;
use crate::design::{index_bits, Design, Flaw};
use crate::emit::{ModuleSpec, TILE_EVENTS};
use crate::model::cycle::common::Reached;
use std::collections::VecDeque;

/// Reason why a run could not end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The fabric stopped.
    #[error(transparent)]
    Dut(#[from] DutError),
    /// Nothing moved although flits are due.
    #[error("nothing has moved for {cycles} cycles at cycle {at}: {blocked}")]
    Stuck {
        /// Cycles without movement.
        cycles: u64,
        /// Cycle of the finding.
        at: u64,
        /// Tiles, and what each waits for.
        blocked: String,
    },
    /// It moves, and does not end.
    #[error("the run has not ended by cycle {at}, its bound: {moving}\n  help: this is a livelock, or a bound that does not know this workload")]
    Endless {
        /// Cycle of the bound.
        at: u64,
        /// The bound, what still moves, and what is awaited.
        moving: String,
    },
    /// The caller gave up waiting.
    #[error("the run was stopped")]
    Stopped,
    /// More slices at a home than its memory holds.
    #[error("tile {tile} is home to more slices than its staging memory holds ({slots})")]
    Overfull {
        /// Index of the tile.
        tile: usize,
        /// Slices that the memory holds.
        slots: u32,
    },
}

/// Counts of the whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fetched {
    /// Periods since reset, including those before the first command and those that only read counters.
    pub periods: u64,
    /// Cycles from the first command to the last flit.
    pub cycles: u64,
    /// Cycle in which the first flit of the run was taken.
    pub first_flit: u64,
    /// Cycle of the last flit that each tile took; 0 if none.
    pub last_flit: Vec<u64>,
    /// Cycle in which each tile's first command was accepted.
    pub first_command: Vec<u64>,
    /// Flits taken by tiles.
    pub delivered: u64,
    /// Head-flits: each flit counted for each head that wanted it.
    pub head_flits: u64,
    /// Commands accepted.
    pub commands: u64,
    /// Each tile's counters, in the order of [`TILE_EVENTS`].
    pub events: Vec<[u32; TILE_EVENTS.len()]>,
    /// Link traversals of KV_DATA and KV_FETCH, all links.
    pub data_links: u64,
    /// See `data_links`.
    pub fetch_links: u64,
    /// Rare states that the fabric has reached; `None` if no model ran.
    pub reached: Option<Reached>,
    /// Number of violations.
    pub violations: u64,
    /// The first violations with their messages.
    pub violation_list: Vec<Violation>,
}

impl Fetched {
    /// The sum of one counter over all tiles.
    ///
    /// # Panics
    /// If no counter has this name.
    pub fn event(&self, name: &str) -> u64 {
        let at = TILE_EVENTS.iter().position(|&e| e == name).unwrap_or_else(|| panic!("no counter {name}"));
        self.events.iter().map(|tile| u64::from(tile[at])).sum()
    }
}

/// Cycles in which the scan reads all counters.
const SCAN: u64 = 2 * COUNTERS as u64;
/// Cycles between two calls of `stop`.
const BATCH: u64 = 256;
/// Cycles in which flits without a receiver leave the fabric.
const QUIET: u64 = 64;

/// The payload of a flit, in its home and at every tile.
fn payload(seed: u64, tag: u64, index: u32, words: usize) -> Vec<u32> {
    (0..words as u64).map(|w| mix(mix(seed ^ tag << 20 ^ u64::from(index)) ^ w) as u32).collect()
}

/// A fabric with its homes filled, ready to run a plan.
pub struct Bench<'a> {
    design: &'a Design,
    pins: Pins,
    ports: Ports,
    /// `None` without `noc.parity`.
    parity: Option<Pin>,
    tiles: usize,
    words: usize,
}

impl<'a> Bench<'a> {
    /// Runs on the model instead.
    pub fn on_model(design: &'a Design) -> Bench<'a> {
        Bench::on(Bench::model(design), design).expect("the model has all ports of a design")
    }

    /// Ports that the bench drives.
    pub fn ports(design: &Design) -> ModuleSpec {
        node_ports(design)
    }

    /// The model behind these ports.
    pub fn model(design: &Design) -> Box<dyn DutPorts> {
        Box::new(NodePorts::new(design, &Bench::ports(design)))
    }

    /// Takes a fabric with these ports out of reset.
    ///
    /// # Errors
    /// If it lacks one, or does not start.
    pub fn on(dut: Box<dyn DutPorts>, design: &'a Design) -> Result<Bench<'a>, DutError> {
        let top = &Bench::ports(design);
        let mut pins = Pins::open(dut, top, &Clocks::IN_STEP)?;
        let tiles = design.mesh.tiles();
        // Without overlapping stages the fabric waits for an idle PaD: here PaD is always idle.
        if top.ports.iter().any(|p| p.name == "compute_idle") {
            let idle = pins.pin(top, "compute_idle", tiles as u32)?;
            (0..tiles).for_each(|tile| pins.set(idle, tile, 1));
        }
        let ports = Ports::find(&mut pins, top, tiles as u32)?;
        let has_parity = top.ports.iter().any(|port| port.name == "error_parity");
        let parity = has_parity.then(|| pins.pin(top, "error_parity", tiles as u32)).transpose()?;
        let words = design.flit.data_width.div_ceil(32) as usize;
        Ok(Bench { design, pins, ports, parity, tiles, words })
    }

    /// Runs a plan to its end. `stop` is called from time to time with the cycle and the commands
    /// accepted.
    ///
    /// # Errors
    /// If the fabric stops or is stuck, or `stop` returns true. Other violations are in the result.
    pub fn run(mut self, plan: &Plan, stop: &mut dyn FnMut(u64, u64) -> bool) -> Result<Fetched, FetchError> {
        let late = self.fill(plan)?;
        let start = self.pins.cycle();
        let mut run = Run::new(plan, self.tiles, start, late);
        let mut limit = Limit::new(self.bound(plan), start);
        while !run.over() {
            self.period(plan, &mut run)?;
            let now = self.pins.cycle();
            if now.is_multiple_of(BATCH) && stop(now - run.start, run.ledger.commands) {
                return Err(FetchError::Stopped);
            }
            if run.rests(now) {
                run.moved = now;
            }
            if now - run.moved > plan.watchdog {
                return Err(self.stuck(plan, &run, now));
            }
            if let Some(moving) = limit.passed(now, self.design, || Moved::of(&run.links, &run.events, None))
            {
                let moving = format!("{moving}\n  awaited: {}", self.awaited(&run));
                return Err(FetchError::Endless { at: now, moving });
            }
        }
        for _ in 0..QUIET {
            self.period(plan, &mut run)?;
        }
        self.close(run)
    }

    /// Writes every slice into its home and publishes those that are known from the beginning.
    /// Returns the others by cycle: slot and slice.
    fn fill(&mut self, plan: &Plan) -> Result<Vec<(usize, u32, Resident)>, FetchError> {
        let mut homes: Vec<Vec<&Resident>> = vec![Vec::new(); self.tiles];
        for resident in &plan.residents {
            homes[resident.home.index()].push(resident);
        }
        let shape = self.design.mare;
        if let Some(tile) = homes.iter().position(|h| h.len() > shape.staging_slots as usize) {
            return Err(FetchError::Overfull { tile, slots: shape.staging_slots });
        }
        let most = homes.iter().map(Vec::len).max().unwrap_or(0) as u32;
        let mut late = Vec::new();
        for slot in 0..most {
            for index in 0..shape.slice_flits {
                for (tile, home) in homes.iter().enumerate() {
                    let here = home.get(slot as usize);
                    self.pins.set(self.ports.fill_valid, tile, u64::from(here.is_some()));
                    let Some(resident) = here else { continue };
                    let tag = resident.slice.tag(self.design);
                    self.pins.set(self.ports.fill_addr, tile, u64::from(slot * shape.slice_flits + index));
                    self.pins.set_part(
                        self.ports.fill_data,
                        tile,
                        &payload(plan.seed, tag, index, self.words),
                    );
                }
                self.pins.tick()?;
            }
            for (tile, home) in homes.iter().enumerate() {
                self.pins.set(self.ports.fill_valid, tile, 0);
                let Some(&&resident) = home.get(slot as usize) else { continue };
                if resident.cycle > 0 {
                    late.push((tile, slot, resident));
                } else {
                    self.publish(tile, slot, resident.slice);
                }
            }
            self.pins.tick()?;
            for tile in 0..self.tiles {
                self.conceal(tile);
            }
        }
        // The next one to publish is at the end.
        late.sort_by_key(|(_, _, resident)| std::cmp::Reverse(resident.cycle));
        Ok(late)
    }

    fn publish(&mut self, tile: usize, slot: u32, slice: SliceId) {
        self.pins.set(self.ports.publish_valid, tile, 1);
        self.pins.set(self.ports.publish_slot, tile, u64::from(slot));
        // It has no expected receivers, so it stays.
        self.pins.set(self.ports.claim_valid, tile, 1);
        self.pins.set(self.ports.claim_slot, tile, u64::from(slot));
        self.pins.set(self.ports.claim_tag, tile, slice.tag(self.design));
    }

    fn conceal(&mut self, tile: usize) {
        self.pins.set(self.ports.publish_valid, tile, 0);
        self.pins.set(self.ports.claim_valid, tile, 0);
    }

    /// Drives one period, runs it, and reads the outputs.
    fn period(&mut self, plan: &Plan, run: &mut Run) -> Result<(), FetchError> {
        let cycle = self.pins.cycle() - run.start;
        // A home publishes at most one slice a cycle.
        let mut published: Vec<usize> = Vec::new();
        while let Some(at) =
            run.late.iter().rposition(|(tile, _, r)| r.cycle <= cycle && !published.contains(tile))
        {
            let (tile, slot, resident) = run.late.remove(at);
            self.publish(tile, slot, resident.slice);
            published.push(tile);
        }
        for tile in 0..self.tiles {
            self.present(run, tile, cycle);
            let ready = !run.stalls(tile);
            self.pins.set(self.ports.kv_ready, tile, u64::from(ready));
        }
        self.pins.tick()?;
        for tile in published {
            self.conceal(tile);
            run.moved = self.pins.cycle();
        }
        for tile in 0..self.tiles {
            self.observe(plan, run, tile, cycle);
        }
        let event = self.pins.get(self.ports.event_index, 0) as usize;
        let stat = self.pins.get(self.ports.stat_index, 0) as usize;
        for tile in 0..self.tiles {
            if let Some(counter) = run.events[tile].get_mut(event) {
                *counter = self.pins.get(self.ports.event_data, tile) as u32;
            }
            run.links[tile][stat] = self.pins.get(self.ports.stat_data, tile) as u32;
        }
        Ok(())
    }

    /// Puts the tile's next command on its port, if it is due and its heads are free for it.
    fn present(&mut self, run: &mut Run, tile: usize, cycle: u64) {
        let front = run.queues[tile].front().copied();
        let due = front.filter(|c| {
            c.cycle <= cycle && !run.ledger.awaits(tile, c.slice.tag(self.design), c.mask, c.first..=c.last)
        });
        self.pins.set(self.ports.cmd_valid, tile, u64::from(due.is_some()));
        let Some(command) = due else { return };
        let (x, y) = self.design.mesh.coords(command.home);
        let home = u64::from(y << index_bits(self.design.mesh.cols()) | x);
        self.pins.set(self.ports.cmd_tag, tile, command.slice.tag(self.design));
        self.pins.set(self.ports.cmd_home, tile, home);
        self.pins.set(self.ports.cmd_mask, tile, command.mask);
        self.pins.set(self.ports.cmd_first, tile, u64::from(command.first));
        self.pins.set(self.ports.cmd_last, tile, u64::from(command.last));
        run.presented[tile] = true;
    }

    /// Takes the events of the period at one tile.
    fn observe(&mut self, plan: &Plan, run: &mut Run, tile: usize, cycle: u64) {
        let now = self.pins.cycle();
        let (sent, freed) =
            (self.pins.get(self.ports.data_sent, tile), self.pins.get(self.ports.data_credit, tile));
        run.ledger.slots_move(tile, sent, freed);
        if self.pins.get(self.ports.kv_valid, tile) == 1 && run.ready[tile] {
            let tag = self.pins.get(self.ports.kv_tag, tile);
            let index = self.pins.get(self.ports.kv_index, tile) as u32;
            let mask = self.pins.get(self.ports.kv_mask, tile);
            let wanted = payload(plan.seed, tag, index, self.words);
            let came = self.pins.payload(self.ports.kv_data, tile);
            let intact = came.zip(wanted).all(|(word, wanted)| word == wanted);
            run.ledger.delivered(cycle, tile, tag, index, mask, intact);
            run.first_flit.get_or_insert(cycle);
            run.last_flit[tile] = cycle;
            run.moved = now;
        }
        if std::mem::take(&mut run.presented[tile]) && self.pins.get(self.ports.cmd_ready, tile) == 1 {
            let command = run.queues[tile].pop_front().expect("it was presented");
            let tag = command.slice.tag(self.design);
            run.ledger.accepted(tile, tag, command.mask, command.first..=command.last);
            run.first_command[tile].get_or_insert(cycle);
            run.moved = now;
        }
    }

    /// The bound of a plan.
    fn bound(&self, plan: &Plan) -> Bound {
        let commands = || plan.commands.iter().flatten();
        let flits = commands().map(|c| u64::from(c.last - c.first + 1)).sum();
        let due = commands().map(|c| c.cycle).chain(plan.residents.iter().map(|r| r.cycle));
        Bound::of_fetches(self.design, flits, commands().count() as u64, due.max().unwrap_or(0), plan.stall)
    }

    fn stuck(&self, plan: &Plan, run: &Run, at: u64) -> FetchError {
        FetchError::Stuck { cycles: plan.watchdog, at, blocked: self.awaited(run) }
    }

    /// What tiles wait for, in words.
    fn awaited(&self, run: &Run) -> String {
        let waits = run.ledger.waiting();
        let holds = |tile: usize| self.pins.get(self.ports.vc_busy, tile) != 0;
        let held: Vec<_> = (0..self.tiles).filter(|&t| holds(t)).map(|t| t.to_string()).collect();
        let unasked: usize = run.queues.iter().map(VecDeque::len).sum();
        format!(
            "{waits}; {unasked} commands are not accepted; flits are held by the routers of tiles {}",
            if held.is_empty() { "none".to_owned() } else { held.join(", ") }
        )
    }

    /// Reads the counters a last time and collects the results.
    fn close(&mut self, mut run: Run) -> Result<Fetched, FetchError> {
        let idle = Plan::default();
        let cycles = run.last_flit.iter().copied().max().unwrap_or(0);
        let delivered = run.ledger.flits;
        for _ in 0..SCAN {
            self.period(&idle, &mut run)?;
        }
        for tile in 0..self.tiles {
            let busy = self.pins.get(self.ports.vc_busy, tile);
            run.ledger.left_inside(tile, busy);
            if let Some(flaw) = self.parity.and_then(|pin| Flaw::of(self.pins.get(pin, tile) as u32)) {
                run.ledger.flawed(tile, flaw);
            }
        }
        run.ledger.slots_are_free();
        // An output's counters are PART, KV_FETCH, KV_DATA, blocked, idle; the tile's own comes last.
        let links = |class: usize| -> u64 {
            run.links.iter().map(|l| (0..4).map(|o| u64::from(l[o * 5 + class])).sum::<u64>()).sum()
        };
        let (data_links, fetch_links) = (links(2), links(1));
        let (commands, head_flits) = (run.ledger.commands, run.ledger.head_flits);
        let (violations, violation_list) = run.ledger.close();
        Ok(Fetched {
            periods: self.pins.cycle(),
            cycles,
            first_flit: run.first_flit.unwrap_or(0),
            last_flit: run.last_flit,
            first_command: run.first_command.into_iter().map(|c| c.unwrap_or(0)).collect(),
            delivered,
            head_flits,
            commands,
            events: run.events,
            data_links,
            fetch_links,
            reached: self.pins.reached(),
            violations,
            violation_list,
        })
    }
}

/// State of one run.
struct Run {
    start: u64,
    queues: Vec<VecDeque<Command>>,
    /// True for a tile with a command on its port in this period.
    presented: Vec<bool>,
    /// True for a tile that took flits in this period.
    ready: Vec<bool>,
    stall: u8,
    random: Vec<u64>,
    late: Vec<(usize, u32, Resident)>,
    ledger: FetchScoreboard,
    /// Last cycle in which a command or a flit moved.
    moved: u64,
    first_flit: Option<u64>,
    last_flit: Vec<u64>,
    first_command: Vec<Option<u64>>,
    events: Vec<[u32; TILE_EVENTS.len()]>,
    links: Vec<[u32; COUNTERS]>,
}

impl Run {
    fn new(plan: &Plan, tiles: usize, start: u64, late: Vec<(usize, u32, Resident)>) -> Run {
        let queue = |t: usize| plan.commands.get(t).map(|c| c.iter().copied().collect()).unwrap_or_default();
        Run {
            start,
            queues: (0..tiles).map(queue).collect(),
            presented: vec![false; tiles],
            ready: vec![false; tiles],
            stall: plan.stall,
            random: (0..tiles as u64).map(|t| mix(plan.seed ^ t << 32)).collect(),
            late,
            ledger: FetchScoreboard::default(),
            moved: start,
            first_flit: None,
            last_flit: vec![0; tiles],
            first_command: vec![None; tiles],
            events: vec![[0; TILE_EVENTS.len()]; tiles],
            links: vec![[0; COUNTERS]; tiles],
        }
    }

    fn over(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty) && self.ledger.is_settled()
    }

    /// True if nothing is due now and all further commands lie in the future.
    fn rests(&self, now: u64) -> bool {
        let future = |c: &Command| c.cycle > now - self.start;
        self.ledger.is_settled() && self.queues.iter().all(|q| q.front().is_none_or(future))
    }

    /// Draws whether the tile refuses flits in this period.
    fn stalls(&mut self, tile: usize) -> bool {
        self.random[tile] = mix(self.random[tile]);
        self.ready[tile] = (self.random[tile] >> 56) as u8 >= self.stall;
        !self.ready[tile]
    }
}
