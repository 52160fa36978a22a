//! Runs the points of a folder that have no row yet.

use crate::eval::grid::Point;
use crate::eval::sweep::execute::{Execute, Outcome};
use crate::eval::sweep::store::Store;
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::workers;

/// What a run added to a folder.
#[derive(Debug, Default)]
pub struct Filled {
    /// Rows that it added.
    pub run: usize,
    /// Points without a row, because their run failed.
    pub failed: Vec<String>,
}

/// News of a point that was run, for progress output.
#[derive(Debug)]
pub enum Ran<'p> {
    /// Its row is written.
    Row(&'p Point),
    /// Its run failed, for this reason.
    Failed(&'p Point, String),
    /// Lengths of all points so far, and points that have a row or failed.
    Passed(u64, usize),
}

/// Runs the missing points, `jobs` at once. Each has a length in some unit, by which progress is shown.
///
/// # Errors
/// A row that cannot be written, a missing tool, or Ctrl-C; rows so far are kept.
pub fn fill(
    store: &mut Store<'_>,
    missing: &[(&Point, u64)],
    jobs: usize,
    (execute, interrupt): (&Execute, &Interrupt),
    hear: &mut dyn FnMut(Ran),
) -> anyhow::Result<Filled> {
    let all = store.points();
    let kept = all - missing.len();
    let (mut filled, mut passed) = (Filled::default(), 0);
    let ended =
        workers::work(missing, jobs, &|(point, _)| execute.run(point), &mut |(point, length), outcome| {
            match outcome {
                Outcome::Row(found) => {
                    store.add(point, &found)?;
                    filled.run += 1;
                    hear(Ran::Row(point));
                }
                Outcome::Failed(why) => {
                    hear(Ran::Failed(point, why));
                    filled.failed.push(point.id.clone());
                }
                Outcome::Fatal(error) => return Err(error),
            }
            passed += length;
            hear(Ran::Passed(passed, kept + filled.run + filled.failed.len()));
            // A point may be too short to notice it itself.
            Ok(interrupt.check("between two points")?)
        });
    store.sync()?;
    if ended.is_err() && interrupt.requested() {
        let rows = kept + filled.run;
        let place = store.dir().display();
        let what = format!("with {rows} of {all} rows in {place}; the same command goes on from there");
        return Err(Interrupted(what).into());
    }
    ended.map(|()| filled)
}
