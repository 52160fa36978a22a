//! The highest load with a latency below three times the zero-load latency, and the accepted load
//! beyond it. The model gives the figures of the Verilog, which it equals to the cycle.

use super::at_least;
use super::figure::{Figure, Goal};
use super::program::{numbers, seeds_of_model, shown_of_model, PLAIN, REFERENCE, WITH_REGISTERS};
use anyhow::Result;
use meshkv::eval::Spread;

/// A sweep: in words, for the command, and the goal in flits/node/cycle.
const SWEEPS: [(&str, &str, f64); 6] = [
    ("VN0, 2 VCs, single flits", "--packet 1 --vn 0", 0.41),
    ("both VNs, single flits", "--packet 1 --vn both", 0.43),
    ("VN0, 2 VCs, packets of 4", "--packet 4 --vn 0", 0.385),
    ("both VNs, KV_FETCH idle, packets of 4", "--packet 4 --vn both", 0.36),
    ("all classes 2:1:1, packets of 4", "--packet 4 --vn all", 0.375),
    ("VN1 alone, one channel of KV_DATA, packets of 4", "--packet 4 --vn 1", 0.305),
];

/// The same beside BookSim2 (speculative router, channels partitioned by class like ours): at a mean latency of 73
/// cycles, which is three times its own latency without load. Its saturation was measured once.
const ALIKE: [(&str, &str, f64); 4] = [
    ("2 + 1 + 1 channels, all classes loaded 2:1:1", "--packet 4 --vn all", 0.387),
    ("2 + 1 channels, the fourth idle", "--packet 4 --vn both", 0.337),
    ("VN0 alone, 2 channels", "--packet 4 --vn 0", 0.375),
    ("VN1 alone, 1 channel of KV_DATA", "--packet 4 --vn 1", 0.312),
];

/// BookSim2's limit of the mean latency in cycles.
const LIMIT: u32 = 73;

/// Goal for the load accepted at full offer, as a share of saturation.
const KEPT: f64 = 0.95;

pub fn measure() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (what, traffic, goal) in SWEEPS {
        let args = format!("--traffic uniform --sweep-load 0.3:1.0 {traffic}");
        let runs = seeds_of_model(PLAIN, &args)?;
        let saturations = numbers(&runs, "saturation")?;
        let accepted = numbers(&runs, "accepted_at_full_offer")?;
        let saturation = Spread::of(&saturations);
        figures.push(Figure {
            what: format!("saturation, 8x8 uniform, {what}"),
            value: format!("{} flits/node/cycle", saturation.show(3)),
            goal: at_least(saturation.mean, goal, goal.to_string()),
            command: shown_of_model(PLAIN, &args),
        });
        let crossing = Spread::of(&numbers(&seeds_of_model(REFERENCE, &args)?, "saturation")?);
        figures.push(Figure {
            what: format!("the same {WITH_REGISTERS}"),
            value: format!("{} flits/node/cycle", crossing.show(3)),
            goal: Goal::Stated,
            command: shown_of_model(REFERENCE, &args),
        });
        let kept: Vec<f64> = accepted.iter().zip(&saturations).map(|(a, s)| a / s).collect();
        let kept = Spread::of(&kept);
        figures.push(Figure {
            what: format!("accepted at full offer, {what}"),
            value: format!(
                "{} of saturation ({} flits/node/cycle)",
                kept.show(3),
                Spread::of(&accepted).show(3)
            ),
            goal: at_least(kept.mean, KEPT, format!("{KEPT}")),
            command: shown_of_model(PLAIN, &args),
        });
    }
    for (what, traffic, peer) in ALIKE {
        let args = format!("--traffic uniform --sweep-load 0.3:1.0 --latency-limit {LIMIT} {traffic}");
        let saturation = Spread::of(&numbers(&seeds_of_model(PLAIN, &args)?, "saturation")?);
        figures.push(Figure {
            what: format!("load at a mean latency of {LIMIT} cycles, packets of 4, {what}"),
            value: format!("{} flits/node/cycle", saturation.show(3)),
            goal: at_least(saturation.mean, peer, format!("{peer} of BookSim2")),
            command: shown_of_model(PLAIN, &args),
        });
    }
    Ok(figures)
}
