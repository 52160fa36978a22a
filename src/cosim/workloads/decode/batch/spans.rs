//! Segments that a step attends to: those of common prefixes, and of each stream's own.

use crate::cosim::workloads::decode::batch::lengths::StreamLength;
use crate::design::{Descriptor, Design, LayerKind};

/// Consecutive tokens of one cache, as a descriptor's segments.
#[derive(Debug, Clone, Copy)]
pub(in crate::cosim::workloads::decode) struct Span {
    pub(in crate::cosim::workloads::decode) first: u32,
    pub(in crate::cosim::workloads::decode) count: u32,
    pub(in crate::cosim::workloads::decode) first_row: u32,
    pub(in crate::cosim::workloads::decode) last_row: u32,
}

/// Every `stride`-th of the segments that contain tokens `from..to`; `None` if there are no tokens.
fn span(tokens: u32, from: u32, to: u32, stride: u32) -> Option<Span> {
    if from >= to {
        return None;
    }
    let (first, last) = (from / tokens, (to - 1) / tokens);
    let count = (last - first) / stride + 1;
    let whole = first + (count - 1) * stride < last;
    let last_row = if whole { tokens - 1 } else { (to - 1) % tokens };
    Some(Span { first, count, first_row: from % tokens, last_row })
}

/// The first `count` segments of a span.
fn sampled(span: Option<Span>, count: u32, segment_tokens: u32) -> Option<Span> {
    let span = span.filter(|_| count > 0)?;
    let last_row = if count < span.count { segment_tokens - 1 } else { span.last_row };
    Some(Span { count, last_row, ..span })
}

/// Blocks of the descriptors' segments in the first layer that the fullest memory port has, over the mean of all ports that
/// have a home. Each descriptor is read once.
pub(in crate::cosim::workloads::decode) fn imbalance(design: &Design, descriptors: &[Descriptor]) -> f64 {
    let (placement, mut reads) = (&design.placement, vec![0_u64; design.memory.ports as usize]);
    for d in descriptors.iter().filter(|d| d.layer == 0) {
        for segment in d.segments() {
            for kv_head in (0..placement.kv_heads).step_by(placement.slices_of_block() as usize) {
                let (x, y) = design.mesh.coords(design.home_of(d.prefix, 0, segment, kv_head));
                reads[design.memory.port(x, y) as usize] += 1;
            }
        }
    }
    let most = reads.iter().copied().max().unwrap_or(0);
    most as f64 * design.ports_with_homes() as f64 / reads.iter().sum::<u64>().max(1) as f64
}

/// Segments of a batch: of common prefixes, each with the streams that share it, and of each stream's own.
pub(in crate::cosim::workloads::decode) struct Spans {
    pub(in crate::cosim::workloads::decode) common: Vec<(Span, u32)>,
    pub(in crate::cosim::workloads::decode) own: Vec<Option<Span>>,
}

impl Spans {
    /// All segments that are attended to in a layer of this kind. Streams are in the order of falling prefixes.
    pub(in crate::cosim::workloads::decode) fn of(
        design: &Design,
        kind: LayerKind,
        stride: u32,
        streams: &[StreamLength],
    ) -> Spans {
        let p = design.placement.segment_tokens;
        let from = |stream: &StreamLength| stream.tokens - kind.attended(stream.tokens);
        // Caches are shared by whole segments: the rest of a prefix belongs to each stream. If nothing
        // follows the prefix, its last segment is complete, however short.
        let shared = |stream: &StreamLength| match stream.prefix == stream.tokens {
            true => stream.tokens,
            false => stream.prefix / p * p,
        };
        let (mut common, mut below) = (Vec::new(), 0);
        for end in streams.iter().rev().map(shared) {
            let sharing = streams.iter().filter(|stream| shared(stream) >= end).count() as u32;
            let start = streams.first().map_or(0, from).max(below);
            common.extend(span(p, start, end, stride).filter(|_| end > below).map(|span| (span, sharing)));
            below = below.max(end);
        }
        let own = |stream: &StreamLength| span(p, from(stream).max(shared(stream)), stream.tokens, stride);
        Spans { common, own: streams.iter().map(own).collect() }
    }

    /// Segments of the stream with most.
    pub(in crate::cosim::workloads::decode) fn most(&self) -> u32 {
        let count = |stream: usize| {
            let common = self.common.iter().filter(|(_, sharing)| stream < *sharing as usize);
            common.map(|(span, _)| span.count).sum::<u32>() + self.own[stream].map_or(0, |span| span.count)
        };
        (0..self.own.len()).map(count).max().unwrap_or(0)
    }

    /// A sample in which the stream with most has `wanted` of `all` segments, and others as large a share.
    pub(in crate::cosim::workloads::decode) fn sample(&self, wanted: u32, all: u32, p: u32) -> Spans {
        let part = |count: u32| u64::from(wanted) * u64::from(count);
        let common = self.common.iter().filter_map(|(span, sharing)| {
            Some((sampled(Some(*span), part(span.count).div_ceil(u64::from(all)) as u32, p)?, *sharing))
        });
        let alike = self.own.windows(2).all(|two| two[0].map(|s| s.count) == two[1].map(|s| s.count));
        let own = |span: &Option<Span>| {
            let count = span.map_or(0, |span| (part(span.count) / u64::from(all)) as u32);
            // A short stream among longer ones does not vanish.
            sampled(*span, if alike { count } else { count.max(1) }, p)
        };
        Spans { common: common.collect(), own: self.own.iter().map(own).collect() }
    }

    pub(in crate::cosim::workloads::decode) fn all(&self) -> impl Iterator<Item = &Span> {
        self.common.iter().map(|(span, _)| span).chain(self.own.iter().flatten())
    }

    pub(in crate::cosim::workloads::decode) fn slices(&self) -> u64 {
        self.all().map(|span| u64::from(span.count)).sum()
    }
}
