//! Finds the load at which a network saturates.
//!
//! Saturation is the highest load whose mean latency stays below a limit: three times the zero-load latency, or another.
//! Loads rise in coarse steps until one is beyond it. Then the last step is halved until saturation
//! is known to [`RESOLUTION`]. One more run offers the largest possible load.

use crate::eval::rows::row::{saturated_at, Row, SATURATED};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

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

/// Runs some loads, and returns a row for each in their order.
pub type Points<'p, E> = &'p mut dyn FnMut(&[f64]) -> Vec<Result<Row, E>>;

/// Runs of loads by their number of steps. Some are guessed ahead; of these only the ones that are asked for count, so that the
/// curve does not depend on how many run at once.
struct Runs<'p, E> {
    /// Most loads that run at once.
    ahead: usize,
    load: &'p dyn Fn(u64) -> f64,
    points: Points<'p, E>,
    guessed: BTreeMap<u64, Result<Row, E>>,
    asked: BTreeMap<u64, Row>,
}

impl<E> Runs<'_, E> {
    /// True if a load saturates the network. `next` are loads that may be asked for next, the likeliest first.
    fn saturated(&mut self, at: u64, next: impl IntoIterator<Item = u64>) -> Result<bool, E> {
        if let Some(row) = self.asked.get(&at) {
            return Ok(row.saturated);
        }
        if !self.guessed.contains_key(&at) {
            let mut all = vec![at];
            for guess in next {
                let known = self.asked.contains_key(&guess) || self.guessed.contains_key(&guess);
                if all.len() < self.ahead && !known && !all.contains(&guess) {
                    all.push(guess);
                }
            }
            let loads: Vec<f64> = all.iter().map(|&steps| (self.load)(steps)).collect();
            self.guessed.extend(all.into_iter().zip((self.points)(&loads)));
        }
        // An error of a load that nobody asks for is none.
        let row = self.guessed.remove(&at).expect("it has just run")?;
        Ok(self.asked.entry(at).or_insert(row).saturated)
    }
}

/// The middles that a bisection between two ends may take after its next one, level by level.
fn middles(good: u64, bad: u64) -> Vec<u64> {
    let (mut all, mut spans) = (Vec::new(), vec![(good, bad)]);
    // Four levels are more than cores need.
    for _ in 0..4 {
        let split = spans
            .iter()
            .filter(|(from, to)| to - from > 1)
            .map(|&(from, to)| (from, from + (to - from) / 2, to));
        let split: Vec<_> = split.collect();
        all.extend(split.iter().map(|(_, middle, _)| *middle));
        spans = split.into_iter().flat_map(|(from, middle, to)| [(from, middle), (middle, to)]).collect();
    }
    all
}

