//! Beyond saturation: the share of the slowest source, the load that is accepted, and the longest wait of short and long
//! runs beside its bound.

use super::figure::{Figure, Goal};
use super::program::{json, number, PLAIN};
use anyhow::Result;

/// Cycles of the long run and of the short ones.
const LONG: u64 = 48_000;
const SHORT: u64 = 3_000;
/// The longest wait of few cycles is chance: the largest of so many short runs.
const SHORT_RUNS: u64 = 3;

/// Traffic, and the goals: share of the slowest source over the mean, longest wait in cycles. What has no goal is stated.
const RUNS: [(&str, f64, f64); 15] = [
    ("bit-complement --vn 0", 0.98, 500.0),
    ("bit-complement --vn 1", 0.98, 500.0),
    ("bit-complement --vn both", 0.98, 1800.0),
    ("transpose --vn 0", 0.56, 500.0),
    ("transpose --vn 1", 0.56, 500.0),
    ("transpose --vn both", 0.56, 1800.0),
    ("uniform --vn 0", 0.85, 1000.0),
    ("uniform --vn both", 0.85, 1000.0),
    ("tornado --vn both", 0.85, 1800.0),
    ("bit-reverse --vn both", 0.70, 1800.0),
    ("shuffle --vn both", 0.48, 1800.0),
    ("hotspot --vn both", 0.75, 4500.0),
    ("all-to-one --vn both", 0.95, f64::INFINITY),
    ("mixed", 0.0, 2500.0),
    ("multicast", 0.0, 2500.0),
];

pub fn measure() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (traffic, share, wait) in RUNS {
        let args = |cycles: u64, seed: u64| {
            format!(
                "sim {PLAIN} --traffic {traffic} --load 1 --cycles {cycles} --drain-limit 1000 --seed {seed}"
            )
        };
        let long = json(&args(LONG, 1))?;
        let mut short: f64 = 0.0;
        for seed in 1..=SHORT_RUNS {
            short = short.max(number(&json(&args(SHORT, seed))?, "max_wait")?);
        }
        let (longest, slowest) = (number(&long, "max_wait")?, number(&long, "slowest_source")?);
        figures.push(Figure {
            what: format!("full load, 8x8, `{traffic}`"),
            value: format!(
                "slowest source {slowest:.3} of the mean; {:.3} flits/node/cycle accepted; longest wait {longest} cycles, {short} in {SHORT_RUNS} runs of {SHORT} cycles, bound {}",
                number(&long, "accepted")?,
                number(&long, "wait_bound")?,
            ),
            goal: goal(slowest, share, longest, wait),
            command: format!("meshkv {}", args(LONG, 1)),
        });
    }
    Ok(figures)
}

fn goal(slowest: f64, share: f64, longest: f64, wait: f64) -> Goal {
    let share_goal = (share > 0.0).then(|| format!(">= {share}"));
    let wait_goal = wait.is_finite().then(|| format!("<= {wait} cycles"));
    let text: Vec<String> = [share_goal, wait_goal].into_iter().flatten().collect();
    Goal::Met(slowest >= share && longest <= wait, text.join(", "))
}
