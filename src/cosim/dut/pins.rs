//! The fabric as a clock and ports, for drivers that set every input of a period themselves.
//!
//! After a tick every output has its value of the period that the tick ended, so that a handshake
//! is judged as the clock edge saw it. Payload is meaningful only while its `valid` is high: a
//! fabric in pieces does not copy it otherwise. A [`DutPorts`] is behind the ports: compiled
//! Verilog or the model. Nothing here knows the purpose of a port.

use super::clocks::Clocks;
use super::error::DutError;
use super::ports::{DutPorts, LinkFlip};
use crate::cosim::bits::{get_bits, in_one_word, put_bits};
use crate::cosim::build::ffi::Library;
use crate::cosim::build::is_own;
use crate::cosim::dut::verilated::verilated_ports::verilated;
use crate::emit::{Dir, ModuleSpec};
use crate::model::cycle::common::Reached;

/// Edges of each clock under reset.
const RESET_EDGES: u64 = 8;

/// One port of the fabric; tile t's part is the t-th.
#[derive(Debug, Clone, Copy)]
pub struct Pin {
    port: usize,
    total: u32,
    /// Bits of one tile's part.
    pub width: u32,
    input: bool,
}

/// A running fabric.
#[derive(Debug)]
pub struct Pins {
    dut: Box<dyn DutPorts>,
    cycle: u64,
    /// A flip that has not come, and the cycle of one that has.
    flip: (bool, Option<u64>),
}

impl Pins {
    /// A verilated fabric out of reset; `seed` sets what registers hold before it.
    ///
    /// # Errors
    /// If it does not fit into memory, or stops during reset.
    pub fn new(library: &Library, seed: u64) -> Result<Pins, DutError> {
        Pins::clocked(verilated(library, seed)?, &Clocks::IN_STEP)
    }

    /// Takes ports out of reset, with all inputs of `top` at rest: the opener of every bench.
    ///
    /// # Errors
    /// If it stops during reset, lacks a port, or cannot have these clocks.
    pub fn open(dut: Box<dyn DutPorts>, top: &ModuleSpec, clocks: &Clocks) -> Result<Pins, DutError> {
        let mut pins = Pins::clocked(dut, clocks)?;
        pins.silence(top)?;
        Ok(pins)
    }

    /// The same with inputs as they are.
    ///
    /// # Errors
    /// As [`Pins::open`].
    pub fn clocked(dut: Box<dyn DutPorts>, clocks: &Clocks) -> Result<Pins, DutError> {
        let mut pins = Pins { dut, cycle: 0, flip: (false, None) };
        pins.set_clocks(clocks)?;
        let periods = if clocks.in_step() { RESET_EDGES } else { clocks.periods(RESET_EDGES) };
        for _ in 0..periods {
            pins.dut.tick(true)?;
        }
        Ok(pins)
    }

