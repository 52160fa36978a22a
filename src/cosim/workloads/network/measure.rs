//! One measurement: warm-up, measurement, drain, and the check that nothing is left.
//!
//! The phases are those of Dally and Towles. Packets generated in the measurement window are the
//! sample. Injection goes on during the drain, so that the sample meets the load until its last
//! packet has come. Then injection stops, the network empties, and the scoreboard closes.
//!
//! Packets wait in source queues on this side. They are handed to the network just in time, whole
//! batches ahead. An overloaded run can therefore end without pushing its backlog through the
//! network. The network behaves as if it held the whole queue.

use super::packet_times::PacketTimes;
use super::phases::Phases;
use super::sender::Sender;
use super::statistics::{Histogram, Sample};
use super::windows::{differences, Windows};
use crate::cosim::checks::scoreboard::FlitScoreboard;
use crate::cosim::checks::violation::Violation;
use crate::cosim::dut::network::{Network, StepStatus, COUNTERS, COUNTERS_PER_PORT};
use crate::cosim::traffic::generator::Generator;
use crate::cosim::traffic::packet::Packet;
use crate::design::{Class, Design, Mesh, NodeId, Port};
use std::collections::VecDeque;
use thiserror::Error;

/// Cycles simulated by one call of the network.
const BATCH: u64 = 128;

/// Cycles of the shortest window of the counters over time, in whole batches. Counters are read out one after the
/// other, so that each is up to 25 cycles old; a window is long against that.
const WINDOW: u64 = 4 * BATCH;

/// Cycles without a delivery after which an idle network is taken to have lost the missing flits.
const GIVE_UP: u64 = 4096;

/// Cycles for the last credits to return, and for the counters to be read out.
const AFTERMATH: u64 = 96;

/// Blocked virtual channels that a stall names.
const NAMED: usize = 12;

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The network fills.
    Warmup,
    /// The sample is generated.
    Measure,
    /// The rest of the sample arrives.
    Drain,
    /// The network empties.
    Settle,
}

/// Results of a run. Latencies are cycles from generation to the last flit's ejection, one value
/// for each packet and destination of the sample. Those that did not arrive count with their age,
/// so that every figure of an unfinished run is a lower bound.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Flits to be injected for packets generated in the window, for each node and cycle.
    pub offered: f64,
    /// Deliveries due to the same packets: more than `offered` with multicast.
    pub offered_deliveries: f64,
    /// Flits delivered in the window, for each node and cycle.
    pub accepted: f64,
    /// Latencies of the sample.
    pub latency: Histogram,
    /// The part of a latency before the packet's first flit left the source queue; arrived packets
    /// only.
    pub source_latency: Histogram,
    /// The part after it; arrived packets only.
    pub network_latency: Histogram,
    /// Latencies to the last destination of each packet of the sample that reached all of them.
    pub last_delivery: Histogram,
    /// Mean router-to-router hops from source to destination in the sample.
    pub hops_mean: f64,
    /// Longest time of any flit, of the sample or not, from the head of its source queue to a destination.
    pub max_wait: u64,
    /// Most cycles that a flit of this traffic may wait; a longer wait is a violation.
    pub wait_bound: u64,
    /// True if all of the sample arrived within the limits.
    pub finished: bool,
    /// Flits delivered at each tile in the window.
    pub delivered: Vec<u64>,
    /// Deliveries in the window of flits that the slowest tile sent, over the mean of all tiles that send; 1 if all send
    /// alike, `None` if nothing came.
    pub slowest_source: Option<f64>,
    /// Counters of each tile over the window.
    pub counters: Vec<[u32; COUNTERS]>,
    /// Link traversals in the window.
    pub link_flits: u64,
    /// Link traversals of the whole run, counted by the network.
    pub run_link_flits: u64,
    /// Links in the trees of all sent packets.
    pub run_tree_links: u64,
    /// Counters of each tile over time: over the window, of a trace until the last packet has come.
    pub windows: Windows,
    /// Cycles of the window; of a trace, until the last packet has come.
    pub window: u64,
    /// Cycles simulated.
    pub cycles: u64,
    /// Number of violations.
    pub violation_count: u64,
    /// The first violations.
    pub violations: Vec<Violation>,
}

