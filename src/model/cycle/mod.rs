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
//! The blocks, each of which uses only those before it:
//!
//! * [`common`]: cells and sets of tiles;
//! * [`network`]: routers, links and their counters;
//! * [`mare`]: requester, home agent, port and counters of a tile;
//! * [`takv`]: column controllers, the column bus, memory ports, what is fetched and filled;
//! * [`reduce`]: partial results and the reduce root of a column;
//! * [`pad`]: what computes beside every tile;
//! * [`fabric`]: tile, periphery, fabric and core, which join the others.

pub mod common;
pub mod fabric;
pub mod mare;
pub mod network;
pub mod pad;
pub mod reduce;
pub mod takv;
