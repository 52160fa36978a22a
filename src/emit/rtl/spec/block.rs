//! The blocks of the hardware. Each module belongs to one and lies in the folder of that name.

use serde::Serialize;

/// One block; a block instantiates only modules of itself and of those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// Cells that are independent of the fabric.
    Common,
    /// Routers, links and the mesh.
    Network,
    /// Requests for slices, and their homes.
    Mare,
    /// Placement of slices, the column bus and external memory.
    Takv,
    /// Partial results, and the roots that merge them.
    Reduce,
    /// The systolic array of a tile.
    Pad,
    /// Wiring of the blocks, without logic of its own.
    Fabric,
    /// Converters from the top's ports to those of HBM, for the system without a shell.
    Board,
    /// The interface to the host.
    Device,
}

impl Block {
    /// Name of its folders.
    pub fn name(self) -> &'static str {
        match self {
            Block::Common => "common",
            Block::Network => "network",
            Block::Mare => "mare",
            Block::Takv => "takv",
            Block::Reduce => "reduce",
            Block::Pad => "pad",
            Block::Fabric => "fabric",
            Block::Board => "board",
            Block::Device => "device",
        }
    }
}
