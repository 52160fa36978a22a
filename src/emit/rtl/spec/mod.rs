//! Description of a module: its block, its template, its values, and its header.

pub(super) mod all_values;
pub(super) mod block;
pub(super) mod memories;
pub(in crate::emit) mod module;
pub(in crate::emit) mod names;
pub(super) mod template;
pub(super) mod values;
