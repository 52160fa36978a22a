//! Findings about keys, and ways out of them.

pub(super) mod advice;
pub(super) mod advise;
pub(super) mod finding;
pub(super) mod report;
