//! The design: decides every width, count and default of the fabric in one place.
//!
//! [`Design::from_config`] is the only reader of a [`Config`](crate::config::Config). Templates, traffic,
//! scoreboard, model and reports read the [`Design`]; nothing reads emitted Verilog back.

mod append;
mod array;
mod bounds;
mod buffers;
mod bus;
mod caches;
mod channel_use;
mod check;
mod clock;
mod counters;
pub mod deadlock;
pub mod depths;
mod descriptor;
// The folder and its main type have one name.
#[allow(clippy::module_inception)]
mod design;
mod exchange;
mod flit;
mod floorplan;
mod forecast;
mod fpga;
pub mod hash;
mod hbm;
mod head;
mod host_facts;
mod load;
mod mapping;
mod mare;
mod memory;
mod mesh;
mod model;
pub mod octave;
mod pe;
mod pieces;
mod placement;
mod port_rate;
mod refresh;
pub mod registers;
mod root;
mod round_trip;
mod router;
mod row_flits;
mod slice;
mod slice_address;
mod staging;
mod stride;
mod token_places;
mod totals;
mod turns;
pub mod visits;
mod wait_bound;
mod wires;

pub use append::{Append, TOKEN_WAY_BITS};
pub use array::{Array, JOB_DEPTH, SECOND_SUM, SUMS_READ};
pub use bounds::Bounds;
pub use bus::{Bus, QUERY_GROUP_WORDS};
pub use caches::{Caches, Demand};
pub use channel_use::ChannelUse;
pub use check::{check, check_for_the_card};
pub use clock::Clock;
pub use counters::{counters_schema, counts_schema, pad_events, PAD_EVENTS, TILE_EVENTS};
pub use descriptor::{named_twice, Descriptor};
pub use design::Design;
pub use exchange::Exchange;
pub use flit::{index_bits, Class, DestKind, Field, FlitLayout};
pub use floorplan::Floorplan;
pub use forecast::{least_cycles, Choice, Forecast, ForecastError, FORECAST_ERROR};
pub use fpga::{Fpga, Resources, Slr, BUFFER_LIMIT};
pub use hbm::{HBM_BURST_BEATS, HBM_MHZ};
pub use head::{model_dim, row_of};
pub use host_facts::HostFact;
pub use load::Illegal;
pub use mapping::{Heads, Mapping, Piece, Sharing};
pub use mare::Mare;
pub use memory::{channels_of, Memory};
pub use mesh::{Mesh, NodeId, Port};
pub use model::Model;
pub use pe::Pe;
pub use pieces::{rounds, tile_of};
pub use placement::{Placement, PlacementKind, Spread};
pub use refresh::Refresh;
pub use root::{finish_cycles, finish_lanes, packet_cycles, root_lanes};
pub use router::{
    Router, CLAIM_LIMIT, CLAIM_PERIOD, CLAIM_PERIODS, RANDOM_SEED, RANDOM_TAPS, SLIP_BITS, STARVE_LIMIT,
};
pub use row_flits::flits_of_rows;
pub use slice::{flit_elements, half_flits, segments, slice_flits};
pub use staging::{ultra_blocks, Staging};
pub use totals::{COUNTER_KINDS, SELECT_TILE_BITS, TILE_ERRORS, TOTAL_BITS};
pub use turns::{Turns, TURNS};
pub use wait_bound::WaitBound;
pub use wires::Wires;
