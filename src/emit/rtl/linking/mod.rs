//! From templates to modules: rendering, reading headers, linking instances.

pub(super) mod header;
pub(super) mod instance;
pub(super) mod known;
pub(super) mod link;
pub(super) mod marker;
pub(super) mod render;
pub(super) mod sources;
pub(super) mod templates;
