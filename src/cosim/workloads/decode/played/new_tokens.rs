//! New tokens of a step: they go in before its descriptors, and come out for external memory.
//!
//! Memory gets them only when the step is over, so that a tile has no other way to the new token than over its home. The
//! writers behind the memory ports are played here.

use crate::cosim::checks::violation::{ViolationKind, Violations};
use crate::cosim::dut::pins::Pins;
use crate::cosim::hash::mix;
use crate::cosim::memory::{Image, Memory};
use crate::cosim::workloads::shared::token_writers::{TokenPins, TokenWrite, TokenWriters, WritePins};
use crate::design::{Append, Descriptor, Design};

/// A new token of a KV head, as it must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    stream: u32,
    slice: u32,
    /// Number of the slice in external memory, and place of the token in it.
    number: u64,
    row: u32,
    written: bool,
}

/// New tokens on their way.
#[derive(Debug)]
pub(in crate::cosim::workloads::decode) struct NewTokens<'a> {
    design: &'a Design,
    append: Append,
    seed: u64,
    /// Number of the descriptor, in the run, before which they go in.
    before: Option<usize>,
    /// Next group that goes in, and their number.
    next: u32,
    groups: u32,
    presented: bool,
    rows: Vec<Row>,
    writers: TokenWriters,
    /// Contents of memory with all new tokens.
    image: Image,
    /// Tokens written.
    pub(in crate::cosim::workloads::decode) written: u64,
    pub(in crate::cosim::workloads::decode) violations: Violations,
}

impl<'a> NewTokens<'a> {
    /// No tokens yet; none at all if the cache is read only.
    pub(in crate::cosim::workloads::decode) fn new(
        design: &'a Design,
        seed: u64,
        image: &Image,
    ) -> Option<NewTokens<'a>> {
        design.append.map(|append| NewTokens {
            design,
            append,
            seed: mix(seed ^ 0x746f_6b65_6e73),
            before: None,
            next: 0,
            groups: 0,
            presented: false,
            rows: Vec::new(),
            writers: TokenWriters::new(append, design),
            image: image.clone(),
            written: 0,
            violations: Violations::default(),
        })
    }

    /// Contents of memory with all new tokens.
    pub(in crate::cosim::workloads::decode) fn image(&self) -> &Image {
        &self.image
    }

    /// Starts the tokens that the descriptors of a layer have, before the descriptor with this number. Memory gets those
    /// of the layer before. True once all of them are in.
    pub(in crate::cosim::workloads::decode) fn are_in<'d>(
        &mut self,
        number: usize,
        layer: impl Iterator<Item = &'d Descriptor>,
        memory: &mut Image,
    ) -> bool {
        if self.before != Some(number) {
            *memory = self.image.clone();
            (self.before, self.next, self.groups) = (Some(number), 0, 0);
            self.rows.clear();
            for d in layer.filter(|d| d.append) {
                self.groups = self.append.groups;
                let segment = d.segments().last().expect("a descriptor has a segment");
                for slice in 0..self.design.model.kv_heads {
                    let number = self.design.slice_number(d.prefix, d.layer, segment, slice);
                    let stream = d.token_of(self.design);
                    self.rows.push(Row { stream, slice, number, row: d.last_row, written: false });
                }
            }
            for row in self.rows.clone() {
                self.write(&row);
            }
        }
        self.next == self.groups
    }

    /// Tokens of the layer that begins with this descriptor have begun to go in.
    pub(in crate::cosim::workloads::decode) fn have_begun(&self, number: usize) -> bool {
        self.before == Some(number)
    }

    /// A word of a token.
    fn word(&self, stream: u32, slice: u32, word: u32) -> u64 {
        let token = stream * self.design.model.kv_heads + slice;
        let at = self.before.unwrap_or(0) as u64;
        mix(self.seed ^ at << 32 ^ u64::from(token * self.append.words + word))
    }

    /// Puts a token into the expected contents of memory.
    fn write(&mut self, row: &Row) {
        let words: Vec<u64> = (0..self.append.words).map(|w| self.word(row.stream, row.slice, w)).collect();
        for (address, bytes) in self.design.token_places(row.number, row.row, &words) {
            self.image.write(address, &bytes);
        }
    }

    /// Puts the next group on its port, if there is one, and returns the credits of words that came.
    pub(in crate::cosim::workloads::decode) fn present(
        &mut self,
        pins: &mut Pins,
        at: &TokenPins,
        writes: &WritePins,
    ) {
        self.presented = self.next < self.groups;
        pins.set(at.token_valid, 0, u64::from(self.presented));
        self.writers.present(pins, writes);
        if !self.presented {
            return;
        }
        let size = self.append.group_words;
        let kv_heads = self.design.model.kv_heads;
        let groups = self.append.token_groups;
        let (token, word) = (self.next / groups, self.next % groups * size);
        let words = (0..size).map(|i| self.word(token / kv_heads, token % kv_heads, word + i));
        let data: Vec<u32> = words.flat_map(|word| [word as u32, (word >> 32) as u32]).collect();
        pins.set(at.token_group, 0, u64::from(self.next));
        pins.set_part(at.token_data, 0, &data);
        self.next += 1;
    }

    /// Takes the words for memory; true if there was one.
    pub(in crate::cosim::workloads::decode) fn observe(
        &mut self,
        pins: &Pins,
        writes: &WritePins,
        memory: &mut Memory,
        cycle: u64,
    ) -> bool {
        let mut done = Vec::new();
        let moved = self.writers.observe(pins, writes, memory, &mut done) || self.presented;
        for token in done {
            self.take(cycle, &token);
        }
        moved
    }

    fn take(&mut self, cycle: u64, token: &TokenWrite) {
        let TokenWrite { port, number, row, ref words } = *token;
        let text =
            |what: &str| format!("cycle {cycle}: memory port {port}, token {row} of slice {number}: {what}");
        let Some(at) = self.rows.iter().position(|r| (r.number, r.row, r.written) == (number, row, false))
        else {
            self.violations
                .add(ViolationKind::Duplicate, || text("nobody appends it, or it was written before"));
            return;
        };
        let Row { stream, slice, .. } = self.rows[at];
        let right = (0..).zip(words).all(|(word, &got)| got == self.word(stream, slice, word));
        if !right {
            self.violations.add(ViolationKind::Corrupt, || text("is not the token that went in"));
        }
        self.rows[at].written = true;
        self.written += 1;
    }

    /// Description of the writes that are still due, for messages.
    pub(in crate::cosim::workloads::decode) fn waiting(&self) -> String {
        let rows = self.rows.iter().filter(|row| !row.written).count();
        let begun = self.writers.begun();
        let busy = if self.writers.are_busy() { "words wait" } else { "no words wait" };
        format!("{rows} new tokens are not written, {begun} of them have begun, {busy}")
    }

    /// All tokens of the layer are written, and no more words come.
    pub(in crate::cosim::workloads::decode) fn are_written(&self) -> bool {
        !self.writers.are_busy() && self.rows.iter().all(|row| row.written)
    }
}
