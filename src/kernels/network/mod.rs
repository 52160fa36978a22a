//! Decisions of the router: classes, turns, credits, claims.

pub mod class_turn;
pub mod credit_claim;
pub mod output_open;
pub mod packet_lock;
pub mod starvation_guard;
pub mod wrr_sides;
pub mod wrr_straight;
