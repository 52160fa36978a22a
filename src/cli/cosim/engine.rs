//! What carries the flits, as the options say it.

use super::Options;
use crate::cosim::verilate::Form;

/// What carries the flits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Engine {
    /// The emitted Verilog under Verilator
    Rtl,
    /// The cycle-exact model: no Verilator is needed, and it is faster
    Model,
}

/// What of it is verilated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum DutForm {
    /// One tile, run once for each of the mesh: builds in seconds, runs on two cores
    Tile,
    /// The whole mesh of routers: checks its wiring too
    Mesh,
}

impl Options {
    /// These options with the engine decided: that asked for, or the subcommand's own.
    pub(super) fn with_engine(&self, default: Engine) -> Options {
        // Lockstep runs both, and what it finds is said of the Verilog.
        let default = if self.lockstep { Engine::Rtl } else { default };
        let mut options = self.clone();
        options.engine = Some(self.engine.unwrap_or(default));
        options
    }

    /// Whether the model alone carries the flits.
    pub(super) fn is_model(&self) -> bool {
        self.engine == Some(Engine::Model)
    }

    /// What carries the flits, as results name it.
    pub(super) fn engine_name(&self) -> &'static str {
        match self.engine {
            _ if self.lockstep => "lockstep",
            Some(Engine::Model) => "model",
            Some(Engine::Rtl) | None => "rtl",
        }
    }

    /// What is verilated, if anything is. Waves need the whole mesh, whatever was asked for, so that the command of a
    /// failed run need only be followed by `--wave`; in lockstep they are of another run.
    pub(super) fn form(&self) -> Option<Form> {
        match self.dut {
            _ if self.is_model() => None,
            _ if self.wave.is_some() && !self.lockstep => Some(Form::Mesh),
            Some(DutForm::Mesh) => Some(Form::Mesh),
            Some(DutForm::Tile) | None => Some(Form::Tile),
        }
    }

    /// Whether a tile was asked for and cannot be had.
    pub(super) fn tile_is_overruled(&self) -> bool {
        self.dut == Some(DutForm::Tile) && self.form() == Some(Form::Mesh)
    }

    /// Refuses what the engine does not have.
    ///
    /// # Errors
    /// Names the option and the way out.
    pub(super) fn check_engine(&self) -> anyhow::Result<()> {
        if self.is_model() && self.wave.is_some() {
            anyhow::bail!("--wave needs the Verilog, and the model has no waves\n  help: add --engine rtl; the flits are the same to the cycle");
        }
        if self.is_model() && self.dut.is_some() {
            anyhow::bail!("--dut says nothing about the model, of which nothing is verilated\n  help: add --engine rtl, or leave --dut out");
        }
        if self.lockstep && self.dut == Some(DutForm::Mesh) {
            anyhow::bail!("--lockstep compares links, and a mesh verilated as one keeps them to itself\n  help: leave --dut mesh out; tile and mesh show the same flits in the same cycles");
        }
        Ok(())
    }
}
