//! Bursts between fillers and memory ports.

/// Burst requested from the memory port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Burst {
    /// ID.
    pub id: u32,
    /// Number of the slice in external memory.
    pub number: u64,
    /// First flit of the slice to read.
    pub first: u32,
    /// Flits less one.
    pub len: u32,
}

/// Flit read by the memory port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answer {
    /// ID of its burst.
    pub id: u32,
    /// Last flit of the burst.
    pub last: bool,
    /// The memory reports an error.
    pub bad: bool,
    /// Payload.
    pub data: u64,
}
