//! The engine of `cosim` and `sim`, as selected by the options.

use crate::cli::simulate::cosim::args::Options;
use crate::cli::simulate::cosim::dut_form::DutForm;
use crate::config::Engine;
use crate::cosim::build::BuildForm;

impl Options {
    /// These options with the engine decided: the requested one, or the subcommand's default.
    pub(super) fn with_engine(&self, default: Engine) -> Options {
        let mut options = self.clone();
        options.carrier = self.carrier.decided(default);
        options
    }

    /// Form of the build, if anything is verilated. Waves always need the whole mesh, so the command of a
    /// failed run only needs `--wave` appended. In lockstep they come from another run.
    pub(super) fn form(&self) -> Option<BuildForm> {
        match self.dut {
            _ if self.carrier.is_model() => None,
            _ if self.carrier.waves().is_some() => Some(BuildForm::WholeMesh),
            Some(DutForm::Mesh) => Some(BuildForm::WholeMesh),
            Some(DutForm::Tile) | None => Some(BuildForm::OneRouter),
        }
    }

    /// True if a single tile was requested and is not possible.
    pub(super) fn tile_is_overruled(&self) -> bool {
        self.dut == Some(DutForm::Tile) && self.form() == Some(BuildForm::WholeMesh)
    }
}
