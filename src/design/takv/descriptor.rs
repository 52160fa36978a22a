//! A descriptor: one unit of work for the column controllers.

use crate::design::design::Design;
use crate::design::takv::mapping::{Mapping, Sharing};
use std::collections::BTreeSet;

/// One descriptor, as on the port of the fabric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Stream or shared prefix whose cache is read.
    pub prefix: u32,
    /// Layer.
    pub layer: u32,
    /// First segment.
    pub first: u32,
    /// Distance from one segment to the next.
    pub stride: u32,
    /// Number of segments.
    pub count: u32,
    /// First row needed of the first segment.
    pub first_row: u32,
    /// Last row needed of the last segment.
    pub last_row: u32,
    /// First stream that attends.
    pub stream: u32,
    /// Number of streams that attend.
    pub streams: u32,
    /// Assignment of heads to tiles.
    pub mapping: Mapping,
    /// Receivers of a slice.
    pub sharing: Sharing,
    /// True if the streams have all of this layer: their partial results are due.
    pub close: bool,
    /// True for the last descriptor of a decode step.
    pub step: bool,
    /// True if the last token is new: the run has its K and V, and writes them into the cache of `prefix`.
    pub append: bool,
}

/// A prefix and segment that two of these descriptors name, for runs where that is illegal.
pub fn named_twice(descriptors: &[Descriptor]) -> Option<(u32, u32)> {
    named_again(descriptors, |prefix, segment| (prefix, segment))
}

/// The same where `place` says which prefixes and segments are one.
pub(super) fn named_again(
    descriptors: &[Descriptor],
    place: impl Fn(u32, u32) -> (u32, u32),
) -> Option<(u32, u32)> {
    let mut named = BTreeSet::new();
    let mut all = descriptors.iter().flat_map(|d| d.segments().map(|segment| (d.prefix, segment)));
    all.find(|&(prefix, segment)| !named.insert(place(prefix, segment)))
}

impl Descriptor {
    /// The number under which the run has its new token: of its cache, or, where caches outnumber streams, of its stream.
    pub fn token_of(&self, design: &Design) -> u32 {
        match design.pages {
            Some(_) => self.stream,
            None => self.prefix,
        }
    }

    /// Segments in the order of their indices.
    pub fn segments(&self) -> impl Iterator<Item = u32> {
        let (first, stride) = (self.first, self.stride);
        (0..self.count).map(move |i| first + i * stride)
    }

    /// First and last row needed of the segment with this index.
    pub fn rows(&self, index: u32, segment_tokens: u32) -> (u32, u32) {
        let first = if index == 0 { self.first_row } else { 0 };
        let last = if index + 1 == self.count { self.last_row } else { segment_tokens - 1 };
        (first, last)
    }
}
