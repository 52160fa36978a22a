//! The time of a run: what bounds it, and its parts one behind the other.

pub(super) mod bounds;
pub(super) mod breakdown;
