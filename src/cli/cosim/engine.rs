//! What carries the flits, as the options say it.

use super::args::Options;
use super::dut_form::DutForm;
use crate::config::Engine;
use crate::cosim::build::BuildForm;

impl Options {
    /// These options with the engine decided: that asked for, or the subcommand's own.
    pub(super) fn with_engine(&self, default: Engine) -> Options {
        let mut options = self.clone();
        options.carrier = self.carrier.decided(default);
        options
    }

    /// What is verilated, if anything is. Waves need the whole mesh, whatever was asked for, so that the command of a
    /// failed run need only be followed by `--wave`; in lockstep they are of another run.
    pub(super) fn form(&self) -> Option<BuildForm> {
        match self.dut {
            _ if self.carrier.is_model() => None,
            _ if self.carrier.waves().is_some() => Some(BuildForm::WholeMesh),
            Some(DutForm::Mesh) => Some(BuildForm::WholeMesh),
            Some(DutForm::Tile) | None => Some(BuildForm::OneRouter),
        }
    }

    /// Whether a tile was asked for and cannot be had.
    pub(super) fn tile_is_overruled(&self) -> bool {
        self.dut == Some(DutForm::Tile) && self.form() == Some(BuildForm::WholeMesh)
    }

    /// Refuses what the engine does not have.
    ///
    /// # Errors
    /// Names the option and the way out.
    pub(super) fn check_engine(&self) -> anyhow::Result<()> {
        self.carrier.check()?;
        if self.carrier.is_model() && self.dut.is_some() {
            anyhow::bail!("--dut says nothing about the model, of which nothing is verilated\n  help: add --engine rtl, or leave --dut out");
        }
        if self.carrier.lockstep && self.dut == Some(DutForm::Mesh) {
            anyhow::bail!("--lockstep compares links, and a mesh verilated as one keeps them to itself\n  help: leave --dut mesh out; tile and mesh show the same flits in the same cycles");
        }
        Ok(())
    }
}
