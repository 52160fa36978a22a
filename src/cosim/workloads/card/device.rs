//! A device with buffers at addresses, as the stand-in for XRT sees it.

use super::error::CardError;
use super::ledger::{Ledger, LinkUse};
use super::message::{Reply, Request};
use crate::cosim::memory::{Image, Shape};
use crate::cosim::workloads::device::{Bench, Device, Faults, HostModel, Platform};
use crate::design::device::registers::{named, RECORD_BYTES};
use crate::design::{channels_of, Design};
use std::collections::BTreeMap;

/// Cycles between two reads of CTRL: a host waits between them.
const POLL: u64 = 200;
/// Cycles after which a wait for the interrupt ends without one.
const NO_INTERRUPT: u64 = 20_000;
/// Seed of the contents of external memory before a host writes it.
const GARBAGE: u64 = 0x6a72_6267;
/// Contents of other buffers before.
const BLANK: u8 = 0xa5;

/// Cycles after which a wait for a record ends without one: more than a run takes that memory does not answer.
const NO_RECORD: u64 = 10_000_000;
/// Cycles between two looks for a record.
const LOOK: u64 = 16;
/// Bits of STATUS.RUN.
const RUN: u32 = 0xf;
/// Bytes that a host without a shell has for all but the cache.
const ROOM: u64 = 1 << 20;

/// What a host keeps in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Lists, queries and outputs.
    Exchange,
    /// A part of the cache: its first byte among those of all homes.
    Cache(u64),
}

/// A buffer.
#[derive(Debug, Clone, Copy)]
struct Buffer {
    of: Use,
    bytes: u64,
}

/// The card.
pub struct Card {
    bench: Bench,
    design: Design,
    shape: Shape,
    /// Buffers by address.
    buffers: BTreeMap<u64, Buffer>,
    /// The buffers of a host that finds places itself.
    own: BTreeMap<u64, Buffer>,
    freed: usize,
    early: usize,
    /// The argument `outputs`.
    outputs: u64,
    /// Number in the record before the last doorbell.
    recorded: Option<Vec<u8>>,
    ledger: Ledger,
    /// Lists, queries and outputs are in memory of the host: nothing of them is transferred.
    shares: bool,
}

/// Address of the buffer for a port's part of the cache: in a channel of its own, not at its beginning.
fn part_address(design: &Design, port: u32) -> u64 {
    let fpga = design.fpga();
    let channel = channels_of(port, design.memory.ports, fpga.hbm_channels).start;
    u64::from(channel) * fpga.hbm_channel_bytes + u64::from(port % 5) * 0x1_3000
}

/// The first byte of a port's part of the cache, among those of all homes.
fn part_first(design: &Design, port: u32) -> u64 {
    let first = design.homes_of_port(port).next().unwrap_or(0);
    u64::from(port * design.memory.tiles_per_port + first) << design.memory.region_width
}

impl Card {
    /// The platform of a card without a shell: parts of the cache begin with their channels.
    pub fn bare_platform(design: &Design) -> Platform {
        let base = |port| Card::bare_part(design, port).wrapping_sub(part_first(design, port));
        Platform { bases: (0..design.memory.ports).map(base).collect(), ..Platform::of(design) }
    }

    fn bare_part(design: &Design, port: u32) -> u64 {
        part_address(design, port) & !(design.fpga().hbm_channel_bytes - 1)
    }

    /// A card without a shell: memory is the host's, and behind the first part of the cache there is room for all else. The
    /// device has the platform of [`Card::bare_platform`].
    pub fn bare(bench: Bench, design: &Design) -> Card {
        let part = |port| {
            let of = Use::Cache(part_first(design, port));
            (Card::bare_part(design, port), Buffer { of, bytes: design.fpga().hbm_channel_bytes })
        };
        let mut own: BTreeMap<u64, Buffer> = (0..design.memory.ports).map(part).collect();
        let homes = design.homes_of_port(0).count() as u64;
        let behind = ((homes.max(1) - 1) << design.memory.region_width) + design.region_bytes() as u64;
        own.insert(behind.next_multiple_of(4096), Buffer { of: Use::Exchange, bytes: ROOM });
        Card { own, ..Card::new(bench, design) }
    }