    /// Sets the clocks from the next period on. [`Pins::tick`] is a period of the network's clock
    /// in any case.
    ///
    /// # Errors
    /// If there is one clock and two are asked for.
    pub fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        self.dut.set_clocks(clocks)
    }

    /// The port of `top` with this name and `tiles` parts.
    ///
    /// # Errors
    /// If the fabric was built for another design.
    pub fn pin(&mut self, top: &ModuleSpec, name: &str, tiles: u32) -> Result<Pin, DutError> {
        let mismatch = || DutError::Mismatch(format!("it has no port {name}"));
        let port = top.ports.iter().find(|p| p.name == name).ok_or_else(mismatch)?;
        let number = self.dut.find(name).ok_or_else(mismatch)?;
        let total = port.width.bits;
        Ok(Pin { port: number, total, width: total / tiles, input: port.dir == Dir::Input })
    }

    /// Sets every input of `top` to zero. [`Pins::tick`] drives clocks and resets.
    ///
    /// # Errors
    /// If the fabric was built for another design.
    pub fn silence(&mut self, top: &ModuleSpec) -> Result<(), DutError> {
        for port in top.ports.iter().filter(|p| p.dir == Dir::Input && !is_own(p)) {
            let pin = self.pin(top, &port.name, 1)?;
            self.set_part(pin, 0, &vec![0; port.width.bits.div_ceil(32) as usize]);
        }
        Ok(())
    }

    /// Bits `[tile * width +: width]` of a port of up to 64 bits a tile.
    #[inline]
    pub fn get(&self, pin: Pin, tile: usize) -> u64 {
        if let Some((at, shift, mask)) = in_one_word(tile * pin.width as usize, pin.width) {
            return u64::from((self.words(pin)[at] & mask) >> shift);
        }
        let mut value = 0;
        for (i, word) in self.part(pin, tile).enumerate().take(2) {
            value |= u64::from(word) << (32 * i);
        }
        value
    }

    /// One tile's part of a wide port, in words.
    #[inline]
    pub fn part(&self, pin: Pin, tile: usize) -> impl Iterator<Item = u32> + '_ {
        get_bits(self.words(pin), tile * pin.width as usize, pin.width)
    }

    /// A tile's part of a payload: the words of it that are carried.
    #[inline]
    pub fn payload(&self, pin: Pin, tile: usize) -> impl Iterator<Item = u32> + '_ {
        self.part(pin, tile).take(self.payload_words(pin.width))
    }

    /// Sets a tile's part of an input of up to 64 bits.
    #[inline]
    pub fn set(&mut self, pin: Pin, tile: usize, value: u64) {
        if let Some((at, shift, mask)) = in_one_word(tile * pin.width as usize, pin.width) {
            assert!(pin.input, "an output cannot be driven");
            let word = &mut self.dut.words_mut(pin.port, pin.total)[at];
            *word = *word & !mask | (value as u32) << shift & mask;
            return;
        }
        self.set_part(pin, tile, &[value as u32, (value >> 32) as u32]);
    }

    /// Sets a tile's part of an input from little-endian words.
    #[inline]
    pub fn set_part(&mut self, pin: Pin, tile: usize, value: &[u32]) {
        assert!(pin.input, "an output cannot be driven");
        let begin = tile * pin.width as usize;
        let words = self.dut.words_mut(pin.port, pin.total);
        put_bits(words, begin, pin.width, value);
    }

    /// Words that are carried of a payload of `bits`: all of compiled Verilog, the first of the
    /// model.
    pub fn payload_words(&self, bits: u32) -> usize {
        self.dut.payload_bits().min(bits).div_ceil(32) as usize
    }

    #[inline]
    fn words(&self, pin: Pin) -> &[u32] {
        self.dut.words(pin.port, pin.total)
    }

    /// Runs one period.
    ///
    /// # Errors
    /// [`DutError::Stopped`] if a check fired.
    pub fn tick(&mut self) -> Result<(), DutError> {
        self.dut.tick(false)?;
        if self.flip.0 && self.dut.flipped() {
            self.flip = (false, Some(self.cycle));
        }
        self.cycle += 1;
        Ok(())
    }

    /// Inverts a bit of a flit on a link.
    ///
    /// # Errors
    /// If the fabric has no such link.
    pub fn flip(&mut self, flip: &LinkFlip) -> Result<(), DutError> {
        self.dut.flip(flip)?;
        self.flip = (true, None);
        Ok(())
    }

    /// Cycle in which that flit came; `None` if it has not.
    pub fn flipped(&self) -> Option<u64> {
        self.flip.1
    }

    /// Rare states that the model behind it has reached; `None` without one.
    pub fn reached(&self) -> Option<Reached> {
        self.dut.reached()
    }

    /// Runs one period in reset.
    ///
    /// # Errors
    /// [`DutError::Stopped`] if a check fired.
    pub fn tick_in_reset(&mut self) -> Result<(), DutError> {
        self.dut.tick(true)?;
        self.cycle += 1;
        Ok(())
    }

    /// Periods since the first reset.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }
}
