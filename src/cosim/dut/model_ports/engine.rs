//! The model behind the ports: the whole fabric, the endpoints alone, or the fabric with PaD.

use super::core::CorePorts;
use crate::model::cycle::common::Reached;
use crate::model::cycle::fabric::{Endpoints, Fabric, FabricShown, Network};

/// The model behind the ports.
#[derive(Debug)]
pub(super) enum Engine {
    Whole(Box<Fabric>),
    /// The endpoints; the links to the routers are ports.
    Endpoints(Box<Endpoints>),
    /// The fabric with PaD.
    Core(Box<CorePorts>),
}

impl Engine {
    pub(super) fn cycle(&self) -> u64 {
        match self {
            Engine::Whole(fabric) => fabric.cycle(),
            Engine::Endpoints(endpoints) => endpoints.cycle(),
            Engine::Core(core) => core.core.fabric().cycle(),
        }
    }

    pub(super) fn shown(&self) -> &FabricShown {
        match self {
            Engine::Whole(fabric) => fabric.shown(),
            Engine::Endpoints(endpoints) => endpoints.shown(),
            Engine::Core(core) => core.core.shown(),
        }
    }

    pub(super) fn reached(&self) -> Reached {
        match self {
            Engine::Whole(fabric) => fabric.reached(),
            Engine::Endpoints(endpoints) => endpoints.reached(),
            Engine::Core(core) => core.core.fabric().reached(),
        }
    }

    pub(super) fn network(&self) -> Option<&Network> {
        match self {
            Engine::Whole(fabric) => Some(fabric.network()),
            Engine::Endpoints(_) => None,
            Engine::Core(core) => Some(core.core.fabric().network()),
        }
    }
}
