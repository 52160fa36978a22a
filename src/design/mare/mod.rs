//! Serving of slices: homes, requesters, staging memory (MaRe).

pub mod hash;
// The folder and its main type have one name.
#[allow(clippy::module_inception)]
pub(super) mod mare;
pub(super) mod row_flits;
pub(super) mod slice;
pub(super) mod staging;
