//! One point of a grid: a configuration and its run, with a name derived from both.

use super::column::{Column, Role};
use crate::config::{AskedMapping, Config, DecodeWork, Engine, TrafficWork};
use crate::cosim::traffic::generator::{Shape, Traffic};
use crate::cosim::workloads::decode::{
    batch_of, default_segments_of, step_of, stream_lengths, Lengths, Pace, Plan, Step, StreamLength,
    Workload, WorkloadError,
};
use crate::cosim::workloads::network::Phases;
use crate::design::{Choice, Design, Mapping};
use serde::{Deserialize, Serialize};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Version of the contents of a row. It is part of every id: rows with other contents are other
/// rows.
pub const ROW_FORMAT: u32 = 7;

/// The run at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Work {
    /// Synthetic traffic.
    Traffic(TrafficWork),
    /// Decode steps.
    Decode(DecodeWork),
}

/// One point.
#[derive(Debug, Clone)]
pub struct Point {
    /// Sixteen hexadecimal digits, derived from configuration, workload and row format.
    pub id: String,
    /// Its labels, in the order of the columns.
    pub labels: Vec<Value>,
    /// The fabric, which points that differ in their workload alone share.
    pub design: Arc<Design>,
    /// Its run.
    pub work: Work,
}

/// Ids of the points of one configuration, which is hashed once: an id is of the text of all, with the workload last.
#[derive(Debug, Clone)]
pub(super) struct Naming(Sha256);

impl Naming {
    pub(super) fn of(config: &Config) -> Naming {
        let text = meaning(config, &Value::Null);
        Naming(Sha256::new_with_prefix(text.trim_end_matches("null}")))
    }

    /// The id of the point with this workload.
    pub(super) fn id(&self, work: &Work) -> u64 {
        let hash = self.0.clone().chain_update(format!("{}}}", json!(work))).finalize();
        u64::from_be_bytes(std::array::from_fn(|at| hash[at]))
    }
}

/// What an id is of.
fn meaning(config: &Config, work: &Value) -> String {
    json!({ "row_format": ROW_FORMAT, "config": config, "workload": work }).to_string()
}

/// An id as rows have it.
pub(super) fn hex(id: u64) -> String {
    format!("{id:016x}")
}

impl Work {
    /// Seed of the run.
    pub fn seed(&self) -> u64 {
        match self {
            Work::Traffic(work) => work.seed,
            Work::Decode(work) => work.seed,
        }
    }

    /// Engine of the run.
    pub fn engine(&self) -> Engine {
        match self {
            Work::Traffic(work) => work.engine,
            Work::Decode(work) => work.engine,
        }
    }
}

/// The traffic of a workload.
pub(super) fn traffic(work: &TrafficWork) -> Traffic {
    let shape = Shape::of(work.pattern, Vec::new(), work.vn, work.fanout);
    Traffic { shape, load: work.load, packet: work.packet, seed: work.seed }
}

/// The decode steps of a workload, and the lengths of its streams.
pub(super) fn workload(
    work: &DecodeWork,
    design: &Design,
) -> Result<(Workload, Vec<StreamLength>), WorkloadError> {
    let model = &design.model;
    let rule = |text: &Option<String>| text.as_deref().map(str::parse::<Lengths>).transpose();
    let rules = [rule(&work.lengths), rule(&work.prefixes)].map(|rule| rule.map_err(WorkloadError::Lengths));
    let [tokens, prefixes] = rules;
    let (tokens, prefixes) = (tokens?, prefixes?);
    let alike = StreamLength { tokens: work.tokens.unwrap_or(model.max_tokens), prefix: work.prefix };
    // The default, 1, is no number that was asked for.
    let batch = batch_of((work.batch != 1).then_some(work.batch), [tokens.as_ref(), prefixes.as_ref()]);
    let of = (batch, model.max_tokens);
    let streams = stream_lengths((tokens.as_ref(), prefixes.as_ref()), alike, of, work.seed)?;
    let all = Workload {
        tokens: alike.tokens,
        batch,
        prefix: work.prefix,
        // Until it is chosen by the descriptors, which it does not change.
        mapping: work.mapping.fixed().unwrap_or(Mapping::RowAligned),
        sharing: work.sharing,
        segments: None,
        layers: if work.layers == 0 { model.layers } else { work.layers },
        stride: work.stride,
        append: false,
    };
    let segments = match work.segments {
        Some(0) => None,
        Some(segments) => Some(segments),
        None => Some(default_segments_of(design, &all, &streams)?),
    };
    Ok((Workload { segments, ..all }, streams))
}

