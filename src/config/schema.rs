//! The configuration file as serde types, one struct a table, one field a key.
//!
//! The comments on the fields are the user's documentation: `meshkv init` writes them
//! into the commented configuration and `meshkv schema` into the JSON Schema. So are the
//! `schemars` attributes the only statement of what one key may be: the reader, the design's
//! check, the commented configuration and the editor's schema all use them. Beside JSON
//! Schema's own words, `x-why` gives the reason for a limit, as the help of a message says it.

use super::choices::{Board, IoMemory, KvFormat, KvScales, Narrow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A whole configuration. Every table and every key has a default.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The mesh of tiles.
    pub mesh: Mesh,
    /// Links, virtual networks and buffers.
    pub noc: Noc,
    /// Multicast routing engine.
    pub mare: Mare,
    /// Placement of macro-blocks on home tiles.
    pub takv: Takv,
    /// Pipelined attention dataflow.
    pub pad: Pad,
    /// The KV cache and its staging memory.
    pub kv: Kv,
    /// External memory behind the homes.
    pub memory: Memory,
    /// The processing elements of a tile.
    pub pe: Pe,
    /// The transformer whose KV cache is moved.
    pub model: Model,
    /// Clock frequencies.
    pub clock: Clock,
    /// How the fabric lies on the device.
    pub floorplan: Floorplan,
    /// The device the fabric is built for.
    pub board: Board,
}

/// `[mesh]`: the mesh of tiles, `cols` west to east times `rows` south to north.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mesh {
    /// Tiles from west to east (W of the paper).
    #[schemars(range(min = 2, max = 16))]
    pub cols: u32,
    /// Tiles from south to north (H of the paper).
    #[schemars(range(min = 2, max = 16))]
    pub rows: u32,
}

impl Default for Mesh {
    fn default() -> Self {
        Mesh { cols: 8, rows: 8 }
    }
}

/// `[noc]`: links, virtual networks and buffers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Noc {
    /// Payload bits of one flit.
    #[schemars(extend("enum" = [64, 128, 256, 512, 1024], "x-why" = "a flit carries whole FP16 elements"))]
    pub flit_width: u32,
    /// Virtual channels of VN0 (PART), for each port.
    #[schemars(range(min = 1, max = 4))]
    pub vn0_vcs: u32,
    /// Virtual channels of VN1 (KV_FETCH and KV_DATA, which never share one), for each port.
    #[schemars(range(min = 2, max = 4), extend("x-why" = "one carries requests, the others replies"))]
    pub vn1_vcs: u32,
    /// Flits each virtual channel can buffer at an input port.
    #[schemars(range(min = 2, max = 64))]
    pub vc_depth: u32,
    /// Cycles of a hop without load. With 3 a grant is registered before it addresses a buffer, which shortens the
    /// paths of the router.
    #[schemars(range(min = 2, max = 3))]
    pub router_stages: u32,
    /// Parity of flits from the staging memory to the array and from link to link: a flipped bit ends the run with an
    /// error that names the place.
    pub parity: bool,
}

impl Default for Noc {
    fn default() -> Self {
        Noc { flit_width: 512, vn0_vcs: 2, vn1_vcs: 2, vc_depth: 8, router_stages: 2, parity: false }
    }
}

/// `[mare]`: the multicast routing engine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mare {
    /// Switches the whole engine; false means unicast copies from the home and no suppression.
    pub enable: bool,
    /// Tree multicast in the routers.
    pub multicast: bool,
    /// Suppression of duplicate payloads in the routers.
    pub dedup: bool,
    /// Cycles during which fetches for one slice are merged (W_coal); 0 switches merging off.
    #[schemars(range(min = 0, max = 255))]
    pub coalesce_window: u32,
    /// Cycles the home needs to build a multicast tree.
    #[schemars(range(min = 1, max = 16))]
    pub tree_build_cycles: u32,
    /// Requests a home can have under way; a fetch that finds no entry waits.
    #[schemars(range(min = 2, max = 64))]
    pub request_entries: u32,
    /// Bits of the Bloom filter of one router.
    #[schemars(extend("enum" = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096], "x-why" = "its index is a slice of a hash"))]
    pub bloom_bits: u32,
    /// Exact in-flight tags of one router.
    #[schemars(range(min = 1, max = 64))]
    pub tag_entries: u32,
    /// Cycles between two refreshes of the Bloom filter (W_b).
    #[schemars(range(min = 1, max = 4095))]
    pub bloom_refresh: u32,
}

