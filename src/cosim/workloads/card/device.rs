//! A device with buffers at addresses, as the stand-in for XRT sees it.

use super::error::CardError;
use super::message::{Reply, Request};
use crate::cosim::memory::{Image, Shape};
use crate::cosim::workloads::device::{Bench, Device, Faults, Platform};
use crate::design::device::registers::named;
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

/// What a host keeps in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Queries, or a list of descriptors.
    Reads,
    Outputs,
    /// A part of the cache: its first byte among those of all homes.
    Cache(u64),
}

/// A buffer.
struct Buffer {
    of: Use,
    bytes: u64,
    /// Its contents, but for those of the cache.
    contents: Vec<u8>,
}

/// The card.
pub struct Card {
    bench: Bench,
    design: Design,
    shape: Shape,
    /// Buffers by address.
    buffers: BTreeMap<u64, Buffer>,
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
    /// The platform of a card: each port's part of the cache is where [`Card`] has its buffer.
    pub fn platform(design: &Design) -> Platform {
        let base = |port| part_address(design, port).wrapping_sub(part_first(design, port));
        Platform { bases: (0..design.memory.ports).map(base).collect(), ..Platform::of(design) }
    }

    /// A card in its first state, with garbage in its memory. The device has the platform of [`Card::platform`].
    pub fn new(mut bench: Bench, design: &Design) -> Card {
        bench.driver.device.set_image(Image::Hash(GARBAGE));
        Card { bench, design: design.clone(), shape: Shape::of(design), buffers: BTreeMap::new() }
    }

    /// The device, to read its counts.
    pub fn device(&self) -> &Device {
        &self.bench.driver.device
    }

    /// Takes the buffers of the last host away. Registers and memory stay as they are.
    pub fn release(&mut self) {
        self.buffers.clear();
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
        }
    }

    fn allocate(&mut self, bytes: u64, memory: u32) -> Result<u64, CardError> {
        let ports = self.design.memory.ports;
        let channels = self.design.fpga().hbm_channels;
        let (address, of) = match memory {
            1000 => (0x7_0000_3000, Use::Reads),
            1001 => (0x9_ffff_e000, Use::Outputs),
            1002.. => (0x6_ffff_f000, Use::Reads),
            channel => {
                let port = (0..ports).find(|&port| channels_of(port, ports, channels).contains(&channel));
                let port = port.ok_or(CardError::Memory(channel))?;
                (part_address(&self.design, port), Use::Cache(part_first(&self.design, port)))
            }
        };
        let contents = match of {
            Use::Cache(_) => Vec::new(),
            Use::Reads | Use::Outputs => vec![BLANK; bytes as usize],
        };
        self.buffers.insert(address, Buffer { of, bytes, contents });
        self.put(address, &[])?;
        Ok(address)
    }

    /// The buffer that has these bytes, its address, and their place in it.
    fn buffer(&mut self, address: u64, bytes: u64) -> Result<(u64, u64, &mut Buffer), CardError> {
        let astray = CardError::Astray { address, bytes };
        let Some((&first, buffer)) = self.buffers.range_mut(..=address).next_back() else {
            return Err(astray);
        };
        let at = address - first;
        if at.saturating_add(bytes) > buffer.bytes {
            return Err(astray);
        }
        Ok((first, at, buffer))
    }

    fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), CardError> {
        let (first, at, buffer) = self.buffer(address, bytes.len() as u64)?;
        if let Use::Cache(begin) = buffer.of {
            self.bench.driver.device.image_mut().write(begin + at, bytes);
            return Ok(());
        }
        buffer.contents[at as usize..][..bytes.len()].copy_from_slice(bytes);
        let (of, contents) = (buffer.of, buffer.contents.clone());
        match of {
            Use::Outputs => self.bench.driver.device.put_outputs(first, contents),
            Use::Reads | Use::Cache(_) => self.bench.driver.device.put_queries(first, contents),
        }
        Ok(())
    }

    fn get(&mut self, address: u64, bytes: u64) -> Result<Vec<u8>, CardError> {
        let shape = self.shape;
        let (first, at, buffer) = self.buffer(address, bytes)?;
        let range = at as usize..(at + bytes) as usize;
        match buffer.of {
            Use::Cache(begin) => {
                // Memory is read by words of eight bytes.
                let before = (begin + at) % 8;
                let mut words = vec![0; 2 * (before + bytes).div_ceil(8) as usize];
                self.bench.driver.device.image_mut().read(&shape, begin + at - before, &mut words);
                let all = words.into_iter().flat_map(u32::to_le_bytes);
                Ok(all.skip(before as usize).take(bytes as usize).collect())
            }
            Use::Reads => Ok(buffer.contents[range].to_vec()),
            Use::Outputs => {
                let all = self.bench.driver.device.outputs(first);
                all.map(|all| all[range].to_vec()).ok_or(CardError::Astray { address, bytes })
            }
        }
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), CardError> {
        let device = &mut self.bench.driver.device;
        let error = named("ERROR").offset;
        if offset == error && device.read(error)? != 0 {
            device.set_faults(Faults::default());
        }
        Ok(device.write(offset, value)?)
    }

    fn read(&mut self, offset: u32) -> Result<u32, CardError> {
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
