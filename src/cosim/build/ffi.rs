//! The C surface of a compiled fabric (`sim/shim.h`), resolved at loading.
//!
//! It mirrors the header and nothing more. [`crate::cosim::dut`] keeps the rules of which call is
//! legal when.

use super::error::BuildError;
use std::ffi::{c_char, c_void};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `MESHKV_ABI` of the header this file mirrors.
const ABI: u32 = 4;

/// Handle of a fabric, used only behind a pointer.
pub(in crate::cosim) type Handle = c_void;

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::cosim) struct Geometry {
    pub abi: u32,
    pub tiles: u32,
    pub vcs: u32,
    pub vc_depth: u32,
    pub dest_width: u32,
    pub head_width: u32,
    pub flit_width: u32,
    pub traced: u32,
    pub clocks: u32,
}

#[repr(C)]
pub(in crate::cosim) struct RawFlit {
    pub tile: u32,
    pub queue: u32,
    pub vc_mask: u32,
    pub last: u32,
    pub ready_cycle: u64,
    pub dest: *const u32,
    pub head: *const u32,
    pub data: *const u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(in crate::cosim) struct RawEntry {
    pub cycle: u64,
    pub sequence: u64,
    pub tile: u32,
    pub queue: u32,
    pub vc: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::cosim) struct RawTotals {
    pub queued: u64,
    pub entered: u64,
    pub left: u64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(in crate::cosim) struct RawClocks {
    pub noc_fs: u64,
    pub pe_fs: u64,
    pub phase_fs: u64,
    pub jitter_fs: u64,
    pub seed: u64,
}

pub(in crate::cosim) const OK: i32 = 0;
pub(in crate::cosim) const STUCK: i32 = 1;
pub(in crate::cosim) const PROTOCOL: i32 = 3;

/// Declares the table of functions and its loading from a library.
macro_rules! symbols {
    ($($name:ident: fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// All functions of the surface.
        #[derive(Clone, Copy)]
        pub(in crate::cosim) struct Symbols {
            $(pub $name: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
        }

        impl Symbols {
            /// Looks up every function.
            ///
            /// # Safety
            /// `library` must export the surface of `sim/shim.h`, and outlive the result.
            unsafe fn resolve(library: &libloading::Library) -> Result<Symbols, libloading::Error> {
                Ok(Symbols {
                    $(
                        // SAFETY: the caller vouches for the surface; the types mirror the header.
                        $name: *unsafe { library.get(concat!("meshkv_", stringify!($name), "\0").as_bytes())? },
                    )*
                })
            }
        }
    };
}

symbols! {
    describe: fn(*mut Geometry);
    create: fn(u64) -> *mut Handle;
    destroy: fn(*mut Handle);
    reset: fn(*mut Handle) -> i32;
    message: fn(*const Handle) -> *const c_char;
    inject: fn(*mut Handle, *const RawFlit) -> bool;
    step: fn(*mut Handle, u64) -> i32;
    cycle: fn(*const Handle) -> u64;
    take_ejections: fn(*mut Handle, *mut usize) -> *const u32;
    take_entries: fn(*mut Handle, *mut usize) -> *const RawEntry;
    record: fn(*mut Handle, bool, bool);
    stall: fn(*mut Handle, u32, u64, u64);
    watchdog: fn(*mut Handle, u64);
    totals_now: fn(*const Handle, *mut RawTotals);
    counters: fn(*const Handle) -> *const u32;
    vc_busy: fn(*const Handle) -> *const u32;
    links: fn(*const Handle, *mut u32) -> bool;
    credit: fn(*const Handle, u32, u32) -> u32;
    credits_home: fn(*const Handle) -> bool;
    drained: fn(*const Handle) -> bool;
    wave_start: fn(*mut Handle, *const c_char) -> i32;
    wave_stop: fn(*mut Handle) -> i32;
    pins_create: fn(u64) -> *mut Handle;
    pins_destroy: fn(*mut Handle);
    pins_port: fn(*mut Handle, *const c_char) -> *mut u32;
    pins_tick: fn(*mut Handle, bool) -> i32;
    pins_clocks: fn(*mut Handle, *const RawClocks) -> bool;
    pins_flip: fn(*mut Handle, u32, u32, u64, u32) -> bool;
    pins_flipped: fn(*const Handle) -> bool;
    pins_wave_start: fn(*mut Handle, *const c_char) -> i32;
    pins_wave_stop: fn(*mut Handle);
    pins_message: fn(*const Handle) -> *const c_char;
}

/// Returns the words of `meshkv_mutants_state`: chosen, differed, count, then bits of the present and of the reached.
type MutantsFn = unsafe extern "C" fn() -> *mut u32;

/// The mutants of a library whose sources are guarded: one at most is chosen, for all simulations on it.
#[derive(Debug, Clone)]
pub struct Mutants {
    state: MutantsFn,
    _library: Library,
}

impl Mutants {
    fn word(&self, at: usize) -> *mut u32 {
        // SAFETY: the library is loaded, and has as many words as its third says.
        unsafe { (self.state)().add(at) }
    }

    /// Chooses a mutant, or none with 0, and forgets what was noted. No simulation may run meanwhile.
    pub fn choose(&self, number: u32) {
        // SAFETY: nothing else uses the words while no simulation runs; the last ones are those that are there.
        unsafe {
            (*self.word(0), *self.word(1)) = (number, 0);
            let words = *self.word(2) as usize;
            (0..words).for_each(|at| *self.word(3 + words + at) = 0);
        }
    }

    /// Forgets whether the changed expression had another value.
    pub fn forget(&self) {
        // SAFETY: as above.
        unsafe { *self.word(1) = 0 };
    }

    /// True if the changed expression of the chosen mutant has had another value since.
    pub fn differed(&self) -> bool {
        // SAFETY: as above.
        unsafe { *self.word(1) != 0 }
    }

    /// True if the library has the mutant: elaboration may leave it out.
    pub fn is_present(&self, number: u32) -> bool {
        self.bit(0, number)
    }

    /// Mutants whose changed expression has had another value since none was chosen, or whose statement was reached. A
    /// run is the same with any other.
    pub fn reached(&self) -> Vec<u32> {
        // SAFETY: as above.
        let words = unsafe { *self.word(2) };
        (0..32 * words).filter(|number| self.bit(words as usize, *number)).collect()
    }

    /// A bit of the words behind the third, from one of them on.
    fn bit(&self, from: usize, number: u32) -> bool {
        // SAFETY: as above; the word is one of those that are there.
        let word = |at: usize| unsafe { *self.word(at) };
        let at = number as usize / 32;
        at < word(2) as usize && word(3 + from + at) >> (number % 32) & 1 == 1
    }
}

/// A loaded library of a compiled fabric. Cloning is cheap. Any number of
/// [`crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh`]s can run on it.
#[derive(Clone)]
pub struct Library {
    inner: Arc<Loaded>,
}

struct Loaded {
    symbols: Symbols,
    geometry: Geometry,
    path: PathBuf,
    mutants: Option<MutantsFn>,
    // Declared last and never used again: the functions above are valid while it is loaded.
    _library: libloading::Library,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Library").field("geometry", &self.inner.geometry).finish_non_exhaustive()
    }
}

impl Library {
    /// Opens a library that [`super::verilate::build`] has built.
    pub(in crate::cosim) fn load(path: &Path) -> Result<Library, BuildError> {
        let fail = |e: libloading::Error| BuildError::Load(e.to_string());
        // SAFETY: the file's hash is that of what was linked from the shim; its initialisers are
        // Verilator's and the C++ library's and touch nothing of ours.
        let library = unsafe { libloading::Library::new(path) }.map_err(fail)?;
        // SAFETY: linked from the shim, as above; kept beside the functions, so it outlives them.
        let symbols = unsafe { Symbols::resolve(&library) }.map_err(fail)?;
        let mut geometry = Geometry::default();
        // SAFETY: writes one struct of the mirrored layout.
        unsafe { (symbols.describe)(&mut geometry) };
        if geometry.abi != ABI {
            return Err(BuildError::Load(format!("it has interface {}, not {ABI}", geometry.abi)));
        }
        // SAFETY: a library that has it has it from the header of `eval::mutate`.
        let mutants = unsafe { library.get::<MutantsFn>(b"meshkv_mutants\0") }.ok().map(|function| *function);
        let path = path.to_owned();
        Ok(Library { inner: Arc::new(Loaded { symbols, geometry, path, mutants, _library: library }) })
    }

    /// Loads a library that a build of this version has left at [`Library::path`].
    ///
    /// # Errors
    /// [`BuildError::Load`] if it is not there, or of another version.
    pub fn open(path: &Path) -> Result<Library, BuildError> {
        Library::load(path)
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The mutants of a guarded library.
    pub fn mutants(&self) -> Option<Mutants> {
        self.inner.mutants.map(|state| Mutants { state, _library: self.clone() })
    }

    pub(in crate::cosim) fn symbols(&self) -> &Symbols {
        &self.inner.symbols
    }

    pub(in crate::cosim) fn geometry(&self) -> &Geometry {
        &self.inner.geometry
    }
}
