//! Multicast: the last delivery, the throughput of an overloaded fabric, the size of the trees,
//! starvation.

use super::figure::{Figure, Goal};
use super::program::{numbers, seeds, shown, PLAIN};
use super::{at_least, at_most};
use anyhow::Result;
use meshkv::eval::Spread;
use serde_json::Value;

/// Fan-out, load at which multicasts hardly ever meet, goals for last delivery and saturated delivery.
const FANOUTS: [(u32, &str, f64, f64); 2] = [(8, "0.0005", 16.0, 0.50), (63, "0.0002", 20.0, 0.75)];

/// Wait in cycles beyond which a flit counts as starved: the best peer's value under overload.
const STARVED: f64 = 20_000.0;

pub fn measure() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (fanout, low, last_goal, delivered_goal) in FANOUTS {
        let alone = format!("--traffic multicast --fanout {fanout} --load {low} --cycles 50000");
        let quiet = seeds(PLAIN, &alone)?;
        let last = Spread::of(&numbers(&quiet, "last_delivery_mean")?);
        figures.push(Figure {
            what: format!("last delivery of one flit to {fanout} tiles, 8x8"),
            value: format!("{} cycles", last.show(2)),
            goal: at_most(last.mean, last_goal, last_goal.to_string()),
            command: shown(PLAIN, &alone),
        });

        let full = format!("--traffic multicast --fanout {fanout} --load 1");
        let loaded = seeds(PLAIN, &full)?;
        let delivered = Spread::of(&numbers(&loaded, "accepted")?);
        figures.push(Figure {
            what: format!("delivered at full offer, fan-out {fanout}"),
            value: format!("{} flits/node/cycle", delivered.show(3)),
            goal: at_least(delivered.mean, delivered_goal, format!("{delivered_goal:.2}")),
            command: shown(PLAIN, &full),
        });

        let (counted, trees) =
            (links(&quiet, &loaded, "run_link_flits")?, links(&quiet, &loaded, "run_tree_links")?);
        figures.push(Figure {
            what: format!("link traversals counted in RTL, fan-out {fanout}, all these runs"),
            value: format!("{counted}, of trees with {trees} links"),
            goal: Goal::Met(counted == trees, "as many".to_owned()),
            command: shown(PLAIN, &full),
        });
        let waits = numbers(&loaded, "max_wait")?;
        let longest = waits.into_iter().fold(0.0, f64::max);
        figures.push(Figure {
            what: format!("longest wait of any flit at full offer, fan-out {fanout}"),
            value: format!("{longest} cycles from the head of its source queue"),
            goal: at_most(longest, STARVED, format!("{STARVED}, where a peer starves")),
            command: shown(PLAIN, &full),
        });
    }
    Ok(figures)
}

fn links(quiet: &[Value], loaded: &[Value], key: &str) -> Result<u64> {
    Ok([quiet, loaded]
        .map(|runs| numbers(runs, key))
        .into_iter()
        .collect::<Result<Vec<_>>>()?
        .concat()
        .iter()
        .sum::<f64>() as u64)
}
