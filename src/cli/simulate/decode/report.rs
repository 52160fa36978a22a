//! Output of `meshkv decode`, as JSON and in words.

use crate::cli::output::choice::{self, ChoiceOutput};
use crate::cli::output::{bounds, table};
use crate::cli::simulate::decode::Args;
use crate::cli::simulate::reported::faults::FaultsOutput;
use crate::cli::simulate::reported::rare;
use crate::cosim::workloads::decode::{Decoded, StreamLength, Workload};
use crate::design::{Choice, Design};
use crate::emit::TILE_EVENTS;
use crate::eval::report::{Figure, RunPage};
use crate::eval::{self, DecodeRow};
use crate::model::cycle::common::Reached;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Unevenness of a sample that prose does not mention.
const EVEN: f64 = 0.02;

/// Steps that prose lists one by one; JSON has all.
const LISTED: usize = 24;

/// Decode steps that were run.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct DecodeOutput<'a> {
    /// Metrics.
    #[serde(flatten)]
    row: &'a DecodeRow,
    /// Bytes of the caches of all streams, where a common prefix counts once.
    cache_bytes: u64,
    /// Tokens in the cache of each stream; of the longest where they differ.
    tokens: u32,
    /// Streams that decode at once.
    batch: u32,
    /// Tokens that all streams have in common.
    prefix: u32,
    /// Tokens and common tokens of each stream, in the order in which they run.
    streams: Vec<[u32; 2]>,
    /// Every how many segments one is attended to.
    stride: u32,
    /// Forecasts of `--mapping auto`; null if the mapping was given.
    auto: Option<ChoiceOutput>,
    /// Rare states of the blocks, and how often the run was in them; null if no model ran.
    rare: Option<BTreeMap<&'static str, u64>>,
    /// Heads that receive a slice: `kv-head` or `segment`.
    sharing: &'static str,
    /// Seed of the memory's content and of all random choices.
    seed: u64,
    /// Engine of the run: `rtl`, `model`, or both in `lockstep`.
    engine: String,
    /// Sources of the energies.
    energy_sources: &'a str,
    /// The command that repeats these figures.
    command: String,
}

impl<'a> DecodeOutput<'a> {
    pub(super) fn new(
        args: &Args,
        (load, streams): (&Workload, &[StreamLength]),
        chosen: Option<&Choice>,
        cache_bytes: u64,
        (row, sources, reached): (&'a DecodeRow, &'a str, Option<&Reached>),
    ) -> DecodeOutput<'a> {
        DecodeOutput {
            row,
            cache_bytes,
            tokens: streams.iter().map(|stream| stream.tokens).max().unwrap_or(load.tokens),
            batch: load.batch,
            prefix: streams.iter().map(|stream| stream.prefix).min().unwrap_or(load.prefix),
            streams: streams.iter().map(|stream| [stream.tokens, stream.prefix]).collect(),
            stride: load.stride,
            auto: choice::output(chosen),
            rare: reached.map(rare::counts),
            sharing: args.sharing(),
            seed: args.seed,
            engine: args.carrier.name(),
            energy_sources: sources,
            command: args.command(load),
        }
    }
}

/// Result of `decode`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::cli) enum DecodePrinted<'a> {
    /// Decode steps.
    Steps(Box<DecodeOutput<'a>>),
    /// A run with `--fault`.
    Faulted(Box<FaultsOutput<DecodeRow>>),
}

