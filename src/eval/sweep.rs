//! Finds the load at which a network saturates.
//!
//! Saturation is the highest load whose mean latency stays below a limit: three times the zero-load latency, or another.
//! Loads rise in coarse steps until one is beyond it. Then the last step is halved until saturation
//! is known to [`RESOLUTION`]. One more run offers the largest possible load.

use super::row::{saturated_at, Row, SATURATED};
use schemars::JsonSchema;
use serde::Serialize;

/// Mean latency at saturation, in multiples of the zero-load latency.
pub const SATURATED_AT: f64 = SATURATED;

/// Resolution of the saturation load, in delivered flits for each node and cycle.
pub const RESOLUTION: f64 = 0.005;

/// Coarse step, in multiples of [`RESOLUTION`].
const COARSE: u64 = 10;

/// A load-latency curve.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sweep {
    /// All runs, by rising load.
    pub points: Vec<Row>,
    /// Highest load (of a sending tile, in injected flits a cycle) that is not saturated; null if no load of the range
    /// saturates the network.
    pub saturation: Option<f64>,
    /// Resolution of `saturation`, in the same unit.
    pub resolution: f64,
    /// Flits delivered for each node and cycle when every tile offers all it can.
    pub accepted_at_full_offer: f64,
    /// Mean latency in cycles of the same traffic at hardly any load.
    pub zero_load_latency: f64,
    /// Mean latency in cycles at which a load counts as saturated.
    pub latency_limit: f64,
    /// Number of violations of all points.
    pub violations: u64,
    /// The command that runs this sweep again.
    pub command: String,
}

/// Sweeps the load from `from` to `to`. `fanout` is the number of deliveries of an injected flit, which
/// scales the resolution; `limit` is another limit of the mean latency than three times that without load, in cycles;
/// `point` runs one load and holds it against that limit.
///
/// # Errors
/// The first error of `point`.
pub fn sweep<E>(
    (from, to): (f64, f64),
    fanout: u32,
    zero_load_latency: f64,
    limit: Option<f64>,
    point: &mut dyn FnMut(f64) -> Result<Row, E>,
) -> Result<Sweep, E> {
    let resolution = RESOLUTION / f64::from(fanout.max(1));
    // Loads are counted in steps of the resolution, so that they are round numbers and none is run
    // twice.
    let load = |steps: u64| (steps as f64 * resolution * 1e9).round() / 1e9;
    let steps = |load: f64| (load / resolution).round().max(1.0) as u64;
    let (first, last, full) = (steps(from), steps(to), steps(1.0));
    let mut points: Vec<(u64, Row)> = Vec::new();
    let mut run = |at: u64| -> Result<bool, E> {
        if let Some((_, row)) = points.iter().find(|(steps, _)| *steps == at) {
            return Ok(row.saturated);
        }
        let row = point(load(at))?;
        let saturated = row.saturated;
        points.push((at, row));
        Ok(saturated)
    };

    // `good` is not saturated (no load at all is not), `bad` is.
    let (mut good, mut bad) = (0, None);
    let stride = COARSE.max((last - first.min(last)) / 40);
    let mut at = first;
    while at <= last {
        if run(at)? {
            bad = Some(at);
            break;
        }
        good = at;
        at = if at < last { (at + stride).min(last) } else { last + 1 };
    }
    while let Some(end) = bad.filter(|end| end - good > 1) {
        let middle = good + (end - good) / 2;
        if run(middle)? {
            bad = Some(middle);
        } else {
            good = middle;
        }
    }
    run(full)?;

    points.sort_by_key(|(steps, _)| *steps);
    let points: Vec<Row> = points.into_iter().map(|(_, row)| row).collect();
    Ok(Sweep {
        saturation: bad.map(|_| load(good)),
        resolution,
        accepted_at_full_offer: points.last().map_or(0.0, |row| row.accepted),
        zero_load_latency,
        latency_limit: limit.unwrap_or(saturated_at(zero_load_latency)),
        violations: points.iter().map(|row| row.violations).sum(),
        points,
        command: String::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue that saturates at `limit`: latency 10 / (1 - load / limit).
    fn queue(limit: f64, runs: &mut Vec<f64>) -> impl FnMut(f64) -> Result<Row, String> + '_ {
        move |load| {
            runs.push(load);
            let latency_mean = if load < limit { 10.0 / (1.0 - load / limit) } else { f64::INFINITY };
            let saturated = latency_mean >= SATURATED_AT * 10.0;
            Ok(Row { load: Some(load), latency_mean, saturated, accepted: load.min(limit), ..Row::default() })
        }
    }

    #[test]
    fn saturation_is_found_to_the_resolution_and_no_load_is_run_twice() {
        let mut runs = Vec::new();
        let found = sweep((0.05, 1.0), 1, 10.0, None, &mut queue(0.6, &mut runs)).expect("no point fails");
        // Three times the latency is reached at two thirds of 0.6.
        let saturation = found.saturation.expect("it saturates");
        assert!((saturation - 0.395).abs() < 1e-9, "{saturation}");
        assert_eq!(found.accepted_at_full_offer, 0.6);
        assert_eq!(found.points.len(), runs.len());
        assert!(found.points.windows(2).all(|pair| pair[0].load < pair[1].load));
        assert!(runs.len() < 16, "{runs:?}");
    }

    #[test]
    fn saturation_below_the_range_is_found_too() {
        let found =
            sweep((0.3, 0.5), 1, 10.0, None, &mut queue(0.06, &mut Vec::new())).expect("no point fails");
        assert!((found.saturation.expect("it saturates") - 0.035).abs() < 1e-9);
    }

    #[test]
    fn a_range_that_does_not_saturate_says_so() {
        let found =
            sweep((0.1, 0.3), 1, 10.0, None, &mut queue(9.0, &mut Vec::new())).expect("no point fails");
        assert_eq!(found.saturation, None);
        assert_eq!(found.points.last().and_then(|row| row.load), Some(1.0));
    }

    #[test]
    fn the_resolution_follows_the_fan_out() {
        let found =
            sweep((0.05, 1.0), 50, 10.0, None, &mut queue(0.0303, &mut Vec::new())).expect("no point fails");
        assert!((found.saturation.expect("it saturates") - 0.0202).abs() <= 0.0001);
    }

    #[test]
    fn an_error_of_a_point_ends_the_sweep() {
        let mut point = |load: f64| if load > 0.2 { Err("stalled") } else { Ok(Row::default()) };
        assert_eq!(sweep((0.1, 1.0), 1, 10.0, None, &mut point), Err("stalled"));
    }
}
