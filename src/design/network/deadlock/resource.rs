//! Resources that hold a waiting flit, or are held for one.

use crate::design::network::deadlock::rules::Rules;
use crate::design::{Mesh, NodeId, Port};

/// A limited resource that is held while its holder waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Slots of a virtual channel at an input of a router; `Local` is what the tile injects.
    Buffer {
        /// The router.
        tile: NodeId,
        /// Its input.
        input: Port,
        /// Virtual channel.
        vc: u32,
    },
    /// Slots behind the router's port into the tile. For KV_FETCH they are the home's FIFO of
    /// fetches; for KV_DATA and PART the register in which a flit arrives.
    Exit {
        /// The tile.
        tile: NodeId,
        /// Virtual channel.
        vc: u32,
    },
    /// Room in the requester's FIFO, reserved for a range until its flits have arrived and are consumed.
    Room(NodeId),
    /// The register of the requester's fetch on its way out.
    Fetch(NodeId),
    /// Entries of the home's request table.
    Table(NodeId),
    /// Slots of the home's staging memory, each for a slice.
    Staging(NodeId),
    /// The home's stream: duplicate filter, reader of the memory, output.
    Stream(NodeId),
}

impl Resource {
    /// Describes the resource: its place and its contents.
    pub fn words(self, mesh: Mesh, rules: &Rules) -> String {
        let at = |tile| {
            let (x, y) = mesh.coords(tile);
            format!("({x}, {y})")
        };
        match self {
            Resource::Buffer { tile, input, vc } => {
                format!("router {}, {} input, VC {vc} ({})", at(tile), input.name(), rules.on_vc(vc))
            }
            Resource::Exit { tile, vc } => {
                format!("tile {}, arrival from the router, VC {vc} ({})", at(tile), rules.on_vc(vc))
            }
            Resource::Room(tile) => format!("tile {}, room in the requester's FIFO", at(tile)),
            Resource::Fetch(tile) => format!("tile {}, the requester's fetch register", at(tile)),
            Resource::Table(tile) => format!("tile {}, the home's request table", at(tile)),
            Resource::Staging(tile) => format!("tile {}, slots of the staging memory", at(tile)),
            Resource::Stream(tile) => format!("tile {}, the home's stream", at(tile)),
        }
    }
}