    /// The platform of a card: each port's part of the cache is where [`Card`] has its buffer.
    pub fn platform(design: &Design) -> Platform {
        let base = |port| part_address(design, port).wrapping_sub(part_first(design, port));
        Platform { bases: (0..design.memory.ports).map(base).collect(), ..Platform::of(design) }
    }

    /// A card in its first state, with garbage in its memory. The device has the platform of [`Card::platform`].
    pub fn new(mut bench: Bench, design: &Design) -> Card {
        bench.driver.device.set_image(Image::Hash(GARBAGE));
        let (buffers, own) = (BTreeMap::new(), BTreeMap::new());
        let (design, shape) = (design.clone(), Shape::of(design));
        Card {
            bench,
            design,
            shape,
            buffers,
            own,
            freed: 0,
            early: 0,
            outputs: 0,
            recorded: None,
            ledger: Ledger::default(),
            shares: false,
        }
    }

    /// The same with lists, queries and outputs in memory of the host.
    #[must_use]
    pub fn shared(self) -> Card {
        Card { shares: true, ..self }
    }

    /// What hosts took of their link so far, by a model of the host.
    pub fn link_use(&self, model: &HostModel) -> LinkUse {
        self.ledger.told(model, self.design.clock.noc_mhz)
    }

    /// The device, to read its counts.
    pub fn device(&self) -> &Device {
        &self.bench.driver.device
    }

    /// Takes the buffers of the last host away. Registers and memory stay as they are.
    pub fn release(&mut self) {
        self.buffers.clear();
        for (address, buffer) in self.own.clone() {
            self.give(address, buffer);
        }
    }

    /// Buffers that hosts have given back, and buffers that one had or gave back while the device could write them.
    pub fn freed(&self) -> (usize, usize) {
        (self.freed, self.early)
    }

    /// True while memory owes an answer, or a run is under way.
    fn busy(&mut self) -> Result<bool, CardError> {
        let device = &mut self.bench.driver.device;
        Ok(device.waiting() > 0 || device.read(named("STATUS").offset)? & RUN != 0)
    }

    /// Gives the memories faults, until a host clears an error.
    pub fn break_memory(&mut self, faults: Faults) {
        self.bench.driver.device.set_faults(faults);
    }

    /// Does what a host asks.
    ///
    /// # Errors
    /// If the device does not go on, or the request names bytes or a memory that the card does not have.
    pub fn answer(&mut self, request: Request) -> Result<Reply, CardError> {
        match request {
            Request::Allocate { bytes, memory } => self.allocate(bytes, memory).map(Reply::Number),
            Request::Put { address, bytes } => self.put(address, &bytes).map(|()| Reply::Nothing),
            Request::Get { address, bytes } => self.get(address, bytes).map(Reply::Bytes),
            Request::Write { offset, value } => self.write(offset, value).map(|()| Reply::Nothing),
            Request::Read { offset } => self.read(offset).map(|value| Reply::Number(value.into())),
            Request::Wait => self.pass(NO_INTERRUPT).map(|()| Reply::Number(0)),
            Request::Record => self.until_a_record().map(|()| Reply::Number(0)),
            Request::Free { .. } => {
                self.freed += 1;
                self.early += usize::from(self.busy()?);
                Ok(Reply::Nothing)
            }
        }
    }

    fn allocate(&mut self, bytes: u64, memory: u32) -> Result<u64, CardError> {
        let ports = self.design.memory.ports;
        let channels = self.design.fpga().hbm_channels;
        self.early += usize::from(self.busy()?);
        let (address, of) = match memory {
            1000.. => (0x7_0000_3000 + (u64::from(memory) << 32), Use::Exchange),
            channel => {
                let port = (0..ports).find(|&port| channels_of(port, ports, channels).contains(&channel));
                let port = port.ok_or(CardError::Memory(channel))?;
                (part_address(&self.design, port), Use::Cache(part_first(&self.design, port)))
            }
        };
        self.give(address, Buffer { of, bytes });
        Ok(address)
    }

    /// A buffer for the host. Reads and writes of the device have a memory each: both have all that is there.
    fn give(&mut self, address: u64, buffer: Buffer) {
        if buffer.of == Use::Exchange {
            let device = &mut self.bench.driver.device;
            device.put_queries(address, vec![BLANK; buffer.bytes as usize]);
            device.put_outputs(address, vec![BLANK; buffer.bytes as usize]);
        }
        self.buffers.insert(address, buffer);
    }

