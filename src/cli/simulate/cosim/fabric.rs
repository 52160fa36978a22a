//! Opens the fabric of a command: the model, or Verilog that is built or taken from the cache.

use crate::cli::output::ui::Ui;
use crate::cli::simulate::cosim::args::Options;
use crate::cli::simulate::library::library;
use crate::cli::simulate::ports::place;
use crate::cosim::build::{BuildForm, RunLength, LONG_RUN};
use crate::cosim::checks::lockstep::{Difference, Lockstep};
use crate::cosim::dut::model_mesh::ModelMesh;
use crate::cosim::dut::network::Network;
use crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use crate::cosim::dut::verilated::waves::WaveWindow;
use crate::cosim::dut::watched::{self, modelled, WATCHDOG};
use crate::design::{Design, Port};
use crate::model::cycle::network::Upset;
use crate::tools::interrupt::Interrupt;
use std::path::Path;

/// The network of a command: model, Verilog or both.
pub(super) enum Fabric {
    Verilated(Box<VerilatedMesh>),
    Waves(Box<WaveWindow>),
    Model(Box<ModelMesh>),
    Both(Box<Lockstep>),
}

impl Fabric {
    /// The fabric as a network.
    pub(super) fn network(&mut self) -> &mut dyn Network {
        match self {
            Fabric::Verilated(dut) => &mut **dut,
            Fabric::Waves(excerpt) => &mut **excerpt,
            Fabric::Model(model) => &mut **model,
            Fabric::Both(both) => &mut **both,
        }
    }

    /// Routers times cycles that were compared, if there are two fabrics.
    pub(super) fn router_cycles(&self) -> Option<u64> {
        match self {
            Fabric::Both(both) => Some(both.router_cycles()),
            _ => None,
        }
    }
}

/// Opens the fabric that the options select, after its reset.
///
/// # Errors
/// When a tool is missing or fails, or the build is interrupted.
pub(super) fn open(
    options: &Options,
    design: &Design,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Fabric> {
    let Some(form) = options.form() else {
        return Ok(Fabric::Model(modelled(design).into()));
    };
    if options.tile_is_overruled() {
        ui.note("waves need the whole mesh: it is built instead of the tile");
    }
    let waves = options.carrier.waves();
    let upset = options.carrier.upset.map(|upset| place(design.mesh, upset)).transpose()?;
    let mut dut = verilated((form, run_length(options, design)), design, options.seed, interrupt, ui)?;
    if options.carrier.lockstep {
        let mut both = Lockstep::new(dut, design)?;
        both.watchdog(WATCHDOG);
        if let Some((cycle, tile)) = upset {
            both.upset_at(cycle, tile, Upset::LoseCredits(Port::Local));
        }
        return Ok(Fabric::Both(both.into()));
    }
    if let Some(path) = waves {
        // A trace runs once; other traffic is first measured without load, then both fabrics are reset.
        let run = if options.trace.is_some() { 0 } else { 2 };
        return Ok(Fabric::Waves(WaveWindow::new(dut, path, run, 0..u64::MAX).into()));
    }
    dut.record(true, true);
    Ok(Fabric::Verilated(dut.into()))
}

/// Opens a mesh that writes waves of the cycles around a difference.
///
/// # Errors
/// As [`open`].
pub(super) fn around(
    (difference, seed): (&Difference, u64),
    path: &Path,
    design: &Design,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Fabric> {
    let work = (u64::from(difference.run) + 1) * difference.cycle * design.mesh.tiles() as u64;
    let length = RunLength::of(work, LONG_RUN).traced(None);
    let dut = verilated((BuildForm::WholeMesh, length), design, seed, interrupt, ui)?;
    Ok(Fabric::Waves(WaveWindow::new(dut, path, difference.run, difference.wave_cycles()).into()))
}

/// A verilated fabric, after reset, with values of registers before it that are drawn from a seed.
///
/// # Errors
/// As [`open`].
fn verilated(
    (form, run): (BuildForm, RunLength),
    design: &Design,
    seed: u64,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<VerilatedMesh> {
    let library = library(design, form, run, interrupt, ui)?;
    let drawn = watched::power_up(seed);
    ui.detail(format_args!("registers hold values of seed {drawn} before the reset, drawn from --seed"));
    Ok(watched::verilated(&library, design, seed)?)
}

fn run_length(options: &Options, design: &Design) -> RunLength {
    let tile_cycles = (options.cycles + options.warmup).saturating_mul(design.mesh.tiles() as u64);
    let many = options.sweep_load.is_some() || options.trace.is_some();
    options.carrier.length(if many { LONG_RUN } else { tile_cycles }, LONG_RUN)
}
