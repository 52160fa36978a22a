//! The ports of a fabric that was compiled from Verilog.
//!
//! Only this file and [`crate::cosim::dut::verilated::verilated_mesh`] call the library.

use crate::cosim::build::ffi::{self, Library};
use crate::cosim::build::SIDES;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::dut::error::DutError;
use crate::cosim::dut::ports::{DutPorts, LinkFlip};
use crate::cosim::dut::verilated::wave_file;
use std::ffi::{CStr, CString};
use std::path::Path;
use std::ptr::NonNull;
use std::slice;

/// A fabric that was compiled from Verilog.
#[derive(Debug)]
pub(in crate::cosim) struct VerilatedPorts {
    handle: NonNull<ffi::Handle>,
    library: Library,
    /// Words of the ports that were looked up.
    ports: Vec<NonNull<u32>>,
}

// SAFETY: a handle may move between threads as long as one uses it at a time (`sim/shim.h`).
unsafe impl Send for VerilatedPorts {}

impl VerilatedPorts {
    /// The fabric before its reset.
    pub(in crate::cosim) fn new(library: &Library, seed: u64) -> Result<VerilatedPorts, DutError> {
        // SAFETY: no precondition; null means failure.
        let handle = unsafe { (library.symbols().pins_create)(seed) };
        let handle = NonNull::new(handle).ok_or(DutError::Memory)?;
        Ok(VerilatedPorts { handle, library: library.clone(), ports: Vec::new() })
    }

    /// Reason why the last call failed.
    fn message(&self) -> String {
        // SAFETY: the handle is alive; the text ends with a zero and lives until the next call.
        let message = unsafe { CStr::from_ptr((self.library.symbols().pins_message)(self.handle.as_ptr())) };
        message.to_string_lossy().into_owned()
    }
}

impl DutPorts for VerilatedPorts {
    fn find(&mut self, name: &str) -> Option<usize> {
        let c_name = CString::new(name).ok()?;
        // SAFETY: the handle is alive, the name ends with a zero.
        let words = unsafe { (self.library.symbols().pins_port)(self.handle.as_ptr(), c_name.as_ptr()) };
        self.ports.push(NonNull::new(words)?);
        Some(self.ports.len() - 1)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        // SAFETY: the words belong to the live model, which runs only in `tick`; the length is the port's.
        unsafe { slice::from_raw_parts(self.ports[port].as_ptr(), bits.div_ceil(32) as usize) }
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        // SAFETY: as for `words`, and nothing else is borrowed from it.
        unsafe { slice::from_raw_parts_mut(self.ports[port].as_ptr(), bits.div_ceil(32) as usize) }
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        let symbols = self.library.symbols();
        // SAFETY: the handle is alive and used by this thread only.
        if unsafe { (symbols.pins_tick)(self.handle.as_ptr(), rst) } == ffi::OK {
            return Ok(());
        }
        Err(DutError::Stopped(self.message()))
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        // SAFETY: the handle is alive and used by this thread only; the struct mirrors the header.
        let set = unsafe { (self.library.symbols().pins_clocks)(self.handle.as_ptr(), &clocks.raw()) };
        if set || clocks.in_step() {
            return Ok(());
        }
        Err(DutError::Mismatch("its clocks run in step".to_owned()))
    }

    fn wave_start(&mut self, path: &Path) -> Result<(), DutError> {
        wave_file::start(path, |name| {
            // SAFETY: the handle is alive; the name ends in a zero and is read before the call returns.
            let status =
                unsafe { (self.library.symbols().pins_wave_start)(self.handle.as_ptr(), name.as_ptr()) };
            if status == ffi::OK {
                Ok(())
            } else {
                Err(DutError::Wave(self.message()))
            }
        })
    }

    fn wave_stop(&mut self) {
        // SAFETY: the handle is alive. The file is closed in any case; there is no status to judge.
        unsafe { (self.library.symbols().pins_wave_stop)(self.handle.as_ptr()) };
    }

    fn flip(&mut self, flip: &LinkFlip) -> Result<(), DutError> {
        let LinkFlip { tile, side, number, bit } = *flip;
        let place = SIDES.iter().position(|of| *of == side);
        let side = place.map_or(u32::MAX, |place| place as u32);
        // SAFETY: the handle is alive and used by this thread only.
        let there =
            unsafe { (self.library.symbols().pins_flip)(self.handle.as_ptr(), tile, side, number, bit) };
        let missing = || DutError::Mismatch(format!("it has no link like that of {flip:?} between pieces"));
        there.then_some(()).ok_or_else(missing)
    }

    fn flipped(&self) -> bool {
        // SAFETY: the handle is alive and used by this thread only.
        unsafe { (self.library.symbols().pins_flipped)(self.handle.as_ptr()) }
    }

    fn payload_bits(&self) -> u32 {
        u32::MAX
    }
}

impl Drop for VerilatedPorts {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { (self.library.symbols().pins_destroy)(self.handle.as_ptr()) };
    }
}

/// A verilated fabric before its reset; `seed` sets what registers hold.
///
/// # Errors
/// If it does not fit into memory.
pub fn verilated(library: &Library, seed: u64) -> Result<Box<dyn DutPorts>, DutError> {
    Ok(Box::new(VerilatedPorts::new(library, seed)?))
}
