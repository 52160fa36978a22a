//! Runs `meshkv_front` and the core as two simulations, with registers between them. The core may
//! be verilated, in pieces or whole, or the model.
//!
//! A stream passes a FIFO of two words, any other signal a register. So an output of one side in a
//! period is an input of the other in the next, and the two run one after the other. Outputs are
//! those of `meshkv_top`; some come some cycles later.

use crate::cosim::bits::{get_bits, put_bits};
use crate::cosim::build::is_own;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::error::DutError;
use crate::cosim::dut::ports::{DutPorts, LinkFlip};
use crate::design::Design;
use crate::emit::{self, Dir, ModuleSpec, PortSpec};
use crate::model::cycle::common::Reached;
use std::collections::VecDeque;

/// Streams between front and core: port names of valid and ready without their last word.
const STREAMS: [&str; 5] = ["query_", "desc_", "out_", "m_axi_ar", "m_axi_r"];
/// The stream whose words the front sends regardless of ready: the core has reserved room.
const UNASKED: &str = "m_axi_r";
/// Words of a FIFO.
const DEPTH: usize = 2;
/// Output of the front: reset of the core.
const CORE_RESET: &str = "core_rst";

/// A port on either side, and the width of its parts.
#[derive(Debug, Clone, Copy)]
struct Wire {
    front: usize,
    core: usize,
    /// Bits of all parts together.
    total: u32,
    /// Bits of one.
    bits: u32,
}

/// A stream with its FIFOs, one a part.
#[derive(Debug)]
struct Stream {
    to_core: bool,
    valid: Wire,
    /// Ready of the core, and of the front unless it accepts every word.
    ready_core: usize,
    ready_front: Option<usize>,
    payload: Vec<Wire>,
    fifos: Vec<VecDeque<Vec<u32>>>,
}

/// Front and core as one device with the ports of
/// [`shell`](crate::cosim::build::wrap::device_wrapper::shell).
#[derive(Debug)]
pub struct SplitDevice {
    front: Box<dyn DutPorts>,
    core: Box<dyn DutPorts>,
    streams: Vec<Stream>,
    /// Signals that pass a register only, from the core to the front, and from the front to the core.
    levels: Vec<Wire>,
    requests: Vec<Wire>,
    core_reset: usize,
    /// Ports that were looked up; true for the core's.
    ports: Vec<(bool, usize)>,
}

impl SplitDevice {
    /// Connects a front with the ports of
    /// [`front_shell`](crate::cosim::build::wrap::device_wrapper::front_shell) and a core.
    ///
    /// # Errors
    /// If either is of another design.
    pub fn new(
        mut front: Box<dyn DutPorts>,
        mut core: Box<dyn DutPorts>,
        design: &Design,
    ) -> Result<SplitDevice, DutError> {
        let modules = emit::modules(design);
        let spec = |name: &str| modules.iter().find(|m| m.name == name).expect("every design has these");
        let (of_front, of_core) = (spec(emit::FRONT), spec(emit::CORE));
        let named =
            |module: &'_ ModuleSpec, name: &str| module.ports.iter().find(|p| p.name == name).cloned();
        let mut streams = Vec::new();
        for prefix in STREAMS {
            let (valid, ready) = (format!("{prefix}valid"), format!("{prefix}ready"));
            let valid = named(of_core, &valid).ok_or_else(|| missing(&valid))?;
            let parts = valid.width.bits;
            let both = |p: &&PortSpec| p.name.starts_with(prefix) && named(of_front, &p.name).is_some();
            let payload = of_core.ports.iter().filter(both);
            let payload = payload.filter(|p| p.name != valid.name && p.name != ready);
            let payload =
                payload.map(|p| connect(&mut *front, &mut *core, p, parts)).collect::<Result<_, _>>()?;
            let valid_wire = connect(&mut *front, &mut *core, &valid, parts)?;
            streams.push(Stream {
                to_core: valid.dir == Dir::Input,
                ready_core: core.find(&ready).ok_or_else(|| missing(&ready))?,
                ready_front: front.find(&ready).filter(|_| prefix != UNASKED),
                valid: valid_wire,
                payload,
                fifos: vec![VecDeque::new(); parts as usize],
            });
        }
        let in_stream = |p: &PortSpec| STREAMS.iter().any(|prefix| p.name.starts_with(prefix));
        let level = |p: &&PortSpec| {
            let there = named(of_front, &p.name).is_some_and(|at| at.dir == Dir::Input);
            p.dir == Dir::Output && !in_stream(p) && there
        };
        let request = |p: &&PortSpec| {
            let there = named(of_front, &p.name).is_some_and(|at| at.dir == Dir::Output);
            p.dir == Dir::Input && !in_stream(p) && !is_own(p) && there
        };
        let mut wires = |of: &dyn Fn(&&PortSpec) -> bool| {
            let ports = of_core.ports.iter().filter(of);
            ports.map(|p| connect(&mut *front, &mut *core, p, 1)).collect::<Result<Vec<_>, _>>()
        };
        let (levels, requests) = (wires(&level)?, wires(&request)?);
        let core_reset = front.find(CORE_RESET).ok_or_else(|| missing(CORE_RESET))?;
        Ok(SplitDevice { front, core, streams, levels, requests, core_reset, ports: Vec::new() })
    }

    fn in_reset(&self) -> bool {
        self.front.words(self.core_reset, 1)[0] & 1 == 1
    }
}

