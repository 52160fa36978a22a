//! Synthesises the parts of a design with progress output.

use crate::cli::output::progress::Progress;
use crate::cli::output::ui::Ui;
use crate::cli::prepare::estimate::args::Args;
use crate::cli::simulate::library::unlocked;
use crate::design::Design;
use crate::synth::{design_timing, Demand, Effort, Step, Timing, Yosys};
use crate::tools::WorkError;
use anyhow::anyhow;

/// Synthesises the parts of a design and shows the progress.
pub(super) fn demand(
    args: &Args,
    design: &Design,
    yosys: &Yosys,
    effort: Effort,
    ui: &Ui,
) -> anyhow::Result<Demand> {
    let progress = ui.progress(None, "synthesising");
    let made = Demand::of(design, yosys, effort, args.jobs(), &mut |place, total, step| {
        show(&progress, place, total, step, ui);
    });
    drop(progress);
    made.map_err(with_help)
}

/// Times the whole design, after its parts were synthesised.
pub(super) fn timing(design: &Design, yosys: &Yosys, ui: &Ui) -> anyhow::Result<Timing> {
    let progress = ui.progress(None, "timing");
    let made = design_timing(design, yosys, Effort::Synthesise, &mut |step| match step {
        Step::Synthesising(_) => progress.message("timing the paths between parts".to_owned()),
        other => show(&progress, 0, 1, other, ui),
    });
    drop(progress);
    made.map_err(with_help)
}

fn with_help(error: anyhow::Error) -> anyhow::Error {
    match error.downcast_ref::<WorkError>() {
        Some(WorkError::Io { .. }) => anyhow!(
            "{error:#}\n  help: results are kept in MESHKV_CACHE, else in ~/.cache/meshkv; set it to a folder that you \
             may write, on a disk with room"
        ),
        _ => error,
    }
}

fn show(progress: &Progress, place: usize, total: usize, step: Step, ui: &Ui) {
    match step {
        Step::Synthesising(module) => {
            progress.message(format!("synthesising {module}, {} of {total}", place + 1));
            progress.aside(|| ui.detail(format_args!("synthesising {module}, {} of {total}", place + 1)));
        }
        Step::Waiting => progress.message("another process synthesises the same"),
        Step::Unlocked(folder) => progress.aside(|| ui.warn_once(unlocked(folder))),
        Step::Rebuilding(why) => progress.aside(|| ui.warn(format_args!("{why}; synthesising it again"))),
    }
}
