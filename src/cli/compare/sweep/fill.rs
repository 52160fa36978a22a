//! Runs the points of a folder that have no row yet.

use crate::cli::compare::sweep::execute::{Execute, Outcome};
use crate::cli::compare::sweep::store::Store;
use crate::cli::output::ui::Ui;
use crate::eval::grid::Point;
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::workers;

/// What a run added to a folder.
#[derive(Debug, Default)]
pub(in crate::cli) struct Filled {
    /// Rows that it added.
    pub(in crate::cli) run: usize,
    /// Points without a row, because their run failed.
    pub(in crate::cli) failed: Vec<String>,
}

/// Runs the missing points, `jobs` at once. Each has a length in some unit, by which progress is shown as `what`.
///
/// # Errors
/// A row that cannot be written, a missing tool, or Ctrl-C; rows so far are kept.
pub(in crate::cli) fn fill(
    store: &mut Store<'_>,
    missing: &[(&Point, u64)],
    (jobs, what): (usize, &str),
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Filled> {
    let all = store.points();
    let kept = all - missing.len();
    let progress = ui.progress(Some(missing.iter().map(|(_, length)| length).sum()), what);
    let execute = Execute::new(interrupt);
    let (mut filled, mut passed) = (Filled::default(), 0);
    let ended =
        workers::work(missing, jobs, &|(point, _)| execute.run(point), &mut |(point, length), outcome| {
            match outcome {
                Outcome::Row(found) => {
                    store.add(point, &found)?;
                    filled.run += 1;
                    progress.aside(|| ui.detail(format_args!("row of {} written", point.id)));
                }
                Outcome::Failed(why) => {
                    progress.aside(|| ui.error(format_args!("point {}: {why}", point.id)));
                    filled.failed.push(point.id.clone());
                }
                Outcome::Fatal(error) => return Err(error),
            }
            passed += length;
            progress.set(passed);
            progress.message(format!("{} of {all} points", kept + filled.run + filled.failed.len()));
            // A point may be too short to notice it itself.
            Ok(interrupt.check("between two points")?)
        });
    drop(progress);
    store.sync()?;
    if ended.is_err() && interrupt.requested() {
        let rows = kept + filled.run;
        let place = store.dir().display();
        let what = format!("with {rows} of {all} rows in {place}; the same command goes on from there");
        return Err(Interrupted(what).into());
    }
    ended.map(|()| filled)
}