    /// The buffer that has these bytes: what it is, its address, and their place in it.
    fn buffer(&self, address: u64, bytes: u64) -> Result<(Use, u64, u64), CardError> {
        let astray = CardError::Astray { address, bytes };
        let Some((&first, buffer)) = self.buffers.range(..=address).next_back() else {
            return Err(astray);
        };
        let at = address - first;
        if at.saturating_add(bytes) > buffer.bytes {
            return Err(astray);
        }
        Ok((buffer.of, first, at))
    }

    fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), CardError> {
        let (of, first, at) = self.buffer(address, bytes.len() as u64)?;
        if of != Use::Exchange || !self.shares {
            self.ledger.transfer(bytes.len() as u64, true);
        }
        let device = &mut self.bench.driver.device;
        match of {
            Use::Cache(begin) => device.image_mut().write(begin + at, bytes),
            Use::Exchange => {
                // The device may have written since.
                let all =
                    device.outputs(first).ok_or(CardError::Astray { address, bytes: bytes.len() as u64 })?;
                let mut all = all.to_vec();
                all[at as usize..][..bytes.len()].copy_from_slice(bytes);
                device.put_queries(first, all.clone());
                device.put_outputs(first, all);
            }
        }
        Ok(())
    }

    fn get(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, CardError> {
        let shape = self.shape;
        let (of, first, at) = self.buffer(address, bytes)?;
        if of != Use::Exchange || !self.shares {
            self.ledger.transfer(bytes, false);
        }
        let device = &mut self.bench.driver.device;
        match of {
            Use::Cache(begin) => {
                // Memory is read by words of eight bytes.
                let before = (begin + at) % 8;
                let mut words = vec![0; 2 * (before + bytes).div_ceil(8) as usize];
                device.image_mut().read(&shape, begin + at - before, &mut words);
                let all = words.into_iter().flat_map(u32::to_le_bytes);
                Ok(all.skip(before as usize).take(bytes as usize).collect())
            }
            Use::Exchange => {
                let all = device.outputs(first);
                let range = at as usize..(at + bytes) as usize;
                all.map(|all| all[range].to_vec()).ok_or(CardError::Astray { address, bytes })
            }
        }
    }

    /// The number of the run in the record, if there is a place for it.
    fn recorded(&self) -> Option<Vec<u8>> {
        const RUN_AT: u64 = RECORD_BYTES as u64 - 4;
        let address = self.outputs + u64::from(self.design.record_at()) + RUN_AT;
        let (_, first, at) = self.buffer(address, 4).ok()?;
        self.device().outputs(first).map(|all| all[at as usize..][..4].to_vec())
    }

    /// Lets cycles pass until the record has another number than before the last doorbell, or long.
    fn until_a_record(&mut self) -> Result<(), CardError> {
        for _ in 0..NO_RECORD / LOOK {
            if self.recorded() != self.recorded {
                self.ledger.call(self.device().call_times());
                break;
            }
            for _ in 0..LOOK {
                self.bench.driver.device.tick().map_err(|why| CardError::Device(why.into()))?;
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), CardError> {
        self.ledger.write();
        if offset == named("DOORBELL").offset {
            self.recorded = self.recorded();
        }
        let device = &mut self.bench.driver.device;
        if offset == named("DOORBELL").offset {
            device.time_a_call();
        }
        let argument = Design::argument_offset(1);
        if offset == argument {
            self.outputs = self.outputs >> 32 << 32 | u64::from(value);
        } else if offset == argument + 4 {
            self.outputs = self.outputs & 0xffff_ffff | u64::from(value) << 32;
        }
        let error = named("ERROR").offset;
        if offset == error && device.read(error)? != 0 {
            device.set_faults(Faults::default());
        }
        Ok(device.write(offset, value)?)
    }

    fn read(&mut self, offset: u32) -> Result<u32, CardError> {
        self.ledger.read();
        if offset == named("CTRL").offset {
            self.pass(POLL)?;
        }
        Ok(self.bench.driver.device.read(offset)?)
    }

    /// Lets so many cycles pass, or fewer if the interrupt rises.
    fn pass(&mut self, cycles: u64) -> Result<(), CardError> {
        let device = &mut self.bench.driver.device;
        for _ in 0..cycles {
            if device.interrupt() {
                break;
            }
            device.tick().map_err(|why| CardError::Device(why.into()))?;
        }
        Ok(())
    }
}
