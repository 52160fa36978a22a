//! One descriptor: what a column controller is told at a time.

use crate::design::{Mapping, Sharing};
use std::collections::BTreeSet;

/// One descriptor, as it stands on the port of the fabric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// Stream or shared prefix whose cache is read.
    pub prefix: u32,
    /// Layer.
    pub layer: u32,
    /// First segment.
    pub first: u32,
    /// Segments from one to the next.
    pub stride: u32,
    /// How many.
    pub count: u32,
    /// First row of the first segment that is wanted.
    pub first_row: u32,
    /// Last row of the last segment that is wanted.
    pub last_row: u32,
    /// First stream that attends.
    pub stream: u32,
    /// How many streams attend.
    pub streams: u32,
    /// Which tile computes a head.
    pub mapping: Mapping,
    /// Who receives a slice.
    pub sharing: Sharing,
    /// The streams have all of this layer: their partial results are due.
    pub close: bool,
    /// Last descriptor of a decode step.
    pub step: bool,
}

/// A prefix and a segment of it that two of these descriptors name: of one run, where that is illegal.
pub fn named_twice(descriptors: &[Descriptor]) -> Option<(u32, u32)> {
    let mut named = BTreeSet::new();
    let all = descriptors.iter().flat_map(|d| d.segments().map(|segment| (d.prefix, segment)));
    all.into_iter().find(|slice| !named.insert(*slice))
}

impl Descriptor {
    /// Segments in the order of their indices.
    pub fn segments(&self) -> impl Iterator<Item = u32> {
        let (first, stride) = (self.first, self.stride);
        (0..self.count).map(move |i| first + i * stride)
    }

    /// First and last row that is wanted of the segment with this index.
    pub fn rows(&self, index: u32, segment_tokens: u32) -> (u32, u32) {
        let first = if index == 0 { self.first_row } else { 0 };
        let last = if index + 1 == self.count { self.last_row } else { segment_tokens - 1 };
        (first, last)
    }
}
