//! Prompts of streams, and the batch of every step.

use super::error::StepsError;
use crate::design::Design;
use crate::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};

/// Decode steps of some streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Tokens of each stream that are in its cache before the first step, the common prefix included.
    pub lengths: Vec<u32>,
    /// Tokens that all streams have in common, from the first on. Whole segments of them are stored once, in the cache
    /// of stream 0.
    pub prefix: u32,
    /// Streams of each step's batch, each once.
    pub batches: Vec<Vec<u32>>,
}

impl Schedule {
    /// Steps of streams that are in the batch from the step `begin` to the one before `end`. An empty list is the first
    /// step, or the end of all, for every stream.
    ///
    /// # Errors
    /// If there is no stream or a list does not fit the streams or the steps.
    pub fn new(
        lengths: &[u32],
        prefix: u32,
        steps: u32,
        begin: &[u32],
        end: &[u32],
    ) -> Result<Schedule, StepsError> {
        let streams = lengths.len();
        let list = |option, list: &[u32], default: u32| match list.len() {
            0 => Ok(vec![default; streams]),
            given if given == streams => Ok(list.to_vec()),
            given => Err(StepsError::Numbers { option, given, streams }),
        };
        let (begins, ends) = (list("--begin", begin, 0)?, list("--end", end, steps)?);
        let spans = || begins.iter().copied().zip(ends.iter().copied());
        if let Some((stream, (begin, end))) =
            spans().enumerate().find(|(_, (begin, end))| begin >= end || *end > steps)
        {
            return Err(StepsError::Span { stream, begin, end, steps });
        }
        let batch = |step: u32| {
            let here = (0..).zip(spans()).filter(|(_, (begin, end))| (*begin..*end).contains(&step));
            here.map(|(stream, _)| stream).collect::<Vec<u32>>()
        };
        Ok(Schedule { lengths: lengths.to_vec(), prefix, batches: (0..steps).map(batch).collect() })
    }

    /// Tokens of a stream's cache after the last step, whatever the design can hold.
    pub fn grown(&self, stream: u32) -> u32 {
        let appended = self.batches.iter().flatten().filter(|&&other| other == stream).count() as u32;
        self.lengths.get(stream as usize).map_or(0, |length| length.saturating_add(appended))
    }

    /// Tokens that all steps append.
    pub fn appended(&self) -> u64 {
        self.batches.iter().map(|batch| batch.len() as u64).sum()
    }

    /// Attended tokens over all streams and steps: a measure of the work.
    pub fn attended(&self) -> u64 {
        let mut lengths: Vec<u64> = self.lengths.iter().copied().map(u64::from).collect();
        let mut all = 0;
        for &stream in self.batches.iter().flatten() {
            let Some(length) = lengths.get_mut(stream as usize) else { continue };
            *length += 1;
            all += *length;
        }
        all
    }

    /// Draws all tokens of all streams, and their queries. Stream b has its tokens in a row, behind those of stream b - 1;
    /// the query of step t is at position t * streams + b. The common prefix is the same in all streams.
    ///
    /// # Panics
    /// If there is no stream.
    pub fn tensors(&self, design: &Design, seed: u64, logits: Logits) -> Tensors {
        let (model, ends) = (&design.model, self.ends());
        let mut drawn = synthetic(&Synthetic {
            seed,
            heads: model.heads as usize,
            kv_heads: model.kv_heads as usize,
            positions: self.batches.len() * self.lengths.len(),
            tokens: *ends.last().expect("there are streams") as usize,
            head_dim: model.head_dim as usize,
            logits,
        });
        // A cache begins where the one before ends.
        drawn.share_prefix(&ends[..ends.len() - 1], self.prefix);
        drawn.of_design(design)
    }

    /// Tensors of the same shape without numbers.
    ///
    /// # Panics
    /// If there is no stream.
    pub fn blank(&self, design: &Design) -> Tensors {
        let (model, ends) = (&design.model, self.ends());
        let positions = self.batches.len() * self.lengths.len();
        let tokens = *ends.last().expect("there are streams") as usize;
        let (heads, kv_heads) = (model.heads as usize, model.kv_heads as usize);
        let blank = Tensors::blank([heads, kv_heads, positions, tokens, model.head_dim as usize]);
        blank.of_design(design)
    }

    /// Where the tokens of each stream end in the tensors.
    pub(super) fn ends(&self) -> Vec<u32> {
        let mut end = 0;
        let grown = (0..self.lengths.len() as u32).map(|stream| self.grown(stream));
        grown
            .map(|tokens| {
                end += tokens;
                end
            })
            .collect()
    }
}