impl Point {
    /// A point of rows with these columns: `names` are its labels that are not of the workload.
    pub fn new(columns: &[Column], design: Design, work: Work, names: Vec<Value>) -> Point {
        let asked = serde_json::to_value(&work).unwrap_or_default();
        let of_work = columns.iter().filter(|column| column.role == Role::Label).skip(names.len());
        let of_work = of_work.map(|column| asked[&column.name].clone());
        let labels = names.iter().cloned().chain(of_work).collect();
        Point {
            id: hex(Naming::of(design.configuration()).id(&work)),
            labels,
            design: Arc::new(design),
            work,
        }
    }

    /// Router-cycles of its run, about: the forecast of a decode step, the cycles of traffic.
    pub fn length(&self) -> u64 {
        let cycles = match &self.work {
            Work::Traffic(work) => work.warmup + 2 * work.cycles,
            Work::Decode(work) => Point::forecast(work, &self.design).unwrap_or(1) * u64::from(work.steps),
        };
        cycles.max(1) * self.design.mesh.tiles() as u64
    }

    /// Forecast cycles of a decode step.
    ///
    /// # Errors
    /// If the design cannot hold it.
    pub fn forecast(work: &DecodeWork, design: &Design) -> Result<u64, WorkloadError> {
        let (load, streams) = workload(work, design)?;
        let known = Choice::new(design, &step_of(design, &load, &streams)?.descriptors).forecasts;
        let of = known.iter().find(|(mapping, _)| Some(*mapping) == work.mapping.fixed());
        let least = known.iter().filter_map(|(_, forecast)| forecast.as_ref().ok()).min_by_key(|f| f.cycles);
        let found = of.and_then(|(_, forecast)| forecast.as_ref().ok()).or(least);
        Ok(found.map_or(0, |forecast| forecast.cycles))
    }

    /// Synthetic traffic and its phases.
    pub fn traffic(work: &TrafficWork) -> (Traffic, Phases) {
        let drain_limit = work.drain_limit.unwrap_or(work.cycles);
        let phases = Phases { warmup: work.warmup, measure: work.cycles, drain_limit, latency_limit: None };
        (traffic(work), phases)
    }

    /// A decode step and its settings.
    ///
    /// # Errors
    /// If the design cannot hold the workload.
    pub fn decode(work: &DecodeWork, design: &Design) -> Result<(Workload, Step, Plan), WorkloadError> {
        let (mut load, streams) = workload(work, design)?;
        let mut made = step_of(design, &load, &streams)?;
        if work.mapping == AskedMapping::Auto {
            load.mapping = Choice::new(design, &made.descriptors).mapping;
            made = step_of(design, &load, &streams)?;
        }
        let pace = Pace { flit_cycles: work.flit_cycles, stall: work.stall };
        let plan = Plan::new(design, made.descriptors.clone(), work.seed);
        let memory = if work.unruly_memory { plan.memory.unruly(work.seed) } else { plan.memory };
        Ok((load, made, Plan { steps: work.steps, pace, memory, ..plan }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_of_the_whole_text() {
        for work in [Work::Traffic(TrafficWork::default()), Work::Decode(DecodeWork::default())] {
            let config = Config::default();
            let hash = Sha256::digest(meaning(&config, &json!(work)).as_bytes());
            let whole: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex(Naming::of(&config).id(&work)), whole);
        }
    }
}