/// A run that did not end.
#[derive(Debug, Error)]
pub enum RunError {
    /// The watchdog found that nothing moves.
    #[error("cycle {cycle}: flits are inside and none moves any more; blocked: {blocked}")]
    Stalled {
        /// Cycle in which the watchdog gave up.
        cycle: u64,
        /// Routers, input ports and channels that hold flits.
        blocked: String,
    },
    /// The caller gave up waiting.
    #[error("the run was stopped in cycle {cycle}")]
    Stopped {
        /// Cycles simulated so far.
        cycle: u64,
    },
    /// The simulation failed.
    #[error(transparent)]
    Network(#[from] anyhow::Error),
}

/// Sends traffic through a network that has just been reset, and measures it. `stop` is called
/// after every batch with the cycle.
///
/// # Errors
/// If nothing moves any more, `stop` returns true, or the simulation itself fails. Lost or changed flits are no error
/// here: the result counts them.
pub fn run(
    network: &mut dyn Network,
    design: &Design,
    generator: Generator,
    phases: &Phases,
    stop: Stop<'_>,
) -> Result<Measured, RunError> {
    run_listing(network, design, generator, phases, (stop, &mut |_| {}))
}

/// Takes the cycle after a batch; true ends the run.
pub type Stop<'a> = &'a mut dyn FnMut(u64) -> bool;

/// Takes a packet of the sample at one of its destinations.
pub type List<'a> = &'a mut dyn FnMut(PacketTimes);

/// The same; `list` is called with each packet of the sample that arrives, once for each destination.
///
/// # Errors
/// As [`run`].
pub fn run_listing(
    network: &mut dyn Network,
    design: &Design,
    generator: Generator,
    phases: &Phases,
    (stop, list): (Stop<'_>, List<'_>),
) -> Result<Measured, RunError> {
    let at_start = network.counters();
    let words = network.payload_words(design.flit.data_width.div_ceil(32) as usize);
    let mut run = Run {
        mesh: design.mesh,
        board: FlitScoreboard::new(design).carrying(words).stalled(&network.stalls()),
        sender: Sender::new(design, words),
        backlog: design.mesh.nodes().map(|_| Default::default()).collect(),
        sample: Sample::new(design, phases),
        generator,
        generating: true,
        windows: Windows::default(),
        network,
        stop,
        list,
    };
    if run.generator.is_trace() {
        run.sample.window = 0..u64::MAX;
    }
    run.advance(phases.warmup, Phase::Warmup)?;
    let before = run.network.counters();
    run.windows = Windows::new(run.now(), WINDOW, before.clone());
    run.advance(phases.measure, Phase::Measure)?;
    let mut counters = differences(&run.network.counters(), &before);
    if !run.generator.is_trace() {
        run.end_window();
    }
    let finished = run.drain(phases)?;
    let drained = run.now();
    if run.generator.is_trace() {
        run.end_window();
    }
    run.settle()?;
    let of_run = differences(&run.network.counters(), &at_start);
    let run_link_flits = link_flits(&of_run);
    if run.generator.is_trace() {
        // A trace has no steady state: its window is all of it.
        run.sample.window.end = drained;
        counters = of_run;
    }
    run.board.finish(&*run.network, run_link_flits);

    let (cycles, Run { sample, board, windows, .. }) = (run.now(), run);
    Ok(Measured {
        offered: sample.per_node_cycle(sample.injected),
        offered_deliveries: sample.per_node_cycle(sample.asked),
        accepted: sample.per_node_cycle(sample.delivered.iter().sum()),
        hops_mean: sample.hops_mean(),
        slowest_source: sample.slowest_source(),
        latency: sample.latency,
        source_latency: sample.source_latency,
        network_latency: sample.network_latency,
        last_delivery: sample.last_delivery,
        max_wait: sample.max_wait,
        wait_bound: board.wait_bound(),
        finished,
        window: sample.window.end - sample.window.start,
        delivered: sample.delivered,
        windows,
        link_flits: link_flits(&counters),
        counters,
        run_link_flits,
        run_tree_links: board.expected_links(),
        cycles,
        violation_count: board.violation_count(),
        violations: board.violations().to_vec(),
    })
}

struct Run<'a> {
    network: &'a mut dyn Network,
    stop: Stop<'a>,
    list: List<'a>,
    mesh: Mesh,
    generator: Generator,
    generating: bool,
    sender: Sender,
    board: FlitScoreboard,
    /// Source queues by tile and class.
    backlog: Vec<[VecDeque<Packet>; 3]>,
    sample: Sample,
    windows: Windows,
}

