//! The model behind the ports: the whole fabric, the endpoints alone, or the fabric with PaD.

use super::core::CorePorts;
use crate::model::cycle::around::{Around, FabricShown};
use crate::model::cycle::fabric::{Fabric, Network};

/// The model behind the ports.
#[derive(Debug)]
pub(super) enum Engine {
    Whole(Box<Fabric>),
    /// The endpoints; the links to the routers are ports.
    Around(Box<Around>),
    /// The fabric with PaD.
    Core(Box<CorePorts>),
}

impl Engine {
    pub(super) fn cycle(&self) -> u64 {
        match self {
            Engine::Whole(fabric) => fabric.cycle(),
            Engine::Around(around) => around.cycle(),
            Engine::Core(core) => core.core.fabric().cycle(),
        }
    }

    pub(super) fn shown(&self) -> &FabricShown {
        match self {
            Engine::Whole(fabric) => fabric.shown(),
            Engine::Around(around) => around.shown(),
            Engine::Core(core) => core.core.shown(),
        }
    }

    pub(super) fn network(&self) -> Option<&Network> {
        match self {
            Engine::Whole(fabric) => Some(fabric.network()),
            Engine::Around(_) => None,
            Engine::Core(core) => Some(core.core.fabric().network()),
        }
    }
}
