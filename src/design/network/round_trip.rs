//! The round trip of a fetch without load, over the mean distance of two tiles.

use crate::config::Config;
use crate::design::card::floorplan::Floorplan;

/// Cycles from a fetch to its first flit without load: both ways over the mean distance of two tiles. An 8x8
/// mesh has about 22 cycles, plus those of registers between SLRs.
pub(in crate::design) fn round_trip(config: &Config, plan: &Floorplan) -> u32 {
    let (cols, rows) = (f64::from(config.mesh.cols), f64::from(config.mesh.rows));
    let tiles = cols * rows;
    // The mean of |a - b| over a line of n tiles is (n^2 - 1) / 3n; a tile does not fetch from itself.
    let mean = |n: f64| (n * n - 1.0) / (3.0 * n);
    let others = tiles / (tiles - 1.0);
    let hops = (mean(cols) + mean(rows)) * others;
    // Probability that two random rows are on different sides of a boundary.
    let apart = |row: u32| 2.0 * f64::from(row + 1) * (rows - f64::from(row + 1)) / (rows * rows);
    let registers: f64 = if config.floorplan.slr_registers {
        (0..config.mesh.rows).filter(|&row| plan.crosses(row)).map(apart).sum()
    } else {
        0.0
    };
    (2.0 * (hops * f64::from(config.noc.router_stages) + registers * others)).ceil() as u32
}
