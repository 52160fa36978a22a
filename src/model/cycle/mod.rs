//! The fabric, cycle by cycle.
//!
//! Everything follows from the [`Design`](crate::design::Design). What is modelled are registers and what shows on
//! links; which is exact, and how that is kept so, is in `docs/model.md`. A clock period c ends with the c-th rising
//! edge after reset.
//!
//! * [`flit`]: what passes between router and tile;
//! * [`mesh`]: routers, links and their counters.

mod allocator;
mod counters;
pub mod flit;
mod input;
mod lanes;
pub mod mesh;
mod output;
mod router;
mod shape;
mod store;
mod wires;

pub use flit::Flit;
pub use mesh::RouterMesh;
