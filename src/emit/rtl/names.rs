//! Names of modules that other rooms ask for.

/// Name of the top module: a Vitis RTL kernel.
pub const TOP: &str = "meshkv_top";
/// Name of all that stands between the core and a host with its memories.
pub const FRONT: &str = "meshkv_front";
/// Name of all that computes attention: queries and descriptors in, outputs out.
pub const CORE: &str = "meshkv_core";
/// Name of all that moves KV, to which attaches what computes.
pub const FABRIC: &str = "meshkv_fabric";
/// Name of what computes, beside every tile.
pub const PAD: &str = "meshkv_pad";
/// Name of the reduce root of a column.
pub const ROOT: &str = "meshkv_column_root";
/// Name of the network by itself: what `meshkv cosim` loads with traffic.
pub const MESH: &str = "meshkv_mesh";
/// Name of the module that stands at every place of the mesh.
pub const ROUTER: &str = "meshkv_router";
/// Name of what stands beside every router.
pub const TILE: &str = "meshkv_tile";
/// Name of what brings slices from their homes, the part of a tile that `meshkv fetch` drives by itself.
pub const TRANSPORT: &str = "meshkv_transport";
/// Name of what stands around the tiles.
pub const PERIPHERY: &str = "meshkv_periphery";
/// Name of the register between two SLRs.
pub(super) const CROSSING: &str = "meshkv_crossing";
