//! `meshkv run --device --host-model`: what a call costs a host behind its link.

use super::{args::Args, device};
use crate::cli::output::table;
use crate::cli::simulate::card::host_model;
use crate::cli::simulate::ports::Verilog;
use crate::cli::simulate::reported::ended::Ended;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::{AttentionResult, Job};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// Most cycles of a call.
const MOST: u64 = 1 << 32;

/// A call of one layer, by part, in microseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CallOutput {
    /// Name or file of the host.
    host_model: String,
    /// From the host's store to the doorbell at the card.
    doorbell_us: f64,
    /// From there to the first address to external memory: list and queries come from the host.
    before_kv_us: f64,
    /// From there to the last beat of external memory.
    kv_us: f64,
    /// From there to the last beat of the record: outputs go to the host.
    after_kv_us: f64,
    /// From there until the host sees the record.
    record_us: f64,
    /// All of it.
    total_us: f64,
    /// All but the phase of KV.
    outside_kv_us: f64,
    /// The run itself, from start to done, with queries and outputs in memory beside the card.
    run_us: f64,
    /// Its share of the call.
    run_share: f64,
    /// Writes of registers.
    register_writes: u64,
    /// Reads of registers.
    register_reads: u64,
    /// Layers of the model, which an engine calls one after the other.
    layers: u32,
    /// Calls of all of them.
    layers_us: f64,
}

/// Calls a device with the job.
///
/// # Errors
/// If the file of the host is wrong, the device cannot be built, or the call fails.
pub(super) fn call(
    args: &Args,
    path: &Path,
    job: &Job,
    behaviour: &Behaviour,
    verilog: &Verilog,
    run: &AttentionResult,
) -> Result<CallOutput, Ended> {
    let model = host_model::read(path)?;
    let design = job.design;
    let mut bench = device::bench_behind(args, design, Some(job), behaviour.clone(), verilog, Some(&model))?;
    let (done, times, accesses) =
        device::called(&mut bench, job, MOST, &mut || verilog.interrupt.requested())?;
    if done.outputs != done.expected || !done.violations.is_empty() {
        let first =
            done.violations.first().cloned().unwrap_or_else(|| "outputs differ from the model".to_owned());
        return Err(Ended::Failed(format!("the call by the doorbell: {first}")));
    }
    let [doorbell_us, before_kv_us, kv_us, after_kv_us, record_us] =
        model.parts(&times, design.clock.noc_mhz);
    let total_us = doorbell_us + before_kv_us + kv_us + after_kv_us + record_us;
    let run_us = run.cycles as f64 / design.clock.noc_mhz;
    let [register_writes, register_reads] = accesses;
    Ok(CallOutput {
        host_model: path.display().to_string(),
        doorbell_us,
        before_kv_us,
        kv_us,
        after_kv_us,
        record_us,
        total_us,
        outside_kv_us: total_us - kv_us,
        run_us,
        run_share: run_us / total_us,
        register_writes,
        register_reads,
        layers: design.model.layers,
        layers_us: total_us * f64::from(design.model.layers),
    })
}

impl CallOutput {
    /// The parts as lines of a table.
    pub(super) fn prose(&self) -> String {
        let line = |us: f64, what: &str| vec![format!("{us:.2} us"), what.to_owned()];
        format!(
            "A call by the doorbell, behind {}: {:.2} us, {:.2} outside the KV phase\n{}\
             {} register write{}, {} reads; the run alone takes {:.2} us, {:.1} % of the call; {} layers {:.3} ms\n",
            self.host_model,
            self.total_us,
            self.outside_kv_us,
            table::columns(&[
                line(self.doorbell_us, "from the host to the card"),
                line(self.before_kv_us, "list and queries come, until memory is read"),
                line(self.kv_us, "external memory is read"),
                line(self.after_kv_us, "until outputs and record have left"),
                line(self.record_us, "from the card to the host"),
            ]),
            self.register_writes,
            if self.register_writes == 1 { "" } else { "s" },
            self.register_reads,
            self.run_us,
            100.0 * self.run_share,
            self.layers,
            self.layers_us / 1e3,
        )
    }
}