/// Sweeps the load from `from` to `to`. `fanout` is the number of deliveries of an injected flit, which
/// scales the resolution; `limit` is another limit of the mean latency than three times that without load, in cycles;
/// `points` runs some loads, `ahead` at most, and holds each against that limit.
///
/// # Errors
/// The first error of a load that the curve needs.
pub fn sweep<E>(
    (from, to): (f64, f64),
    fanout: u32,
    zero_load_latency: f64,
    limit: Option<f64>,
    (ahead, points): (usize, Points<'_, E>),
) -> Result<Sweep, E> {
    let resolution = RESOLUTION / f64::from(fanout.max(1));
    // Loads are counted in steps of the resolution, so that they are round numbers and none is run
    // twice.
    let load = |steps: u64| (steps as f64 * resolution * 1e9).round() / 1e9;
    let steps = |load: f64| (load / resolution).round().max(1.0) as u64;
    let (first, last, full) = (steps(from), steps(to), steps(1.0));
    let (guessed, asked) = (BTreeMap::new(), BTreeMap::new());
    let mut runs = Runs { ahead: ahead.max(1), load: &load, points, guessed, asked };

    // `good` is not saturated (no load at all is not), `bad` is.
    let (mut good, mut bad) = (0, None);
    let stride = COARSE.max((last - first.min(last)) / 40);
    let mut at = first;
    while at <= last {
        let later = (1..).map(|n| (at + n * stride).min(last)).take(runs.ahead);
        if runs.saturated(at, later)? {
            bad = Some(at);
            break;
        }
        good = at;
        at = if at < last { (at + stride).min(last) } else { last + 1 };
    }
    while let Some(end) = bad.filter(|end| end - good > 1) {
        let middle = good + (end - good) / 2;
        if runs.saturated(middle, middles(good, end).into_iter().chain([full]))? {
            bad = Some(middle);
        } else {
            good = middle;
        }
    }
    runs.saturated(full, [])?;

    let points: Vec<Row> = runs.asked.into_values().collect();
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
    fn queue(limit: f64, runs: &mut Vec<f64>) -> impl FnMut(&[f64]) -> Vec<Result<Row, String>> + '_ {
        move |loads| {
            runs.extend(loads);
            let row = |&load: &f64| {
                let latency_mean = if load < limit { 10.0 / (1.0 - load / limit) } else { f64::INFINITY };
                let saturated = latency_mean >= SATURATED_AT * 10.0;
                let accepted = load.min(limit);
                Ok(Row { load: Some(load), latency_mean, saturated, accepted, ..Row::default() })
            };
            loads.iter().map(row).collect()
        }
    }

    #[test]
    fn the_curve_does_not_depend_on_how_many_loads_run_at_once() {
        for limit in [0.06, 0.6, 9.0] {
            let found = |ahead| {
                let mut runs = Vec::new();
                let found = sweep((0.05, 1.0), 1, 10.0, None, (ahead, &mut queue(limit, &mut runs))).unwrap();
                runs.sort_by(f64::total_cmp);
                assert!(runs.windows(2).all(|two| two[0] < two[1]), "{ahead}: {runs:?}");
                found
            };
            for ahead in [2, 3, 8, 64] {
                assert_eq!(found(ahead), found(1), "{ahead} at once, limit {limit}");
            }
        }
    }

    #[test]
    fn an_error_of_a_guess_that_nobody_needs_is_none() {
        let mut runs = Vec::new();
        let mut calm = queue(0.6, &mut runs);
        let mut points = |loads: &[f64]| -> Vec<Result<Row, String>> {
            let fails = |load: &f64| (0.45..0.99).contains(load);
            calm(loads)
                .into_iter()
                .zip(loads)
                .map(|(row, load)| if fails(load) { Err("stalled".to_owned()) } else { row })
                .collect()
        };
        let found = sweep((0.05, 1.0), 1, 10.0, None, (8, &mut points)).expect("no load above 0.4 is needed");
        assert!((found.saturation.expect("it saturates") - 0.395).abs() < 1e-9);
    }

    #[test]
    fn saturation_is_found_to_the_resolution_and_no_load_is_run_twice() {
        let mut runs = Vec::new();
        let found =
            sweep((0.05, 1.0), 1, 10.0, None, (1, &mut queue(0.6, &mut runs))).expect("no point fails");
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
            sweep((0.3, 0.5), 1, 10.0, None, (1, &mut queue(0.06, &mut Vec::new()))).expect("no point fails");
        assert!((found.saturation.expect("it saturates") - 0.035).abs() < 1e-9);
    }

    #[test]
    fn a_range_that_does_not_saturate_says_so() {
        let found =
            sweep((0.1, 0.3), 1, 10.0, None, (1, &mut queue(9.0, &mut Vec::new()))).expect("no point fails");
        assert_eq!(found.saturation, None);
        assert_eq!(found.points.last().and_then(|row| row.load), Some(1.0));
    }

    #[test]
    fn the_resolution_follows_the_fan_out() {
        let found = sweep((0.05, 1.0), 50, 10.0, None, (1, &mut queue(0.0303, &mut Vec::new())))
            .expect("no point fails");
        assert!((found.saturation.expect("it saturates") - 0.0202).abs() <= 0.0001);
    }

    #[test]
    fn an_error_of_a_point_ends_the_sweep() {
        let point = |load: &f64| if *load > 0.2 { Err("stalled") } else { Ok(Row::default()) };
        let mut points = |loads: &[f64]| loads.iter().map(point).collect::<Vec<_>>();
        assert_eq!(sweep((0.1, 1.0), 1, 10.0, None, (2, &mut points)), Err("stalled"));
    }
}
