//! Descriptor at the port of the fabric.

/// Descriptor: a range of slices, and the streams that attend to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Stream or shared prefix of the cache to read.
    pub prefix: u32,
    /// Layer.
    pub layer: u32,
    /// First segment.
    pub first: u32,
    /// Distance between consecutive segments.
    pub stride: u32,
    /// Number of segments.
    pub count: u32,
    /// First token of the first segment.
    pub first_row: u32,
    /// Last token of the last segment.
    pub last_row: u32,
    /// First stream that attends.
    pub stream: u32,
    /// Number of streams.
    pub streams: u32,
    /// 0: one tile per head, 1: the row of the home, 2: streams striped over the rows.
    pub mapping: u32,
    /// All heads receive all slices.
    pub share: bool,
    /// Partial results are due.
    pub close: bool,
    /// Last descriptor of the decode step.
    pub step: bool,
    /// The last token is new.
    pub append: bool,
}
