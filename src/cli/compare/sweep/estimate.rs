//! Areas of the configurations of a sweep: found once for all points of a configuration, and kept.

use crate::cli::output::progress::Progress;
use crate::cli::output::ui::Ui;
use crate::cli::program::found;
use crate::design::Design;
use crate::eval::grid::Point;
use crate::eval::sweep::area_row::area;
use crate::eval::sweep::store::Store;
use crate::synth::{pending, Pending, Yosys};
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::workers;
use crate::tools::{Caller, Notice};
use std::collections::{BTreeMap, BTreeSet};

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

/// What the areas of designs need of Yosys: each part that the cache lacks once, with a design that has it.
struct Missing<'p>(BTreeMap<String, (Pending, &'p Design)>);

impl<'p> Missing<'p> {
    fn of(designs: &[&'p Point], yosys: &Yosys) -> anyhow::Result<Missing<'p>> {
        let mut all = BTreeMap::new();
        for point in designs {
            for part in pending(&point.design, yosys)? {
                all.entry(part.key.clone()).or_insert_with(|| (part, &*point.design));
            }
        }
        Ok(Missing(all))
    }

    /// Seconds of work on one core, about.
    fn seconds(&self) -> f64 {
        self.0.values().map(|(part, _)| part.seconds).sum()
    }

    /// The parts proper, the longest first, so that the last ones end together.
    fn parts(&self) -> Vec<&(Pending, &'p Design)> {
        let mut parts: Vec<_> = self.0.values().filter(|(part, _)| part.is_part()).collect();
        parts.sort_by(|(a, _), (b, _)| b.seconds.total_cmp(&a.seconds));
        parts
    }

    /// Seconds of what is found with the area of this design: its whole, which needs its parts.
    fn of_whole(&self, design: &Design) -> f64 {
        let is_its = |(part, of): &&(Pending, &Design)| !part.is_part() && std::ptr::eq(*of, design);
        self.0.values().find(is_its).map_or(0.0, |(part, _)| part.seconds)
    }
}

/// Says what the areas of designs take, before any is found; returns their seconds.
///
/// # Errors
/// When a source cannot be emitted.
pub(super) fn announce(designs: &[&Point], yosys: &Yosys, jobs: usize, ui: &Ui) -> anyhow::Result<f64> {
    let missing = Missing::of(designs, yosys)?;
    say(&missing, designs.len(), jobs, ui);
    Ok(missing.seconds() / jobs as f64)
}

fn say(missing: &Missing<'_>, count: usize, jobs: usize, ui: &Ui) {
    let synthesis = match missing.0.len() {
        0 => "all parts are in the cache".to_owned(),
        parts => format!(
            "{parts} parts are not in the cache and take about {}, {jobs} at once; Ctrl-C keeps those that are done",
            duration(missing.seconds() / jobs as f64)
        ),
    };
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

/// Seconds of an area all of whose parts are in the cache.
const FROM_CACHE: f64 = 0.3;

/// Progress by the seconds that each part is known to take: by areas, the first, which synthesise what the others
/// share, would set the rate for all.
struct Work {
    progress: Progress,
    done: f64,
}

impl Work {
    /// Steps of the bar in a second.
    const STEPS: f64 = 10.0;

    fn new(missing: &Missing<'_>, areas: usize, ui: &Ui) -> Work {
        let all = (missing.seconds() + FROM_CACHE * areas as f64) * Work::STEPS;
        Work { progress: ui.progress(Some(all.ceil() as u64), "estimating"), done: 0.0 }
    }

    fn add(&mut self, seconds: f64) {
        self.done += seconds;
        self.progress.set((self.done * Work::STEPS) as u64);
    }
}

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
    say(&missing, lacking.len(), jobs, ui);
    let parts = missing.parts();
    let mut work = Work::new(&missing, lacking.len(), ui);
    let mut ended = workers::work(
        &parts,
        jobs,
        &|(part, design)| part.synthesise(design, &yosys),
        &mut |(part, _), made| made.map(|()| work.add(part.seconds)),
    );
    let mut done = 0;
    if ended.is_ok() {
        ended =
            workers::work(&lacking, jobs, &|point| area(&point.design, &yosys, 1), &mut |point, found| {
                store.add_area(&point.design.config_sha256(), &found?)?;
                done += 1;
                work.add(missing.of_whole(&point.design) + FROM_CACHE);
                work.progress.message(format!("{done} of {} areas", lacking.len()));
                Ok(())
            });
    }
    drop(work);
    if ended.is_err() && interrupt.requested() {
        let what = format!(
            "with {done} of {} areas; parts that were synthesised are kept, and the same command goes on from there",
            lacking.len()
        );
        return Err(Interrupted(what).into());
    }
    ended
}

/// Ids of the points that bring the area of their configuration, one for each that lacks it.
pub(super) fn carriers(lacking: &[&Point]) -> BTreeSet<String> {
    lacking.iter().map(|point| point.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use crate::cli::compare::sweep::estimate::*;
    use crate::config::Config;
    use crate::synth::parts;

    #[test]
    fn the_time_left_counts_what_is_to_be_synthesised_and_not_areas() {
        let design = |latency: f64| {
            let mut config = Config::default();
            config.memory.latency_ns = latency;
            Design::from_config("areas", &config).unwrap()
        };
        let designs = [design(100.0), design(120.0)];
        // What both have is in the list once, with the first; each has a whole of its own.
        let mut missing = Missing(BTreeMap::new());
        let mut lacks = |key: String, seconds, part, of| {
            let pending = Pending { key: key.clone(), module: "m", seconds, part };
            missing.0.insert(key, (pending, of));
        };
        for (at, part) in parts(&designs[0]).into_iter().enumerate() {
            lacks(format!("part {at}"), 20.0, Some(part), &designs[0]);
        }
        lacks("whole 0".to_owned(), 30.0, None, &designs[0]);
        lacks("whole 1".to_owned(), 30.0, None, &designs[1]);

        let mut work = Work::new(&missing, designs.len(), &Ui::silent());
        let mut left = Vec::new();
        for (part, _) in missing.parts() {
            work.add(part.seconds);
            left.push(missing.seconds() + 2.0 * FROM_CACHE - work.done);
        }
        assert!(left.windows(2).all(|pair| (pair[0] - pair[1] - 20.0).abs() < 1e-9), "{left:?}");
        for design in &designs {
            work.add(missing.of_whole(design) + FROM_CACHE);
        }
        assert!((work.done - missing.seconds() - 2.0 * FROM_CACHE).abs() < 1e-9, "{}", work.done);
    }
}
