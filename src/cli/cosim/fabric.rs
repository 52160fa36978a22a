//! The verilated fabric that a command runs on: found, built or taken from the cache, opened.

use super::Args;
use crate::cli::interrupt::Interrupt;
use crate::cli::library::library;
use crate::cli::ui::Ui;
use crate::cosim::dut::Dut;
use crate::cosim::verilate::RunLength;
use crate::design::Design;

/// Tile cycles from which the better optimised build is worth its longer compilation.
const LONG_RUN: u64 = 400_000;

/// Cycles in which flits are inside and none enters or leaves, after which the fabric is stuck.
const WATCHDOG: u64 = 2_000;

/// What registers hold before the reset; any value must do.
const POWER_UP_SEED: u64 = 1;

/// Builds the fabric and opens an instance that has just been reset.
///
/// # Errors
/// When a tool is missing or fails, or the build is interrupted.
pub(super) fn open(args: &Args, design: &Design, interrupt: &Interrupt, ui: &Ui) -> anyhow::Result<Dut> {
    let tile_cycles = (args.cycles + args.warmup).saturating_mul(design.mesh.tiles() as u64);
    let run = if args.wave.is_some() {
        RunLength::Trace { depth: None }
    } else if args.sweep_load.is_some() || args.trace.is_some() || tile_cycles >= LONG_RUN {
        RunLength::Long
    } else {
        RunLength::Quick
    };
    if args.tile_is_overruled() {
        ui.note("waves need the whole mesh: it is built instead of the tile");
    }
    let library = library(design, args.form(), run, interrupt, ui)?;
    let mut dut = Dut::open(&library, design, POWER_UP_SEED)?;
    dut.record(true, true);
    dut.watchdog(WATCHDOG);
    Ok(dut)
}