/// The page of `--plot`.
pub(super) fn page(args: &Args, load: &Workload, design: &Design, done: &Decoded) -> anyhow::Result<RunPage> {
    let title = format!("{}, {} x {}", design.name, design.mesh.cols(), design.mesh.rows());
    let links = eval::heatmap(&title, &args.title(load), design.mesh, &eval::link_row(design, done))?;
    let caption = "Flits a cycle of each directed link, and in the tiles KV flits a cycle, over the run.";
    Ok(RunPage {
        title: format!("{}: decode steps", design.name),
        subtitle: args.title(load),
        command: args.command(load),
        figures: vec![Figure::new("link-utilisation", links, caption.to_owned())],
        ..RunPage::default()
    })
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The run in words; `more_even` is the way to a sample that says more of the whole.
pub(super) fn prose(chosen: Option<&Choice>, (row, sources): (&DecodeRow, &str), more_even: &str) -> String {
    let count =
        |name: &str, value: u64, meaning: &str| vec![name.to_owned(), value.to_string(), meaning.to_owned()];
    let mut rows = vec![
        count("cycles", row.cycles, "from the first word of queries to the last flit of outputs"),
        count("kv_cycles", row.kv_cycles, "in which tiles take flits of KV"),
        count("traffic", row.traffic, "router-to-router traversals of all classes"),
    ];
    rows.extend(row.flits_by_class.iter().map(|(name, flits)| count(name, *flits, "of them")));
    rows.push(count("delivered", row.delivered, "flits that tiles took"));
    rows.push(count("memory_bytes", row.memory_bytes, "read from external memory"));
    rows.push(count("packets", row.packets, "PART packets that reached their roots"));
    rows.extend(TILE_EVENTS.iter().map(|&name| count(name, row.counters[name], "all tiles")));
    let mut text = choice::prose(chosen) + &table::columns(&rows);

    text += &format!(
        "Bisection while KV traffic flows: useful {}, stall {}, other {}\n",
        percent(row.useful),
        percent(row.stall),
        percent(row.other)
    );
    text += &bounds::prose(&row.kv_phase, &row.whole_phase(), row.imbalance);
    let steps = row.steps.len();
    let all = if steps == 1 { "" } else { " of all steps" };
    let e = &row.energy_nj;
    text += &format!(
        "Energy{all}: {:.1} nJ (link {:.1}, SRAM {:.1}, MAC {:.1}, external memory {:.1})\n  {sources}\n",
        e.total, e.link, e.sram, e.mac, e.external_memory
    );
    let p = &row.platform;
    text += &format!(
        "External memory: {} GB/s over {} channels, {} ports, {} ns\n",
        p.bandwidth_gbs, p.channels, p.ports, p.latency_ns
    );
    if steps > 1 {
        text += &of_steps(row);
    }
    text += &of_step(row, more_even);
    for violation in &row.violation_list {
        text += &format!("violation: {}\n", violation.message);
    }
    if row.violations > 0 {
        text += &format!("{} violations; the first are listed above\n", row.violations);
    }
    text
}

fn of_steps(row: &DecodeRow) -> String {
    let mut text = format!(
        "{} steps, {} swaps of homes; cycles, and the sum of the rows' occupancies squared:\n",
        row.steps.len(),
        row.swaps
    );
    let listed = row.steps.iter().take(LISTED).enumerate().map(|(number, step)| {
        let squares = step.row_squares.map_or("-".to_owned(), |squares| format!("{squares:.3e}"));
        let swaps = step.swaps.iter().map(|[a, b]| format!("{a:?} and {b:?} swap")).collect::<Vec<_>>();
        vec![number.to_string(), format!("{} cycles", step.cycles), squares, swaps.join(", ")]
    });
    text += &table::columns(&listed.collect::<Vec<_>>());
    if row.steps.len() > LISTED {
        text += &format!("  and {} more\n", row.steps.len() - LISTED);
    }
    text
}

/// The whole step: measured, or extrapolated with its error.
fn of_step(row: &DecodeRow, more_even: &str) -> String {
    let (s, w, mhz) = (&row.sample, &row.whole, row.platform.noc_mhz);
    let figures = |error: &str| {
        format!(
            "  {:.4e} cycles{error}, {:.2} us at {mhz} MHz, {:.1} tokens a second, traffic {:.4e}, {:.4e} nJ\n",
            w.cycles, w.latency_us, w.tokens_per_second, w.traffic, w.energy_nj.total
        )
    };
    if s.is_whole() {
        return format!("The whole step was run:\n{}", figures(""));
    }
    let mut text = format!(
        "The whole step, extrapolated from {} of {} layers and {} of {} segments of each, which took {} cycles, {:.2} us\n\
         (KV_DATA and KV_FETCH grow with segments and layers, PART with layers):\n{}",
        s.layers,
        s.of_layers,
        s.segments,
        s.of_segments,
        row.cycles,
        row.run_us,
        figures(&format!(" (error up to {:.0} %)", 100.0 * w.error))
    );
    if (s.unevenness() - 1.0).abs() > EVEN {
        text += &format!(
            "  The fullest memory port has {:.2} times the share of the sample that it has of a layer: these cycles may \
             be wrong by as much.\n  {more_even}\n",
            s.unevenness()
        );
    }
    text
}
