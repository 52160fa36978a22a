//! What a module is: its block, its template, its values, and what it shows to others.

pub(super) mod all_values;
pub(super) mod block;
pub(super) mod memories;
pub(in crate::emit) mod module;
pub(in crate::emit) mod names;
pub(super) mod template;
pub(super) mod values;
