//! The external memory: a read slave behind every port of the fabric.

use super::axi::{Limits, ReadRules, Request, Wires};
use super::behaviour::{Base, Behaviour, Fault, Interface, Offer, Shape, Struck, LONGEST};
use super::channels::Channels;
use super::image::Image;
use super::read_slave::{Port, PortCounts};
use super::slice_bounds;
use super::write_slave::Store;
use crate::cosim::checks::violation::{Violation, ViolationKind, Violations};

/// Slices of an image that can be written.
struct Slices<'a> {
    image: &'a mut Image,
    channels: &'a mut Channels,
    shape: &'a Shape,
    port: usize,
}

impl Store for Slices<'_> {
    fn holds(&self, address: u64, _: &[u32], _: u128) -> bool {
        self.shape.slice_at(address).is_some()
    }

    fn store(&mut self, address: u64, words: &[u32], strobes: u128) {
        self.image.write_words(self.shape, address, words, strobes);
        self.channels.spend(self.port, address, 1);
    }
}

/// The external memory with all its ports.
#[derive(Debug)]
pub struct Memory {
    ports: Vec<Port>,
    channels: Channels,
    rules: Vec<ReadRules>,
    bases: Vec<Base>,
    shape: Shape,
    behaviour: Behaviour,
    image: Image,
    violations: Violations,
}

impl Memory {
    /// A memory before its first request.
    pub fn new(shape: Shape, behaviour: Behaviour, image: Image) -> Memory {
        let of =
            |port| Interface { name: format!("memory port {port},"), base: Base::One(0), unique_ids: true };
        Memory::behind((0..shape.ports).map(of).collect(), shape, behaviour, image)
    }

    /// The same with these interfaces, one for each port.
    pub fn behind(interfaces: Vec<Interface>, shape: Shape, behaviour: Behaviour, image: Image) -> Memory {
        let port = |index| Port::new(index, &shape, &behaviour);
        let rules = |of: &Interface| {
            let limits = Limits { beat_bytes: shape.flit_bytes, beats: LONGEST, unique_ids: of.unique_ids };
            ReadRules::new(of.name.clone(), limits)
        };
        Memory {
            ports: (0..shape.ports).map(port).collect(),
            rules: interfaces.iter().map(rules).collect(),
            bases: interfaces.into_iter().map(|of| of.base).collect(),
            channels: Channels::new(
                &behaviour.layout,
                behaviour.refresh,
                behaviour.bytes_per_cycle,
                shape.flit_bytes,
                shape.ports,
            ),
            shape,
            behaviour,
            image,
            violations: Violations::default(),
        }
    }

    /// Replaces the faults. Requests accepted before are answered with the faults of that time.
    pub fn set_faults(&mut self, faults: Vec<Fault>) {
        self.behaviour.faults = faults;
        self.ports.iter_mut().for_each(|port| port.struck = Struck::default());
    }

    /// The first cycle in which each fault took effect, in the order of the faults; `None` for one that has not.
    pub fn struck(&self) -> Vec<Option<u64>> {
        let first = |fault: usize| self.ports.iter().filter_map(|port| port.struck.at(fault)).min();
        (0..self.behaviour.faults.len()).map(first).collect()
    }

    /// Runs a period in reset, with or without a request of a master, and forgets all requests.
    pub fn in_reset(&mut self, port: usize, cycle: u64, shown: bool) {
        self.rules[port].in_reset(cycle, shown, &mut self.violations);
        self.ports[port].forget();
    }

    /// Contents of the memory.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Contents of the memory, to change them.
    pub fn image_mut(&mut self) -> &mut Image {
        &mut self.image
    }

    /// Target of the write slave of a port: the slices of the homes' regions. Writes take their bandwidth from the
    /// reads of the channel.
    pub fn store(&mut self, port: usize) -> impl Store + '_ {
        Slices { image: &mut self.image, channels: &mut self.channels, shape: &self.shape, port }
    }

    /// Takes the bandwidth of so many beats, written at an address, from the reads of its channel.
    pub fn spend(&mut self, port: usize, address: u64, beats: u64) {
        self.channels.spend(port, address, beats);
    }

    /// Takes the bandwidth of so many beats of a master that is no port of this memory from the reads of a channel.
    pub fn share(&mut self, channel: u32, beats: u64) {
        self.channels.share(channel as usize, beats);
    }

    /// Number of ports.
    pub fn ports(&self) -> usize {
        self.ports.len()
    }

    /// Outputs of the port in the period of this cycle. Call it once per cycle.
    pub fn drive(&mut self, port: usize, cycle: u64) -> Offer<'_> {
        self.ports[port].drive(cycle, &self.shape, &self.behaviour, &self.image, &mut self.channels)
    }

    /// Takes the inputs of the period: the request on the port, if any, and whether a beat would be
    /// taken. Returns whether a request or a beat passed.
    pub fn observe(&mut self, port: usize, cycle: u64, request: Option<Request>, beat_ready: bool) -> bool {
        let (slave, rules) = (&mut self.ports[port], &mut self.rules[port]);
        if !beat_ready {
            slave.count_refused();
        }
        if request.is_some() {
            slave.refuse(cycle);
        }
        let requests = Wires { shown: request, ready: slave.takes_requests() };
        rules.judge(cycle, &requests, &slave.beat(beat_ready), &mut self.violations);
        let beat = beat_ready && slave.take_beat();
        let Some(taken) = requests.taken() else { return beat };
        let inside = Request { address: self.bases[port].inside(taken.address), ..*taken };
        for broken in slice_bounds::faults(&inside, &self.shape) {
            let message = || format!("cycle {cycle}: {} AR: {broken}", rules.interface());
            self.violations.add(ViolationKind::Protocol, message);
        }
        if !slave.accept(cycle, inside, &self.behaviour) {
            rules.abandon(taken.id);
        }
        true
    }

    /// Counters of a port.
    pub fn counts(&self, port: usize) -> PortCounts {
        self.ports[port].counts
    }

    /// Requests and beats so far, over all ports.
    pub fn moved(&self) -> (u64, u64) {
        let counts = self.ports.iter().map(|port| port.counts);
        counts.fold((0, 0), |(requests, beats), of| (requests + of.requests, beats + of.beats))
    }

    /// Accepted requests that wait for beats, over all ports.
    pub fn waiting(&self) -> usize {
        self.ports.iter().map(Port::waiting).sum()
    }

    /// True if an accepted request waits for beats, or may wait for ever: a fault can leave requests unanswered or refused
    /// without a trace here.
    pub fn owes(&self) -> bool {
        !self.behaviour.faults.is_empty() || self.waiting() > 0
    }

    /// Violations of the masters so far: their number, and the first of them.
    pub fn violations(&self) -> (u64, &[Violation]) {
        (self.violations.count, &self.violations.first)
    }
}
