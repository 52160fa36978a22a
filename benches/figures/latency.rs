//! Latency without load, in cycles: of one hop, and of uniform traffic from source queue to
//! ejection.

use super::at_most;
use super::figure::{Figure, Goal};
use super::program::{file, json, number, numbers, seeds, shown, PLAIN, REFERENCE, WITH_REGISTERS};
use anyhow::Result;
use meshkv::eval::Spread;

/// Load at which packets hardly ever meet.
const LOW: &str = "--traffic uniform --load 0.02 --packet 1 --vn 0";

pub fn measure() -> Result<Vec<Figure>> {
    let runs = seeds(PLAIN, LOW)?;
    let latency = Spread::of(&numbers(&runs, "latency_mean")?);
    let hops = Spread::of(&numbers(&runs, "hops_mean")?);
    let crossing = Spread::of(&numbers(&seeds(REFERENCE, LOW)?, "latency_mean")?);
    let mut figures = vec![
        Figure {
            what: format!("latency without load, 8x8 uniform, {:.2} hops", hops.mean),
            value: format!("{} cycles", latency.show(2)),
            goal: at_most(latency.mean, 12.0, "12"),
            command: shown(PLAIN, LOW),
        },
        Figure {
            what: format!("the same {WITH_REGISTERS}"),
            value: format!("{} cycles", crossing.show(2)),
            goal: Goal::Stated,
            command: shown(REFERENCE, LOW),
        },
    ];
    for (way, turn, near, far) in [("column", "buffered", 8, 56), ("row", "express path", 1, 7)] {
        // Six more hops of the same kind: the cost of the ends cancels out.
        let cycles = (alone(far)? - alone(near)?) / 6.0;
        figures.push(Figure {
            what: format!("cycles a hop along a {way} ({turn})"),
            value: format!("{cycles} cycles"),
            goal: at_most(cycles, 2.0, "2"),
            command: format!("meshkv cosim {PLAIN} --trace {way}.csv"),
        });
    }
    figures.push(Figure {
        what: "of it, pipeline stages of a router".to_owned(),
        value: "2: buffer write, then switch; 1 on the express path".to_owned(),
        goal: Goal::Stated,
        command: "docs/network.md".to_owned(),
    });
    Ok(figures)
}

/// Latency of one flit from tile 0, alone in the network.
fn alone(destination: u32) -> Result<f64> {
    let dir = tempfile::tempdir()?;
    let text = format!("cycle,source,destinations,class,flits,tag\n100,0,{destination},PART,1,\n");
    let trace = file(dir.path(), "one.csv", &text)?;
    number(&json(&format!("cosim {PLAIN} --trace {trace}"))?, "latency_mean")
}
