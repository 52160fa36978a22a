//! The design: decides every width, count and default of the fabric in one place.
//!
//! [`Design::from_config`] is the only reader of a [`Config`](crate::config::Config). Templates, traffic,
//! scoreboard, model and reports read the [`Design`]; nothing reads emitted Verilog back.

mod card;
mod check;
pub mod depths;
pub mod device;
pub mod mare;
pub mod network;
pub mod pad;
pub mod takv;
mod time;
// The folder and its main type have one name.
#[allow(clippy::module_inception)]
mod design;
mod load;

pub use card::caches::{Caches, Demand};
pub use card::channel_use::ChannelUse;
pub use card::clock::Clock;
pub use card::floorplan::Floorplan;
pub use card::fpga::{Fpga, Resources, Slr, BUFFER_LIMIT};
pub use card::hbm::{HBM_BURST_BEATS, HBM_MHZ};
pub use card::memory::{channels_of, Memory};
pub use card::refresh::Refresh;
pub use card::wires::Wires;
pub use check::{check, check_for_the_card};
pub use design::Design;
pub use device::counters::{counters_schema, counts_schema, pad_events, PAD_EVENTS, TILE_EVENTS};
pub use device::exchange::Exchange;
pub use device::host_facts::HostFact;
pub use device::totals::{COUNTER_KINDS, SELECT_TILE_BITS, TOTAL_BITS};
pub use load::Illegal;
pub use mare::mare::Mare;
pub use mare::row_flits::flits_of_rows;
pub use mare::slice::{flit_elements, half_flits, segments, slice_flits, TOKEN_SCALE_BITS};
pub use mare::staging::{staged_bits, ultra_blocks, Staging};
pub use network::flaw::Flaw;
pub use network::flit::{index_bits, Class, DestKind, Field, FlitLayout};
pub use network::mesh::{Mesh, NodeId, Port};
pub use network::router::{
    Router, CLAIM_LIMIT, CLAIM_PERIOD, CLAIM_PERIODS, RANDOM_SEED, RANDOM_TAPS, SLIP_BITS, STARVE_LIMIT,
};
pub use network::turns::{decided, Turns, TURNS};
pub use network::wait_bound::WaitBound;
pub use pad::array::{Array, JOB_DEPTH, SECOND_SUM, SUMS_READ};
pub use pad::head::{model_dim, row_of};
pub use pad::layer_kind::LayerKind;
pub use pad::model::Model;
pub use pad::pe::Pe;
pub use pad::root::{finish_cycles, finish_lanes, packet_cycles, root_lanes};
pub use takv::append::{word_elements, Append, TOKEN_WAY_BITS};
pub use takv::bus::{Bus, QUERY_GROUP_WORDS};
pub use takv::descriptor::{named_twice, Descriptor};
pub use takv::mapping::{Heads, Mapping, Piece, Sharing};
pub use takv::pages::Pages;
pub use takv::pieces::{rounds, tile_of};
pub use takv::placement::{Placement, PlacementKind, Spread};
pub use time::bounds::Bounds;
pub use time::forecast::{least_cycles, Choice, Forecast, ForecastError, FORECAST_ERROR};
