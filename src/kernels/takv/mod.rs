//! Decisions of controllers, fillers and the swap of homes (TaKV).

pub mod descriptor_state;
pub mod k_then_v;
pub mod swap_decision;
pub mod swap_state;
