//! The array of a tile and the root of a column.

pub(super) mod array;
pub(super) mod head;
pub(super) mod layer_kind;
mod layers;
pub(super) mod model;
pub mod octave;
pub(super) mod pe;
pub(super) mod root;
