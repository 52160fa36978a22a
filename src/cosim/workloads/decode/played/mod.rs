//! Parts that a bench plays at the ports of a fabric.

pub(super) mod new_tokens;
pub(super) mod pace;
pub(super) mod queries;
pub(super) mod tile_array;
