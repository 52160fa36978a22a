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

/// The fabric for the card, and the same for a batch.
const CARD: &str = "configs/u280_4x8.toml";
const BATCH: &str = "configs/u280_4x8_b8.toml";

/// A change of the configuration: its text, and its effect.
type Change = (&'static str, fn(&mut Config));

/// One workload: its name, the configuration and its changes, its arguments, and its goal as a share of the tightest
/// bound, if there is one.
struct Workload {
    what: &'static str,
    /// Subcommand before the configuration.
    run: &'static str,
    path: &'static str,
    change: Option<Change>,
    args: &'static str,
    share: Option<f64>,
}

const GQA: Option<Change> = Some(("model.kv_heads = 8", |c| c.model.kv_heads = 8));
const LONG: Option<Change> = Some(("model.max_tokens = 32768", |c| c.model.max_tokens = 32_768));
const LONG_GQA: Option<Change> = Some(("model.kv_heads = 8, model.max_tokens = 32768", |c| {
    (c.model.kv_heads, c.model.max_tokens) = (8, 32_768);
}));
const WORKLOADS: [Workload; 8] = [
    Workload {
        what: "LLaMA-2-7B, B = 1, T = 32 768",
        run: "sim run",
        path: CARD,
        change: None,
        args: "--timing --tokens 32768",
        share: Some(0.97),
    },
    Workload {
        what: "the same at the 425 GB/s that others measured on the card",
        run: "sim run",
        path: CARD,
        change: Some(("memory.bandwidth_gbs = 425", |c| c.memory.bandwidth_gbs = 425.0)),
        args: "--timing --tokens 32768",
        share: Some(0.97),
    },
    Workload {
        what: "LLaMA-2-7B, B = 1, T = 4 096",
        run: "sim run",
        path: CARD,
        change: None,
        args: "--timing --tokens 4096",
        share: Some(0.90),
    },
    Workload {
        what: "Mistral-7B's heads (GQA 4) without a window, B = 1, T = 32 768",
        run: "sim run",
        path: CARD,
        change: GQA,
        args: "--timing --tokens 32768",
        share: Some(0.94),
    },
    Workload {
        what: "LLaMA-2-7B, B = 8 with a common prefix of 32 768",
        run: "sim run",
        path: BATCH,
        change: LONG,
        args: "--timing --tokens 32768 --batch 8",
        share: Some(0.94),
    },
    Workload {
        what: "Mistral-7B's heads, B = 8 with a common prefix of 32 768",
        run: "sim run",
        path: BATCH,
        change: LONG_GQA,
        args: "--timing --tokens 32768 --batch 8",
        share: Some(0.94),
    },
    Workload {
        what: "LLaMA-2-7B, B = 8 without one, T = 4 096 each",
        run: "decode",
        path: BATCH,
        change: None,
        args: "--segments all --engine model --tokens 4096 --batch 8",
        share: Some(0.95),
    },
    Workload {
        what: "LLaMA-2-7B, B = 8 with a common prefix of 4 096",
        run: "sim run",
        path: BATCH,
        change: None,
        args: "--timing --tokens 4096 --batch 8",
        share: None,
    },
];

/// Goals are of a memory that is not refreshed. Each workload is measured under both.
const UNREFRESHED: &str = " --no-refresh";
const MANNERS: [&str; 2] = [UNREFRESHED, ""];

pub fn measure() -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let mut figures = Vec::new();
    for load in &WORKLOADS {
        for manner in MANNERS {
            figures.push(of_workload(dir.path(), load, manner)?);
        }
    }
    for (path, most) in [(CARD, 38_400.0), ("configs/meshkv_stride1.toml", 46_000.0)] {
        let args = format!(
            "decode {path} --mapping row-aligned --tokens 32768 --segments 64 --engine model{UNREFRESHED}"
        );
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

/// `manner`: an option, or none.
fn of_workload(dir: &Path, load: &Workload, manner: &str) -> Result<Figure> {
    let (path, changed) = match load.change {
        None => (load.path.to_owned(), String::new()),
        Some((text, change)) => {
            let root = env!("CARGO_MANIFEST_DIR");
            let mut config: Config =
                toml::from_str(&std::fs::read_to_string(format!("{root}/{}", load.path))?)?;
            change(&mut config);
            (file(dir, "card.toml", &toml::to_string(&config)?)?, format!(" with {text}"))
        }
    };
    let row = json(&format!("{} {path} {}{manner}", load.run, load.args))?;
    // A run says its total apart from the cycles after its queries.
    let total = number(&row, "total_cycles").or_else(|_| number(&row, "cycles"))?;
    let (kv, in_phase) = (&row["kv_phase"], number(&row["kv_phase"], "cycles")?);
    let (part, bound) = tightest(kv)?;
    let share = bound / total;
    Ok(Figure {
        what: format!(
            "`{}`, one layer: {}{}",
            name(load.path),
            load.what,
            if manner == UNREFRESHED { "" } else { ", refreshed" }
        ),
        value: format!(
            "{:.1} % of the bound ({part}, {bound} cycles): {total} cycles, {:.1} GB/s; KV phase {in_phase} cycles, {:.1} %; {} \
             cycles before and after it; mapping {}",
            100.0 * share,
            number(&row, "kv_gbs")?,
            100.0 * bound / in_phase,
            total - in_phase,
            row["mapping"].as_str().context("no mapping")?,
        ),
        goal: load
            .share
            .map_or(Goal::Stated, |least| at_least(share, least, format!("{:.0} %", 100.0 * least))),
        command: format!("meshkv {} {} {}{manner}{changed}", load.run, load.path, load.args),
    })
}

/// The part of the fabric that needs the most cycles for KV, and these cycles.
fn tightest(kv: &Value) -> Result<(String, f64)> {
    let bounds = kv["bounds"].as_object().context("no bounds")?;
    let cycles = |bound: &Value| bound.as_f64().unwrap_or(0.0);
    let (part, bound) =
        bounds.iter().max_by(|a, b| cycles(a.1).total_cmp(&cycles(b.1))).context("no bounds")?;
    Ok((part.clone(), cycles(bound)))
}