impl Default for Mare {
    fn default() -> Self {
        Mare {
            enable: true,
            multicast: true,
            dedup: true,
            coalesce_window: 12,
            tree_build_cycles: 4,
            request_entries: 16,
            bloom_bits: 256,
            tag_entries: 16,
            bloom_refresh: 96,
        }
    }
}

/// `[takv]`: placement of macro-blocks on home tiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Takv {
    /// Tile a macro-block is placed on: by the affine placement of the paper, by its number modulo
    /// tiles, or all on one hub.
    pub placement: PlacementKind,
    /// Slices that share a home: all slices of a segment, as in the paper, or none: each slice has its own in the column
    /// that computes its KV head.
    pub spread: Spread,
    /// Stride of the affine placement: odd and coprime to `mesh.rows`. Left out: `cols + 1` if
    /// that is legal, else the smallest legal stride.
    #[schemars(range(min = 1, max = 255), example = 9)]
    pub a: Option<u32>,
    /// Columns by which a layer moves on after each `mesh.rows` segments, below `mesh.cols`; 0 is
    /// the paper's placement.
    #[schemars(range(min = 0, max = 15))]
    pub column_stride: u32,
    /// Decode steps between two occupancy swaps (K); 0 switches swaps off. Left out: 128, and 0 under `spread = "slice"`,
    /// where nothing is swapped.
    #[schemars(range(min = 0, max = 65535), example = 128)]
    pub swap_epoch: Option<u32>,
    /// Column of the hub, below `mesh.cols`; it acts under `placement = "hub"` only.
    #[schemars(range(min = 0, max = 15))]
    pub hub_x: u32,
    /// Row of the hub, below `mesh.rows`; it acts under `placement = "hub"` only.
    #[schemars(range(min = 0, max = 15))]
    pub hub_y: u32,
}

impl Default for Takv {
    fn default() -> Self {
        Takv {
            placement: PlacementKind::Takv,
            spread: Spread::Segment,
            a: None,
            column_stride: 0,
            swap_epoch: None,
            hub_x: 0,
            hub_y: 0,
        }
    }
}

impl Takv {
    /// Decode steps between two swaps; 0 without swaps.
    pub fn swaps_every(&self) -> u32 {
        self.swap_epoch.unwrap_or(match self.spread {
            Spread::Segment => DEFAULT_SWAP_EPOCH,
            Spread::Slice => 0,
        })
    }
}

/// Decode steps between two swaps, as in the paper.
const DEFAULT_SWAP_EPOCH: u32 = 128;

/// Unit that has a home of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spread {
    /// A segment: the slices of all its KV heads (the macro-block of the paper).
    #[default]
    Segment,
    /// A slice, in the column that computes its KV head. Its keys and values cross no link.
    Slice,
}

/// Which tile a macro-block is placed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlacementKind {
    /// The affine placement of the paper, with `a` and `column_stride`.
    #[default]
    Takv,
    /// Macro-block number modulo tiles.
    RoundRobin,
    /// All on one tile.
    Hub,
}

/// `[pad]`: pipelined attention dataflow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pad {
    /// Overlaps prefetch, multiply and reduce; false runs them one after the other.
    pub enable: bool,
    /// Flits in each FIFO between two stages (F). Left out: 96 where flits have 512 bits and more, whose FIFO lies in
    /// block RAM, else 48, as the paper has it.
    #[schemars(range(min = 2, max = 1024), example = 96)]
    pub fifo_depth: Option<u32>,
}

impl Default for Pad {
    fn default() -> Self {
        Pad { enable: true, fifo_depth: None }
    }
}

