//! MaRe: requests for slices, and the home agents that answer them.

mod bloom_filter;
mod burst_gate;
mod duplicate_filter;
mod events;
mod fetch_park;
mod home_agent;
mod messages;
mod params;
mod reorder_fifo;
mod request_table;
mod requester;
mod slice_streamer;
mod staging_directory;
mod tile_port;
mod transport;

pub use events::{Event, Events, EVENTS};
pub use home_agent::{HomeAgent, HomeIn, HomeOut};
pub use messages::{Arrival, Command, Fetch, KvFlit, Part, PartFlit, RootFlit, Staged};
pub use params::{low_bits, up_to, MareParams};
pub use reorder_fifo::ReorderFifo;
pub use requester::{Requester, RequesterIn};
pub use slice_streamer::Streamed;
pub use staging_directory::Claim;
pub use tile_port::{Choice, PortIn, Sent, TilePort};
pub use transport::{Transport, TransportIn, TransportOut};
