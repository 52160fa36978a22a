//! Random stimulus for the ports of the whole fabric: descriptors, a memory that answers with a hash of the address,
//! arrays that accept flits now and then, meaningless partial results.
//!
//! It checks nothing. Its actions follow from its seed and from the outputs of the fabric.

mod memory;
mod network;
mod stimulus;

use memory::Port;
use meshkv::cosim::build::Library;
use meshkv::cosim::checks::lockstep::PortLockstep;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::pins::{Pin, Pins};
use meshkv::cosim::dut::ports::DutPorts;
use meshkv::cosim::hash::mix;
use meshkv::design::Design;
use meshkv::emit::{modules, ModuleSpec, FABRIC, TILE_EVENTS};
use network::Network;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// The rates of events.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Descriptors are offered all the time, or never.
    pub descriptors: bool,
    /// Most segments of a descriptor.
    pub segments: u64,
    /// Descriptors of a decode step.
    pub step: u64,
    /// Cycles of 16 in which a tile accepts a job or a flit.
    pub takes: u64,
    /// Cycles of 256 in which a tile begins a partial result.
    pub parts: u64,
    /// Longest time from a request to its answer.
    pub latency: u64,
    /// Answers of 256 that are errors.
    pub errors: u64,
    /// Cycles of 256 in which a part of a query is offered.
    pub queries: u64,
}

/// All events at once, with occasional waits everywhere.
pub const LIVELY: Pace = Pace {
    descriptors: true,
    segments: 6,
    step: 5,
    takes: 12,
    parts: 12,
    latency: 60,
    errors: 3,
    queries: 20,
};

/// The events that were observed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Seen {
    pub descriptors: u64,
    pub jobs: u64,
    pub flits: u64,
    pub roots: u64,
    pub bursts: u64,
    pub beats: u64,
    pub occupancies: u64,
    pub swaps: u64,
    /// Flits that tiles have sent to the stand-in for the network.
    pub sent: u64,
}

/// One port of the fabric.
#[derive(Clone)]
struct Shown {
    pin: Pin,
    parts: usize,
}

/// The ports of the whole fabric.
pub fn fabric_ports(design: &Design) -> ModuleSpec {
    modules(design).into_iter().find(|m| m.name == FABRIC).expect("every design has a fabric")
}

/// A fabric and its stimulus.
pub struct RandomFabric {
    pins: Pins,
    ports: BTreeMap<String, Shown>,
    design: Design,
    pace: Pace,
    random: u64,
    descriptors: VecDeque<Vec<(&'static str, u64)>>,
    made: u64,
    /// Periods for which queries and new tokens are expected, from the reset on.
    expected: [u64; 2],
    memory: Vec<Port>,
    /// Flits left of each tile's packet.
    parts: Vec<u64>,
    /// The stand-in for the network, if the network is not part of the fabric under test.
    network: Option<Network>,
    /// Totals of each tile at the last read.
    events: Vec<[u64; TILE_EVENTS.len()]>,
    pub seen: Seen,
    /// Time in the fabric itself.
    pub running: Duration,
}

impl RandomFabric {
    /// Drives a compiled fabric with the ports of the whole.
    pub fn new(library: &Library, design: &Design, pace: Pace, seed: u64) -> RandomFabric {
        let pins = Pins::new(library, seed).expect("the fabric comes out of reset");
        RandomFabric::of(pins, &fabric_ports(design), design, pace, seed)
    }

