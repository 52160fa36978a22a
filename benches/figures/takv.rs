//! Decode steps on the fabric: traffic, bisection and cycles of the four configurations under every
//! mapping, and the gain of swaps.
//!
//! Every figure is a sample of T = 32 K, per macro-block. Traffic is over homes in all columns and
//! rows, cycles are over one layer whose segments reach each of its homes. A hub has one home for
//! any sample, so a small one is enough. The model gives the figures of the Verilog.

use super::at_most;
use super::figure::{Figure, Goal};
use super::program::{file, json, number};
use anyhow::{Context, Result};
use meshkv::config::{Config, PlacementKind};
use serde_json::Value;
use std::path::Path;

/// The configurations; all are normalised to the first.
const CONFIGURATIONS: [&str; 5] = ["cent", "shared", "takv", "meshkv", "meshkv_stride1"];

/// A model: name, KV heads, sliding window, goal for the traffic of `meshkv` over `cent`, and the
/// paper's value.
struct Model {
    name: &'static str,
    kv_heads: u32,
    sliding_window: Option<u32>,
    goal: f64,
    paper: [f64; 4],
}

const MODELS: [Model; 2] = [
    Model {
        name: "LLaMA-2-7B",
        kv_heads: 32,
        sliding_window: None,
        goal: 0.42,
        paper: [1.0, 0.81, 0.66, 0.42],
    },
    Model {
        name: "Mistral-7B",
        kv_heads: 8,
        sliding_window: Some(4096),
        goal: 0.40,
        paper: [1.0, 0.79, 0.63, 0.40],
    },
];

/// Results of a configuration, per macro-block.
struct PerBlock {
    traffic: f64,
    cycles: f64,
    shares: [f64; 3],
    bound_by: String,
    command: String,
}

pub fn measure() -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let mut figures = Vec::new();
    for model in &MODELS {
        figures.extend(compare(dir.path(), model, 1, &["head-tile", "row-aligned"])?);
    }
    for model in &MODELS {
        figures.extend(compare(dir.path(), model, 8, &["head-tile", "stream-striped"])?);
    }
    figures.extend(filter(dir.path())?);
    figures.extend(segment_sharing()?);
    figures.extend(swaps(dir.path())?);
    Ok(figures)
}

/// Cycles of suppression over those without, at most, as a mean over all workloads.
const FILTER_COST: f64 = 1.005;

