//! What all tiles know of the time: periods of the Bloom filters, the same everywhere.

/// Where in a period of `bloom_refresh` cycles a cycle is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BloomPeriod {
    /// The last cycle of a period.
    pub tick: bool,
    /// Parity of the period.
    pub odd: bool,
}

impl BloomPeriod {
    /// In this cycle after reset.
    pub fn at(cycle: u64, bloom_refresh: u32) -> BloomPeriod {
        let refresh = u64::from(bloom_refresh);
        BloomPeriod { tick: cycle % refresh == refresh - 1, odd: cycle / refresh % 2 == 1 }
    }
}
