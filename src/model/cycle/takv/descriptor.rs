//! A descriptor, as the periphery takes it.

/// A descriptor, as it stands on the port of the fabric.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// First token of the first segment.
    pub first_row: u32,
    /// Last token of the last segment.
    pub last_row: u32,
    /// First stream that attends.
    pub stream: u32,
    /// How many.
    pub streams: u32,
    /// 0: a tile a head, 1: the row of the home, 2: streams striped over the rows.
    pub mapping: u32,
    /// All heads get all slices.
    pub share: bool,
    /// Partial results are due.
    pub close: bool,
    /// The last of the decode step.
    pub step: bool,
}