fn missing(name: &str) -> DutError {
    DutError::Mismatch(format!("it has no port {name}"))
}

fn connect(
    front: &mut dyn DutPorts,
    core: &mut dyn DutPorts,
    port: &PortSpec,
    parts: u32,
) -> Result<Wire, DutError> {
    let at_front = front.find(&port.name).ok_or_else(|| missing(&port.name))?;
    let at_core = core.find(&port.name).ok_or_else(|| missing(&port.name))?;
    let total = port.width.bits;
    Ok(Wire { front: at_front, core: at_core, total, bits: total / parts })
}

fn bit(ports: &dyn DutPorts, port: usize, total: u32, part: usize) -> bool {
    ports.words(port, total)[part / 32] >> (part % 32) & 1 == 1
}

fn set_bit(ports: &mut dyn DutPorts, port: usize, total: u32, part: usize, value: bool) {
    let word = &mut ports.words_mut(port, total)[part / 32];
    *word = *word & !(1 << (part % 32)) | u32::from(value) << (part % 32);
}

impl Wire {
    /// Number of the port at the core, or at the front.
    fn at(&self, core: bool) -> usize {
        if core {
            self.core
        } else {
            self.front
        }
    }
}

impl Stream {
    /// Ready of the source, and of the sink.
    fn readies(&self) -> (Option<usize>, Option<usize>) {
        let (front, core) = (self.ready_front, Some(self.ready_core));
        if self.to_core {
            (front, core)
        } else {
            (core, front)
        }
    }

    /// Sets the inputs of both sides for the next period.
    fn drive<'s>(&self, front: &'s mut dyn DutPorts, core: &'s mut dyn DutPorts) {
        let (source, sink) = if self.to_core { (front, core) } else { (core, front) };
        let parts = self.valid.total;
        for (part, fifo) in self.fifos.iter().enumerate() {
            if let (Some(ready), _) = self.readies() {
                set_bit(source, ready, parts, part, fifo.len() < DEPTH);
            }
            set_bit(sink, self.valid.at(self.to_core), parts, part, !fifo.is_empty());
            let Some(words) = fifo.front() else { continue };
            let mut rest = words.as_slice();
            for wire in &self.payload {
                let (value, after) = rest.split_at(wire.bits.div_ceil(32) as usize);
                let words = sink.words_mut(wire.at(self.to_core), wire.total);
                put_bits(words, part * wire.bits as usize, wire.bits, value);
                rest = after;
            }
        }
    }

    /// Moves the words of the period that has ended.
    fn observe<'s>(&mut self, front: &'s dyn DutPorts, core: &'s dyn DutPorts) {
        let (source, sink) = if self.to_core { (front, core) } else { (core, front) };
        let (gives, takes) = self.readies();
        let parts = self.valid.total;
        for (part, fifo) in self.fifos.iter_mut().enumerate() {
            let room = gives.is_none() || fifo.len() < DEPTH;
            if takes.is_none_or(|ready| bit(sink, ready, parts, part)) {
                fifo.pop_front();
            }
            if room && bit(source, self.valid.at(!self.to_core), parts, part) {
                let fields = self.payload.iter().flat_map(|wire| {
                    let words = source.words(wire.at(!self.to_core), wire.total);
                    get_bits(words, part * wire.bits as usize, wire.bits)
                });
                fifo.push_back(fields.collect());
            }
        }
    }
}

impl DutPorts for SplitDevice {
    fn find(&mut self, name: &str) -> Option<usize> {
        let front = self.front.find(name).map(|port| (false, port));
        self.ports.push(front.or_else(|| self.core.find(name).map(|port| (true, port)))?);
        Some(self.ports.len() - 1)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        match self.ports[port] {
            (true, port) => self.core.words(port, bits),
            (false, port) => self.front.words(port, bits),
        }
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        match self.ports[port] {
            (true, port) => self.core.words_mut(port, bits),
            (false, port) => self.front.words_mut(port, bits),
        }
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        let reset = rst || self.in_reset();
        if reset {
            self.streams.iter_mut().flat_map(|s| &mut s.fifos).for_each(VecDeque::clear);
        }
        let (front, core) = (self.front.as_mut(), self.core.as_mut());
        for wire in &self.levels {
            let words = wire.total.div_ceil(32) as usize;
            let to = &mut front.words_mut(wire.front, wire.total)[..words];
            to.copy_from_slice(&core.words(wire.core, wire.total)[..words]);
        }
        for wire in &self.requests {
            let words = wire.total.div_ceil(32) as usize;
            let to = &mut core.words_mut(wire.core, wire.total)[..words];
            to.copy_from_slice(&front.words(wire.front, wire.total)[..words]);
        }
        self.streams.iter().for_each(|stream| stream.drive(front, core));
        core.tick(reset)?;
        front.tick(rst)?;
        if !reset {
            self.streams.iter_mut().for_each(|stream| stream.observe(front, core));
        }
        Ok(())
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        self.front.set_clocks(clocks)?;
        self.core.set_clocks(clocks)
    }

    fn flip(&mut self, flip: &LinkFlip) -> Result<(), DutError> {
        self.core.flip(flip)
    }

    fn flipped(&self) -> bool {
        self.core.flipped()
    }

    fn reached(&self) -> Option<Reached> {
        self.core.reached()
    }

    fn payload_bits(&self) -> u32 {
        self.front.payload_bits()
    }
}
