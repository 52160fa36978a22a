//! Rows of results: one struct a kind of run.

pub(super) mod attention;
pub(super) mod compared;
pub(super) mod decode;
pub(super) mod decode_row;
pub(super) mod measure;
pub(super) mod packets;
pub(super) mod partials;
pub(super) mod row;
pub(super) mod spread;
pub(super) mod steps;
pub(super) mod widths;
