//! The row of one run of traffic, for print and files.

use crate::cosim::checks::violation::Violation;
use crate::cosim::dut::network::{COUNTERS, COUNTERS_PER_PORT};
use crate::cosim::workloads::network::measure::Measured;
use crate::cosim::workloads::network::{Bin, Windows};
use crate::design::{Mesh, Port};
use schemars::JsonSchema;
use serde::Serialize;

/// One run. Loads are flits for each node and cycle. Latencies are cycles from the source queue to
/// the ejection of a packet's last flit, over the packets generated in the measurement window.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Row {
    /// Traffic in the words of the command line.
    pub traffic: String,
    /// Requested load of every sending tile, in injected flits a cycle; of a matrix, of the tile that sends most. Null for
    /// a trace.
    pub load: Option<f64>,
    /// Multiple of its own rate at which a trace is replayed; only with `--trace-rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_rate: Option<f64>,
    /// Flits of a packet; null for a trace.
    pub packet: Option<u32>,
    /// Flits that the sample's packets inject, for each node and cycle, over all nodes: below `load` if some tiles do
    /// not send.
    pub offered: f64,
    /// Deliveries due to them, in flits for each node and cycle: `offered` times the fan-out.
    pub offered_deliveries: f64,
    /// Flits delivered in the window, for each node and cycle.
    pub accepted: f64,
    /// Mean latency in cycles; a lower bound if not `finished`, like the other latencies.
    pub latency_mean: f64,
    /// Median latency in cycles.
    pub latency_p50: u64,
    /// 95th percentile of the latency in cycles.
    pub latency_p95: u64,
    /// 99th percentile of the latency in cycles.
    pub latency_p99: u64,
    /// 99.9th percentile of the latency in cycles.
    pub latency_p999: u64,
    /// Longest latency in cycles.
    pub latency_max: u64,
    /// Mean of the part before the packet's first flit left the source queue, of arrived packets, in cycles.
    pub source_latency_mean: Option<f64>,
    /// Mean of the part after it, of arrived packets, in cycles.
    pub network_latency_mean: Option<f64>,
    /// Mean latency of the same traffic at hardly any load, in cycles; null for a trace.
    pub zero_load_latency: Option<f64>,
    /// Mean latency to the last destination of a packet, of those that reached all, in cycles.
    pub last_delivery_mean: Option<f64>,
    /// Mean router-to-router hops from source to destination.
    pub hops_mean: f64,
    /// True if the sample did not arrive within the limits, or took three times the zero-load
    /// latency.
    pub saturated: bool,
    /// True if all of the sample arrived.
    pub finished: bool,
    /// Longest time of any flit from the head of its source queue to a destination, in cycles.
    pub max_wait: u64,
    /// Most cycles that it may take: the network's bound for this traffic.
    pub wait_bound: u64,
    /// Flits of the slowest source that came in the window, over the mean of all tiles that send.
    pub slowest_source: Option<f64>,
    /// Router-to-router traversals of flits in the window, counted in the RTL.
    pub link_flits: u64,
    /// The same over the whole run.
    pub run_link_flits: u64,
    /// Links in the XYM trees of all packets of the run: `run_link_flits` must equal it.
    pub run_tree_links: u64,
    /// Flits delivered at each tile in the window, by tile index.
    pub delivered: Vec<u64>,
    /// Each directed link over the window; omitted in the points of a sweep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkRow>,
    /// Number of latencies by cycles, without gaps; omitted in the points of a sweep.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub latency_bins: Vec<Bin>,
    /// Each directed link over time, for the picture.
    #[serde(skip)]
    pub link_times: LinkTimes,
    /// Cycles of the measurement window; of a trace, until its last packet has come.
    pub window: u64,
    /// Cycles simulated.
    pub cycles: u64,
    /// Cycles simulated per second of wall time, scoreboard included. It differs from run to run, and is not printed
    /// with the row.
    #[serde(skip)]
    pub cycles_per_second: f64,
    /// Number of violations.
    pub violations: u64,
    /// The first violations.
    pub violation_list: Vec<Violation>,
    /// Seed of the traffic; null for a trace.
    pub seed: Option<u64>,
    /// Engine of the run: `rtl`, `model`, or both in `lockstep`.
    pub engine: String,
    /// The verilated part: the whole `mesh`, or one `tile` that is run for each; null for the model.
    pub dut: Option<String>,
    /// Routers times cycles in which model and Verilog were compared, in this run and those before
    /// it; in lockstep alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router_cycles_compared: Option<u64>,
    /// The command that makes this row again.
    pub command: String,
}

/// One directed link between two routers over the measurement window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkRow {
    /// (x, y) of the sending router.
    pub from: (u32, u32),
    /// (x, y) of the receiving router.
    pub to: (u32, u32),
    /// Flits of PART.
    pub part: u32,
    /// Flits of KV_FETCH.
    pub kv_fetch: u32,
    /// Flits of KV_DATA.
    pub kv_data: u32,
    /// Cycles in which a flit was ready but had no credit.
    pub blocked: u32,
    /// Cycles in which nothing was sent.
    pub idle: u32,
}

