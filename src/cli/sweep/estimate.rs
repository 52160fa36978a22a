//! Areas of the configurations of a sweep: found once for all points of a configuration, and kept.

use super::area::AreaRow;
use super::store::Store;
use crate::cli::found;
use crate::cli::interrupt::{Interrupt, Interrupted};
use crate::cli::ui::Ui;
use crate::design::Design;
use crate::eval::grid::Point;
use crate::synth::{design_timing, pending, Demand, Effort, Pending, Yosys};
use crate::tools::{Caller, Notice};
use crate::workers;
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Designs at once: a large part takes gigabytes.
const MOST_JOBS: usize = 4;

/// The area of a design, whose missing parts are synthesised, `jobs` at once.
///
/// # Errors
/// When Yosys is missing or fails, or on Ctrl-C; parts that were done are kept.
pub(super) fn area(design: &Design, yosys: &Yosys, jobs: usize) -> anyhow::Result<Value> {
    let demand = Demand::of(design, yosys, Effort::Synthesise, jobs, &mut |_, _, _| ())?;
    let timing = design_timing(design, yosys, Effort::Synthesise, &mut |_| ())?;
    Ok(json!(AreaRow::new(design, &demand, &timing, &yosys.version().to_string())))
}

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

/// Says what the areas of designs take, before any is found.
///
/// # Errors
/// When a source cannot be emitted.
pub(super) fn announce(designs: &[&Point], yosys: &Yosys, jobs: usize, ui: &Ui) -> anyhow::Result<f64> {
    let mut missing: BTreeMap<String, Pending> = BTreeMap::new();
    for point in designs {
        missing.extend(pending(&point.design, yosys)?.into_iter().map(|part| (part.key.clone(), part)));
    }
    let seconds: f64 = missing.values().map(|part| part.seconds).sum::<f64>() / jobs as f64;
    let (count, parts) = (designs.len(), missing.len());
    let synthesis = match parts {
        0 => "all parts are in the cache".to_owned(),
        _ => format!(
            "{parts} parts are not in the cache and take about {}, {jobs} at once; Ctrl-C keeps those that are done",
            duration(seconds)
        ),
    };
    ui.note(format_args!("areas of {count} configuration{}: {synthesis}", if count == 1 { "" } else { "s" }));
    Ok(seconds)
}

/// A time in words.
fn duration(seconds: f64) -> String {
    match seconds {
        short if short < 90.0 => format!("{short:.0} s"),
        long if long < 5400.0 => format!("{:.0} minutes", long / 60.0),
        longer => format!("{:.1} hours", longer / 3600.0),
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
    announce(&lacking, &yosys, jobs, ui)?;
    let progress = ui.progress(Some(lacking.len() as u64), "estimating");
    let within = jobs.div_ceil(lacking.len());
    let mut done = 0;
    let ended =
        workers::work(&lacking, jobs, &|point| area(&point.design, &yosys, within), &mut |point, found| {
            store.add_area(&point.design.config.sha256(), &found?)?;
            done += 1;
            progress.set(done);
            progress.message(format!("{done} of {} areas", lacking.len()));
            Ok(())
        });
    drop(progress);
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
