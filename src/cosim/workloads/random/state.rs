//! A fabric and its stimulus: all ports by name.

use super::pace::{Pace, Seen};
use super::port::Port;
use super::ways::Network;
use crate::cosim::build::Library;
use crate::cosim::checks::lockstep::PortLockstep;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::pins::{Pin, Pins};
use crate::cosim::dut::ports::DutPorts;
use crate::cosim::dut::DutError;
use crate::cosim::hash::mix;
use crate::design::Design;
use crate::emit::{modules, ModuleSpec, FABRIC, TILE_EVENTS};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// One port of the fabric.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) pin: Pin,
    pub(super) parts: usize,
}

/// The ports of the whole fabric.
pub fn fabric_ports(design: &Design) -> ModuleSpec {
    modules(design).into_iter().find(|m| m.name == FABRIC).expect("every design has a fabric")
}

/// A fabric and its stimulus.
pub struct RandomFabric {
    pub(super) pins: Pins,
    pub(super) ports: BTreeMap<String, Shown>,
    pub(super) design: Design,
    pub(super) pace: Pace,
    pub(super) random: u64,
    pub(super) descriptors: VecDeque<Vec<(&'static str, u64)>>,
    pub(super) made: u64,
    /// Periods for which queries and new tokens are expected, from the reset on.
    pub(super) expected: [u64; 2],
    pub(super) memory: Vec<Port>,
    /// Flits left of each tile's packet.
    pub(super) parts: Vec<u64>,
    /// The stand-in for the network, if the network is not part of the fabric under test.
    pub(super) network: Option<Network>,
    /// Totals of each tile at the last read.
    pub(super) events: Vec<[u64; TILE_EVENTS.len()]>,
    /// What was seen so far.
    pub seen: Seen,
    /// Time in the fabric itself.
    pub running: Duration,
}

impl RandomFabric {
    /// Drives a compiled fabric with the ports of the whole.
    ///
    /// # Errors
    /// If it lacks a port, or does not come out of reset.
    pub fn new(library: &Library, design: &Design, pace: Pace, seed: u64) -> Result<RandomFabric, DutError> {
        let pins = Pins::new(library, seed)?;
        RandomFabric::of(pins, &fabric_ports(design), design, pace, seed)
    }

    /// Drives two fabrics alike and compares them in every period.
    ///
    /// # Errors
    /// As [`RandomFabric::new`].
    pub fn both(
        sockets: [(&'static str, Box<dyn DutPorts>); 2],
        top: &ModuleSpec,
        design: &Design,
        pace: Pace,
        seed: u64,
    ) -> Result<RandomFabric, DutError> {
        let both = PortLockstep::new(sockets, top, design)?;
        let pins = Pins::clocked(Box::new(both), &Clocks::IN_STEP)?;
        RandomFabric::of(pins, top, design, pace, seed)
    }

    /// Drives any pins with the ports of `top`.
    ///
    /// # Errors
    /// If they lack one.
    pub fn of(
        mut pins: Pins,
        top: &ModuleSpec,
        design: &Design,
        pace: Pace,
        seed: u64,
    ) -> Result<RandomFabric, DutError> {
        let mut ports = BTreeMap::new();
        for port in
            top.ports.iter().filter(|p| !["clk", "rst", "pe_clk", "pe_rst"].contains(&p.name.as_str()))
        {
            let parts = match &port.width.expr {
                width if width.contains("TILES") => design.mesh.tiles(),
                width if width.contains("PORTS") => design.memory.ports as usize,
                _ => 1,
            };
            let pin = pins.pin(top, &port.name, parts as u32)?;
            ports.insert(port.name.clone(), Shown { pin, parts });
        }
        let memory = (0..design.memory.ports).map(|_| Port::default()).collect();
        let parts = vec![0; design.mesh.tiles()];
        let network = ports.contains_key("rx_valid").then(|| Network::new(design, seed));
        let events = vec![[0; TILE_EVENTS.len()]; parts.len()];
        let (design, descriptors, random) = (design.clone(), VecDeque::new(), seed);
        Ok(RandomFabric {
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
        })
    }

    /// Counts of events by name, from the counters of the tiles.
    pub fn events(&self) -> BTreeMap<&'static str, u64> {
        let sum = |at: usize| self.events.iter().map(|tile| tile[at]).sum();
        TILE_EVENTS.iter().enumerate().map(|(at, &name)| (name, sum(at))).collect()
    }

    pub(super) fn get(&self, name: &str, part: usize) -> u64 {
        self.pins.get(self.ports[name].pin, part)
    }

    pub(super) fn set(&mut self, name: &str, part: usize, value: u64) {
        self.pins.set(self.ports[name].pin, part, value);
    }

    pub(super) fn set_wide(&mut self, name: &str, part: usize, key: u64) {
        let pin = self.ports[name].pin;
        let words: Vec<u32> =
            (0..pin.width.div_ceil(32)).map(|w| mix(key ^ u64::from(w) << 48) as u32).collect();
        self.pins.set_part(pin, part, &words);
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.random = mix(self.random);
        (self.random >> 16) % n
    }
}
