//! From emitted Verilog to a shared library that [`super::dut::Dut`] drives.
//!
//! Three kinds of cache entries make one library: the runtime (Verilator's own code and the part of the
//! shim that knows no design) and headers, precompiled, once for each tool version, and the fabric, compiled
//! once for each content. Knows nothing of traffic; does not look for Verilator.

use super::cache::Cache;
use super::compile::{Fabric, LIBRARY};
use super::ffi::Library;
pub use super::recipe::around_ports;
use super::recipe::Recipe;
use super::toolchain::Toolchain;
use crate::design::Design;
use crate::emit::SourceFile;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// What is verilated: the network by itself, with the transport of its tiles, or all of the fabric; at
/// once, or in pieces of which one is run many times. Both ways show the same in the same cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All of the network: checks its wiring, and can write waves.
    Mesh,
    /// One router, which the harness runs once for each of the mesh and joins itself: builds in
    /// seconds whatever the size of the mesh, and runs on two cores.
    Tile,
    /// One router with the transport of its tile, run once for each of the mesh; for [`super::pins::Pins`].
    Node,
    /// All of the fabric, which checks the wiring of everything; for [`super::pins::Pins`].
    Full,
    /// The fabric as one router with its tile, run once for each of the mesh, and what stands around the
    /// tiles: builds in seconds to a minute where `Full` takes many; for [`super::pins::Pins`].
    Pieces,
    /// The same without the routers, whose links to the tiles are ports: for tests that play the network.
    Around,
    /// Fabric and what computes, joined of such pieces, on one clock; for [`super::pins::Pins`].
    Core,
    /// The same with a clock of its own for what computes.
    Clocks,
    /// Fabric and what computes verilated at once, with both clocks: small designs, whose waves it can write.
    Whole,
    /// The whole device in its shell, with both clocks: small designs, whose waves it can write; for [`super::device`].
    Device,
    /// What faces host and platform, in its shell: to stand before a core of any form.
    Front,
}

impl Form {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Form::Mesh => "mesh",
            Form::Tile => "tile",
            Form::Node => "node",
            Form::Full => "full",
            Form::Pieces => "pieces",
            Form::Around => "around",
            Form::Core => "core",
            Form::Clocks => "clocks",
            Form::Whole => "whole",
            Form::Device => "device",
            Form::Front => "front",
        }
    }

    /// Clocks that can be driven apart.
    pub(super) fn clocks(self) -> u32 {
        if matches!(self, Form::Clocks | Form::Whole | Form::Device | Form::Front) {
            2
        } else {
            1
        }
    }
}

/// How long the library will run, which decides what is worth compiling for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLength {
    /// Some thousand cycles: compiles in half the time of `Quick`, and runs at two thirds of its speed.
    Brief,
    /// Some hundred thousand.
    Quick,
    /// Sweeps and benchmarks: runs fastest.
    Long,
    /// Waves in FST, also of the rerun of a failure.
    Trace {
        /// Levels of hierarchy in the wave file, counted from the top; `None` for all.
        depth: Option<u32>,
        /// Compiled as [`RunLength::Brief`].
        brief: bool,
    },
}

/// Cycles of a tile, or flits that tiles take, from which the better optimised build is worth its longer compilation.
pub const LONG_RUN: u64 = 400_000;

impl RunLength {
    /// For a run of so much work, where so much is long. Less than a tenth of it is done before anything better is compiled.
    pub fn of(work: u64, long: u64) -> RunLength {
        match work {
            work if work >= long => RunLength::Long,
            work if work >= long / 10 => RunLength::Quick,
            _ => RunLength::Brief,
        }
    }

    /// The same with waves.
    pub fn traced(self, depth: Option<u32>) -> RunLength {
        RunLength::Trace { depth, brief: self == RunLength::Brief }
    }
}

/// What a build is made with.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Verilator and compiler, asked for their versions.
    pub toolchain: Toolchain,
    /// What is verilated.
    pub form: Form,
    /// Chooses the flags.
    pub run: RunLength,
    /// Where built libraries are kept; `None` for `MESHKV_CACHE`, `XDG_CACHE_HOME/meshkv` or `~/.cache/meshkv`.
    pub cache_dir: Option<PathBuf>,
}

