//! An attention job: queries of one position and the next ones, over all tokens of one layer.

use crate::cosim::memory::Image;
use crate::cosim::workloads::decode::{step, Workload, WorkloadError};
use crate::design::Descriptor;
use crate::design::{Design, Mapping, Sharing};
use crate::model::layout::{k_flits, v_flits};
use crate::model::tensors::Tensors;
use std::collections::HashMap;

/// Attention of some query positions of a layer's tensors on a design.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// The design that runs it.
    pub design: &'a Design,
    /// Queries, keys, values.
    pub tensors: &'a Tensors,
    /// The first query position; stream b has position + b.
    pub position: usize,
    /// Streams.
    pub streams: u32,
    /// Attended tokens: the last of them if the model has a sliding window.
    pub rows: std::ops::Range<u32>,
    /// Assignment of heads to tiles: a descriptor each, with an equal part of the segments.
    pub mappings: Vec<Mapping>,
    /// Receivers of a slice.
    pub sharing: Sharing,
    /// Roots return partial results, l, m and o in FP32, instead of outputs.
    pub partials: bool,
}

/// Reason why a job is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// Tensors of another shape than the configuration's.
    #[error("the tensors have {what} = {tensors}, the configuration {configured}\n  help: --fit takes it from the tensors, or set {key} = {tensors}")]
    Shape {
        /// Name of the value.
        what: &'static str,
        /// The tensors' value.
        tensors: usize,
        /// The configuration's.
        configured: u32,
        /// Its key.
        key: &'static str,
    },
    /// More positions than there are queries.
    #[error("query {last} was asked for, and the tensors have queries 0 to {most}\n  help: choose --query and --batch inside that")]
    Position {
        /// The last query needed.
        last: usize,
        /// The last query in the tensors.
        most: usize,
    },
    /// A workload that the design cannot hold.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

