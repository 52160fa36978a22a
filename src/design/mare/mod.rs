//! Serving of slices: homes, requesters, staging memory (MaRe).

pub mod hash;
pub(super) mod mare;
pub(super) mod row_flits;
pub(super) mod slice;
pub(super) mod staging;
