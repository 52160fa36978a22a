//! The fabric, cycle by cycle: what the emitted Verilog shows, period for period.
//!
//! Everything follows from the [`Design`](crate::design::Design). What is modelled are registers and what shows on
//! links; which is exact, and how that is kept so, is in `docs/model.md`. A clock period c ends with the c-th rising
//! edge after reset.
//!
//! Of the network a period is put together and then ticked. A block of a tile has a `step` that passes a period: it is
//! given what its inputs show in it and changes its registers as the edge does. What leaves a piece for another is a
//! function of registers, as in the Verilog, so pieces can be stepped in any order once all has been read.
//!
//! * [`flit`]: what passes between router and tile;
//! * [`mesh`]: routers, links and their counters;
//! * [`transport`]: requester, port and counters of a tile; [`home`]: its home agent; [`tile`]: all that stands
//!   beside a router;
//! * [`control`]: what stands around the tiles; [`around`]: tiles and periphery, joined;
//! * [`fabric`]: all of it;
//! * [`pad`]: what computes beside every tile; [`root`]: the reduce root of a column; [`core`]: these and the fabric;
//! * [`tile_shape`], [`parts`], [`clock`]: what the blocks of tiles share.

mod allocator;
pub mod around;
mod channel;
pub mod clock;
pub mod control;
pub mod core;
mod counters;
mod decisions;
pub mod fabric;
pub mod flit;
pub mod home;
mod input;
mod lanes;
mod list;
pub mod mesh;
pub mod messages;
mod output;
pub mod pad;
pub mod parts;
pub mod root;
mod router;
mod shape;
mod state;
mod store;
pub mod tile;
pub mod tile_shape;
pub mod transport;
mod wires;
mod work;

pub use flit::Flit;
pub use mesh::RouterMesh;
