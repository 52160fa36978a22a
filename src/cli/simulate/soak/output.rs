//! Output of `meshkv soak`, as JSON and in words.

use crate::cli::simulate::reported::rare;
use crate::model::cycle::common::Reached;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Result of a soak.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::cli) struct SoakOutput {
    /// First seed.
    pub(super) seed: u64,
    /// Seeds run to their end.
    pub(super) seeds: u64,
    /// Seeds passed over, since they lead to no rare state that is still empty.
    pub(super) passed_over: u64,
    /// Networks among the seeds.
    pub(super) networks: u64,
    /// Storms of fetches among them.
    pub(super) storms: u64,
    /// Whole fabrics among them.
    pub(super) fabrics: u64,
    /// Devices among them, each with several trials.
    pub(super) devices: u64,
    /// Runs of traffic, of fetches, of decode steps, and trials.
    pub(super) runs: u64,
    /// Cycles simulated, in all of them.
    pub(super) cycles: u64,
    /// Routers times cycles that were compared.
    pub(super) router_cycles: u64,
    /// The part of them in which all of the fabric was compared.
    pub(super) fabric_router_cycles: u64,
    /// Faults of external memory that took effect and were reported as they must be.
    pub(super) faults: u64,
    /// Rare states of the blocks, and how often one was in them.
    pub(super) rare: BTreeMap<&'static str, u64>,
    /// Those that none was in.
    pub(super) empty: Vec<&'static str>,
    /// The counts.
    #[serde(skip)]
    pub(super) reached: Reached,
    /// Seconds of wall time, builds included.
    #[serde(skip)]
    pub(super) seconds: f64,
    /// The failure that ended it; null if there was none.
    pub(super) failed: Option<Failure>,
    /// The command that repeats this soak.
    pub(super) command: String,
}

/// A difference between model and Verilog, or an error of both.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "SoakFailure")]
pub(super) struct Failure {
    /// Its seed.
    pub(super) seed: u64,
    /// Its run of traffic, from 0.
    pub(super) run: usize,
    /// Place, cycle and values.
    pub(super) message: String,
}

impl SoakOutput {
    /// Sets the fields that follow from the counts.
    pub(super) fn close(&mut self) {
        self.rare = rare::counts(&self.reached);
        self.empty = self.reached.empty().iter().map(|rare| rare.name()).collect();
    }
}

/// The result in words.
pub(super) fn prose(report: &SoakOutput) -> String {
    let SoakOutput {
        networks,
        storms,
        fabrics,
        devices,
        runs,
        cycles,
        router_cycles,
        fabric_router_cycles,
        faults,
        passed_over,
        seconds,
        ..
    } = report;
    let verdict = if report.failed.is_some() { "a difference" } else { "no difference" };
    let rare = if storms + fabrics + devices > 0 { rare::lines(&report.reached, &[]) } else { String::new() };
    let empty = match report.empty.as_slice() {
        [] => "every rare state was reached".to_owned(),
        empty => format!("never reached: {}", empty.join(", ")),
    };
    let passed_over = match passed_over {
        0 => String::new(),
        seeds => format!("; {seeds} seeds were passed over, which reach nothing new"),
    };
    format!(
        "{router_cycles} router-cycles compared, {fabric_router_cycles} of them with all of the fabric: {verdict}\n  \
         {networks} networks, {storms} storms, {fabrics} fabrics, {devices} devices, {runs} runs, {cycles} cycles, \
         {faults} faults reported, {seconds:.0} s\n{rare}{empty}{passed_over}\n  {}\n",
        report.command
    )
}
