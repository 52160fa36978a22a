//! Lengths of the phases of a measurement.

/// Lengths of the phases in cycles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phases {
    /// Cycles before the sample.
    pub warmup: u64,
    /// Cycles in which the sample is generated.
    pub measure: u64,
    /// Most cycles for the sample to arrive after that.
    pub drain_limit: u64,
    /// Mean latency in cycles above which the run need not be finished.
    pub latency_limit: Option<f64>,
}
