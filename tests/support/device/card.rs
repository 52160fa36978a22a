//! A co-simulated device as the card of a host's program, behind the Unix socket of `tests/device/xrt/remote.hpp`.

use super::{assert_rules, lasting_whole, whole};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::memory::{Image, Shape};
use meshkv::cosim::workloads::device::{Bench, Faults, Platform};
use meshkv::design::device::registers::{named, RECORD_BYTES};
use meshkv::design::{channels_of, Design};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// Cycles between two reads of CTRL: a host waits between them.
const POLL: u64 = 200;
/// Cycles after which a wait for the interrupt ends without one.
const NO_INTERRUPT: u64 = 20_000;
/// Cycles after which a wait for a record ends without one: more than a run takes that memory does not answer.
const NO_RECORD: u64 = 10_000_000;
/// Seed of the contents of external memory before a host writes it.
const GARBAGE: u64 = 0x6a72_6267;

/// What a host keeps in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Lists of descriptors, queries and outputs.
    Exchange,
    /// A part of the cache: its first byte among those of all homes.
    Cache(u64),
}

/// Bits of STATUS.RUN.
const RUN: u32 = 0xf;
/// Bytes that a host without a shell has for all but the cache.
const ROOM: u64 = 1 << 18;

/// The card.
pub struct Card {
    bench: Bench,
    design: Design,
    shape: Shape,
    /// Buffers by address: what each is, and its bytes.
    buffers: BTreeMap<u64, (Use, u64)>,
    /// The buffers of a host that finds places itself.
    own: BTreeMap<u64, (Use, u64)>,
    freed: usize,
    early: usize,
    /// The argument `outputs`.
    outputs: u64,
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
    /// A card in its first state, with garbage in its memory.
    pub fn new(design: &Design) -> Card {
        Card::of(design, whole, part_address)
    }

    /// The card without a shell: memory is the host's. Parts of the cache begin with their channels, and behind the first
    /// of them there is room for the rest.
    pub fn bare(design: &Design) -> Card {
        let begin =
            |design: &Design, port| part_address(design, port) & !(design.fpga().hbm_channel_bytes - 1);
        let mut card = Card::of(design, whole, begin);
        let part = |port| (begin(design, port), (Use::Cache(part_first(design, port)), 0));
        card.own = (0..design.memory.ports).map(part).collect();
        let homes = design.homes_of_port(0).count() as u64;
        let behind = ((homes.max(1) - 1) << design.memory.region_width) + design.region_bytes() as u64;
        card.own.insert(behind.next_multiple_of(4096), (Use::Exchange, ROOM));
        card
    }

    /// The same for programs that run for many minutes.
    pub fn lasting(design: &Design) -> Card {
        Card::of(design, lasting_whole, part_address)
    }

    fn of(
        design: &Design,
        build: fn(&Design, &Platform, &Clocks) -> Bench,
        address: impl Fn(&Design, u32) -> u64,
    ) -> Card {
        let mut platform = Platform::of(design);
        let base = |port| address(design, port).wrapping_sub(part_first(design, port));
        platform.bases = (0..design.memory.ports).map(base).collect();
        let mut bench = build(design, &platform, &Clocks::IN_STEP);
        bench.driver.device.set_image(Image::Hash(GARBAGE));
        let (buffers, own) = (BTreeMap::new(), BTreeMap::new());
        let (design, shape) = (design.clone(), Shape::of(design));
        Card { bench, design, shape, buffers, own, freed: 0, early: 0, outputs: 0 }
    }

    /// Runs a host's program on the card to its end. No rule of AXI may be broken.
    pub fn serve(&mut self, command: &mut Command) -> Output {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("card");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        command.env("MESHKV_FAKE_SOCKET", &path).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        while child.try_wait().unwrap().is_none() {
            match listener.accept() {
                Ok((host, _)) => self.answer(host),
                Err(why) if why.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(why) => panic!("{why}"),
            }
        }
        assert_rules(&self.bench, "a host's program");
        child.wait_with_output().unwrap()
    }

    /// Answers a host until it closes its end.
    fn answer(&mut self, mut host: UnixStream) {
        host.set_nonblocking(false).unwrap();
        self.buffers.clear();
        for (address, (of, bytes)) in self.own.clone() {
            self.give(address, of, bytes);
        }
        let mut kind = [0];
        while host.read_exact(&mut kind).is_ok() {
            let mut number = || {
                let mut bytes = [0; 8];
                host.read_exact(&mut bytes).expect("a message is whole");
                u64::from_le_bytes(bytes)
            };
            let reply = match kind[0] {
                b'A' => {
                    let (bytes, memory) = (number(), number());
                    self.allocate(bytes, memory as u32).to_le_bytes().to_vec()
                }
                b'F' => {
                    number();
                    self.freed += 1;
                    self.early += usize::from(self.busy());
                    continue;
                }
                b'P' => {
                    let (address, mut bytes) = (number(), vec![0; number() as usize]);
                    host.read_exact(&mut bytes).expect("a message is whole");
                    self.put(address, &bytes);
                    continue;
                }
                b'G' => {
                    let (address, bytes) = (number(), number());
                    self.get(address, bytes as usize)
                }
                b'W' => {
                    let (offset, value) = (number(), number());
                    self.write(offset as u32, value as u32);
                    continue;
                }
                b'R' => u64::from(self.register(number() as u32)).to_le_bytes().to_vec(),
                b'I' => {
                    self.pass(NO_INTERRUPT);
                    vec![0; 8]
                }
                b'E' => {
                    self.until_a_record();
                    vec![0; 8]
                }
                other => panic!("a message begins with {other}"),
            };
            host.write_all(&reply).expect("the host takes the answer");
        }
    }