/// `[kv]`: the KV cache and its staging memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Kv {
    /// Tokens of one segment (P).
    #[schemars(range(min = 1, max = 1024))]
    pub segment_tokens: u32,
    /// Format of the elements of K and V in memory. Of eight-bit formats a flit has twice as many elements.
    pub format: KvFormat,
    /// Factors beside the numbers of K and V, which a host gives.
    pub scales: KvScales,
    /// Bytes of one K or V element, as the format has them. Left out: it follows from the format.
    #[schemars(extend("enum" = [1, 2], "x-why" = "formats have 8 or 16 bits"), example = 2)]
    pub bytes_per_element: Option<u32>,
    /// URAM288 blocks of one tile's staging memory, each 72 bits wide and 4096 deep.
    #[schemars(range(min = 1, max = 64))]
    pub uram_per_tile: u32,
    /// Windows the staging memory is divided into; one fills while the others are read.
    #[schemars(extend("enum" = [2, 4, 8, 16], "x-why" = "a window is picked by the top bits of the address"))]
    pub banks: u32,
    /// Build the path by which a run writes the K and V of new tokens into the cache, and attends to them. Without it
    /// the cache is read only, and a host writes all of it.
    pub append: bool,
    /// Keep caches in pages of one segment, which a table in the device finds: caches grow by a page, and share pages.
    /// Without it each cache has a place of its own for `model.max_tokens`.
    pub pages: bool,
    /// Pages of external memory, of all caches together; a page has its segment of all layers and KV heads. Left out: those
    /// of `model.max_streams` caches of `model.max_tokens`, in whole rounds over the homes.
    #[schemars(range(min = 1, max = 1_048_576), example = 4096)]
    pub page_count: Option<u32>,
    /// Caches that the table of pages has room for. Left out: `model.max_streams`.
    #[schemars(range(min = 1, max = 65_536), example = 128)]
    pub caches: Option<u32>,
}

impl Default for Kv {
    fn default() -> Self {
        Kv {
            segment_tokens: 64,
            format: KvFormat::Fp16,
            scales: KvScales::Auto,
            bytes_per_element: None,
            uram_per_tile: 8,
            banks: 4,
            append: false,
            pages: false,
            page_count: None,
            caches: None,
        }
    }
}

impl Kv {
    /// The factors beside the numbers: those of the format, if none are named.
    pub fn scales_of_format(&self) -> KvScales {
        match (self.scales, self.format.bytes()) {
            (KvScales::Auto, 1) => KvScales::Head,
            (KvScales::Auto, _) => KvScales::None,
            (scales, _) => scales,
        }
    }
}

/// `[memory]`: external memory behind the homes.
///
/// Facts of the platform, for checks and co-simulation. Of the Verilog only the ports depend on it, by `tiles_per_port`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Memory {
    /// Memory that KV caches can take, in GiB; the U280 has 8 of HBM2 and 32 of DDR4, the U55C 16 of
    /// HBM2.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 256))]
    pub capacity_gib: f64,
    /// Bandwidth of all its channels together, in GB/s.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 10_000))]
    pub bandwidth_gbs: f64,
    /// Time from a read to its first data without load, in ns (Shuhai, FCCM 2020: HBM of the
    /// U280, page closed).
    #[schemars(range(min = 0, max = 10_000))]
    pub latency_ns: f64,
    /// Each channel rests while it is refreshed; off, it always gives its peak.
    pub refresh: bool,
    /// Time of a refresh, in ns (tRFC: JESD235 for dies of 8 Gbit, all banks).
    #[schemars(range(min = 0, max = 10_000))]
    pub refresh_ns: f64,
    /// Time from one refresh of a channel to the next, in ns (tREFI: JESD235; half of it above 85 degrees Celsius).
    #[schemars(range(min = 100, max = 1_000_000))]
    pub refresh_interval_ns: f64,
    /// Tiles that share a port to external memory (an AXI4 read master). They lie side by side in a row, so it is
    /// at most `mesh.cols`. Left out: the fewest for which the card has a pseudo-channel for each port.
    #[schemars(extend("enum" = [1, 2, 4, 8], "x-why" = "an AXI ID names the tile in whole bits"), example = 2)]
    pub tiles_per_port: Option<u32>,
    /// Memory of queries, outputs and lists under the shell of Vitis. In a channel of HBM they take bandwidth from its
    /// homes. Left out: `ddr` where the card has some, else `host`.
    #[schemars(example = &"host")]
    pub io: Option<IoMemory>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory {
            capacity_gib: 40.0,
            bandwidth_gbs: 460.0,
            latency_ns: 122.0,
            refresh: true,
            refresh_ns: 260.0,
            refresh_interval_ns: 3900.0,
            tiles_per_port: None,
            io: None,
        }
    }
}

