//! The platform of a device: memory behind every AXI4 port, and its faults.

use crate::cosim::checks::violation::Violation;
use crate::cosim::dut::pins::Pins;
use crate::cosim::dut::{group_pins, DutError};
use crate::cosim::memory::axi::{Request, WriteBeat};
use crate::cosim::memory::{
    Base, Behaviour, Bytes, Fault, Image, Interface, Layout, Memory, Shape, WriteMemory, Written,
};
use crate::cosim::workloads::shared::fabric_pins::MemoryPins;
use crate::design::Design;
use crate::emit::ModuleSpec;
use std::collections::HashMap;

/// Faults at the ports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Faults {
    /// Of external memory, by port.
    pub hbm: Vec<Fault>,
    /// Of reads of queries, port 0.
    pub reads: Vec<Fault>,
    /// Of writes of outputs, port 0.
    pub writes: Vec<Fault>,
    /// Of writes of new tokens into external memory, by port.
    pub tokens: Vec<Fault>,
}

group_pins! {
    /// The write channels of a port.
    WritePins {
        awvalid awready awid awaddr awlen awsize awburst wvalid wready wdata wstrb wlast bvalid bready bid bresp
    }
}

impl WritePins {
    /// Sets the outputs of a slave in this period.
    fn drive(&self, pins: &mut Pins, slave: &mut WriteMemory, cycle: u64) {
        let offer = slave.drive(cycle);
        pins.set(self.awready, 0, u64::from(offer.request_ready));
        pins.set(self.wready, 0, u64::from(offer.data_ready));
        pins.set(self.bvalid, 0, u64::from(offer.response.is_some()));
        if let Some(response) = offer.response {
            pins.set(self.bid, 0, u64::from(response.id));
            pins.set(self.bresp, 0, u64::from(response.response));
        }
    }

    /// The master's outputs of the period.
    fn written(&self, pins: &Pins) -> Written {
        let get = |pin| pins.get(pin, 0);
        let request = (get(self.awvalid) == 1).then(|| Request {
            id: get(self.awid) as u32,
            address: get(self.awaddr),
            len: get(self.awlen) as u32,
            size: get(self.awsize) as u32,
            burst: get(self.awburst) as u32,
        });
        let strobes = pins.part(self.wstrb, 0).zip(0..);
        let beat = (get(self.wvalid) == 1).then(|| WriteBeat {
            data: pins.part(self.wdata, 0).collect(),
            strobes: strobes.fold(0, |all, (word, i)| all | u128::from(word) << (32 * i)),
            last: get(self.wlast) == 1,
        });
        Written { request, beat, response_ready: get(self.bready) == 1 }
    }
}

/// Properties of a platform.
#[derive(Debug, Clone)]
pub struct Platform {
    /// External memory.
    pub hbm: Behaviour,
    /// The memory of queries and outputs.
    pub io: Behaviour,
    /// The same where outputs are written, if that differs.
    pub io_writes: Option<Behaviour>,
    /// Largest delay of the host on a channel of the registers, in cycles.
    pub lazy: u64,
    /// Base address of each port of external memory.
    pub bases: Vec<u64>,
}

impl Platform {
    /// The platform of a design without delays beyond its own: each port of external memory at a
    /// different base.
    pub fn of(design: &Design) -> Platform {
        let hbm = Behaviour::of(design);
        let flit = f64::from(design.flit.data_width / 8);
        // Queries and outputs lie elsewhere, in DDR or in the host's memory, or in a channel that homes use, too.
        let io = match design.io_channel() {
            None => Behaviour { bytes_per_cycle: flit, refresh: None, layout: Layout::OfPort, ..hbm.clone() },
            Some(_) => Behaviour { layout: Layout::OfPort, ..hbm.clone() },
        };
        // Bits beyond 32, so that swapped words and lost carries are found.
        let align = u64::from(design.base_align());
        let base = |port: u64| (port + 1) * 0x1_0000_0000 - (port + 1) * align;
        Platform {
            hbm,
            io,
            io_writes: None,
            lazy: 0,
            bases: (0..u64::from(design.memory.ports)).map(base).collect(),
        }
    }

