//! Time of `meshkv generate`, from the start of the process to its end.

use super::at_most;
use super::figure::Figure;
use super::program::meshkv;
use anyhow::{ensure, Result};
use std::time::Instant;

/// Runs; the median counts.
const RUNS: usize = 11;

/// Configuration and goal in seconds.
const TARGETS: [(&str, &str, f64); 2] =
    [("8x8", "configs/meshkv.toml", 0.2), ("16x16", "configs/mesh_16x16.toml", 0.5)];

pub fn measure() -> Result<Vec<Figure>> {
    TARGETS
        .iter()
        .map(|(size, config, goal)| {
            let mut times = (0..RUNS).map(|_| once(config)).collect::<Result<Vec<f64>>>()?;
            times.sort_by(f64::total_cmp);
            let (median, worst) = (times[RUNS / 2], times[RUNS - 1]);
            Ok(Figure {
                what: format!("generate, {size}"),
                value: format!("{median:.3} s, median of {RUNS}; longest {worst:.3} s"),
                goal: at_most(median, *goal, format!("{goal} s")),
                command: format!("meshkv generate {config} -o DIR"),
            })
        })
        .collect()
}

/// Seconds of one run into a folder that does not exist yet.
fn once(config: &str) -> Result<f64> {
    let parent = tempfile::tempdir()?;
    let mut command = meshkv();
    command.args(["generate", config, "-q", "-o"]).arg(parent.path().join("out"));
    let started = Instant::now();
    let output = command.output()?;
    let seconds = started.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(seconds)
}
