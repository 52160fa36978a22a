//! From sums of tiles to the output of a head.

pub mod normalise;
pub mod part;
pub mod root;
pub mod state;
