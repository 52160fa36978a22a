//! The network: mesh, router, flit, turns, waits.

pub mod deadlock;
pub(super) mod flaw;
pub(super) mod flit;
pub(super) mod mesh;
pub(super) mod round_trip;
pub(super) mod router;
pub(super) mod turns;
pub(super) mod wait_bound;
