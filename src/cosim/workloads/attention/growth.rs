//! New tokens of a job on the whole design: they go in beside its queries, and come out for external memory.
//!
//! Memory gets them only when the job is over, so that a tile has no other way to a new token than over its home.

use super::job::Job;
use crate::config::KvFormat;
use crate::cosim::dut::pins::Pins;
use crate::cosim::dut::DutError;
use crate::cosim::memory::{Image, Memory, Shape};
use crate::cosim::workloads::shared::token_writers::{TokenPins, TokenWrite, TokenWriters, WritePins};
use crate::design::{Append, Descriptor, Design};
use crate::emit::ModuleSpec;
use crate::model::datapath::numbers::element::bytes_of;

/// A new token of a KV head, as it goes in.
#[derive(Debug)]
struct Due {
    /// Number of its first group of words.
    group: u32,
    /// Number of the slice in external memory, and place of the token in it.
    number: u64,
    row: u32,
    /// K, then V.
    words: Vec<u64>,
    written: bool,
}

/// New tokens on their way through the design.
pub(super) struct Growth<'a> {
    design: &'a Design,
    append: Append,
    tokens: TokenPins,
    writes: WritePins,
    writers: TokenWriters,
    due: Vec<Due>,
    /// Number of the next group, over all tokens of the job.
    next: usize,
    /// Writes that memory gets at the end of the job.
    written: Vec<TokenWrite>,
}

impl<'a> Growth<'a> {
    /// Looks the ports up; none if the cache is read only.
    pub(super) fn find(
        pins: &mut Pins,
        top: &ModuleSpec,
        design: &'a Design,
    ) -> Result<Option<Growth<'a>>, DutError> {
        let Some(append) = design.append else { return Ok(None) };
        Ok(Some(Growth {
            design,
            append,
            tokens: TokenPins::find(pins, top, 1)?,
            writes: WritePins::find(pins, top, design.memory.ports)?,
            writers: TokenWriters::new(append, design),
            due: Vec::new(),
            next: 0,
            written: Vec::new(),
        }))
    }

    /// Takes the new tokens of a job.
    pub(super) fn begin(&mut self, job: &Job) {
        let (model, format) = (&self.design.model, self.design.pe.format);
        let per_token = self.append.token_groups;
        self.next = 0;
        self.due.clear();
        for (stream, own) in (0..).zip(job.own.iter().flatten()).filter(|(_, own)| own.append) {
            let token = if self.design.pages.is_some() { stream } else { own.cache };
            let last = own.tokens.len() as u32 - 1;
            let segment = last / self.design.placement.segment_tokens;
            for g in 0..model.kv_heads {
                let [k, v] = job.new_token(g, own.tokens.end - 1);
                let head = g * model.group_heads();
                let scales = job.token_scales(head, own.tokens.end - 1..own.tokens.end);
                let scales = scales.iter().flatten().map(|[k, v]| u64::from(*k) | u64::from(*v) << 16);
                self.due.push(Due {
                    group: (token * model.kv_heads + g) * per_token,
                    number: self.design.slice_number(own.cache, 0, segment, g),
                    row: last % self.design.placement.segment_tokens,
                    words: words(format, &k).chain(words(format, &v)).chain(scales).collect(),
                    written: false,
                });
            }
        }
    }

    fn groups(&self) -> usize {
        self.due.len() * self.append.token_groups as usize
    }

    /// All tokens are in.
    pub(super) fn are_in(&self) -> bool {
        self.next == self.groups()
    }

    /// Puts the next group on its port, if there is one, and says whether the descriptor on its port has a new token.
    pub(super) fn present(&mut self, pins: &mut Pins, descriptor: Option<&Descriptor>) {
        self.writers.present(pins, &self.writes);
        let append = descriptor.is_some_and(|descriptor| descriptor.append);
        pins.set(self.tokens.desc_append, 0, u64::from(append));
        let waits = !self.are_in();
        pins.set(self.tokens.token_valid, 0, u64::from(waits));
        if !waits {
            return;
        }
        let size = self.append.group_words as usize;
        let per_token = self.append.token_groups as usize;
        let (due, at) = (&self.due[self.next / per_token], self.next % per_token);
        let group = due.words[at * size..].iter().chain(std::iter::repeat(&0)).take(size);
        let data: Vec<u32> = group.flat_map(|word| [*word as u32, (word >> 32) as u32]).collect();
        pins.set(self.tokens.token_group, 0, u64::from(due.group) + at as u64);
        pins.set_part(self.tokens.token_data, 0, &data);
        self.next += 1;
    }

    /// Takes the words for memory; true if there was one.
    pub(super) fn observe(
        &mut self,
        pins: &Pins,
        memory: &mut Memory,
        cycle: u64,
        violations: &mut Vec<String>,
    ) -> bool {
        let mut done = Vec::new();
        let moved = self.writers.observe(pins, &self.writes, memory, &mut done);
        for token in done {
            self.take(cycle, &token, violations);
            self.written.push(token);
        }
        moved
    }

    fn take(&mut self, cycle: u64, token: &TokenWrite, violations: &mut Vec<String>) {
        let TokenWrite { port, number, row, .. } = *token;
        let due = self.due.iter_mut().find(|due| (due.number, due.row, due.written) == (number, row, false));
        let what = match due {
            None => "nobody appends it, or it was written before",
            Some(due) => {
                due.written = true;
                if due.words == token.words {
                    return;
                }
                "is not the token that went in"
            }
        };
        violations.push(format!("cycle {cycle}: memory port {port}, token {row} of slice {number}: {what}"));
    }

    /// All tokens are written, and no more words come.
    pub(super) fn are_written(&self) -> bool {
        !self.writers.are_busy() && self.writers.begun() == 0 && self.due.iter().all(|due| due.written)
    }

    /// Description of the writes that are still due, for messages.
    pub(super) fn waiting(&self) -> String {
        let rows = self.due.iter().filter(|due| !due.written).count();
        let busy = if self.writers.are_busy() { "words wait" } else { "no words wait" };
        format!("{rows} new tokens are not written, {} of them have begun, {busy}", self.writers.begun())
    }

    /// Ends the job: memory gets its tokens, if it has numbers. Returns how many were written.
    pub(super) fn end(&mut self, memory: Option<&mut Image>, violations: &mut Vec<String>) -> u64 {
        if !self.are_written() {
            violations.push(self.waiting());
        }
        let (written, shape) = (std::mem::take(&mut self.written), Shape::of(self.design));
        let Some(memory) = memory else { return written.len() as u64 };
        for token in &written {
            for (address, bytes) in self.design.token_places(token.number, token.row, &token.words) {
                memory.write_slices(&shape, address, &bytes);
            }
        }
        written.len() as u64
    }
}

/// Words of elements as they lie in memory, the first in the low bits.
fn words(format: KvFormat, row: &[u16]) -> impl Iterator<Item = u64> {
    let bytes = bytes_of(format, row);
    let word = |eight: &[u8]| eight.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks(8).map(word).collect::<Vec<_>>().into_iter()
}
