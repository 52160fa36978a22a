//! Finds an external tool that is new enough.

pub(super) mod notice;
pub(super) mod places;
pub(super) mod probe;
pub(super) mod program;
pub(super) mod search;
pub(super) mod tool;
pub(super) mod version;
pub(super) mod wanted;
