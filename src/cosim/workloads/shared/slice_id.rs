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
        let values = [self.stream, self.layer, self.segment, self.slice];
        let fields = design.flit.tag_fields().iter().zip(values);
        fields.fold(0, |tag, (field, value)| tag | u64::from(value) << field.offset)
    }

    /// The slice of a tag.
    pub fn of_tag(design: &Design, tag: u64) -> SliceId {
        let mut fields = design.flit.tag_fields().iter();
        let mut value = || fields.next().map_or(0, |f| (tag >> f.offset) as u32 & ((1 << f.width) - 1));
        SliceId { stream: value(), layer: value(), segment: value(), slice: value() }
    }
}