/// What a build is doing, for whoever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Another process builds the same.
    Waiting,
    /// A cache entry is damaged and built again; `why` is a clause that names it.
    Rebuilding {
        /// What is wrong with which entry.
        why: &'a str,
    },
    /// Verilator translates the fabric.
    Verilating,
    /// `done` of `total` C++ units are compiled.
    Compiling {
        /// Units finished.
        done: usize,
        /// Units of this step.
        total: usize,
    },
    /// The library is linked.
    Linking,
}

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Verilator does not run.
    #[error("cannot run Verilator ({path}): co-simulation needs version 5.006 or later; `meshkv doctor` says how to install it")]
    VerilatorMissing {
        /// What was tried.
        path: PathBuf,
    },
    /// The C++ compiler does not run.
    #[error("cannot run the C++ compiler ({path}): co-simulation compiles the verilated fabric; install g++ or set CXX")]
    CompilerMissing {
        /// What was tried.
        path: PathBuf,
    },
    /// Waves need zlib's header.
    #[error("waves need zlib to compile: install zlib1g-dev\n{log}")]
    ZlibMissing {
        /// What the compiler said.
        log: String,
    },
    /// Waves were asked of [`Form::Tile`] or [`Form::Around`].
    #[error("a piece of the network by itself has no waves: they need the whole mesh, or all of a tile")]
    TileWaves,
    /// A tool ran and reported errors.
    #[error("{program} failed on the generated fabric ({status}):\n{log}")]
    Failed {
        /// The tool.
        program: String,
        /// How it ended: by itself, or killed by the system.
        status: ExitStatus,
        /// Its first errors.
        log: String,
    },
    /// The library was built and does not load.
    #[error("cannot load the compiled fabric: {0}")]
    Load(String),
    /// The caller did not want to wait any longer; nothing is left of the build.
    #[error("the build was stopped")]
    Stopped,
    /// No environment variable says where a cache could be.
    #[error("nowhere to keep compiled fabrics: set MESHKV_CACHE to a folder")]
    NoCache,
    /// A file operation failed.
    #[error("{what}")]
    Io {
        /// What was tried, with its path.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl BuildError {
    /// A tool or a library that the user can install is not there.
    pub fn is_missing_tool(&self) -> bool {
        use BuildError::{CompilerMissing, VerilatorMissing, ZlibMissing};
        matches!(self, VerilatorMissing { .. } | CompilerMissing { .. } | ZlibMissing { .. })
    }
}

/// Verilates and compiles `files`, or takes the result from the cache.
///
/// # Errors
/// [`BuildError`] says which tool is missing or what it reported.
pub fn build(
    files: &[SourceFile],
    design: &Design,
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Library, BuildError> {
    build_until(&|| false, files, design, options, progress)
}

/// [`build`] that is given up, and everything it runs ended, once `stop` says so.
///
/// # Errors
/// As [`build`], and [`BuildError::Stopped`].
pub fn build_until(
    stop: &(dyn Fn() -> bool + Sync),
    files: &[SourceFile],
    design: &Design,
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Library, BuildError> {
    let cache = Cache::open(options.cache_dir.as_deref(), stop)?;
    let recipe = Recipe::new(options.form, options.run, design)?;
    let fabric = Fabric { files, recipe, toolchain: &options.toolchain, stop };
    let runtime_key = fabric.runtime_key();
    let key = fabric.key(&runtime_key);

    for attempt in 0.. {
        let entry = cache.entry(&key, progress, |work, progress| {
            let runtime =
                cache.entry(&runtime_key, progress, |work, progress| fabric.build_runtime(work, progress))?;
            let mut headers = Vec::new();
            for level in fabric.levels() {
                let key = fabric.headers_key(level);
                let build = |work: &Path, progress: &mut dyn FnMut(Progress)| {
                    fabric.build_headers(work, level, progress)
                };
                headers.push((level, cache.entry(&key, progress, build)?));
            }
            fabric.build(work, &runtime, &headers, progress)
        })?;
        match Library::load(&entry.join(LIBRARY)) {
            // Intact and still not loadable: the system's libraries have changed since it was linked.
            Err(BuildError::Load(why)) if attempt == 0 => {
                progress(Progress::Rebuilding { why: &why });
                cache.evict(&key, progress)?;
                cache.evict(&runtime_key, progress)?;
            }
            result => return result,
        }
    }
    unreachable!("the second attempt returns")
}