/// `[pe]`: the processing elements of a tile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pe {
    /// Elements of one K or V row (d_h).
    #[schemars(extend("enum" = [32, 64, 128, 256], "x-why" = "a row is a whole number of flits, or a flit of rows"))]
    pub head_dim: u32,
    /// Query heads processed at once for each arriving KV flit.
    #[schemars(range(min = 1, max = 16))]
    pub array_rows: u32,
    /// With INT8, numbers of queries and of weights that have 9 bits instead of 18: two rows share their multipliers, and
    /// such numbers are of two contexts at once. A host may give others with the scales of a run.
    pub narrow: Narrow,
    /// Numbers of a partial result that a reduce root merges a cycle, at most the FP32 numbers of a flit. Left out:
    /// 16, or those of a flit if they are fewer.
    #[schemars(extend("enum" = [1, 2, 4, 8, 16], "x-why" = "a flit is merged in whole parts"), example = 8)]
    pub root_lanes: Option<u32>,
}

impl Default for Pe {
    fn default() -> Self {
        Pe { head_dim: 128, array_rows: 2, narrow: Narrow::None, root_lanes: None }
    }
}

/// `[model]`: the transformer whose KV cache is moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Model {
    /// Layers (L).
    #[schemars(range(min = 1, max = 1024))]
    pub layers: u32,
    /// Query heads of a layer.
    #[schemars(range(min = 1, max = 256))]
    pub heads: u32,
    /// KV heads of a layer; `heads` is a multiple of it.
    #[schemars(range(min = 1, max = 256))]
    pub kv_heads: u32,
    /// Elements of a head of the model, at most `pe.head_dim`, to which zeros fill it up. Left out: `pe.head_dim`.
    #[schemars(range(min = 1, max = 256), example = 80)]
    pub head_dim: Option<u32>,
    /// Tokens the attention looks back, in all layers; left out: all of them.
    #[schemars(range(min = 1, max = 4_194_304), example = 4096)]
    pub sliding_window: Option<u32>,
    /// Layers of several kinds: groups in their order, which repeat until all of `model.layers` have one. Left out: all layers
    /// are of one kind, without sinks.
    #[schemars(example = example_groups())]
    pub groups: Option<Vec<LayerGroup>>,
    /// Longest context the fabric is sized for, in tokens (T).
    #[schemars(range(min = 1, max = 4_194_304))]
    pub max_tokens: u32,
    /// Most streams decoded at once (B).
    #[schemars(range(min = 1, max = 256))]
    pub max_streams: u32,
}

impl Default for Model {
    fn default() -> Self {
        Model {
            layers: 32,
            heads: 32,
            kv_heads: 32,
            head_dim: None,
            sliding_window: None,
            groups: None,
            max_tokens: 32_768,
            max_streams: 8,
        }
    }
}

/// Layers side by side of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LayerGroup {
    /// Layers of the group.
    #[schemars(range(min = 1, max = 1024))]
    pub count: u32,
    /// Tokens that attention looks back in these layers; left out: all of them.
    #[schemars(range(min = 1, max = 4_194_304), example = 1024)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// Each query head has an attention sink: a logit beside those of the tokens, without a value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sinks: bool,
}

impl Default for LayerGroup {
    fn default() -> Self {
        LayerGroup { count: 1, window: None, sinks: false }
    }
}

/// Five layers with a window, then one without.
fn example_groups() -> Vec<LayerGroup> {
    vec![LayerGroup { count: 5, window: Some(1024), sinks: false }, LayerGroup::default()]
}

/// `[clock]`: unrelated clocks; the PaD FIFOs cross them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Clock {
    /// Network clock in MHz.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 500, "x-why" = "no URAM of the cards runs faster than 500 MHz"))]
    pub noc_mhz: f64,
    /// Clock of the processing elements in MHz.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 500, "x-why" = "no URAM of the cards runs faster than 500 MHz"))]
    pub pe_mhz: f64,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { noc_mhz: 250.0, pe_mhz: 250.0 }
    }
}

/// `[floorplan]`: how the fabric lies on the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Floorplan {
    /// Puts a register on every wire between two rows that stand in different super logic regions (SLRs). What passes
    /// there takes a cycle more.
    pub slr_registers: bool,
}

impl Default for Floorplan {
    fn default() -> Self {
        Floorplan { slr_registers: true }
    }
}
