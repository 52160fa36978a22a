//! Output of `meshkv run --steps`, as JSON and in words.

use crate::cli::output::choice::{self, ChoiceOutput};
use crate::cli::output::{breakdown, table};
use crate::cli::simulate::run::args::Args;
use crate::cosim::workloads::steps::Schedule;
use crate::design::{Choice, Design, Mapping};
use crate::eval::{OneStep, Quantiles, StepsRow};
use schemars::JsonSchema;
use serde::Serialize;

/// Steps in the table, the first and the last among them.
const LISTED: usize = 12;

/// Decode steps one after the other, with `--steps`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct StepsOutput<'a> {
    /// Metrics.
    #[serde(flatten)]
    row: &'a StepsRow,
    /// Tokens of each stream before the first step.
    prompts: Vec<u32>,
    /// Tokens of the common prefix.
    prefix: u32,
    /// Name of the mapping.
    mapping: &'static str,
    /// Forecasts of `--mapping auto`, for the step with the most tokens; null if the mapping was given.
    auto: Option<ChoiceOutput>,
    /// The command that repeats these figures.
    command: String,
    /// Seed of drawn tensors and of all random choices.
    seed: u64,
    /// Engine of the run: `rtl`, `model`, or both in `lockstep`.
    engine: String,
}

impl<'a> StepsOutput<'a> {
    pub(in crate::cli::simulate::run) fn new(
        args: &Args,
        schedule: &Schedule,
        (mapping, chosen): (Mapping, Option<&Choice>),
        row: &'a StepsRow,
    ) -> StepsOutput<'a> {
        StepsOutput {
            row,
            prompts: schedule.lengths.clone(),
            prefix: schedule.prefix,
            mapping: mapping.name(),
            auto: choice::output(chosen),
            command: command(args),
            seed: args.seed,
            engine: args.carrier.name(),
        }
    }

    /// The command that repeats these figures.
    pub(in crate::cli::simulate::run) fn command(&self) -> &str {
        &self.command
    }
}

fn command(args: &Args) -> String {
    let fit = if args.fit { " --fit" } else { "" };
    let logits = if args.timing { String::new() } else { format!(" --logits {}", args.logits.name()) };
    format!(
        "meshkv run {} --lengths {}{}{fit}{logits} --mapping {} --sharing {} --seed {}{}",
        args.config.display(),
        args.words(),
        args.grow.words(),
        args.mapping.name(),
        args.sharing.name(),
        args.seed,
        args.platform_words()
    )
}

pub(in crate::cli::simulate::run) fn prose(
    design: &Design,
    schedule: &Schedule,
    chosen: Option<&Choice>,
    row: &StepsRow,
) -> String {
    let (model, mesh, clock) = (&design.model, design.mesh, &design.clock);
    let list = |all: &[u32]| all.iter().map(u32::to_string).collect::<Vec<_>>().join(" + ");
    let mut out = format!(
        "{} decode steps of {} heads of {} on {} x {} tiles: {} tokens in the caches, {} appended, {} in the end\n",
        row.steps,
        model.heads,
        model.head_dim,
        mesh.cols(),
        mesh.rows(),
        list(&schedule.lengths),
        row.appended,
        list(&row.lengths)
    );
    if schedule.prefix > 0 {
        out += &format!(
            "The first {} tokens are common to all streams; whole segments of them are stored once.\n",
            schedule.prefix
        );
    }
    out += &choice::prose(chosen);
    out += &numbers(design, row);
    out += &format!(
        "{} cycles, {:.2} us at {} MHz; {} swaps of homes between steps\n",
        row.cycles,
        row.cycles as f64 / clock.noc_mhz,
        clock.noc_mhz,
        row.swaps
    );
    out += "Parts of the steps, one behind the other, in cycles of all steps:\n";
    out += &breakdown::prose(&row.breakdown, None);
    out += &quantiles(row);
    out += &listed(row);
    for line in &row.saturated {
        out += &format!("ERROR: {line}\n");
    }
    for line in &row.violations {
        out += &format!("VIOLATION: {line}\n");
    }
    out
}

/// Sentences on outputs, memory and errors.
pub(in crate::cli::simulate::run) fn numbers(design: &Design, row: &StepsRow) -> String {
    let Some(within_bound) = row.within_bound else {
        return "Cycles only: no number was computed.\n".to_owned();
    };
    let wrong = row.by_step.iter().filter(|step| step.bit_exact == Some(false));
    let wrong: Vec<_> = wrong.map(|step| step.step).collect();
    let mut out = match wrong.first() {
        None => "Every output of every step equals the model of the datapath in every bit.\n".to_owned(),
        Some(first) => format!(
            "Outputs of {} steps DIFFER from the model of the datapath, those of step {first} first.\n",
            wrong.len()
        ),
    };
    out += &memory(design, row);
    out + &format!(
        "Largest error against attention in f64: {:.4e}; the bound is {:.4e}{}\n",
        row.max_abs_error,
        row.bound,
        if within_bound { "" } else { ": EXCEEDED" }
    )
}

/// Sentence on external memory.
fn memory(design: &Design, row: &StepsRow) -> String {
    match row.memory_first {
        None => format!(
            "External memory is what a host would have written, byte for byte: {}.\n",
            table::size(row.memory_bytes as f64)
        ),
        Some((slice, byte)) => format!(
            "External memory DIFFERS from what a host would have written in {} of {} bytes, at 0x{:x} first.\n",
            row.memory_differing,
            row.memory_bytes,
            slice * design.memory.slice_bytes + byte
        ),
    }
}

fn quantiles(row: &StepsRow) -> String {
    let line = |what: &str, of: &Quantiles| {
        let numbers = [of.min, of.p50, of.p95, of.max].map(|n| n.to_string());
        [vec![what.to_owned()], numbers.to_vec(), vec![format!("{:.1}", of.mean)]].concat()
    };
    table::columns(&[
        ["cycles of a step", "least", "median", "95 %", "most", "mean"].map(str::to_owned).to_vec(),
        line("first query to last output", &row.step_cycles),
        line("to its end, tokens written", &row.settle_cycles),
    ])
}

/// A table of some steps, evenly over all.
fn listed(row: &StepsRow) -> String {
    let all = row.by_step.len();
    let shown = all.min(LISTED);
    let at = |i: usize| if shown < 2 { 0 } else { i * (all - 1) / (shown - 1) };
    let mut rows =
        vec![["step", "streams", "tokens", "cycles", "swaps", "largest error"].map(str::to_owned).to_vec()];
    rows.extend((0..shown).map(|i| line(&row.by_step[at(i)])));
    let some = if shown < all { format!("{shown} of {all} steps:\n") } else { String::new() };
    some + &table::columns(&rows)
}

fn line(step: &OneStep) -> Vec<String> {
    let list = |all: &[u32]| all.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let swaps: Vec<_> = step.swaps.iter().map(|[a, b]| format!("{a:?} and {b:?}")).collect();
    vec![
        step.step.to_string(),
        list(&step.streams),
        list(&step.tokens),
        step.cycles.to_string(),
        if swaps.is_empty() { "-".to_owned() } else { swaps.join("; ") },
        if step.bit_exact.is_some() { format!("{:.2e}", step.max_abs_error) } else { "-".to_owned() },
    ]
}
