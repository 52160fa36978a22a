//! The pace of a reduce root.

/// Cycles from a packet's last number to the next packet's first, with that number's own.
const BETWEEN: u64 = 6;

/// Returns the fewest cycles of a packet at a root: packets arrive back to back, and none is the last of its
/// head.
pub fn packet_cycles(head_dim: u32) -> u64 {
    u64::from(head_dim) + BETWEEN
}
