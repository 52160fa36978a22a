//! The verilated fabric that a command runs on: found, built or taken from the cache, opened.

use super::Args;
use crate::cli::interrupt::Interrupt;
use crate::cli::ui::Ui;
use crate::cosim::dut::Dut;
use crate::cosim::toolchain::Toolchain;
use crate::cosim::verilate::{self, BuildError, BuildOptions, Progress, RunLength};
use crate::design::Design;
use crate::emit;
use crate::tools;
use anyhow::anyhow;

/// Tile cycles from which the better optimised build is worth its longer compilation.
const LONG_RUN: u64 = 400_000;

/// Cycles in which flits are inside and none enters or leaves, after which the fabric is stuck.
const WATCHDOG: u64 = 2_000;

/// What registers hold before the reset; any value must do.
const POWER_UP_SEED: u64 = 1;

const CACHE_HELP: &str = "\n  help: compiled fabrics are kept in MESHKV_CACHE, else in ~/.cache/meshkv; \
                          set it to a folder that you may write, on a disk with room";

/// Builds the fabric and opens an instance that has just been reset.
///
/// # Errors
/// When a tool is missing or fails, or the build is interrupted.
pub(super) fn open(args: &Args, design: &Design, interrupt: &Interrupt, ui: &Ui) -> anyhow::Result<Dut> {
    let verilator = tools::find(&tools::VERILATOR)?;
    let cxx = tools::find(&tools::CXX)?;
    let toolchain = Toolchain::probe(&verilator.path, &cxx.path)?;
    ui.detail(format_args!("verilator {} at {}", verilator.version, verilator.path.display()));
    let tile_cycles = (args.cycles + args.warmup).saturating_mul(design.mesh.tiles() as u64);
    let run = if args.wave.is_some() {
        RunLength::Trace { depth: None }
    } else if args.sweep_load.is_some() || args.trace.is_some() || tile_cycles >= LONG_RUN {
        RunLength::Long
    } else {
        RunLength::Quick
    };
    if args.tile_is_overruled() {
        ui.note("waves need the whole fabric: it is built instead of the tile");
    }
    let files = emit::emit(design)?;
    let progress = ui.progress(None, "building the fabric");
    let options = BuildOptions { toolchain, form: args.form(), run, cache_dir: None };
    let stop = || interrupt.requested();
    let library = verilate::build_until(&stop, &files, design, &options, &mut |step| match step {
        Progress::Waiting => progress.message("another process builds this fabric"),
        Progress::Rebuilding { why } => {
            progress.aside(|| ui.warn(format_args!("{why}; building it again")));
        }
        Progress::Verilating => progress.message("verilating the fabric"),
        Progress::Compiling { done, total } => {
            progress.message(format!("compiling the fabric, {done} of {total}"))
        }
        Progress::Linking => progress.message("linking the fabric"),
    });
    let library = library.map_err(|error| match error {
        BuildError::Io { .. } => anyhow!("{:#}{CACHE_HELP}", anyhow::Error::from(error)),
        error => error.into(),
    })?;
    let mut dut = Dut::open(&library, design, POWER_UP_SEED)?;
    dut.record(true, true);
    dut.watchdog(WATCHDOG);
    Ok(dut)
}
