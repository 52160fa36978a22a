//! The rates of random events, and the counts of those that were seen.

/// The rates of events.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Descriptors are offered all the time, or never.
    pub descriptors: bool,
    /// Most segments of a descriptor.
    pub segments: u64,
    /// Descriptors of a decode step.
    pub step: u64,
    /// Cycles of 16 in which a tile accepts a job or a flit.
    pub takes: u64,
    /// Cycles of 256 in which a tile begins a partial result.
    pub parts: u64,
    /// Longest time from a request to its answer.
    pub latency: u64,
    /// Answers of 256 that are errors.
    pub errors: u64,
    /// Cycles of 256 in which a part of a query is offered.
    pub queries: u64,
}

/// All events at once, with occasional waits everywhere.
pub const LIVELY: Pace = Pace {
    descriptors: true,
    segments: 6,
    step: 5,
    takes: 12,
    parts: 12,
    latency: 60,
    errors: 3,
    queries: 20,
};

/// The events that were observed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Descriptors that were accepted.
    pub descriptors: u64,
    /// Jobs that tiles accepted.
    pub jobs: u64,
    /// Flits that tiles accepted.
    pub flits: u64,
    /// Flits that reached roots.
    pub roots: u64,
    /// Bursts that were requested.
    pub bursts: u64,
    /// Beats that were answered.
    pub beats: u64,
    /// Periods with occupancies of columns.
    pub occupancies: u64,
    /// Swaps.
    pub swaps: u64,
    /// Flits that tiles have sent to the stand-in for the network.
    pub sent: u64,
}
