//! MaRe: requests for slices, and the home agents that answer them.

mod events;
mod home;
mod messages;
mod params;
mod reorder_fifo;
mod requester;
mod tile_port;
mod transport;

pub use events::{Event, Events, EVENTS};
pub use home::home_agent::{HomeAgent, HomeIn, HomeOut};
pub use home::slice_streamer::Streamed;
pub use home::staging_directory::Claim;
pub use messages::{Arrival, Command, Fetch, KvFlit, Part, PartFlit, RootFlit, Staged};
pub use params::{low_bits, up_to, MareParams};
pub use reorder_fifo::ReorderFifo;
pub use requester::{Requester, RequesterIn};
pub use tile_port::{Choice, PortIn, Sent, TilePort};
pub use transport::{Transport, TransportIn, TransportOut};