    /// Gives the memories faults, until a host clears an error.
    pub fn break_memory(&mut self, faults: Faults) {
        self.bench.driver.device.set_faults(faults);
    }

    /// Buffers that hosts have given back, and buffers that one had or gave back while the device could write them.
    pub fn freed(&self) -> (usize, usize) {
        (self.freed, self.early)
    }

    /// True while memory owes an answer, or a run is under way.
    fn busy(&mut self) -> bool {
        let device = &mut self.bench.driver.device;
        device.waiting() > 0 || device.read(named("STATUS").offset).unwrap() & RUN != 0
    }

    fn write(&mut self, offset: u32, value: u32) {
        let argument = Design::argument_offset(1);
        if offset == argument {
            self.outputs = self.outputs >> 32 << 32 | u64::from(value);
        } else if offset == argument + 4 {
            self.outputs = self.outputs & 0xffff_ffff | u64::from(value) << 32;
        }
        let error = named("ERROR").offset;
        if offset == error && self.bench.driver.device.read(error).unwrap() != 0 {
            self.bench.driver.device.set_faults(Faults::default());
        }
        self.bench.driver.device.write(offset, value).unwrap();
    }

    /// A buffer in a memory of the stand-in: a channel of HBM, or DDR for the kernel's argument of a number from 1000 on.
    fn allocate(&mut self, bytes: u64, memory: u32) -> u64 {
        self.early += usize::from(self.busy());
        let ports = self.design.memory.ports;
        let channels = self.design.fpga().hbm_channels;
        let (address, of) = match memory {
            1000.. => (0x7_0000_3000 + (u64::from(memory) << 32), Use::Exchange),
            channel => {
                let port = (0..ports).find(|&port| channels_of(port, ports, channels).contains(&channel));
                let port = port.expect("every channel has a port");
                (part_address(&self.design, port), Use::Cache(part_first(&self.design, port)))
            }
        };
        self.give(address, of, bytes);
        address
    }

    /// A buffer, with garbage in it.
    fn give(&mut self, address: u64, of: Use, bytes: u64) {
        if of == Use::Exchange {
            self.bench.driver.device.put_outputs(address, vec![0xa5; bytes as usize]);
        }
        self.buffers.insert(address, (of, bytes));
        self.put(address, &[]);
    }

    /// The buffer at an address: its first address, and what it is.
    fn buffer(&self, address: u64) -> (u64, Use) {
        let (first, (of, bytes)) = self.buffers.range(..=address).next_back().expect("a buffer is there");
        assert!(address <= first + bytes, "a buffer has the address");
        (*first, *of)
    }

    fn put(&mut self, address: u64, bytes: &[u8]) {
        let (first, of) = self.buffer(address);
        let at = address - first;
        let device = &mut self.bench.driver.device;
        match of {
            Use::Cache(begin) => device.image_mut().write(begin + at, bytes),
            Use::Exchange => {
                // Reads and writes have a memory each: both get all that is there now.
                let mut contents = device.outputs(first).expect("it was put there").to_vec();
                contents[at as usize..][..bytes.len()].copy_from_slice(bytes);
                device.put_queries(first, contents.clone());
                device.put_outputs(first, contents);
            }
        }
    }

    fn get(&mut self, address: u64, bytes: usize) -> Vec<u8> {
        let (first, of) = self.buffer(address);
        let at = address - first;
        let device = &mut self.bench.driver.device;
        match of {
            Use::Cache(begin) => {
                let mut words = vec![0; bytes / 4];
                device.image_mut().read(&self.shape, begin + at, &mut words);
                words.into_iter().flat_map(u32::to_le_bytes).collect()
            }
            Use::Exchange => {
                device.outputs(first).expect("it was put there")[at as usize..][..bytes].to_vec()
            }
        }
    }

    /// Lets cycles pass until the record of a run has another number, or long.
    fn until_a_record(&mut self) {
        const RUN: u64 = RECORD_BYTES as u64 - 4;
        let address = self.outputs + u64::from(self.design.record_at()) + RUN;
        let first = self.buffer(address).0;
        let run = |card: &Card| {
            card.bench.driver.device.outputs(first).unwrap()[(address - first) as usize..][..4].to_vec()
        };
        let before = run(self);
        for _ in 0..NO_RECORD / 16 {
            for _ in 0..16 {
                self.bench.driver.device.tick().unwrap();
            }
            if run(self) != before {
                return;
            }
        }
    }

    fn register(&mut self, offset: u32) -> u32 {
        if offset == named("CTRL").offset {
            self.pass(POLL);
        }
        self.bench.driver.device.read(offset).unwrap()
    }

    /// Lets so many cycles pass, or fewer if the interrupt rises.
    fn pass(&mut self, cycles: u64) {
        for _ in 0..cycles {
            if self.bench.driver.device.interrupt() {
                return;
            }
            self.bench.driver.device.tick().unwrap();
        }
    }
}

/// Path of the stand-in for XRT.
pub fn stand_in() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device/xrt")
}
