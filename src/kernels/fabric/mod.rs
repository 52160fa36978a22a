//! Decisions of MaRe, TaKV, PaD and the roots.

pub mod coalescing_window;
pub mod descriptor_state;
pub mod k_then_v;
pub mod load_state;
pub mod read_state;
pub mod root_phase;
pub mod swap_decision;
pub mod swap_state;
