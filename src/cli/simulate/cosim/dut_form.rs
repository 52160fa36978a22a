//! The parts of the network that can be verilated.

/// Verilated part of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum DutForm {
    /// One tile, run once for each of the mesh: builds in seconds, runs on two cores
    Tile,
    /// The whole mesh of routers: checks its wiring too
    Mesh,
}