/// Flits of each directed link over time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkTimes {
    /// First cycle, and the one after the last.
    pub begin: u64,
    /// The cycle after the last.
    pub end: u64,
    /// Cycles of a window; the last may be shorter.
    pub cycles: u64,
    /// (x, y) of the sending and of the receiving router of each link.
    pub links: Vec<((u32, u32), (u32, u32))>,
    /// Flits of each link, window by window.
    pub flits: Vec<Vec<u32>>,
}

impl LinkTimes {
    pub(in crate::eval) fn of(mesh: Mesh, windows: &Windows) -> LinkTimes {
        let each: Vec<Vec<LinkRow>> = windows.counts.iter().map(|counts| links(mesh, counts)).collect();
        let all = each.first().map_or(0, Vec::len);
        LinkTimes {
            begin: windows.from,
            end: windows.to,
            cycles: windows.cycles,
            links: each
                .first()
                .iter()
                .flat_map(|links| links.iter().map(|link| (link.from, link.to)))
                .collect(),
            flits: (0..all).map(|link| each.iter().map(|links| links[link].flits()).collect()).collect(),
        }
    }

    /// Number of windows.
    pub fn windows(&self) -> usize {
        self.flits.first().map_or(0, Vec::len)
    }

    /// Flits a cycle of a link in a window, at most 1: counters are read up to 25 cycles late.
    pub fn load(&self, link: usize, window: usize) -> f64 {
        let from = self.begin + self.cycles * window as u64;
        let cycles = (from + self.cycles).min(self.end).saturating_sub(from);
        (f64::from(self.flits[link][window]) / cycles.max(1) as f64).min(1.0)
    }

    /// The highest load of any link in any window; 1 if nothing moved.
    pub fn busiest(&self) -> f64 {
        let loads =
            (0..self.links.len()).flat_map(|link| (0..self.windows()).map(move |at| self.load(link, at)));
        match loads.fold(0.0, f64::max) {
            0.0 => 1.0,
            most => most,
        }
    }
}

impl LinkRow {
    /// Flits of all classes.
    pub fn flits(&self) -> u32 {
        self.part + self.kv_fetch + self.kv_data
    }
}

/// Mean latency at which a load counts as saturated, in multiples of the zero-load latency.
pub(in crate::eval) const SATURATED: f64 = 3.0;

/// Mean latency in cycles at which a load counts as saturated if no other is given.
pub(in crate::eval) fn saturated_at(zero_load_latency: f64) -> f64 {
    SATURATED * zero_load_latency
}

impl Row {
    /// The row of a run over `mesh`, saturated at a mean latency of `limit` cycles. The caller fills in names, speed and
    /// command.
    pub(in crate::eval) fn new(
        mesh: Mesh,
        zero_load_latency: Option<f64>,
        limit: Option<f64>,
        run: &Measured,
    ) -> Row {
        let latency_mean = run.latency.mean();
        let over = limit.is_some_and(|limit| latency_mean >= limit);
        Row {
            traffic: String::new(),
            load: None,
            trace_rate: None,
            packet: None,
            offered: run.offered,
            offered_deliveries: run.offered_deliveries,
            accepted: run.accepted,
            latency_mean,
            latency_p50: run.latency.percentile(0.5),
            latency_p95: run.latency.percentile(0.95),
            latency_p99: run.latency.percentile(0.99),
            latency_p999: run.latency.percentile(0.999),
            latency_max: run.latency.max(),
            source_latency_mean: run.source_latency.known_mean(),
            network_latency_mean: run.network_latency.known_mean(),
            zero_load_latency,
            last_delivery_mean: run.last_delivery.known_mean(),
            hops_mean: run.hops_mean,
            saturated: over || !run.finished,
            finished: run.finished,
            max_wait: run.max_wait,
            wait_bound: run.wait_bound,
            slowest_source: run.slowest_source,
            link_flits: run.link_flits,
            run_link_flits: run.run_link_flits,
            run_tree_links: run.run_tree_links,
            delivered: run.delivered.clone(),
            links: links(mesh, &run.counters),
            latency_bins: run.latency.bins(),
            link_times: LinkTimes::of(mesh, &run.windows),
            window: run.window,
            cycles: run.cycles,
            cycles_per_second: 0.0,
            violations: run.violation_count,
            violation_list: run.violations.clone(),
            seed: None,
            engine: String::new(),
            dut: None,
            router_cycles_compared: None,
            command: String::new(),
        }
    }
}

pub(in crate::eval) fn links(mesh: Mesh, counters: &[[u32; COUNTERS]]) -> Vec<LinkRow> {
    let mut links = Vec::new();
    for node in mesh.nodes() {
        for port in Port::ALL {
            let Some(next) = mesh.neighbour(node, port) else { continue };
            let first = port.index() * COUNTERS_PER_PORT;
            let count = &counters[node.index()][first..first + COUNTERS_PER_PORT];
            links.push(LinkRow {
                from: mesh.coords(node),
                to: mesh.coords(next),
                part: count[0],
                kv_fetch: count[1],
                kv_data: count[2],
                blocked: count[3],
                idle: count[4],
            });
        }
    }
    links
}
