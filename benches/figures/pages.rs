//! A cache in pages, for models in use: pages in their order and in any, ragged batches, and a trace of conversations.
//!
//! All runs are on the cycle-exact model, which is deterministic.

use super::figure::{Figure, Goal};
use super::program::{file, json, number};
use super::{at_least, at_most};
use anyhow::Result;
use meshkv::config::{Config, Preset};
use meshkv::cosim::workloads::decode::{step, Bench, Plan, Workload};
use meshkv::cosim::workloads::shuffled;
use meshkv::design::{Design, Mapping, Sharing};
use serde_json::Value;
use std::path::Path;

/// Contexts on pages in any order, and the seeds of three orders.
const RANDOM: ([u32; 3], std::ops::RangeInclusive<u64>) = ([2048, 8192, 32_768], 1..=3);
/// Streams of the ragged batch, and the least and most of their tokens.
const RAGGED: (usize, [u64; 2]) = (32, [64, 8192]);
/// The trace.
const CHAT: &str = "--trace chat --timing --every 60";

/// A preset for one layer of so many tokens in so many streams.
fn one_layer(preset: Preset, tokens: u32, streams: u32) -> Config {
    let mut config = preset.config();
    (config.model.layers, config.model.max_tokens, config.model.max_streams) = (1, tokens, streams);
    (config.kv.page_count, config.kv.caches) = (None, None);
    config
}

pub fn measure() -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let mut figures = vec![in_order(dir.path())?];
    figures.extend(in_any_order()?);
    for (preset, name, goal) in [(Preset::Llama2, "llama-2-7b", 0.93), (Preset::Llama3, "llama-3-8b", 0.90)] {
        figures.push(ragged(dir.path(), preset, name, goal)?);
    }
    figures.extend(chat(dir.path())?);
    Ok(figures)
}

fn in_order(dir: &Path) -> Result<Figure> {
    let text = toml::to_string(&one_layer(Preset::Llama2, 32_768, 1))?;
    let args = "--tokens 32768 --timing --no-refresh";
    let row = json(&format!("sim run {} {args}", file(dir, "long.toml", &text)?))?;
    let (cycles, share) = (number(&row, "total_cycles")?, number(&row, "share")?);
    Ok(Figure {
        what: "`llama-2-7b`: one stream of 32 768 tokens, coloured pages".to_owned(),
        value: format!("{cycles} cycles, {share:.3} of the memory's bandwidth"),
        goal: at_most(cycles, 296_000.0, "296000 cycles"),
        command: format!(
            "meshkv sim run FILE {args}, of init --preset llama-2-7b with model.layers = 1, model.max_tokens = 32768, \
             model.max_streams = 1, page_count and caches left out"
        ),
    })
}

/// The least share of the orders, of each context.
fn in_any_order() -> Result<Vec<Figure>> {
    let mut config = one_layer(Preset::Llama2, 32_768, 1);
    config.memory.refresh = false;
    let design = Design::from_config("pages", &config)?;
    let of = |tokens: u32| {
        let load = Workload {
            tokens,
            batch: 1,
            prefix: 0,
            mapping: Mapping::RowAligned,
            sharing: Sharing::KvHead,
            segments: None,
            layers: 1,
            stride: 1,
            append: false,
        };
        let share = |seed: u64| -> Result<f64> {
            let design = shuffled(design.clone(), seed);
            let plan = Plan::new(&design, step(&design, &load)?.descriptors, 1);
            let done = Bench::on_model(&design).run(&plan, &mut |_| false)?;
            let channels = f64::from(design.fpga().hbm_channels);
            let bytes = f64::from(tokens) * design.cached_token_bytes() as f64;
            Ok(bytes / channels / design.memory.bytes_per_cycle() / done.cycles as f64)
        };
        let shares = RANDOM.1.map(share).collect::<Result<Vec<f64>>>()?;
        let (least, most) =
            (shares.iter().copied().fold(1.0, f64::min), shares.iter().copied().fold(0.0, f64::max));
        Ok(Figure {
            what: format!("`llama-2-7b`: one stream of {tokens} tokens, pages in any order, three orders"),
            value: format!("{least:.3} to {most:.3} of the memory's bandwidth, without refresh"),
            goal: at_least(least, 0.80, "0.80"),
            command: "make bench FIGURES=pages".to_owned(),
        })
    };
    RANDOM.0.into_iter().map(of).collect()
}

/// Lengths of streams, from the least to the most, that are drawn evenly from the seed.
pub(super) fn lengths(seed: u64, (streams, [least, most]): (usize, [u64; 2])) -> Vec<String> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        least + (state >> 33) % (most - least + 1)
    };
    (0..streams).map(|_| draw().to_string()).collect()
}

fn ragged(dir: &Path, preset: Preset, name: &str, goal: f64) -> Result<Figure> {
    let seed = super::lengths::seed()?;
    let text = toml::to_string(&one_layer(preset, 8192, RAGGED.0 as u32))?;
    let args = format!("--lengths {} --timing --no-refresh", lengths(seed, RAGGED).join(","));
    let row = json(&format!("sim run {} {args}", file(dir, "ragged.toml", &text)?))?;
    let (share, kv) = (number(&row, "share")?, number(&row["kv_phase"], "share")?);
    Ok(Figure {
        what: format!("`{name}`: 32 streams of 64 to 8192 tokens, drawn from seed {seed}"),
        value: format!("{share:.3} of the memory's bandwidth, {kv:.3} while KV flows; mapping {}", text_of(&row, "mapping")),
        goal: at_least(share, goal, format!("{goal:.2}")),
        command: format!(
            "meshkv sim run FILE {args}, of init --preset {name} with model.layers = 1, model.max_streams = 32, page_count and \
             caches left out"
        ),
    })
}

fn text_of(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn chat(dir: &Path) -> Result<Vec<Figure>> {
    let config = file(dir, "chat.toml", &toml::to_string(&Preset::Llama2.config())?)?;
    let row = json(&format!("sim run {config} {CHAT}"))?;
    let (live, streams, reserved) =
        (number(&row, "live")?, number(&row, "streams_when_full")?, number(&row, "reserved")?);
    let figure = |what: &str, value: String, goal: Goal| Figure {
        what: format!("`llama-2-7b`: 64 conversations, {what}"),
        value,
        goal,
        command: format!("meshkv sim run FILE {CHAT}, of init --preset llama-2-7b"),
    };
    Ok(vec![
        figure(
            "pool full: tokens that live over tokens of the taken pages",
            format!("{:.1} %", 100.0 * live),
            at_least(live, 0.96, "96 %"),
        ),
        figure(
            "pool full: requests in the batch over those that `max_tokens` each would let in",
            format!("{streams:.1} over {reserved}"),
            at_least(streams / reserved, 4.0, "4 times"),
        ),
        figure(
            "share of the memory's bandwidth over all steps, with refresh, new tokens and runs of eight",
            format!(
                "{:.3}; {:.0} tokens a second of attention",
                number(&row, "share")?,
                number(&row, "tokens_a_second")?
            ),
            Goal::Stated,
        ),
        figure(
            "pages copied over requests that joined",
            format!("{} over {}", row["copied"], number(&row, "requests")? + number(&row, "preempted")?),
            at_most(
                number(&row, "copied")?,
                number(&row, "requests")? + number(&row, "preempted")?,
                "one each",
            ),
        ),
    ])
}
