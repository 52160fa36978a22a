//! The fabric as a clock and ports, for drivers that say themselves what a period carries.
//!
//! After a tick every output shows what it carried in the period that the tick ended, so a
//! handshake is judged as the clock edge saw it. What belongs to a valid means something only with it:
//! of a fabric in pieces it is not copied otherwise. This is, beside [`super::dut`], the only place with
//! calls into the library; it knows no port by its purpose.

use super::clocks::Clocks;
use super::dut::DutError;
use super::ffi::{self, Library};
use crate::emit::{Dir, ModuleSpec};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::slice;

/// Edges of each clock under reset.
const RESET_EDGES: u64 = 8;

/// One port of the fabric; tile t's part of it is the t-th.
#[derive(Debug, Clone, Copy)]
pub struct Pin {
    words: NonNull<u32>,
    total: u32,
    /// Bits of one tile's part.
    pub width: u32,
    input: bool,
}

/// A running fabric.
#[derive(Debug)]
pub struct Pins {
    handle: NonNull<ffi::Handle>,
    library: Library,
    cycle: u64,
}

// SAFETY: a handle may move between threads as long as one uses it at a time (`sim/shim.h`).
unsafe impl Send for Pins {}

impl Pins {
    /// A fabric out of reset; `seed` sets what registers hold before it.
    ///
    /// # Errors
    /// If it does not fit into memory, or stops during reset.
    pub fn new(library: &Library, seed: u64) -> Result<Pins, DutError> {
        Pins::with_clocks(library, seed, &Clocks::IN_STEP)
    }

    /// The same with a clock of its own for what computes, through the reset as well.
    ///
    /// # Errors
    /// As [`Pins::new`], and if the library has one clock and two are asked for.
    pub fn with_clocks(library: &Library, seed: u64, clocks: &Clocks) -> Result<Pins, DutError> {
        // SAFETY: no precondition; null means failure.
        let handle = unsafe { (library.symbols().pins_create)(seed) };
        let handle = NonNull::new(handle).ok_or(DutError::Memory)?;
        let mut pins = Pins { handle, library: library.clone(), cycle: 0 };
        pins.set_clocks(clocks)?;
        let periods = if clocks.in_step() { RESET_EDGES } else { clocks.periods(RESET_EDGES) };
        for _ in 0..periods {
            pins.edge(true)?;
        }
        Ok(pins)
    }

