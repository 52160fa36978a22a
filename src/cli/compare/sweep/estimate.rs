//! What is said of the areas of a sweep's configurations while they are found.

use crate::cli::output::ui::Ui;
use crate::cli::program::found;
use crate::eval::grid::Point;
use crate::eval::sweep::missing_areas::{self, Missing, Step};
use crate::eval::sweep::store::Store;
use crate::synth::Yosys;
use crate::tools::interrupt::Interrupt;
use crate::tools::workers;
use crate::tools::{Caller, Notice};

/// Designs at once: a large part takes gigabytes.
const MOST_JOBS: usize = 4;

/// Yosys for the areas of a sweep; what is unusual about it is noted.
///
/// # Errors
/// When there is none.
pub(super) fn find<'a>(stop: &'a (dyn Fn() -> bool + Sync), ui: &Ui) -> anyhow::Result<Yosys<'a>> {
    let hear = |notice: &Notice| found::say(notice, ui);
    let yosys = Yosys::find_for(None, &Caller { hear: &hear, stop }, stop)?;
    if !yosys.calibrated() {
        ui.warn(format_args!(
            "Yosys {} is older than 0.60, with which these estimates were compared: it reads more LUTs and longer periods",
            yosys.version()
        ));
    }
    Ok(yosys)
}

/// Says what the areas of designs take, before any is found; returns their seconds.
///
/// # Errors
/// When a source cannot be emitted.
pub(super) fn announce(designs: &[&Point], yosys: &Yosys, jobs: usize, ui: &Ui) -> anyhow::Result<f64> {
    let missing = Missing::of(designs, yosys)?;
    say(&missing, jobs, ui);
    Ok(missing.seconds() / jobs as f64)
}

fn say(missing: &Missing<'_>, jobs: usize, ui: &Ui) {
    let synthesis = match missing.parts_count() {
        0 => "all parts are in the cache".to_owned(),
        parts => format!(
            "{parts} parts are not in the cache and take about {}, {jobs} at once; Ctrl-C keeps those that are done",
            duration(missing.seconds() / jobs as f64)
        ),
    };
    let count = missing.areas();
    ui.note(format_args!("areas of {count} configuration{}: {synthesis}", if count == 1 { "" } else { "s" }));
}

/// A time in words.
fn duration(seconds: f64) -> String {
    match seconds {
        short if short < 90.0 => format!("{short:.0} s"),
        long if long < 5400.0 => format!("{:.0} minutes", long / 60.0),
        longer => format!("{:.1} hours", longer / 3600.0),
    }
}

/// Steps of the bar in a second of work.
const STEPS: f64 = 10.0;

/// Finds the areas that a folder lacks, of one point for each configuration.
///
/// # Errors
/// When Yosys is missing or fails, or on Ctrl-C; areas so far are kept, and so are parts.
pub(super) fn fill_areas(
    store: &mut Store<'_>,
    jobs: Option<u16>,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<()> {
    let lacking = store.lacking_areas();
    if lacking.is_empty() {
        return Ok(());
    }
    let stop = || interrupt.requested();
    let yosys = find(&stop, ui)?;
    let jobs = jobs.map_or_else(|| workers::cores().min(MOST_JOBS), usize::from);
    let missing = Missing::of(&lacking, &yosys)?;
    say(&missing, jobs, ui);
    let progress = ui.progress(Some((missing.work() * STEPS).ceil() as u64), "estimating");
    let mut passed = 0.0;
    let all = lacking.len();
    missing_areas::fill_areas(
        store,
        (&missing, &lacking),
        (&yosys, jobs),
        interrupt,
        &mut |step| match step {
            Step::Passed(seconds) => {
                passed += seconds;
                progress.set((passed * STEPS) as u64);
            }
            Step::Found(done) => progress.message(format!("{done} of {all} areas")),
        },
    )
}
