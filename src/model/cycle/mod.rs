//! Cycle model of the fabric: it equals the emitted Verilog period for period.
//!
//! Everything follows from the [`Design`](crate::design::Design). The model covers registers and the values
//! on links; `docs/model.md` says which of them are exact, and how tests keep them so. Clock period c ends
//! with the c-th rising edge after reset.
//!
//! The network collects its inputs of a period and then ticks. Other blocks have a `step` that advances one
//! period: it takes the inputs of the period and updates registers as the edge does. Signals between pieces
//! are functions of registers, as in the Verilog. So pieces can step in any order once all signals are read.
//!
//! A block uses only blocks before it:
//!
//! * [`common`]: FIFOs, arbiters, clock crossings, sets of tiles;
//! * [`network`]: routers, links and their counters;
//! * [`mare`]: requester, home agent, port and counters of a tile;
//! * [`takv`]: column controllers, the column bus, fetching, filling, memory ports, swaps;
//! * [`reduce`]: packets of partial results, and the reduce root of a column;
//! * [`pad`]: the array beside every tile;
//! * [`fabric`]: tile, periphery, fabric and core, which join the others.

pub mod common;
pub mod fabric;
pub mod mare;
pub mod network;
pub mod pad;
pub mod reduce;
pub mod takv;
