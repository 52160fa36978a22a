//! Runs the points of a folder that have no row yet, with progress.

use crate::cli::output::ui::Ui;
use crate::cli::simulate::library::library;
use crate::cosim::build::{BuildForm, Library, RunLength};
use crate::design::Design;
use crate::eval::grid::Point;
use crate::eval::sweep::execute::Execute;
use crate::eval::sweep::fill::{self, Filled, Ran};
use crate::eval::sweep::store::Store;
use crate::tools::interrupt::Interrupt;

/// Builds the libraries of points, without a word.
pub(super) fn build(
    interrupt: &Interrupt,
) -> impl Fn(&Design, BuildForm, RunLength) -> anyhow::Result<Library> + Sync + '_ {
    |design, form, run| library(design, form, run, interrupt, &Ui::silent())
}

/// Runs the missing points, `jobs` at once. Progress is shown as `what`.
///
/// # Errors
/// As [`fill::fill`].
pub(in crate::cli) fn fill(
    store: &mut Store<'_>,
    missing: &[(&Point, u64)],
    (jobs, what): (usize, &str),
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Filled> {
    let all = store.points();
    let progress = ui.progress(Some(missing.iter().map(|(_, length)| length).sum()), what);
    let build = build(interrupt);
    let execute = Execute::new(interrupt, &build);
    fill::fill(store, missing, jobs, (&execute, interrupt), &mut |ran| match ran {
        Ran::Row(point) => progress.aside(|| ui.detail(format_args!("row of {} written", point.id))),
        Ran::Failed(point, why) => {
            progress.aside(|| ui.error(format_args!("point {}: {why}", point.id)));
        }
        Ran::Passed(length, points) => {
            progress.set(length);
            progress.message(format!("{points} of {all} points"));
        }
    })
}
