//! The time of a run: its bounds, and its parts one after the other.

pub(super) mod bounds;
pub(super) mod breakdown;