    /// Drives two fabrics alike and compares them in every period.
    pub fn both(
        sockets: [(&'static str, Box<dyn DutPorts>); 2],
        top: &ModuleSpec,
        design: &Design,
        pace: Pace,
        seed: u64,
    ) -> RandomFabric {
        let both = PortLockstep::new(sockets, top, design).expect("both have these ports");
        let pins = Pins::clocked(Box::new(both), &Clocks::IN_STEP).expect("they come out of reset");
        RandomFabric::of(pins, top, design, pace, seed)
    }

    /// Drives any pins with the ports of `top`.
    pub fn of(mut pins: Pins, top: &ModuleSpec, design: &Design, pace: Pace, seed: u64) -> RandomFabric {
        let mut ports = BTreeMap::new();
        for port in
            top.ports.iter().filter(|p| !["clk", "rst", "pe_clk", "pe_rst"].contains(&p.name.as_str()))
        {
            let parts = match &port.width.expr {
                width if width.contains("TILES") => design.mesh.tiles(),
                width if width.contains("PORTS") => design.memory.ports as usize,
                _ => 1,
            };
            let pin = pins.pin(top, &port.name, parts as u32).expect("every port is there");
            ports.insert(port.name.clone(), Shown { pin, parts });
        }
        let memory = (0..design.memory.ports).map(|_| Port::default()).collect();
        let parts = vec![0; design.mesh.tiles()];
        let network = ports.contains_key("rx_valid").then(|| Network::new(design, seed));
        let events = vec![[0; TILE_EVENTS.len()]; parts.len()];
        let (design, descriptors, random) = (design.clone(), VecDeque::new(), seed);
        RandomFabric {
            pins,
            ports,
            design,
            pace,
            random,
            descriptors,
            made: 0,
            expected: [mix(seed) % 600, mix(seed + 1) % 600],
            memory,
            parts,
            network,
            events,
            seen: Seen::default(),
            running: Duration::ZERO,
        }
    }

    /// Runs some periods.
    ///
    /// # Errors
    /// The difference of two fabrics that are compared.
    pub fn run(&mut self, periods: u64) -> Result<(), String> {
        (0..periods).try_for_each(|_| self.tick())
    }

    fn tick(&mut self) -> Result<(), String> {
        if self.pace.descriptors && self.descriptors.is_empty() {
            let next = self.descriptor();
            self.descriptors.push_back(next);
        }
        self.offer_descriptor();
        self.offer_parts();
        self.offer_query();
        for (at, name) in ["more_queries", "more_tokens"].into_iter().enumerate() {
            if self.ports.contains_key(name) {
                self.set(name, 0, u64::from(self.expected[at] > 0));
            }
            self.expected[at] = self.expected[at].saturating_sub(1);
        }
        for tile in 0..self.parts.len() {
            let (job, kv) = (self.below(16) < self.pace.takes, self.below(16) < self.pace.takes);
            self.set("job_ready", tile, u64::from(job));
            self.set("kv_ready", tile, u64::from(kv));
            let vector = self.below(16) < self.pace.takes;
            self.set("vector_ready", tile, u64::from(vector));
            if self.ports.contains_key("compute_idle") {
                let idle = self.below(16) < self.pace.takes;
                self.set("compute_idle", tile, u64::from(idle));
            }
            // What came from the network or the tile itself has left the root's buffers.
            let credits = self.get("root_valid", tile);
            self.set("root_credit", tile, credits);
        }
        self.answer();
        self.drive_network();
        let started = Instant::now();
        self.pins.tick().map_err(|e| e.to_string())?;
        self.running += started.elapsed();
        self.count();
        self.take();
        self.read_network();
        let event = self.get("event_index", 0) as usize;
        for tile in 0..self.events.len() {
            self.events[tile][event] = self.get("event_data", tile);
        }
        Ok(())
    }

    /// Counts of events by name, from the counters of the tiles.
    pub fn events(&self) -> BTreeMap<&'static str, u64> {
        let sum = |at: usize| self.events.iter().map(|tile| tile[at]).sum();
        TILE_EVENTS.iter().enumerate().map(|(at, &name)| (name, sum(at))).collect()
    }

    fn get(&self, name: &str, part: usize) -> u64 {
        self.pins.get(self.ports[name].pin, part)
    }

    fn set(&mut self, name: &str, part: usize, value: u64) {
        self.pins.set(self.ports[name].pin, part, value);
    }

    fn set_wide(&mut self, name: &str, part: usize, key: u64) {
        let pin = self.ports[name].pin;
        let words: Vec<u32> =
            (0..pin.width.div_ceil(32)).map(|w| mix(key ^ u64::from(w) << 48) as u32).collect();
        self.pins.set_part(pin, part, &words);
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random = mix(self.random);
        (self.random >> 16) % n
    }

    /// Updates the stimulus by the transfers of the last clock edge.
    fn take(&mut self) {
        if self.get("desc_valid", 0) & self.get("desc_ready", 0) == 1 {
            self.descriptors.pop_front();
        }
        if self.get("query_valid", 0) & self.get("query_ready", 0) == 1 {
            self.set("query_valid", 0, 0);
        }
        for tile in 0..self.parts.len() {
            if self.get("part_valid", tile) & self.get("part_ready", tile) == 1 {
                self.parts[tile] -= 1;
                self.set("part_valid", tile, 0);
            }
        }
        self.take_bursts();
    }

    fn count(&mut self) {
        let sum = |valid: &str, ready: Option<&str>| {
            let parts = 0..self.ports[valid].parts;
            let takes = |part| ready.is_none_or(|ready| self.get(ready, part) == 1);
            parts.filter(|&part| self.get(valid, part) != 0 && takes(part)).count() as u64
        };
        let swaps = self.ports.contains_key("swap_valid");
        let now = Seen {
            descriptors: sum("desc_valid", Some("desc_ready")),
            jobs: sum("job_valid", Some("job_ready")),
            flits: sum("kv_valid", Some("kv_ready")),
            roots: sum("root_valid", None),
            bursts: sum("m_axi_arvalid", Some("m_axi_arready")),
            beats: sum("m_axi_rvalid", Some("m_axi_rready")),
            occupancies: if swaps { sum("occupancy_valid", None) } else { 0 },
            swaps: if swaps { sum("swap_valid", None) } else { 0 },
            sent: 0,
        };
        let seen = &mut self.seen;
        seen.descriptors += now.descriptors;
        seen.jobs += now.jobs;
        seen.flits += now.flits;
        seen.roots += now.roots;
        seen.bursts += now.bursts;
        seen.beats += now.beats;
        seen.occupancies += now.occupancies;
        seen.swaps += now.swaps;
    }
}