    /// The same platform in its worst form.
    #[must_use]
    pub fn unruly(self, seed: u64) -> Platform {
        Platform { hbm: self.hbm.unruly(seed), io: self.io.unruly(seed + 1), lazy: 3, ..self }
    }
}

/// Base address that a memory port adds to its addresses. A tile that swapped reads a home of another port.
fn base_of(design: &Design, bases: &[u64], own: u64) -> Base {
    match design.swaps() {
        true => Base::OfPart { offsets: bases.to_vec(), part_width: design.memory.part_width() },
        false => Base::One(own),
    }
}

/// Memory at the pins of a device.
pub(super) struct Slaves {
    hbm_pins: Vec<MemoryPins>,
    read_pins: MemoryPins,
    write_pins: WritePins,
    pub(super) hbm: Memory,
    pub(super) queries: Memory,
    pub(super) outputs: WriteMemory,
    pub(super) buffers: Bytes,
    /// Writes of new tokens, by port of external memory; none if the cache is read only.
    token_pins: Vec<WritePins>,
    pub(super) tokens: Vec<WriteMemory>,
    /// The channel of external memory that queries and outputs share, and their beats up to now.
    shared: Option<u32>,
    moved: u64,
}

impl Slaves {
    /// Looks up the pins of the shell; all memory is empty.
    pub(super) fn find(
        pins: &mut Pins,
        shell: &ModuleSpec,
        design: &Design,
        platform: &Platform,
    ) -> Result<Slaves, DutError> {
        let shape = Shape::of(design);
        let interface = |(port, &base): (usize, &u64)| Interface {
            name: format!("m_axi_hbm{port:02}"),
            base: base_of(design, &platform.bases, base),
            unique_ids: true,
        };
        let interfaces: Vec<_> = platform.bases.iter().enumerate().map(interface).collect();
        let found = |of: &Interface| MemoryPins::named(pins, shell, &format!("{}_", of.name), 1);
        let hbm_pins = interfaces.iter().map(found).collect::<Result<_, _>>()?;
        let (flit_bytes, behaviour) = (shape.flit_bytes, platform.io.clone());
        // One memory, without slices.
        let flat = Shape::flat(flit_bytes);
        let buffers = Image::Buffers(Bytes::default());
        let io = Interface { name: "m_axi_io".to_owned(), base: Base::One(0), unique_ids: false };
        let slices = Image::Slices(HashMap::new());
        let mut of_tokens = interfaces.clone();
        of_tokens.retain(|_| design.append.is_some());
        let written = |of: &Interface| WritePins::named(pins, shell, &format!("{}_", of.name), 1);
        let token_pins = of_tokens.iter().map(written).collect::<Result<_, _>>()?;
        let slave = |(port, of)| WriteMemory::new(of, port, flit_bytes, platform.hbm.clone());
        Ok(Slaves {
            hbm_pins,
            read_pins: MemoryPins::named(pins, shell, "m_axi_io_", 1)?,
            write_pins: WritePins::named(pins, shell, "m_axi_io_", 1)?,
            hbm: Memory::behind(interfaces, shape, platform.hbm.clone(), slices),
            queries: Memory::behind(vec![io.clone()], flat, behaviour.clone(), buffers),
            outputs: WriteMemory::new(io, 0, flit_bytes, platform.io_writes.clone().unwrap_or(behaviour)),
            buffers: Bytes::default(),
            token_pins,
            tokens: (0..).zip(of_tokens).map(slave).collect(),
            shared: design.io_channel(),
            moved: 0,
        })
    }

    /// Replaces the faults.
    pub(super) fn set_faults(&mut self, faults: Faults) {
        self.hbm.set_faults(faults.hbm);
        self.queries.set_faults(faults.reads);
        self.outputs.set_faults(faults.writes);
        for slave in &mut self.tokens {
            slave.set_faults(faults.tokens.clone());
        }
    }

