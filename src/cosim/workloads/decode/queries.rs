//! Queries of a layer: they go in before its descriptors, four elements a cycle.
//!
//! Their values are arbitrary: the models of the arrays compute no numbers.

use crate::cosim::dut::group_pins;
use crate::cosim::dut::pins::Pins;
use crate::cosim::hash::mix;
use crate::design::Descriptor;
use crate::design::Design;
use std::ops::Range;

group_pins! {
    /// Query input.
    QueryPins { query_valid query_ready query_stream query_head query_word query_data }
}

/// Queries on their way in.
#[derive(Debug)]
pub(super) struct Queries {
    heads: u32,
    words: u32,
    /// Number of the descriptor, in the run, before which they go in.
    before: Option<usize>,
    streams: Range<u32>,
    /// Number of the next query.
    next: u64,
    /// True if a query was on the port in this period.
    pub(super) presented: bool,
}

impl Queries {
    pub(super) fn new(design: &Design) -> Queries {
        let words = design.config.pe.head_dim / 4;
        Queries { heads: design.heads.heads(), words, before: None, streams: 0..0, next: 0, presented: false }
    }

    /// Starts the queries of the streams in `layer`, the descriptors of one layer. They are due
    /// before the descriptor with this number. True once all of them are in.
    pub(super) fn are_in<'a>(&mut self, number: usize, layer: impl Iterator<Item = &'a Descriptor>) -> bool {
        if self.before != Some(number) {
            let spans: Vec<_> = layer.map(|d| (d.stream, d.stream + d.streams)).collect();
            let first = spans.iter().map(|span| span.0).min().unwrap_or(0);
            let end = spans.iter().map(|span| span.1).max().unwrap_or(0);
            (self.before, self.streams, self.next) = (Some(number), first..end, 0);
        }
        self.next == self.all()
    }

    fn all(&self) -> u64 {
        self.streams.len() as u64 * u64::from(self.heads * self.words)
    }

    /// Puts the next query on its port, if there is one.
    pub(super) fn present(&mut self, pins: &mut Pins, at: &QueryPins) {
        self.presented = self.next < self.all();
        pins.set(at.query_valid, 0, u64::from(self.presented));
        if !self.presented {
            return;
        }
        let (heads, words) = (u64::from(self.heads), u64::from(self.words));
        pins.set(at.query_word, 0, self.next % words);
        pins.set(at.query_data, 0, mix(self.next));
        pins.set(at.query_head, 0, self.next / words % heads);
        pins.set(at.query_stream, 0, u64::from(self.streams.start) + self.next / words / heads);
    }

    /// True if the query on the port was taken; the next one follows.
    pub(super) fn taken(&mut self, pins: &Pins, at: &QueryPins) -> bool {
        let taken = self.presented && pins.get(at.query_ready, 0) == 1;
        self.next += u64::from(taken);
        taken
    }
}
