//! Caches of streams as they grow, step by step.

use super::error::StepsError;
use super::schedule::Schedule;
use crate::cosim::hash::mix;
use crate::cosim::memory::Image;
use crate::cosim::workloads::attention::{slice_bytes, slices, Job, Own};
use crate::design::{Design, Mapping, Sharing};
use crate::model::datapath::tensors::Tensors;
use crate::model::datapath::Tokens;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The caches of all streams.
#[derive(Debug, Clone)]
pub struct Caches<'a> {
    design: &'a Design,
    /// Tokens of each stream in the tensors, to the end of all steps.
    places: Vec<Range<u32>>,
    /// Tokens of each stream now.
    lengths: Vec<u32>,
    /// Tokens of the common prefix in whole segments, which are stored once.
    prefix: u32,
    /// Number of the next step.
    step: u32,
}

impl<'a> Caches<'a> {
    /// The caches before the first step.
    ///
    /// # Errors
    /// If the design cannot be appended to, or cannot hold the prompts, or has a window and there is a prefix.
    pub fn new(design: &'a Design, schedule: &Schedule) -> Result<Caches<'a>, StepsError> {
        let (model, lengths) = (&design.model, schedule.lengths.clone());
        let (streams, most) = (lengths.len(), model.max_streams);
        if design.append.is_none() {
            return Err(StepsError::ReadOnly);
        }
        if !(1..=most as usize).contains(&streams) {
            return Err(StepsError::Streams { streams, most });
        }
        let prefix = schedule.prefix;
        if let Some(window) = model.sliding_window.filter(|_| prefix > 0) {
            return Err(StepsError::Window { prefix, window });
        }
        let segment = design.placement.segment_tokens;
        for (stream, &tokens) in (0..).zip(&lengths) {
            let most = model.max_tokens;
            if tokens > most {
                return Err(StepsError::Prompt { stream, tokens, most });
            }
            if tokens < prefix {
                return Err(StepsError::Shorter { stream, tokens, prefix });
            }
        }
        let mut start = 0;
        let places = schedule.ends().into_iter().map(|end| std::mem::replace(&mut start, end)..end);
        // Each stream appends to a copy of its own of a segment in which the prefix ends.
        let whole = prefix - prefix % segment;
        Ok(Caches { design, places: places.collect(), lengths, prefix: whole, step: 0 })
    }

    /// Tokens of each stream.
    pub fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Refuses a step of these streams that cannot be run, before anything is written.
    ///
    /// # Errors
    /// If a stream does not exist, is there twice, or its cache is full.
    pub fn refuse(&self, batch: &[u32]) -> Result<(), StepsError> {
        let (streams, step) = (self.lengths.len() as u32, self.step);
        let most = self.design.model.max_tokens;
        let mut seen = BTreeSet::new();
        for &stream in batch {
            let Some(&token) = self.lengths.get(stream as usize) else {
                return Err(StepsError::Unknown { stream, streams });
            };
            if !seen.insert(stream) {
                return Err(StepsError::Twice { stream, step });
            }
            if token >= most {
                return Err(StepsError::Full { stream, step, most });
            }
        }
        Ok(())
    }

    /// The job of a step: the streams of the batch have a new token each, and attend with it.
    ///
    /// # Errors
    /// As [`Caches::refuse`].
    pub fn job(
        &self,
        tensors: &'a Tensors,
        batch: &[u32],
        mapping: Mapping,
        sharing: Sharing,
    ) -> Result<Job<'a>, StepsError> {
        self.refuse(batch)?;
        let streams = self.lengths.len();
        let own = batch.iter().map(|&stream| {
            let start = self.places[stream as usize].start;
            let tokens = start..start + self.lengths[stream as usize] + 1;
            let query = self.step as usize * streams + stream as usize;
            Own { cache: stream, tokens, query, append: true }
        });
        Ok(Job::of_caches(self.design, tensors, (own.collect(), self.prefix), mapping, sharing))
    }

    /// Notes that a step of these streams is over.
    pub fn grow(&mut self, batch: &[u32]) {
        self.step += 1;
        batch.iter().for_each(|&stream| self.lengths[stream as usize] += 1);
    }

    /// Contents of external memory when a host has written all caches as they are now: the slices that they have or will
    /// have, by number. Where no token is, memory has anything, drawn from the seed.
    pub fn image(&self, tensors: &Tensors, seed: u64) -> Image {
        let dim = self.design.pe.head_dim as usize;
        let per_segment = self.design.placement.segment_tokens;
        let mut all = HashMap::new();
        for (cache, (place, &length)) in (0..).zip(self.places.iter().zip(&self.lengths)) {
            let common = if cache == 0 { 0 } else { self.prefix };
            for (_, (number, _)) in slices(self.design, tensors, cache, place, common) {
                all.insert(number, noise(self.design, number, seed));
            }
            let now = place.start..place.start + length;
            for (segment, (number, bytes)) in slices(self.design, tensors, cache, &now, common) {
                let tokens = (length - segment * per_segment).min(per_segment) as usize;
                let ones = vec![0xffff; tokens * dim];
                let scales = vec![[0xffff; 2]; tokens];
                let scales = self.design.pe.has_token_scales().then_some(&scales[..]);
                let holds = slice_bytes(self.design, Tokens { k: &ones, v: &ones, scales });
                let slice = all.get_mut(&number).expect("a cache only grows");
                for ((to, from), _) in
                    slice.iter_mut().zip(&bytes).zip(&holds).filter(|(_, holds)| **holds != 0)
                {
                    *to = *from;
                }
            }
        }
        Image::Slices(all)
    }
}

/// A slice in which no token is.
fn noise(design: &Design, number: u64, seed: u64) -> Vec<u8> {
    let words = 0..design.memory.slice_bytes.div_ceil(8);
    let mut bytes: Vec<u8> = words.flat_map(|word| mix(mix(seed ^ number) ^ word).to_le_bytes()).collect();
    bytes.truncate(design.memory.slice_bytes as usize);
    bytes
}