impl Run<'_> {
    fn now(&self) -> u64 {
        self.network.cycle()
    }

    /// Simulates `cycles`, generating for each of them first.
    fn advance(&mut self, cycles: u64, phase: Phase) -> Result<(), RunError> {
        let end = self.now().saturating_add(cycles);
        while self.now() < end {
            let now = self.now();
            let batch = BATCH.min(end - now);
            if self.generating {
                let (backlog, sample) = (&mut self.backlog, &mut self.sample);
                self.generator.generate(now..now + batch, phase == Phase::Measure, &mut |packet| {
                    sample.generated(&packet);
                    backlog[packet.source.index()][packet.class as usize].push_back(packet);
                });
            }
            self.hand_over(batch as usize)?;
            let status = self.network.step(batch)?;
            self.receive();
            let now = self.now();
            if (self.stop)(now) {
                return Err(RunError::Stopped { cycle: now });
            }
            let counts = phase == Phase::Measure || phase == Phase::Drain && self.generator.is_trace();
            if counts && self.windows.is_due(now) {
                self.end_window();
            }
            if status == StepStatus::Stuck {
                // With empty buffers the watchdog has seen a lost flit or credit. That is no
                // deadlock, and the scoreboard reports it.
                let busy = self.network.busy_vcs();
                if !busy.is_empty() {
                    return Err(self.stalled(&busy));
                }
            }
        }
        Ok(())
    }

    /// Ends a window of the counters over time.
    fn end_window(&mut self) {
        self.windows.add(self.network.cycle(), self.network.counters());
    }

    /// Fills the network's source queues with as much as can leave them in one batch.
    fn hand_over(&mut self, batch: usize) -> anyhow::Result<()> {
        for (tile, queues) in self.mesh.nodes().zip(&mut self.backlog) {
            for (class, queue) in Class::ALL.into_iter().zip(queues) {
                while self.board.queued(tile, class) < batch {
                    let Some(packet) = queue.pop_front() else { break };
                    self.sender.send(&packet, &mut self.board, self.network)?;
                }
            }
        }
        Ok(())
    }

    fn receive(&mut self) {
        let (board, sample, list) = (&mut self.board, &mut self.sample, &mut self.list);
        self.network.take_entries(&mut |entry| board.enter(&entry));
        self.network.take_ejections(&mut |e| {
            sample.ejected(&e);
            if let Some(arrival) = board.receive(&e) {
                if sample.arrived(&arrival, e.cycle) {
                    list(PacketTimes::of(&arrival, e.tile, e.cycle));
                }
            }
        });
    }

    fn stalled(&self, busy: &[(NodeId, Port, u32)]) -> RunError {
        let name = |(node, port, vc): &(NodeId, Port, u32)| {
            let (x, y) = self.mesh.coords(*node);
            format!("router ({x}, {y}) {} VC {vc}", port.name())
        };
        let mut blocked: Vec<_> = busy.iter().take(NAMED).map(name).collect();
        if busy.len() > NAMED {
            blocked.push(format!("and {} more", busy.len() - NAMED));
        }
        RunError::Stalled { cycle: self.now(), blocked: blocked.join(", ") }
    }

    /// Continues until the sample has come; false if it does not within the limits.
    fn drain(&mut self, phases: &Phases) -> Result<bool, RunError> {
        let end = self.now().saturating_add(phases.drain_limit);
        let limit = phases.latency_limit.unwrap_or(f64::INFINITY);
        let mut quiet_since = (self.sample.missing, self.now());
        while self.sample.missing > 0 {
            let now = self.now();
            let lost = now - quiet_since.1 > GIVE_UP;
            if now >= end || lost || self.sample.mean_at_least(now) > limit {
                return Ok(false);
            }
            self.advance(BATCH.min(end - now), Phase::Drain)?;
            if self.sample.missing != quiet_since.0 {
                quiet_since = (self.sample.missing, self.now());
            }
        }
        Ok(self.sample.mean_at_least(self.now()) <= limit)
    }

    /// Stops injection, drops packets that are not in the network's source queues, and lets the
    /// network empty.
    fn settle(&mut self) -> Result<(), RunError> {
        self.generating = false;
        let now = self.now();
        let queued = self.backlog.iter_mut().flatten().flat_map(|queue| queue.drain(..));
        let queued = queued
            .filter(|packet| packet.measured)
            .flat_map(|packet| std::iter::repeat_n(packet.cycle, packet.dests.len() as usize));
        let missing: Vec<u64> = queued.chain(self.board.late_sample()).collect();
        self.sample.abandon(missing.into_iter(), now);
        let mut quiet_since = (self.board.outstanding(), now);
        while self.board.outstanding() > 0 && self.now() - quiet_since.1 <= GIVE_UP {
            self.advance(BATCH, Phase::Settle)?;
            if self.board.outstanding() != quiet_since.0 {
                quiet_since = (self.board.outstanding(), self.now());
            }
        }
        if let Some(oldest) = self.board.oldest() {
            self.sample.max_wait = self.sample.max_wait.max(self.now().saturating_sub(oldest));
        }
        self.advance(AFTERMATH, Phase::Settle)
    }
}

/// Flits of all classes that left through the four ports that face a neighbour.
fn link_flits(counters: &[[u32; COUNTERS]]) -> u64 {
    let port = |tile: &[u32; COUNTERS], port: Port| -> u64 {
        let first = port.index() * COUNTERS_PER_PORT;
        tile[first..first + Class::ALL.len()].iter().map(|&n| u64::from(n)).sum()
    };
    let links = Port::ALL.into_iter().filter(|&p| p != Port::Local);
    links.map(|p| counters.iter().map(|tile| port(tile, p)).sum::<u64>()).sum()
}
