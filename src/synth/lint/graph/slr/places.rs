//! Regions of instances, from the pblocks of the floorplan.

use anyhow::{Context as _, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Rows of clock regions of an SLR.
const CLOCK_ROWS: u32 = 4;

/// A placed instance: the pieces of its path, each perhaps with wildcards, and its SLR.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    path: Vec<String>,
    slr: u32,
}

/// The placed instances.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Places {
    all: Vec<Place>,
}

impl Places {
    /// Reads `create_pblock`, `resize_pblock` and `add_cells_to_pblock` of the emitted floorplan.
    pub(super) fn parse(xdc: &str) -> Result<Places> {
        let mut slrs = BTreeMap::new();
        let mut all = Vec::new();
        for line in xdc.lines() {
            let name = || line.split("[get_pblocks ").nth(1).and_then(|rest| rest.split(']').next());
            if line.starts_with("resize_pblock") {
                let row = line.split('Y').nth(1).and_then(|rest| rest.split(':').next());
                let row: u32 =
                    row.and_then(|row| row.parse().ok()).with_context(|| format!("no region: {line}"))?;
                slrs.insert(name().with_context(|| format!("no pblock: {line}"))?, row / CLOCK_ROWS);
            } else if line.starts_with("add_cells_to_pblock") {
                let slr =
                    name().and_then(|name| slrs.get(name)).with_context(|| format!("no region: {line}"))?;
                let cells =
                    line.split('{').nth(1).and_then(|rest| rest.split('}').next()).unwrap_or_default();
                all.extend(
                    cells
                        .split_whitespace()
                        .map(|cell| Place { path: cell.split('/').map(str::to_owned).collect(), slr: *slr }),
                );
            }
        }
        Ok(Places { all })
    }

    /// Regions with cells.
    pub(super) fn regions(&self) -> usize {
        self.all.iter().map(|place| place.slr).collect::<BTreeSet<_>>().len()
    }

    /// All places, before the first level.
    pub(super) fn at_top(&self) -> Vec<usize> {
        (0..self.all.len()).collect()
    }

    /// Enters an instance at a level: its SLR if it is placed, and the places further below.
    pub(super) fn enter(&self, open: &[usize], level: usize, instance: &str) -> (Option<u32>, Vec<usize>) {
        let mut slr = None;
        let mut below = Vec::new();
        for &at in open {
            let place = &self.all[at];
            if !matches(&place.path[level], instance) {
                continue;
            }
            if place.path.len() == level + 1 {
                slr = Some(place.slr);
            } else {
                below.push(at);
            }
        }
        (slr, below)
    }
}

/// Compares a name with a pattern whose only wildcard is `*`.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(name) = name.strip_prefix(head) else { return false };
    (0..=name.len()).filter(|&at| name.is_char_boundary(at)).any(|at| matches(rest, &name[at..]))
}

#[cfg(test)]
mod tests {
    use crate::synth::lint::graph::slr::places::*;

    #[test]
    fn instances_have_the_region_of_the_nearest_pblock() {
        let xdc = "create_pblock a\nresize_pblock [get_pblocks a] -add CLOCKREGION_X0Y0:CLOCKREGION_X7Y3\n\
                   add_cells_to_pblock [get_pblocks a] [get_cells {u_a u_c/gen[1].*u_d}]\n\
                   resize_pblock [get_pblocks b] -add CLOCKREGION_X0Y8:CLOCKREGION_X3Y11\n\
                   add_cells_to_pblock [get_pblocks b] [get_cells {u_a/u_b}]\n";
        let places = Places::parse(xdc).unwrap();
        assert_eq!(places.regions(), 2);
        let (slr, below) = places.enter(&places.at_top(), 0, "u_a");
        assert_eq!(
            (slr, places.enter(&below, 1, "u_b").0, places.enter(&below, 1, "u_x").0),
            (Some(0), Some(2), None)
        );
        let (slr, below) = places.enter(&places.at_top(), 0, "u_c");
        assert_eq!((slr, places.enter(&below, 1, "gen[1].more.u_d").0), (None, Some(0)));
        assert!(Places::parse("add_cells_to_pblock [get_pblocks a] [get_cells {u_a}]").is_err());
    }
}
