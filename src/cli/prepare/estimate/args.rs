//! Arguments of `meshkv estimate`.

use crate::synth::{Limits, Shell};
use crate::tools::workers;
use std::path::PathBuf;

/// Estimate resources and clock periods on the device, and whether the design fits
///
/// Router, tile and all that is shared go through Yosys, each once, and are scaled to the mesh. The result is held
/// against each region (SLR) of the device. Periods are estimates of static analysis without routing. Results are kept,
/// so that the same modules are synthesised once. Ends with exit code 1 if the design does not fit.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv estimate configs/tiny.toml
  meshkv estimate configs/u280_4x8.toml --json | jq '{lut, ff, fits, over}'
  meshkv estimate configs/u280_4x8.toml --suggest
  meshkv estimate configs/u280_4x8.toml --plot out")]
pub struct Args {
    /// Configuration file
    #[arg(value_name = "CONFIG", value_hint = clap::ValueHint::FilePath)]
    pub(super) config: PathBuf,
    /// Percent of each resource of an SLR that may be taken; above 80 a router rarely finds its ways
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(super) limit: u32,
    /// Leave room for the shell of the Vitis platform
    #[arg(long)]
    pub(super) shell: bool,
    /// If it does not fit, also synthesise changes of keys that may fit; takes minutes for each change
    #[arg(long)]
    pub(super) suggest: bool,
    /// Modules that are synthesised at once [default: as many as there are cores, but no more than 4: large ones need
    /// gigabytes each]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// Draw the floorplan with its utilisation into a folder, as SVG and PNG
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(super) plot: Option<PathBuf>,
}

impl Args {
    pub(super) fn limits(&self) -> Limits {
        let shell = if self.shell { Shell::Vitis } else { Shell::None };
        Limits { share: f64::from(self.limit) / 100.0, shell }
    }

    /// The command that repeats this estimate.
    pub(super) fn command(&self) -> String {
        let shell = if self.shell { " --shell" } else { "" };
        format!("meshkv estimate {} --limit {}{shell}", self.config.display(), self.limit)
    }

    pub(super) fn jobs(&self) -> usize {
        self.jobs.map_or_else(|| workers::cores().min(4), usize::from)
    }
}