    /// The first cycle in which each fault took effect, by the lists of [`Faults`].
    pub(super) fn struck(&self) -> [Vec<Option<u64>>; 4] {
        let tokens = self.tokens.iter().map(WriteMemory::struck);
        let first = |a: Vec<Option<u64>>, b: Vec<Option<u64>>| {
            a.into_iter().zip(b).map(|(a, b)| a.into_iter().chain(b).min()).collect()
        };
        let tokens = tokens.reduce(first).unwrap_or_default();
        [self.hbm.struck(), self.queries.struck(), self.outputs.struck(), tokens]
    }

    /// Sets the outputs of memory in this period.
    pub(super) fn drive(&mut self, pins: &mut Pins, cycle: u64) {
        for (port, at) in self.hbm_pins.iter().enumerate() {
            at.drive_port(pins, 0, &mut self.hbm, port, cycle);
        }
        self.read_pins.drive_port(pins, 0, &mut self.queries, 0, cycle);
        self.write_pins.drive(pins, &mut self.outputs, cycle);
        for (at, slave) in self.token_pins.iter().zip(&mut self.tokens) {
            at.drive(pins, slave, cycle);
        }
    }

    /// Takes the requests of the period.
    pub(super) fn observe(&mut self, pins: &Pins, cycle: u64) {
        for (port, at) in self.hbm_pins.iter().enumerate() {
            at.observe_port(pins, 0, &mut self.hbm, port, cycle);
        }
        self.read_pins.observe_port(pins, 0, &mut self.queries, 0, cycle);
        self.outputs.observe(cycle, self.write_pins.written(pins), &mut self.buffers);
        for (port, (at, slave)) in self.token_pins.iter().zip(&mut self.tokens).enumerate() {
            slave.observe(cycle, at.written(pins), &mut self.hbm.store(port));
        }
        let moved = self.io_beats();
        let since = moved - std::mem::replace(&mut self.moved, moved);
        if let Some(channel) = self.shared.filter(|_| since > 0) {
            self.hbm.share(channel, since);
        }
    }

    /// Beats of queries, outputs and lists so far.
    pub(super) fn io_beats(&self) -> u64 {
        self.queries.moved().1 + self.outputs.beats()
    }

    /// True if some port of external memory is offered an address, and if a beat of outputs passes.
    pub(super) fn moves(&self, pins: &Pins) -> (bool, bool) {
        let fetches = self.hbm_pins.iter().any(|at| pins.get(at.arvalid, 0) == 1);
        let at = self.write_pins;
        (fetches, pins.get(at.wvalid, 0) == 1 && pins.get(at.wready, 0) == 1)
    }

    /// Beats read so far from all ports of external memory.
    pub(super) fn beats(&self) -> u64 {
        (0..self.hbm.ports()).map(|port| self.hbm.counts(port).beats).sum()
    }

    /// Runs a period in reset: memory forgets all requests, as the interconnect does.
    pub(super) fn in_reset(&mut self, pins: &mut Pins, cycle: u64) {
        for (port, at) in self.hbm_pins.iter().enumerate() {
            self.hbm.in_reset(port, cycle, pins.get(at.arvalid, 0) == 1);
        }
        self.queries.in_reset(0, cycle, pins.get(self.read_pins.arvalid, 0) == 1);
        let writers =
            self.token_pins.iter().zip(&mut self.tokens).chain([(&self.write_pins, &mut self.outputs)]);
        for (at, slave) in writers {
            slave.in_reset(cycle, (pins.get(at.awvalid, 0) == 1, pins.get(at.wvalid, 0) == 1));
            pins.set(at.bvalid, 0, 0);
        }
        for at in self.hbm_pins.iter().chain([&self.read_pins]) {
            pins.set(at.rvalid, 0, 0);
        }
    }

    /// Requests that were accepted and not completed.
    pub(super) fn waiting(&self) -> usize {
        let tokens: usize = self.tokens.iter().map(WriteMemory::waiting).sum();
        self.hbm.waiting() + self.queries.waiting() + self.outputs.waiting() + tokens
    }

    /// Broken rules of each memory.
    pub(super) fn violations(&self) -> impl Iterator<Item = (u64, &[Violation])> {
        let tokens = self.tokens.iter().map(WriteMemory::violations);
        [self.hbm.violations(), self.queries.violations(), self.outputs.violations()]
            .into_iter()
            .chain(tokens)
    }
}