impl<'a> Job<'a> {
    /// Attention of `streams` queries from `position` on.
    ///
    /// # Errors
    /// If tensors and design do not fit.
    pub fn new(
        design: &'a Design,
        tensors: &'a Tensors,
        (position, streams): (usize, u32),
        mapping: Mapping,
        sharing: Sharing,
    ) -> Result<Job<'a>, JobError> {
        let config = &design.config;
        for (what, of_tensors, configured, key) in [
            ("query heads", tensors.heads, config.model.heads, "model.heads"),
            ("KV heads", tensors.kv_heads, config.model.kv_heads, "model.kv_heads"),
            ("elements of a row", tensors.head_dim, config.pe.head_dim, "pe.head_dim"),
        ] {
            if of_tensors != configured as usize {
                return Err(JobError::Shape { what, tensors: of_tensors, configured, key });
            }
        }
        if position + streams as usize > tensors.positions {
            return Err(JobError::Position {
                last: position + streams as usize - 1,
                most: tensors.positions - 1,
            });
        }
        let tokens = tensors.tokens as u32;
        let from = tokens - config.model.sliding_window.unwrap_or(tokens).min(tokens);
        let mappings = vec![mapping];
        let rows = from..tokens;
        let job = Job { design, tensors, position, streams, rows, mappings, sharing, partials: false };
        job.descriptors()?;
        Ok(job)
    }

    /// Divides the segments among descriptors of these mappings, in this order.
    ///
    /// # Panics
    /// If there is none.
    pub fn mapped(self, mappings: &[Mapping]) -> Job<'a> {
        assert!(!mappings.is_empty(), "a job has a descriptor");
        Job { mappings: mappings.to_vec(), ..self }
    }

    /// The job of a card that has only these of its tokens: it returns partial results.
    ///
    /// # Panics
    /// If there are none, or the job does not have them.
    #[must_use]
    pub fn part(&self, rows: std::ops::Range<u32>) -> Job<'a> {
        assert!(!rows.is_empty() && self.rows.start <= rows.start && rows.end <= self.rows.end, "{rows:?}");
        Job { rows, partials: true, ..self.clone() }
    }

    /// Divides the tokens into so many ranges, as even as they go.
    pub fn ranges(&self, parts: u32) -> Vec<std::ops::Range<u32>> {
        let tokens = u64::from(self.rows.end - self.rows.start);
        let bound = |at: u32| self.rows.start + (tokens * u64::from(at) / u64::from(parts)) as u32;
        (0..parts).map(|at| bound(at)..bound(at + 1)).collect()
    }

    /// The descriptors of the step, on layer 0 of the design. The last one closes the streams.
    ///
    /// # Errors
    /// If the design cannot hold it.
    pub fn descriptors(&self) -> Result<Vec<Descriptor>, WorkloadError> {
        // Streams share all whole segments; the rest is one more descriptor for all of them.
        let tokens = self.tensors.tokens as u32;
        let load = Workload {
            tokens,
            batch: self.streams,
            prefix: 0,
            mapping: self.mappings[0],
            sharing: self.sharing,
            segments: None,
            layers: 1,
            stride: 1,
            append: false,
        };
        let made = step(self.design, &load)?.descriptors;
        let per_segment = self.design.config.kv.segment_tokens;
        let (first, last) = (self.rows.start / per_segment, (self.rows.end - 1) / per_segment);
        let whole = Descriptor {
            first,
            count: last + 1 - first,
            first_row: self.rows.start % per_segment,
            last_row: (self.rows.end - 1) % per_segment,
            streams: self.streams,
            step: true,
            ..made[0]
        };
        Ok(divided(&whole, &self.mappings, per_segment))
    }

    /// The query of a head and stream.
    pub fn query(&self, head: u32, stream: u32) -> &[u16] {
        self.tensors.query(head as usize, self.position + stream as usize)
    }

    /// Keys and values of all tokens, of the KV head that a query head attends with.
    pub fn kv(&self, head: u32) -> (&[u16], &[u16]) {
        (self.tensors.keys(head as usize), self.tensors.values(head as usize))
    }

    /// Contents of the external memory: all tokens, or the segments with those of a part.
    pub fn image(&self) -> Image {
        let (design, config) = (self.design, &self.design.config);
        let (dim, per_segment) = (config.pe.head_dim as usize, config.kv.segment_tokens as usize);
        let lanes = crate::design::flit_elements(config);
        let half = design.mare.half_flits as usize;
        let mut slices = HashMap::new();
        for g in 0..config.model.kv_heads {
            let (k, v) = self.kv(g * config.model.heads / config.model.kv_heads);
            let segments = k.chunks(per_segment * dim).zip(v.chunks(per_segment * dim));
            for (segment, (k, v)) in segments.enumerate() {
                let first = (segment * per_segment) as u32;
                if self.partials && (first >= self.rows.end || first + per_segment as u32 <= self.rows.start)
                {
                    continue;
                }
                let mut flits = k_flits(k, lanes);
                flits.resize(half, vec![0; lanes as usize]);
                flits.extend(v_flits(v, config.pe.head_dim, lanes));
                let bytes = flits.into_iter().flatten().flat_map(u16::to_le_bytes).collect();
                slices.insert(design.slice_number(0, 0, segment as u32, g), bytes);
            }
        }
        Image::Slices(slices)
    }
}

/// Divides a descriptor into one for each mapping, fewer if it has fewer segments.
fn divided(whole: &Descriptor, mappings: &[Mapping], segment_tokens: u32) -> Vec<Descriptor> {
    let bound = |at: usize| (u64::from(whole.count) * at as u64 / mappings.len() as u64) as u32;
    let part = |(at, mapping): (usize, &Mapping)| {
        let (from, to) = (bound(at), bound(at + 1));
        let ends = to == whole.count;
        Descriptor {
            first: whole.first + from * whole.stride,
            count: to - from,
            first_row: if from == 0 { whole.first_row } else { 0 },
            last_row: if ends { whole.last_row } else { segment_tokens - 1 },
            mapping: *mapping,
            close: ends && whole.close,
            step: ends && whole.step,
            ..*whole
        }
    };
    mappings.iter().enumerate().map(part).filter(|part| part.count > 0).collect()
}
