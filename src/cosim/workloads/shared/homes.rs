//! Places of homes, which swaps change.

use crate::design::{Design, NodeId};

/// Place of every logical home: the permutation that swaps change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cosim::workloads) struct Homes {
    tile_of_home: Vec<NodeId>,
}

impl Homes {
    /// Every home on the tile of its own name.
    pub(in crate::cosim::workloads) fn new(design: &Design) -> Homes {
        Homes { tile_of_home: design.mesh.nodes().collect() }
    }

    /// Tile of a slice: of a cache, layer, segment and KV head.
    pub(in crate::cosim::workloads) fn tile(
        &self,
        design: &Design,
        (cache, layer, segment, g): (u32, u32, u32, u32),
    ) -> NodeId {
        self.tile_of_home[design.home_of(cache, layer, segment, g).index()]
    }

    /// Exchanges the homes of two tiles.
    pub(in crate::cosim::workloads) fn swap(&mut self, a: NodeId, b: NodeId) {
        for tile in &mut self.tile_of_home {
            *tile = match *tile {
                t if t == a => b,
                t if t == b => a,
                t => t,
            };
        }
    }
}
