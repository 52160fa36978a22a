//! Decisions of the arrays that compute (PaD).

pub mod load_state;
pub mod read_state;
