//! Finds the areas that a folder lacks: once for all points of a configuration, each part once.

use crate::design::Design;
use crate::eval::grid::Point;
use crate::eval::sweep::area_row::area;
use crate::eval::sweep::store::Store;
use crate::synth::{pending, Pending, Yosys};
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::workers;
use std::collections::BTreeMap;

/// Seconds of an area all of whose parts are in the cache.
const FROM_CACHE: f64 = 0.3;

/// What the areas of designs need of Yosys: each part that the cache lacks once, with a design that has it.
#[derive(Debug)]
pub struct Missing<'p> {
    parts: BTreeMap<String, (Pending, &'p Design)>,
    /// Areas that are wanted.
    areas: usize,
}

impl<'p> Missing<'p> {
    /// Those of a point of each design.
    ///
    /// # Errors
    /// When a source cannot be emitted.
    pub fn of(designs: &[&'p Point], yosys: &Yosys) -> anyhow::Result<Missing<'p>> {
        let mut all = BTreeMap::new();
        for point in designs {
            for part in pending(&point.design, yosys)? {
                all.entry(part.key.clone()).or_insert_with(|| (part, &*point.design));
            }
        }
        Ok(Missing { parts: all, areas: designs.len() })
    }

    /// Areas that are wanted.
    pub fn areas(&self) -> usize {
        self.areas
    }

    /// Parts, and wholes, that the cache lacks.
    pub fn parts_count(&self) -> usize {
        self.parts.len()
    }

    /// Seconds of synthesis on one core, about.
    pub fn seconds(&self) -> f64 {
        self.parts.values().map(|(part, _)| part.seconds).sum()
    }

    /// Seconds of work on one core with what is read from the cache, about.
    pub fn work(&self) -> f64 {
        self.seconds() + FROM_CACHE * self.areas as f64
    }

    /// The parts proper, the longest first, so that the last ones end together.
    fn parts(&self) -> Vec<&(Pending, &'p Design)> {
        let mut parts: Vec<_> = self.parts.values().filter(|(part, _)| part.is_part()).collect();
        parts.sort_by(|(a, _), (b, _)| b.seconds.total_cmp(&a.seconds));
        parts
    }

    /// Seconds of the work that is left for the area of this design once its parts are there.
    fn of_area(&self, design: &Design) -> f64 {
        let is_its = |(part, of): &&(Pending, &Design)| !part.is_part() && std::ptr::eq(*of, design);
        self.parts.values().find(is_its).map_or(0.0, |(part, _)| part.seconds) + FROM_CACHE
    }
}

/// News of areas, for progress output. Progress goes by the seconds that each part is known to take: by areas, the first, which
/// synthesise what the others share, would set the rate for all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// So many seconds of the work are done.
    Passed(f64),
    /// So many areas are found.
    Found(usize),
}

/// Finds the areas of a point of each design, `jobs` at once, and keeps them.
///
/// # Errors
/// When Yosys fails, or on Ctrl-C; areas so far are kept, and so are parts.
pub fn fill_areas(
    store: &mut Store<'_>,
    (missing, lacking): (&Missing<'_>, &[&Point]),
    (yosys, jobs): (&Yosys, usize),
    interrupt: &Interrupt,
    hear: &mut dyn FnMut(Step),
) -> anyhow::Result<()> {
    let mut ended = workers::work(
        &missing.parts(),
        jobs,
        &|(part, design)| part.synthesise(design, yosys),
        &mut |(part, _), made| made.map(|()| hear(Step::Passed(part.seconds))),
    );
    let mut done = 0;
    if ended.is_ok() {
        ended = workers::work(lacking, jobs, &|point| area(&point.design, yosys, 1), &mut |point, found| {
            store.add_area(&point.design.config_sha256(), &found?)?;
            done += 1;
            hear(Step::Passed(missing.of_area(&point.design)));
            hear(Step::Found(done));
            Ok(())
        });
    }
    if ended.is_err() && interrupt.requested() {
        let what = format!(
            "with {done} of {} areas; parts that were synthesised are kept, and the same command goes on from there",
            lacking.len()
        );
        return Err(Interrupted(what).into());
    }
    ended
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::eval::sweep::missing_areas::*;
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
        let mut missing = Missing { parts: BTreeMap::new(), areas: designs.len() };
        let mut lacks = |key: String, seconds, part, of| {
            let pending = Pending { key: key.clone(), module: "m", seconds, part };
            missing.parts.insert(key, (pending, of));
        };
        for (at, part) in parts(&designs[0]).into_iter().enumerate() {
            lacks(format!("part {at}"), 20.0, Some(part), &designs[0]);
        }
        lacks("whole 0".to_owned(), 30.0, None, &designs[0]);
        lacks("whole 1".to_owned(), 30.0, None, &designs[1]);

        let parts = missing.parts();
        assert!(parts.len() > 2 && parts.iter().all(|(part, _)| part.seconds == 20.0));
        let wholes: f64 = designs.iter().map(|design| missing.of_area(design)).sum();
        assert!((wholes - 60.0 - 2.0 * FROM_CACHE).abs() < 1e-9, "{wholes}");
        let all = 20.0 * parts.len() as f64 + wholes;
        assert!((all - missing.work()).abs() < 1e-9, "{all} {}", missing.work());
    }
}
