//! Output of `meshkv run`, as JSON and in words.

use crate::cli::output::choice::{self, ChoiceOutput};
use crate::cli::output::{bounds, breakdown, table};
use crate::cli::simulate::reported::rare;
use crate::cli::simulate::run::called::CallOutput;
use crate::cli::simulate::run::Args;
use crate::cosim::workloads::attention::{AttentionResult, Job};
use crate::design::Choice;
use crate::eval::{AttentionRow, PartialsRow, WidthsError};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Attention that was computed.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct AttentionOutput<'a> {
    /// Metrics.
    #[serde(flatten)]
    row: &'a AttentionRow,
    /// Tokens of each stream's own cache, with `--lengths`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lengths: Option<Vec<u32>>,
    /// Name of the mapping.
    mapping: &'static str,
    /// Forecasts of `--mapping auto`; null if the mapping was given.
    auto: Option<ChoiceOutput>,
    /// The device, with `--device`; else null.
    device: Option<DeviceOutput>,
    /// Runs over disjoint tokens, merged, with `--partials`.
    #[serde(skip_serializing_if = "Option::is_none")]
    partials: Option<&'a PartialsRow>,
    /// Rare states of the blocks, and how often the run was in them; null if no model ran.
    rare: Option<BTreeMap<&'static str, u64>>,
    /// The command that repeats these figures.
    command: String,
    /// Seed of drawn tensors and of all random choices.
    seed: u64,
    /// Engine of the run: `rtl`, `model`, or both in `lockstep`.
    engine: String,
}

/// A device that was driven as by a host.
#[derive(Debug, Serialize, JsonSchema)]
struct DeviceOutput {
    /// Accesses to its registers.
    register_accesses: u64,
    /// A call by the doorbell, with `--host-model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<CallOutput>,
}

impl<'a> AttentionOutput<'a> {
    /// The result; `accesses` to registers, of a device.
    pub(super) fn new(
        args: &Args,
        job: &'a Job,
        chosen: Option<&Choice>,
        (row, done): (&'a AttentionRow, &AttentionResult),
        partials: Option<&'a PartialsRow>,
        accesses: Option<u64>,
        call: Option<CallOutput>,
    ) -> AttentionOutput<'a> {
        AttentionOutput {
            row,
            lengths: job.lengths(),
            mapping: job.mappings[0].name(),
            auto: choice::output(chosen),
            device: accesses.map(|register_accesses| DeviceOutput { register_accesses, call }),
            partials,
            rare: done.reached.as_ref().map(rare::counts),
            command: args.command(job),
            seed: args.seed,
            engine: args.carrier.name(),
        }
    }
}

pub(super) fn prose(
    job: &Job,
    chosen: Option<&Choice>,
    row: &AttentionRow,
    partials: Option<&PartialsRow>,
    accesses: Option<u64>,
) -> String {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let us = |cycles: u64| format!("{:.2} us", cycles as f64 / job.design.clock.noc_mhz);
    let (design, text) = (job.design, |text: &str| text.to_owned());
    let mut out = format!(
        "Attention of {} heads of {}, {} tokens, {} stream{}, on {} x {} tiles\n",
        row.heads,
        design.model.head_dim,
        tokens(job),
        row.streams,
        if row.streams == 1 { "" } else { "s" },
        design.mesh.cols(),
        design.mesh.rows()
    );
    out += &choice::prose(chosen);
    out += &numbers(row);
    out += &partials.map(merged).unwrap_or_default();
    let count = |name: &str, value: u64, meaning: &str| vec![text(name), value.to_string(), text(meaning)];
    let stages = &row.stages;
    out += &clocks(row);
    if let Some(accesses) = accesses {
        out += &format!("Through the device, in {accesses} accesses to its registers, by interrupt\n");
    }
    let span =
        if accesses.is_some() { "ap_start to ap_done" } else { "the first descriptor to the last output" };
    out += &format!(
        "{} cycles, {} at {} MHz, from {span}; of them\n",
        row.cycles,
        us(row.cycles),
        design.clock.noc_mhz
    );
    // With equal clocks, their cycles are equal.
    let pe = if row.noc_mhz == row.pe_mhz { "cycles" } else { "PE cycles" };
    out += &table::columns(&[
        match accesses {
            Some(_) => {
                count("query_cycles", row.query_cycles, "of its own: a device reads queries in the run")
            }
            None => count("query_cycles", row.query_cycles, "before that, in which queries went in"),
        },
        count("kv_cycles", row.kv_cycles, "to the last KV flit in the array"),
        count("k_passes", stages.k_passes, &format!("{pe} in which K flits pass the array, busiest tile")),
        count("v_passes", stages.v_passes, &format!("{pe} in which V flits pass it")),
        count("ones_passes", stages.ones_passes, &format!("{pe} in which l is summed up")),
        count("starved", stages.starved, &format!("{pe} in which its FIFO was empty")),
        count("weights_awaited", stages.weights_awaited, &format!("{pe} in which V waited for weights")),
        count("reading_results", stages.reading_results, &format!("{pe} in which results were read")),
    ]);
    out += &format!(
        "Flits accepted while the FIFO is not empty: {:.3} a PE cycle. MACs in use while KV flows: {}\n",
        row.accepted_a_cycle,
        percent(row.mac_utilisation)
    );
    out += "Parts of the run, one behind the other, in cycles of the network:\n";
    out += &breakdown::prose(&row.breakdown, Some(row.bounds.bytes));
    out += &bounds::prose(&row.kv_phase, &row.whole_phase(), row.imbalance);
    for saturated in &row.saturated {
        out += &format!("ERROR: {saturated}\n");
    }
    for violation in &row.violations {
        out += &format!("VIOLATION: {violation}\n");
    }
    out
}

