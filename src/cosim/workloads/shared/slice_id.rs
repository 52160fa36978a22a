//! Identity of a slice of the cache.

use crate::design::Design;

/// A slice: (l, s, g) of one stream or shared prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SliceId {
    /// Stream or shared prefix.
    pub stream: u32,
    /// Layer l.
    pub layer: u32,
    /// Segment s of the layer.
    pub segment: u32,
    /// KV head g.
    pub slice: u32,
}

impl SliceId {
    /// The tag in the fabric's format, without generation.
    pub fn tag(self, design: &Design) -> u64 {
        let (cache, place) = design.place_of(self.stream, self.segment);
        design.flit.tag((cache, self.layer, place, self.slice))
    }

    /// The slice of a tag. Of a page that several caches share it is that of the first.
    pub fn of_tag(design: &Design, tag: u64) -> SliceId {
        let (cache, layer, place, slice) = design.flit.of_tag(tag);
        let held = design.pages.as_ref().and_then(|pages| pages.holds(place));
        let (stream, segment) = held.unwrap_or((cache, place));
        SliceId { stream, layer, segment, slice }
    }
}