/// What the duplicate filter costs and saves, in every workload above that fetches over trees.
///
/// One row by itself says little: a cycle more or less in the same home moves a row that links bound by several percent
/// either way, with the filter and without.
fn filter(dir: &Path) -> Result<Vec<Figure>> {
    let (mut figures, mut ratios) = (Vec::new(), Vec::new());
    for (model, batch, mapping) in [
        (&MODELS[0], 1, "head-tile"),
        (&MODELS[0], 1, "row-aligned"),
        (&MODELS[0], 8, "head-tile"),
        (&MODELS[0], 8, "stream-striped"),
        (&MODELS[1], 1, "head-tile"),
        (&MODELS[1], 1, "row-aligned"),
        (&MODELS[1], 8, "head-tile"),
        (&MODELS[1], 8, "stream-striped"),
    ] {
        for (name, segments) in [("meshkv", 16), ("meshkv_stride1", 64)] {
            let shared = if batch > 1 { format!(" --batch {batch} --prefix 32768") } else { String::new() };
            let args = format!("--mapping {mapping} --layers 1 --segments {segments}{shared} --engine model");
            let mut config = read(name, model)?;
            let with = file(dir, &format!("{name}_filter.toml"), &toml::to_string(&config)?)?;
            config.mare.dedup = false;
            let without = file(dir, &format!("{name}_no_filter.toml"), &toml::to_string(&config)?)?;
            let (with, without) =
                (json(&format!("decode {with} {args}"))?, json(&format!("decode {without} {args}"))?);
            let ratio = number(&with, "cycles")? / number(&without, "cycles")?;
            let data = |run: &Value| number(&run["flits_by_class"], "KV_DATA");
            let count = |key: &str| number(&with["counters"], key);
            figures.push(Figure {
                what: format!("duplicate filter, {}, B = {batch}, `{name}`, {mapping}", model.name),
                value: format!(
                    "{ratio:.4} of the cycles without, {:.4} of the KV_DATA traversals; {} of {} chunks known, {} dropped, {} trimmed, {} repeats",
                    data(&with)? / data(&without)?,
                    count("exact_hits")?,
                    count("chunks_looked_up")?,
                    count("chunks_dropped")?,
                    count("chunks_trimmed")?,
                    count("retries")?,
                ),
                goal: Goal::Stated,
                command: format!("meshkv decode configs/{name}.toml {args}, and with mare.dedup = false"),
            });
            ratios.push(ratio);
        }
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    figures.push(Figure {
        what: format!("duplicate filter, mean of these {} workloads", ratios.len()),
        value: format!("{mean:.4} of the cycles without"),
        goal: at_most(mean, FILTER_COST, FILTER_COST.to_string()),
        command: "make bench FIGURES=takv".to_owned(),
    });
    Ok(figures)
}

/// A configuration of the repository, for a model.
fn read(name: &str, model: &Model) -> Result<Config> {
    let path = format!("{}/configs/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let mut config: Config = toml::from_str(&std::fs::read_to_string(&path)?)?;
    config.model.kv_heads = model.kv_heads;
    config.model.sliding_window = model.sliding_window;
    Ok(config)
}

/// The configuration of a model, as a file.
fn configuration(dir: &Path, name: &str, model: &Model) -> Result<String> {
    let text = toml::to_string(&read(name, model)?)?;
    file(dir, &format!("{name}_{}.toml", model.kv_heads), &text)
}

/// Traffic and cycles of a macro-block when streams with one prefix decode. PART grows with layers
/// only: its count is the share of a block in a whole layer.
fn per_block(dir: &Path, name: &str, model: &Model, batch: u32, mapping: &str) -> Result<PerBlock> {
    let config = configuration(dir, name, model)?;
    let hub = name == "cent";
    let run = |layers: u32, segments: u32| -> Result<(Value, String)> {
        let shared = if batch > 1 { format!(" --batch {batch} --prefix 32768") } else { String::new() };
        let args = format!("--mapping {mapping} --layers {layers} --segments {segments}{shared}");
        Ok((json(&format!("decode {config} {args} --engine model"))?, args))
    };
    // With a stride of 0, the homes of a layer are in one column: layers spread over all columns.
    // With round robin and a stride of 1, the segments of one layer do.
    let scattered = matches!(name, "shared" | "meshkv_stride1");
    let (wide, args) = match (hub, scattered) {
        (true, _) => run(1, if batch > 1 { 2 } else { 4 })?,
        (false, true) => run(1, 64)?,
        (false, false) => run(8, 2)?,
    };
    let blocks = number(&wide["sample"], "layers")? * number(&wide["sample"], "segments")?;
    let whole = number(&wide["sample"], "of_segments")?;
    let class = |name: &str| number(&wide["flits_by_class"], name);
    let layers = number(&wide["sample"], "layers")?;
    let traffic = (class("KV_DATA")? + class("KV_FETCH")?) / blocks + class("PART")? / layers / whole;
    let (deep, blocks) = if hub || scattered { (wide, blocks) } else { (run(1, 16)?.0, 16.0) };
    Ok(PerBlock {
        traffic,
        cycles: number(&deep, "cycles")? / blocks,
        shares: [number(&deep, "useful")?, number(&deep, "stall")?, number(&deep, "other")?],
        bound_by: deep["bound_by"].as_str().context("no bound_by")?.to_owned(),
        command: format!("meshkv decode configs/{name}.toml {args}"),
    })
}

fn compare(dir: &Path, model: &Model, batch: u32, mappings: &[&str]) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    let mut base: Option<PerBlock> = None;
    let mut best: Option<(f64, String)> = None;
    for name in CONFIGURATIONS {
        for &mapping in mappings {
            let found = per_block(dir, name, model, batch, mapping)?;
            let one = base.as_ref().unwrap_or(&found);
            let (traffic, faster) = (found.traffic / one.traffic, one.cycles / found.cycles);
            let paper = CONFIGURATIONS.iter().position(|c| *c == name).and_then(|at| model.paper.get(at));
            let beside = paper.filter(|_| batch == 1).map_or(String::new(), |p| format!(" (paper {p:.2})"));
            let [useful, stall, other] = found.shares.map(|share| 100.0 * share);
            figures.push(Figure {
                what: format!("{}, B = {batch}, `{name}`, {mapping}", model.name),
                value: format!(
                    "traffic {traffic:.3} of cent{beside}, {faster:.2} times as fast, bisection {useful:.0} / {stall:.0} / {other:.0} %, bound by {}",
                    found.bound_by
                ),
                goal: Goal::Stated,
                command: found.command.clone(),
            });
            if name.starts_with("meshkv") && best.as_ref().is_none_or(|(least, _)| traffic < *least) {
                best = Some((traffic, format!("`{name}`, {mapping}")));
            }
            base.get_or_insert(found);
        }
    }
    if let Some((least, how)) = best.filter(|_| batch == 1) {
        figures.push(Figure {
            what: format!(
                "{}, B = 1: least traffic of `meshkv` over `cent` with a tile a head, physical sharing",
                model.name
            ),
            value: format!("{least:.3} ({how})"),
            goal: at_most(least, model.goal, model.goal.to_string()),
            command: "make bench FIGURES=takv".to_owned(),
        });
    }
    Ok(figures)
}

/// The macro-block multicast of the paper: every head gets every slice of a segment.
fn segment_sharing() -> Result<Vec<Figure>> {
    let args = "--mapping head-tile --sharing segment --layers 1 --segments 1";
    let run = |name: &str| json(&format!("decode configs/{name}.toml {args} --engine model"));
    let (cent, meshkv) = (run("cent")?, run("meshkv")?);
    let ratio = number(&meshkv, "traffic")? / number(&cent, "traffic")?;
    let faster = number(&cent, "cycles")? / number(&meshkv, "cycles")?;
    Ok(vec![Figure {
        what: "LLaMA-2-7B, B = 1, segment sharing: every head gets every slice".to_owned(),
        value: format!("traffic {ratio:.3} of cent, {faster:.1} times as fast"),
        goal: Goal::Stated,
        command: format!("meshkv decode configs/meshkv.toml {args}"),
    }])
}

/// Attends to every eighth segment; their homes are all in one row.
fn swaps(dir: &Path) -> Result<Vec<Figure>> {
    let mut config = Config::default();
    config.takv.placement = PlacementKind::Takv;
    config.takv.column_stride = 1;
    let args = "--mapping row-aligned --stride 8 --segments 8 --steps 9";
    let mut measured = Vec::new();
    for epoch in [0, 1] {
        config.takv.swap_epoch = Some(epoch);
        let path = file(dir, &format!("swaps_{epoch}.toml"), &toml::to_string(&config)?)?;
        measured.push(json(&format!("decode {path} {args} --engine model"))?);
    }
    let steps = measured[1]["steps"].as_array().context("no steps")?;
    let (first, last) = (&steps[0], steps.last().context("no step")?);
    let fixed = measured[0]["steps"].as_array().and_then(|s| s.last()).context("no steps")?;
    let ratio = |key: &str| -> Result<f64> { Ok(number(last, key)? / number(first, key)?) };
    Ok(vec![Figure {
        what: "every eighth segment, all homes in one row, a swap a step, last of 9 steps over first".to_owned(),
        value: format!(
            "{:.2} times as fast ({:.2} without swaps), sum of squared occupancies of the rows {:.3}, {} swaps",
            1.0 / ratio("cycles")?,
            number(first, "cycles")? / number(fixed, "cycles")?,
            ratio("row_squares")?,
            measured[1]["swaps"]
        ),
        goal: Goal::Stated,
        command: format!("meshkv decode CONFIG {args}, with takv.column_stride = 1, takv.swap_epoch = 1"),
    }])
}
