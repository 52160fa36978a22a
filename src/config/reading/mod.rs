//! Reads a file strictly, with every problem at its place.

pub(super) mod accept;
pub(super) mod file_keys;
pub(super) mod fingerprint;
pub(super) mod history;
pub(super) mod meant;
pub(super) mod read;
pub(super) mod spelling;
pub(super) mod walk;