    /// Lets the clocks run so from the next period on. [`Pins::tick`] is a period of the network's in any case.
    ///
    /// # Errors
    /// If the library has one clock and two are asked for.
    pub fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        // SAFETY: the handle is alive and used by this thread only; the struct mirrors the header.
        let set = unsafe { (self.library.symbols().pins_clocks)(self.handle.as_ptr(), &clocks.raw()) };
        if set || clocks.in_step() {
            return Ok(());
        }
        Err(DutError::Mismatch("its clocks run in step".to_owned()))
    }

    /// Starts an FST file in the time of the clocks. Needs a library built with [`super::verilate::RunLength::Trace`].
    ///
    /// # Errors
    /// [`DutError::Wave`] if the file cannot be written or the library has no waves.
    pub fn wave_start(&mut self, path: &Path) -> Result<(), DutError> {
        let name = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| DutError::Wave(format!("{} cannot be a file name", path.display())))?;
        // SAFETY: the handle is alive; the name ends in a zero and is read before the call returns.
        let status = unsafe { (self.library.symbols().pins_wave_start)(self.handle.as_ptr(), name.as_ptr()) };
        if status == ffi::OK {
            Ok(())
        } else {
            Err(DutError::Wave(self.message()))
        }
    }

    /// Closes the wave file, if one is open. Dropping the instance does so too.
    pub fn wave_stop(&mut self) {
        // SAFETY: the handle is alive. The file is closed in any case; there is no status to judge.
        unsafe { (self.library.symbols().pins_wave_stop)(self.handle.as_ptr()) };
    }

    /// The port of `top` with this name; `tiles` is how many parts it has.
    ///
    /// # Errors
    /// If the library was built for another design.
    pub fn pin(&mut self, top: &ModuleSpec, name: &str, tiles: u32) -> Result<Pin, DutError> {
        let mismatch = || DutError::Mismatch(format!("it has no port {name}"));
        let port = top.ports.iter().find(|p| p.name == name).ok_or_else(mismatch)?;
        let c_name = CString::new(name).map_err(|_| mismatch())?;
        // SAFETY: the handle is alive, the name ends with a zero.
        let words = unsafe { (self.library.symbols().pins_port)(self.handle.as_ptr(), c_name.as_ptr()) };
        let words = NonNull::new(words).ok_or_else(mismatch)?;
        let total = port.width.bits;
        Ok(Pin { words, total, width: total / tiles, input: port.dir == Dir::Input })
    }

    /// Bits `[tile * width +: width]` of a port of up to 64 bits a tile.
    pub fn get(&self, pin: Pin, tile: usize) -> u64 {
        let mut value = 0;
        for (i, word) in self.part(pin, tile).enumerate().take(2) {
            value |= u64::from(word) << (32 * i);
        }
        value
    }

    /// A wide port's part of one tile, in words.
    pub fn part(&self, pin: Pin, tile: usize) -> impl Iterator<Item = u32> + '_ {
        let words = self.words(pin);
        let begin = tile * pin.width as usize;
        (0..pin.width as usize).step_by(32).map(move |bit| {
            let (at, shift) = ((begin + bit) / 32, (begin + bit) % 32);
            let low = words[at] >> shift;
            let high = if shift == 0 { 0 } else { words.get(at + 1).copied().unwrap_or(0) << (32 - shift) };
            let left = pin.width as usize - bit;
            (low | high) & if left >= 32 { u32::MAX } else { (1 << left) - 1 }
        })
    }

    /// Sets a tile's part of an input of up to 64 bits.
    pub fn set(&mut self, pin: Pin, tile: usize, value: u64) {
        self.set_part(pin, tile, &[value as u32, (value >> 32) as u32]);
    }

    /// Sets a tile's part of an input from little-endian words.
    pub fn set_part(&mut self, pin: Pin, tile: usize, value: &[u32]) {
        assert!(pin.input, "an output cannot be driven");
        let begin = tile * pin.width as usize;
        // SAFETY: the words belong to the live model, which runs only in `edge`; the length is the port's.
        let words = unsafe { slice::from_raw_parts_mut(pin.words.as_ptr(), pin.total.div_ceil(32) as usize) };
        for bit in (0..pin.width as usize).step_by(32) {
            let left = (pin.width as usize - bit).min(32);
            let mask = u64::MAX >> (64 - left);
            let (at, shift) = ((begin + bit) / 32, (begin + bit) % 32);
            let wide = (u64::from(value[bit / 32]) & mask) << shift;
            let mask = mask << shift;
            words[at] = words[at] & !(mask as u32) | wide as u32;
            if mask >> 32 != 0 {
                words[at + 1] = words[at + 1] & !((mask >> 32) as u32) | (wide >> 32) as u32;
            }
        }
    }

    fn words(&self, pin: Pin) -> &[u32] {
        // SAFETY: the words belong to the live model, which runs only in `edge`; the length is the port's.
        unsafe { slice::from_raw_parts(pin.words.as_ptr(), pin.total.div_ceil(32) as usize) }
    }

    /// Runs one period.
    ///
    /// # Errors
    /// [`DutError::Stopped`] if a check in the RTL fired.
    pub fn tick(&mut self) -> Result<(), DutError> {
        self.edge(false)?;
        self.cycle += 1;
        Ok(())
    }

    /// Periods since reset.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    fn edge(&mut self, rst: bool) -> Result<(), DutError> {
        let symbols = self.library.symbols();
        // SAFETY: the handle is alive and used by this thread only.
        if unsafe { (symbols.pins_tick)(self.handle.as_ptr(), rst) } == ffi::OK {
            return Ok(());
        }
        Err(DutError::Stopped(self.message()))
    }

    /// Why the last call failed.
    fn message(&self) -> String {
        // SAFETY: the handle is alive; the text ends with a zero and lives until the next call.
        let message = unsafe { CStr::from_ptr((self.library.symbols().pins_message)(self.handle.as_ptr())) };
        message.to_string_lossy().into_owned()
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { (self.library.symbols().pins_destroy)(self.handle.as_ptr()) };
    }
}
