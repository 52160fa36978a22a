//! The `[workload]` of a sweep, run at each point: one struct a kind, one field a key.
//!
//! As in the configuration, comments and attributes of the fields alone define the keys.

use super::choices::{AskedMapping, Engine, PatternKind, Sharing, VirtualNetworks};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WorkKind {
    /// Synthetic traffic on the network, as `meshkv sim` and `meshkv cosim` run it.
    Traffic,
    /// A decode step, or a sample of one, as `meshkv decode` runs it.
    Decode,
}

/// `[workload]` of `kind = "traffic"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrafficWork {
    /// Kind of the run.
    pub kind: WorkKind,
    /// Engine that carries the flits; the figures are the same.
    pub engine: Engine,
    /// Pattern of the traffic.
    pub pattern: PatternKind,
    /// Offered load of each sending tile, in injected flits a cycle.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub load: f64,
    /// Flits of a packet.
    #[schemars(range(min = 1, max = 4096))]
    pub packet: u32,
    /// Virtual networks of a unicast pattern; `multicast` and `mixed` have their own.
    pub vn: VirtualNetworks,
    /// Destinations of a packet of `multicast` and `mixed`; other patterns ignore it.
    #[schemars(range(min = 1, max = 255))]
    pub fanout: u32,
    /// Seed of all random choices.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub seed: u64,
    /// Cycles of the measurement window.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub cycles: u64,
    /// Cycles before that, to fill the network.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub warmup: u64,
    /// Most cycles after that for the counted packets to arrive. Left out: as `cycles`.
    #[schemars(range(min = 0, max = 1_000_000_000), example = 20_000)]
    pub drain_limit: Option<u64>,
}

impl Default for TrafficWork {
    fn default() -> Self {
        TrafficWork {
            kind: WorkKind::Traffic,
            engine: Engine::Model,
            pattern: PatternKind::Uniform,
            load: 0.1,
            packet: 1,
            vn: VirtualNetworks::Vn0,
            fanout: 8,
            seed: 1,
            cycles: 20_000,
            warmup: 2_000,
            drain_limit: None,
        }
    }
}

/// `[workload]` of `kind = "decode"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DecodeWork {
    /// Kind of the run.
    pub kind: WorkKind,
    /// Engine that carries the flits.
    pub engine: Engine,
    /// Tokens in the cache of every stream. Left out: `model.max_tokens` of the point.
    #[schemars(range(min = 1, max = 4_194_304), example = 4096)]
    pub tokens: Option<u32>,
    /// Streams that decode at once.
    #[schemars(range(min = 1, max = 256))]
    pub batch: u32,
    /// Tokens that all streams share, from the first on.
    #[schemars(range(min = 0, max = 4_194_304))]
    pub prefix: u32,
    /// Tokens of each stream instead of `tokens`: a list such as "512,2048", or "uniform:LEAST:MOST", "normal:MEAN:DEVIATION",
    /// "log-normal:MEDIAN:SIGMA", drawn with `seed`.
    #[schemars(example = &"uniform:512:4096")]
    pub lengths: Option<String>,
    /// Common tokens of each stream instead of `prefix`, in the same forms.
    #[schemars(example = &"0,512")]
    pub prefixes: Option<String>,
    /// Assignment of heads to tiles.
    pub mapping: AskedMapping,
    /// Receivers of a slice.
    pub sharing: Sharing,
    /// Attend to every N-th segment only.
    #[schemars(range(min = 1, max = 4_194_304))]
    pub stride: u32,
    /// Segments of a layer that are run, from the first on; 0 for all. Left out: two rounds over the homes of a layer and 16 at
    /// least, or all if there are fewer.
    #[schemars(range(min = 0, max = 4_194_304), example = 8)]
    pub segments: Option<u32>,
    /// Layers that are run, from the first on; 0 for all.
    #[schemars(range(min = 0, max = 1024))]
    pub layers: u32,
    /// Decode steps, one after the other.
    #[schemars(range(min = 1, max = 65_535))]
    pub steps: u32,
    /// Of 256 cycles, those in which a tile takes nothing.
    #[schemars(range(min = 0, max = 250))]
    pub stall: u8,
    /// Cycles a tile takes for a flit.
    #[schemars(range(min = 1, max = 64))]
    pub flit_cycles: u32,
    /// External memory out of order, with gaps and refusals, instead of at its best.
    pub unruly_memory: bool,
    /// Seed of the memory's content and of all random choices.
    #[schemars(range(min = 0, max = 4_294_967_295_u32))]
    pub seed: u64,
}

impl Default for DecodeWork {
    fn default() -> Self {
        DecodeWork {
            kind: WorkKind::Decode,
            engine: Engine::Model,
            tokens: None,
            batch: 1,
            prefix: 0,
            lengths: None,
            prefixes: None,
            mapping: AskedMapping::Auto,
            sharing: Sharing::KvHead,
            stride: 1,
            segments: None,
            layers: 1,
            steps: 1,
            stall: 0,
            flit_cycles: 1,
            unruly_memory: false,
            seed: 1,
        }
    }
}

/// `[slurm]` of a sweep file: what its points take on a cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmTable {
    /// Partition of the job array. Left out: the cluster's default.
    #[schemars(example = &"compute")]
    pub partition: Option<String>,
    /// Account that pays for it. Left out: the user's default.
    #[schemars(example = &"architecture")]
    pub account: Option<String>,
    /// Time limit of a task, in minutes. Left out: the partition's.
    #[schemars(range(min = 1, max = 1_000_000), example = 60)]
    pub time_limit: Option<u32>,
    /// Tasks at once, at most. Left out: as many as the cluster lets run.
    #[schemars(range(min = 1, max = 1_000_000), example = 64)]
    pub tasks: Option<u32>,
    /// Seconds of a task, about: points are dealt to tasks of this length. Left out: 60.
    #[schemars(range(min = 1, max = 1_000_000), example = 600)]
    pub chunk_seconds: Option<u32>,
}
