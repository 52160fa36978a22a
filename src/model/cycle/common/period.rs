//! Refresh period of the Bloom filters, the same in all tiles.

/// Position of a cycle in its refresh period of `bloom_refresh` cycles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BloomPeriod {
    /// Last cycle of the period.
    pub tick: bool,
    /// Parity of the period's number.
    pub odd: bool,
}

impl BloomPeriod {
    /// Returns the position of a cycle, counted from reset.
    pub fn at(cycle: u64, bloom_refresh: u32) -> BloomPeriod {
        let refresh = u64::from(bloom_refresh);
        BloomPeriod { tick: cycle % refresh == refresh - 1, odd: cycle / refresh % 2 == 1 }
    }
}
