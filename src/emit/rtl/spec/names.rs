//! Names of modules, for other parts of the program.

/// The top module: a Vitis RTL kernel.
pub const TOP: &str = "meshkv_top";
/// The front: the logic between the core and the host's AXI interfaces.
pub const FRONT: &str = "meshkv_front";
/// The core, which computes attention: queries and descriptors in, outputs out.
pub const CORE: &str = "meshkv_core";
/// The fabric, which moves KV; PaD attaches to it.
pub const FABRIC: &str = "meshkv_fabric";
/// PaD, the compute of a tile.
pub const PAD: &str = "meshkv_pad";
/// The reduce root of a column.
pub const ROOT: &str = "meshkv_column_root";
/// The network alone, which `meshkv cosim` loads with traffic.
pub const MESH: &str = "meshkv_mesh";
/// The router at every place of the mesh.
pub const ROUTER: &str = "meshkv_router";
/// The tile attached to every router.
pub const TILE: &str = "meshkv_tile";
/// The transport of slices, the part of a tile that `meshkv fetch` drives alone.
pub const TRANSPORT: &str = "meshkv_transport";
/// The periphery of the tiles.
pub const PERIPHERY: &str = "meshkv_periphery";
