//! Time to generate a fabric, from the configuration to the files on disk: `cargo bench --bench
//! generate`.
//!
//! Exits with 1 if a size takes longer than its target, which is far above the noise.

use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs of one size; the median of them counts.
const RUNS: usize = 21;

/// Mesh sides, and the target of each.
const TARGETS: [(u32, Duration); 2] = [(8, Duration::from_millis(200)), (16, Duration::from_millis(500))];

/// One run into a directory that does not exist yet.
fn generate(side: u32) -> Duration {
    let parent = tempfile::tempdir().expect("a temporary directory");
    let started = Instant::now();
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (side, side);
    let design = Design::from_config("bench", &config).expect("the defaults are legal");
    let files = emit::emit(&design).expect("a legal design is emitted");
    emit::write(&files, &parent.path().join("out"), false).expect("the directory is writable");
    started.elapsed()
}

fn main() -> ExitCode {
    let mut met = true;
    for (side, target) in TARGETS {
        let mut times: Vec<_> = (0..RUNS).map(|_| generate(side)).collect();
        times.sort();
        let (median, worst) = (times[RUNS / 2], times[RUNS - 1]);
        println!(
            "generate {side}x{side}: median {median:.1?}, worst {worst:.1?} of {RUNS}, target {target:?}"
        );
        met &= median <= target;
    }
    if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
