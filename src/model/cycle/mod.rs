//! The fabric cycle by cycle: what the emitted Verilog shows, period for period, from a [`Design`](crate::design::Design) alone.
//!
//! A clock period c ends with the c-th rising edge after reset. A block has a `step` that passes a period: it is given what
//! its inputs show in the period and changes its registers as the edge does. What leaves a piece for another is
//! a function of registers, as in the Verilog, so pieces can be stepped in any order once all has been read.
//!
//! * [`flit`]: what passes between a router and its tile.
//! * [`transport`]: requester, port and counters of a tile; [`home`]: its home agent; [`tile`]: all that stands beside a router.
//! * [`control`]: what stands around the tiles; [`around`]: tiles and periphery, joined.
//! * [`tile_shape`], [`parts`], [`clock`]: what these share.

pub mod around;
pub mod clock;
pub mod control;
pub mod flit;
pub mod home;
pub mod parts;
pub mod tile;
pub mod tile_shape;
pub mod transport;
