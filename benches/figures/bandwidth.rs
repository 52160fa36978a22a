//! Share of the external memory's bandwidth that the fabric for the card reaches, from start to
//! done, and the bounds of each workload.
//!
//! All runs are on the cycle-exact model, which is deterministic: one run a row.

use super::figure::{Figure, Goal};
use super::program::{file, json, number};
use super::{at_least, at_most};
use anyhow::{Context, Result};
use meshkv::config::Config;
use serde_json::Value;
use std::path::Path;

/// The fabric for the card.
const CARD: &str = "configs/u280_4x8.toml";

/// A change of the configuration: its text, and its effect.
type Change = (&'static str, fn(&mut Config));

/// One workload: its name, its changes of the configuration, its arguments, and its goal.
struct Workload {
    what: &'static str,
    change: Option<Change>,
    args: &'static str,
    share: Option<f64>,
}

const WORKLOADS: [Workload; 6] = [
    Workload { what: "LLaMA-2-7B, T = 32 768, B = 1", change: None, args: "", share: Some(0.95) },
    Workload {
        what: "the same at the 425 GB/s that others measured on the card",
        change: Some(("memory.bandwidth_gbs = 425", |c| c.memory.bandwidth_gbs = 425.0)),
        args: "",
        share: Some(0.96),
    },
    Workload { what: "LLaMA-2-7B, T = 4 096, B = 1", change: None, args: "--tokens 4096", share: None },
    Workload {
        what: "Mistral-7B (GQA 4), T = 32 768, B = 1",
        change: Some(("model.kv_heads = 8", |c| c.model.kv_heads = 8)),
        args: "",
        share: None,
    },
    Workload {
        what: "LLaMA-2-7B, T = 4 096, B = 8 with a common prefix",
        change: Some(("model.max_streams = 8", |c| c.model.max_streams = 8)),
        args: "--tokens 4096 --batch 8 --prefix 4096",
        share: None,
    },
    Workload {
        what: "Mistral-7B (GQA 4), T = 4 096, B = 8 with a common prefix",
        change: Some(("model.kv_heads = 8, model.max_streams = 8", |c| {
            (c.model.kv_heads, c.model.max_streams) = (8, 8);
        })),
        args: "--tokens 4096 --batch 8 --prefix 4096",
        share: None,
    },
];

pub fn measure() -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let mut figures =
        WORKLOADS.iter().map(|load| of_workload(dir.path(), load)).collect::<Result<Vec<_>>>()?;
    for (path, most) in [(CARD, 38_400.0), ("configs/meshkv_stride1.toml", 46_000.0)] {
        let args = format!("decode {path} --mapping row-aligned --tokens 32768 --segments 64 --engine model");
        let row = json(&args)?;
        let (cycles, share) = (number(&row, "kv_cycles")?, number(&row["kv_phase"], "share")?);
        figures.push(Figure {
            what: format!("KV phase of 64 segments of a layer, `{}`", name(path)),
            value: format!("{cycles} cycles, {:.1} % of the bandwidth", 100.0 * share),
            goal: at_most(cycles, most, format!("{most} cycles")),
            command: format!("meshkv {args}"),
        });
    }
    Ok(figures)
}

fn name(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or(path)
}

fn of_workload(dir: &Path, load: &Workload) -> Result<Figure> {
    let (path, changed) = match load.change {
        None => (CARD.to_owned(), String::new()),
        Some((text, change)) => {
            let root = env!("CARGO_MANIFEST_DIR");
            let mut config: Config = toml::from_str(&std::fs::read_to_string(format!("{root}/{CARD}"))?)?;
            change(&mut config);
            (file(dir, "card.toml", &toml::to_string(&config)?)?, format!(" with {text}"))
        }
    };
    let args = format!("--mapping row-aligned --segments all --engine model {}", load.args);
    let row = json(&format!("decode {path} {args}"))?;
    let share = number(&row, "share")?;
    let (kv, total) = (&row["kv_phase"], number(&row, "cycles")?);
    let bound = |row: &Value| -> Result<String> {
        let bounds = row["bounds"].as_object().context("no bounds")?;
        let cycles = |bound: &Value| bound.as_u64().unwrap_or(0);
        let (part, bound) = bounds.iter().max_by_key(|(_, bound)| cycles(bound)).context("no bounds")?;
        Ok(format!("{part}, {}", cycles(bound)))
    };
    Ok(Figure {
        what: format!("`{}`, one layer: {}", name(CARD), load.what),
        value: format!(
            "{:.1} % of the bandwidth, {:.1} GB/s, {total} cycles (bound: {}); KV phase {} cycles, {:.1} % (bound: {})",
            100.0 * share,
            number(&row, "kv_gbs")?,
            bound(&row)?,
            number(kv, "cycles")?,
            100.0 * number(kv, "share")?,
            bound(kv)?
        ),
        goal: load.share.map_or(Goal::Stated, |least| at_least(share, least, format!("{:.0} %", 100.0 * least))),
        command: format!("meshkv decode {CARD} {}{changed}", args.trim_end()),
    })
}
