//! Synthetic traffic as it is asked for: kind, load, length of packets, seed.

use super::matrix::Matrix;
use super::pattern::{Hotspot, PatternError, PatternKind};
pub use crate::config::VirtualNetworks;
use serde::Serialize;
use thiserror::Error;

/// Longest packet, in flits.
pub const MAX_PACKET: u32 = 4096;

/// Kind of traffic: classes and destinations.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
pub enum Shape {
    /// Unicast with a pattern.
    Unicast {
        /// The pattern.
        pattern: PatternKind,
        /// For the hotspot pattern.
        hotspots: Vec<Hotspot>,
        /// Virtual networks that it uses.
        vn: VirtualNetworks,
    },
    /// Unicast with a rate for each pair of tiles.
    Matrix {
        /// The rates.
        rates: Matrix,
        /// Virtual networks that it uses.
        vn: VirtualNetworks,
    },
    /// KV_DATA to `fanout` random distinct tiles.
    Multicast {
        /// Destinations of a packet.
        fanout: u32,
    },
    /// PART and KV_FETCH to one random tile, KV_DATA to `fanout`, in the shares of flits of
    /// [`super::generator::MIXED_SHARES`].
    Mixed {
        /// Destinations of a KV_DATA packet.
        fanout: u32,
    },
}

impl Shape {
    /// Traffic of a pattern. Packets of multicast and mixed traffic have `fanout` destinations; the others have one, and
    /// use `hotspots` and `vn`.
    pub fn of(pattern: PatternKind, hotspots: Vec<Hotspot>, vn: VirtualNetworks, fanout: u32) -> Shape {
        match pattern {
            PatternKind::Multicast => Shape::Multicast { fanout },
            PatternKind::Mixed => Shape::Mixed { fanout },
            _ => Shape::Unicast { pattern, hotspots, vn },
        }
    }

    /// Name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Shape::Unicast { pattern, .. } => pattern.name(),
            Shape::Matrix { .. } => "matrix",
            Shape::Multicast { .. } => PatternKind::Multicast.name(),
            Shape::Mixed { .. } => PatternKind::Mixed.name(),
        }
    }

    /// Most destinations of a packet.
    pub fn fanout(&self) -> u32 {
        match self {
            Shape::Unicast { .. } | Shape::Matrix { .. } => 1,
            Shape::Multicast { fanout } | Shape::Mixed { fanout } => *fanout,
        }
    }
}

/// Synthetic traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traffic {
    /// Kind of traffic.
    pub shape: Shape,
    /// Offered load of each sending tile in injected flits a cycle, above 0 and at most 1; of a matrix, that of the
    /// tile that sends most.
    pub load: f64,
    /// Flits of a PART or KV_DATA packet.
    pub packet: u32,
    /// Seed of all streams.
    pub seed: u64,
}

/// Traffic that cannot be generated.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrafficError {
    /// See [`PatternError`].
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A local port takes one flit a cycle.
    #[error("an offered load of {0} flits/node/cycle is not above 0 and at most 1\n  help: a local port takes at most one flit a cycle; an 8x8 mesh saturates near 0.4 with uniform traffic")]
    Load(f64),
    /// No such length of a packet.
    #[error("a packet of {0} flits is not between 1 and {MAX_PACKET} flits\n  help: --packet 1 and --packet 4 are what the literature measures")]
    Packet(u32),
    /// No such destination set.
    #[error("a fan-out of {fanout} is not between 1 and {others}, the number of other tiles\n  help: a router does not turn a flit back to its own tile, so a set never holds the source; try --fanout {others}")]
    Fanout {
        /// Requested destinations.
        fanout: u32,
        /// Tiles other than the source.
        others: u32,
    },
}
