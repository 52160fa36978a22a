//! Output of `meshkv run --trace`, as JSON and in words.

use super::args::Trace;
use crate::cli::output::table;
use crate::cli::simulate::run::args::Args;
use crate::cli::simulate::run::steps::report::numbers;
use crate::design::Design;
use crate::eval::{BatchStep, BatchingRow, Values};
use schemars::JsonSchema;
use serde::Serialize;

/// Steps in the table, the first and the last among them.
const LISTED: usize = 12;

/// A trace of requests, with `--trace`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct TraceOutput<'a> {
    /// Metrics.
    #[serde(flatten)]
    row: &'a BatchingRow,
    /// The command that repeats these figures.
    command: String,
    /// Seed of drawn requests, of tensors and of all random choices.
    seed: u64,
    /// Engine of the run: `rtl`, `model`, or both in `lockstep`.
    engine: String,
}

impl<'a> TraceOutput<'a> {
    pub(super) fn new(args: &Args, trace: &Trace, row: &'a BatchingRow) -> TraceOutput<'a> {
        let steps = args.grow.steps.map_or(String::new(), |steps| format!(" --steps {steps}"));
        let logits = if args.timing { String::new() } else { format!(" --logits {}", args.logits.name()) };
        let command = format!(
            "meshkv run {}{}{steps}{logits} --mapping {} --sharing {} --seed {}{}",
            args.config.display(),
            args.trace.words(trace),
            args.mapping.name(),
            args.sharing.name(),
            args.seed,
            args.platform_words()
        );
        TraceOutput { row, command, seed: args.seed, engine: args.carrier.name() }
    }

    /// The command that repeats these figures.
    pub(super) fn command(&self) -> &str {
        &self.command
    }
}

pub(super) fn prose(design: &Design, every: u32, row: &BatchingRow) -> String {
    let model = &design.model;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut out = format!(
        "{} of {} requests have all their tokens: {} tokens in {} steps of {} layers and {} s\n",
        row.finished,
        row.requests,
        row.decoded,
        row.steps,
        model.layers,
        seconds(row.seconds)
    );
    if row.simulated < row.steps {
        out += &format!(
            "One step of {every} was simulated, {} in all; the others take as long a byte of KV as the last that was.\n",
            row.simulated
        );
    }
    out += &numbers(design, &row.runs);
    out += &format!(
        "{:.0} tokens a second while steps run; KV takes {} of the memory's {:.0} GB/s, over all steps\n",
        row.tokens_a_second,
        percent(row.share),
        design.configuration().memory.bandwidth_gbs
    );
    let shares = Values {
        min: 100.0 * row.step_share.min,
        p50: 100.0 * row.step_share.p50,
        p95: 100.0 * row.step_share.p95,
        max: 100.0 * row.step_share.max,
        mean: 100.0 * row.step_share.mean,
    };
    let line = |what: &str, of: &Values, decimals: usize| {
        let numbers = [of.min, of.p50, of.p95, of.max, of.mean].map(|n| format!("{n:.decimals$}"));
        [vec![what.to_owned()], numbers.to_vec()].concat()
    };
    out += &table::columns(&[
        ["of a step", "least", "median", "95 %", "most", "mean"].map(str::to_owned).to_vec(),
        line("microseconds", &row.step_us, 1),
        line("percent of the memory's rate", &shares, 1),
        line("requests in the batch", &row.streams, 1),
        line("pages taken", &row.pages, 1),
        line("seconds that a request waits", &row.wait_s, 6),
    ]);
    let when = match row.full {
        0 => "The pool is never full; in all steps".to_owned(),
        full => format!("A request waits in {full} of {} steps; in these", row.steps),
    };
    out += &format!(
        "{when} {} of the tokens that the taken pages hold are there, and {:.1} requests are in the batch: a cache of \
         model.max_tokens for each would let {} in, of {} pages.\n",
        percent(row.live),
        row.streams_when_full,
        row.reserved,
        row.pool
    );
    out += &format!(
        "{} pages were copied, for {} requests; {} lost their pages to others, and their {} tokens came again.\n",
        row.copied, row.requests, row.preempted, row.again
    );
    out += &listed(row);
    for line in &row.runs.saturated {
        out += &format!("ERROR: {line}\n");
    }
    for line in &row.runs.violations {
        out += &format!("VIOLATION: {line}\n");
    }
    out
}

/// Seconds, to the microsecond below one of them.
fn seconds(time: f64) -> String {
    let decimals = if time < 1.0 { 6 } else { 3 };
    format!("{time:.decimals$}")
}

/// A table of some steps, evenly over all.
fn listed(row: &BatchingRow) -> String {
    let all = row.by_step.len();
    let shown = all.min(LISTED);
    let at = |i: usize| if shown < 2 { 0 } else { i * (all - 1) / (shown - 1) };
    let names = ["step", "begins s", "us", "requests", "wait", "pages", "tokens", "share"];
    let mut rows = vec![names.map(str::to_owned).to_vec()];
    rows.extend((0..shown).map(|i| line(&row.by_step[at(i)])));
    let some = if shown < all { format!("{shown} of {all} steps:\n") } else { String::new() };
    some + &table::columns(&rows)
}

fn line(step: &BatchStep) -> Vec<String> {
    vec![
        step.step.to_string(),
        seconds(step.begins_s),
        format!("{:.1}{}", step.us, if step.simulated { "" } else { " ~" }),
        step.streams.to_string(),
        step.waiting.to_string(),
        step.pages.to_string(),
        step.live.to_string(),
        format!("{:.1} %", 100.0 * step.share),
    ]
}