/// Tokens that streams attend to: of all, or of each.
fn tokens(job: &Job) -> String {
    let streams = if job.own.is_some() { job.streams } else { 1 };
    let tokens: Vec<_> = (0..streams).map(|stream| job.attended(stream).len().to_string()).collect();
    tokens.join(" + ")
}

/// Sentence on the outputs.
fn numbers(row: &AttentionRow) -> String {
    let (Some(exact), Some(within)) = (row.bit_exact, row.heads_within_fa2) else {
        return "Cycles only: no number was computed.\n".to_owned();
    };
    let mut out = match exact {
        true => {
            format!("Every output equals the model of the datapath in every bit: {} numbers.\n", row.outputs)
        }
        false => {
            format!("{} of {} outputs DIFFER from the model of the datapath.\n", row.differing, row.outputs)
        }
    };
    out += &match row.differing_sums {
        None => String::new(),
        Some(0) => "m, l and o of every head equal it too, before division and rounding.\n".to_owned(),
        Some(heads) => format!("m, l or o of {heads} heads DIFFER from it before division and rounding.\n"),
    };
    let text = |text: &str| text.to_owned();
    out += "Against attention in f64 on the same FP16 inputs, all heads together:\n";
    out += &table::columns(&[
        vec![text(""), text("largest error"), text("RMS error")],
        vec![text("meshkv"), format!("{:.4e}", row.max_abs_error), format!("{:.4e}", row.rms_error)],
        vec![
            text("FlashAttention-2, FP16"),
            format!("{:.4e}", row.fa2_max_abs_error),
            format!("{:.4e}", row.fa2_rms_error),
        ],
    ]);
    out += &format!(
        "Heads in which neither error is larger than FlashAttention-2's: {within} of {}\n",
        row.heads
    );
    if let Some(apart) = row.heads_fa2_not_finite.filter(|heads| *heads > 0) {
        out += &format!("Heads apart, in which FlashAttention-2 gives an infinity or a NaN: {apart}\n");
    }
    out + &widths(&row.widths)
}

/// What numbers of nine bits cost, where there is a choice.
fn widths(of: &[WidthsError]) -> String {
    if of.is_empty() {
        return String::new();
    }
    let line = |one: &WidthsError| {
        let chosen = if one.chosen { "in this run" } else { "" };
        vec![one.narrow.name().to_owned(), format!("{:.2e}", one.rms_share), chosen.to_owned()]
    };
    let text = "RMS error by numbers of 9 bits instead of 18 (pe.narrow), over that of the outputs, on some heads:\n";
    text.to_owned() + &table::columns(&of.iter().map(line).collect::<Vec<_>>())
}

/// Sentences on the runs over disjoint tokens.
fn merged(row: &PartialsRow) -> String {
    let ranges: Vec<_> =
        row.runs.iter().map(|run| format!("{} to {}", run.first, run.first + run.tokens - 1)).collect();
    let mut out = format!(
        "Merged from {} runs over tokens {}: m, l and o {} the model of the datapath in every bit.\n",
        row.runs.len(),
        ranges.join(", "),
        if row.bit_exact { "equal" } else { "DIFFER from" }
    );
    out += &format!(
        "Merged outputs in FP32 against attention in f64: largest error {:.4e}, RMS {:.4e}; the bound is {:.4e}{}\n",
        row.max_abs_error,
        row.rms_error,
        row.bound,
        if row.within_bound { "" } else { ": EXCEEDED" }
    );
    for violation in &row.violations {
        out += &format!("VIOLATION: {violation}\n");
    }
    out
}

/// Clocks of the run.
fn clocks(row: &AttentionRow) -> String {
    if row.noc_mhz == row.pe_mhz && row.jitter_percent == 0 {
        return format!("One clock of {} MHz for network and PEs\n", row.noc_mhz);
    }
    let jitter = match row.jitter_percent {
        0 => String::new(),
        percent => format!(", its edges early or late by up to {percent} % of its period"),
    };
    format!("Two clocks: network {} MHz, PEs {} MHz{jitter}\n", row.noc_mhz, row.pe_mhz)
}
