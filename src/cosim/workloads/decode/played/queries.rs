//! Queries of a layer: they go in before its descriptors, a group of words a cycle.
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
    QueryPins { query_valid query_ready query_stream query_head query_group query_data }
}

/// Queries on their way in.
#[derive(Debug)]
pub(in crate::cosim::workloads::decode) struct Queries {
    heads: u32,
    /// Groups of a head.
    groups: u32,
    /// Words of a group.
    size: u32,
    /// Groups with scales, which come first, then as many with sinks if there are some; the heads of one, and the numbers of
    /// both groups.
    scales: u64,
    before_queries: u64,
    scale_heads: u64,
    numbers: [u64; 2],
    /// Number of the descriptor, in the run, before which they go in.
    before: Option<usize>,
    streams: Range<u32>,
    /// Number of the next query.
    next: u64,
    /// True if a query was on the port in this period.
    pub(in crate::cosim::workloads::decode) presented: bool,
}

impl Queries {
    pub(in crate::cosim::workloads::decode) fn new(design: &Design) -> Queries {
        let size = design.bus.query_group_words;
        let groups = design.pe.head_dim / 4 / size;
        let heads = design.heads.heads();
        let scale_heads = design.bus.scale_heads.unwrap_or(heads);
        let scales = if design.pe.is_scaled() { u64::from(heads / scale_heads) } else { 0 };
        let sinks = design.has_sinks();
        Queries {
            heads,
            groups,
            size,
            scales,
            before_queries: if sinks { 2 * scales } else { scales },
            numbers: [design.bus.scale_group(), if sinks { design.bus.sink_group() } else { 0 }]
                .map(u64::from),
            scale_heads: scale_heads.into(),
            before: None,
            streams: 0..0,
            next: 0,
            presented: false,
        }
    }

    /// Starts the queries of the streams in `layer`, the descriptors of one layer. They are due
    /// before the descriptor with this number. True once all of them are in.
    pub(in crate::cosim::workloads::decode) fn are_in<'a>(
        &mut self,
        number: usize,
        layer: impl Iterator<Item = &'a Descriptor>,
    ) -> bool {
        if self.before != Some(number) {
            let spans: Vec<_> = layer.map(|d| (d.stream, d.stream + d.streams)).collect();
            let first = spans.iter().map(|span| span.0).min().unwrap_or(0);
            let end = spans.iter().map(|span| span.1).max().unwrap_or(0);
            (self.before, self.streams, self.next) = (Some(number), first..end, 0);
        }
        self.next == self.all()
    }

    fn all(&self) -> u64 {
        self.before_queries + self.streams.len() as u64 * u64::from(self.heads * self.groups)
    }

    /// Puts the next query on its port, if there is one.
    pub(in crate::cosim::workloads::decode) fn present(&mut self, pins: &mut Pins, at: &QueryPins) {
        self.presented = self.next < self.all();
        pins.set(at.query_valid, 0, u64::from(self.presented));
        if !self.presented {
            return;
        }
        let (heads, groups, size) = (u64::from(self.heads), u64::from(self.groups), u64::from(self.size));
        let words = (0..size).map(|word| mix(self.next * size + word));
        let data: Vec<u32> = words.flat_map(|word| [word as u32, (word >> 32) as u32]).collect();
        pins.set_part(at.query_data, 0, &data);
        let (group, head, stream) = match self.next.checked_sub(self.before_queries) {
            Some(next) => {
                (next % groups, next / groups % heads, u64::from(self.streams.start) + next / groups / heads)
            }
            None => {
                let (part, at) = (self.next / self.scales, self.next % self.scales);
                (self.numbers[part as usize], at * self.scale_heads, 0)
            }
        };
        pins.set(at.query_group, 0, group);
        pins.set(at.query_head, 0, head);
        pins.set(at.query_stream, 0, stream);
    }

    /// True if the query on the port was taken; the next one follows.
    pub(in crate::cosim::workloads::decode) fn taken(&mut self, pins: &Pins, at: &QueryPins) -> bool {
        let taken = self.presented && pins.get(at.query_ready, 0) == 1;
        self.next += u64::from(taken);
        taken
    }
}
