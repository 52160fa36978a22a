//! A co-simulated device as the card of a host's program.
//!
//! ```text
//! program -- libmeshkv.so -- stand-in for XRT (sim/xrt) -- Unix socket -- Server
//!                                                                           | Request, Reply
//!                                            meshkv_top with its memory -- Card
//! ```
//!
//! * [`Request`] and [`Reply`]: what a host asks of a card, and its answers. No other file knows their bytes but the
//!   stand-in's.
//! * [`Card`]: the device with buffers at addresses. It answers one request after the other.
//! * [`LinkUse`]: what a program takes of its link, by a model of the host.
//! * [`Server`]: runs a program to its end, with the card behind a socket.

mod device;
mod error;
mod ledger;
mod message;
mod patient;
mod server;

pub use device::Card;
pub use error::CardError;
pub use ledger::LinkUse;
pub use message::{Reply, Request};
pub use server::{Server, SOCKET};
