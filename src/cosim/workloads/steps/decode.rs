//! The loop over the steps: append, attend, next.

use super::caches::Caches;
use super::error::StepsError;
use super::schedule::Schedule;
use crate::cosim::memory::Image;
use crate::cosim::workloads::attention::{AttentionResult, Job};
use crate::design::{Design, Mapping, Sharing};
use crate::model::datapath::tensors::Tensors;

/// Goes through all steps of a schedule without running one.
///
/// # Errors
/// If the design cannot run one of them.
pub fn check(schedule: &Schedule, design: &Design) -> Result<(), StepsError> {
    if let Some(step) = schedule.batches.iter().position(Vec::is_empty) {
        return Err(StepsError::Idle { step: step as u32 });
    }
    let mut caches = Caches::new(design, schedule)?;
    for batch in &schedule.batches {
        caches.refuse(batch)?;
        caches.grow(batch);
    }
    Ok(())
}

/// A step that is over.
#[derive(Debug)]
pub struct Stepped<'a, 'b> {
    /// Its number, from 0 on.
    pub step: u32,
    /// Its job.
    pub job: &'b Job<'a>,
    /// The streams of its batch; the job's stream b is the b-th of them.
    pub batch: &'b [u32],
    /// Its results.
    pub done: &'b AttentionResult,
}

/// Runs all steps of a schedule, each by `one_step`, which appends the job's new tokens, attends, and ends when the new tokens
/// are in memory. `see` gets what each step gave. Caches grow as the steps go.
///
/// # Errors
/// The first error of a step. One that cannot be run is refused before anything of it is written.
pub fn decode<'a, E: From<StepsError>>(
    caches: &mut Caches<'a>,
    schedule: &Schedule,
    tensors: &'a Tensors,
    (mapping, sharing): (Mapping, Sharing),
    one_step: &mut dyn FnMut(&Job) -> Result<AttentionResult, E>,
    see: &mut dyn FnMut(Stepped<'a, '_>),
) -> Result<(), E> {
    for (step, batch) in (0..).zip(&schedule.batches) {
        let job = caches.job(tensors, batch, mapping, sharing)?;
        let done = one_step(&job)?;
        caches.grow(batch);
        see(Stepped { step, job: &job, batch, done: &done });
    }
    Ok(())
}

/// Difference of external memory from what a host would have written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Difference {
    /// Bytes compared.
    pub bytes: u64,
    /// Bytes that differ, or are only in one of them.
    pub differing: u64,
    /// Slice and byte in it of the first.
    pub first: Option<(u64, u64)>,
}

impl Difference {
    /// This and that of other memories, the first of this before that.
    #[must_use]
    pub fn and(&self, other: &Difference) -> Difference {
        Difference {
            bytes: self.bytes + other.bytes,
            differing: self.differing + other.differing,
            first: self.first.or(other.first),
        }
    }

    /// Compares slices of two memories.
    ///
    /// # Panics
    /// If one of them is something else than slices.
    pub fn of(memory: &Image, host: &Image) -> Difference {
        let (Image::Slices(memory), Image::Slices(host)) = (memory, host) else {
            panic!("memory has slices")
        };
        let mut numbers: Vec<u64> = memory.keys().chain(host.keys()).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut difference = Difference::default();
        for number in numbers {
            let [got, wanted] =
                [memory, host].map(|all| all.get(&number).map(Vec::as_slice).unwrap_or_default());
            let bytes = got.len().max(wanted.len());
            difference.bytes += bytes as u64;
            if got == wanted {
                continue;
            }
            let differs = (0..bytes).filter(|&at| got.get(at) != wanted.get(at));
            for at in differs {
                difference.differing += 1;
                difference.first.get_or_insert((number, at as u64));
            }
        }
        difference
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_byte_that_differs_counts_and_the_first_is_named() {
        let host = HashMap::from([(3, vec![1, 2, 3, 4]), (5, vec![9; 4])]);
        let of = |memory: &[(u64, &[u8])]| {
            let memory = memory.iter().map(|(number, bytes)| (*number, bytes.to_vec())).collect();
            let found = Difference::of(&Image::Slices(memory), &Image::Slices(host.clone()));
            (found.differing, found.first)
        };
        assert_eq!(of(&[(3, &[1, 2, 3, 4]), (5, &[9; 4])]), (0, None));
        assert_eq!(of(&[(3, &[1, 0, 0, 4]), (5, &[9; 4])]), (2, Some((3, 1))));
        // A slice that is missing, and one where none belongs.
        assert_eq!(of(&[(3, &[1, 2, 3, 4])]), (4, Some((5, 0))));
        assert_eq!(of(&[(3, &[1, 2, 3, 4]), (4, &[0]), (5, &[9; 4])]), (1, Some((4, 0))));
    }
}
