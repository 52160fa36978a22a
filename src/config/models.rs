//! Shapes of models in use, for configurations to begin with. Each is what its published configuration has.

use super::choices::KvScales;
use super::schema::{Config, LayerGroup};

/// The attention of a model, as far as a KV cache depends on it.
pub(super) struct ModelShape {
    /// Name, as its makers write it.
    pub title: &'static str,
    /// Layers.
    pub layers: u32,
    /// Query heads of a layer, and KV heads.
    pub heads: [u32; 2],
    /// Elements of a head.
    pub head_dim: u32,
    /// Tokens that all layers look back.
    pub window: Option<u32>,
    /// Tokens of the longest context that the preset has room for.
    pub tokens: u32,
    /// Kinds of layers, which repeat.
    pub groups: &'static [LayerGroup],
    /// What else a host must know, a sentence; empty if nothing.
    pub note: &'static str,
}

const fn near(count: u32, window: u32) -> LayerGroup {
    LayerGroup { count, window: Some(window), sinks: false }
}

const fn full(count: u32) -> LayerGroup {
    LayerGroup { count, window: None, sinks: false }
}

const fn plain(title: &'static str, layers: u32, heads: [u32; 2], head_dim: u32) -> ModelShape {
    ModelShape { title, layers, heads, head_dim, window: None, tokens: 8192, groups: &[], note: "" }
}

const GEMMA: &[LayerGroup] = &[near(5, 1024), full(1)];
const GPT_OSS: &[LayerGroup] = &[
    LayerGroup { count: 1, window: Some(128), sinks: true },
    LayerGroup { count: 1, window: None, sinks: true },
];

pub(super) const LLAMA_2_7B: ModelShape = plain("LLaMA-2-7B", 32, [32, 32], 128);
pub(super) const LLAMA_3_8B: ModelShape = plain("Llama-3-8B", 32, [32, 8], 128);
pub(super) const LLAMA_3_70B: ModelShape = plain("Llama-3-70B", 80, [64, 8], 128);
pub(super) const QWEN_2_7B: ModelShape = plain("Qwen2.5-7B", 28, [28, 4], 128);
pub(super) const QWEN_3_8B: ModelShape = plain("Qwen3-8B", 36, [32, 8], 128);
pub(super) const MISTRAL_7B: ModelShape =
    ModelShape { window: Some(4096), ..plain("Mistral-7B-v0.1", 32, [32, 8], 128) };
pub(super) const MINISTRAL_8B: ModelShape = ModelShape {
    tokens: 49_152,
    groups: &[full(1), near(3, 32_768)],
    ..plain("Ministral-8B-2410", 36, [32, 8], 128)
};
pub(super) const GEMMA_3_4B: ModelShape =
    ModelShape { groups: GEMMA, ..plain("Gemma 3 4B", 34, [8, 4], 256) };
pub(super) const GEMMA_3_12B: ModelShape =
    ModelShape { groups: GEMMA, ..plain("Gemma 3 12B", 48, [16, 8], 256) };
pub(super) const GEMMA_3_27B: ModelShape = ModelShape {
    groups: GEMMA,
    note: "Its scale of the softmax is 1 / sqrt(168), which the host gives (sm_scale).",
    ..plain("Gemma 3 27B", 62, [32, 16], 128)
};
pub(super) const GPT_OSS_20B: ModelShape = ModelShape {
    groups: GPT_OSS,
    note: "Its heads have attention sinks, whose logits the host gives (sinks).",
    ..plain("gpt-oss-20b", 24, [64, 8], 64)
};
pub(super) const GPT_OSS_120B: ModelShape = ModelShape { layers: 36, title: "gpt-oss-120b", ..GPT_OSS_20B };

/// Streams of a run, and streams that live at once.
const STREAMS: u32 = 8;
const CACHES: u32 = 64;
/// Bytes of the pool of pages: the HBM of a U280 but for an eighth, where buffers of a host lie.
const POOL: u64 = 7 << 30;

impl ModelShape {
    /// Gives a fabric this model: all its layers, in pages that fill the card's HBM.
    pub(super) fn apply(&self, config: &mut Config) {
        let [heads, kv_heads] = self.heads;
        let row = self.head_dim.next_power_of_two();
        let model = &mut config.model;
        (model.layers, model.heads, model.kv_heads) = (self.layers, heads, kv_heads);
        model.head_dim = (row != self.head_dim).then_some(self.head_dim);
        model.sliding_window = self.window;
        model.groups = (!self.groups.is_empty()).then(|| self.groups.to_vec());
        (model.max_tokens, model.max_streams) = (self.tokens, STREAMS);
        config.pe.head_dim = row;
        config.kv.scales = KvScales::Head;
        (config.kv.append, config.kv.pages, config.kv.caches) = (true, true, Some(CACHES));
        let page = self.token_bytes(row) * u64::from(config.kv.segment_tokens);
        let round = u64::from(config.mesh.rows);
        config.kv.page_count = Some((POOL / page / round * round) as u32);
    }

    /// Bytes of a token in all layers, of FP16.
    fn token_bytes(&self, row: u32) -> u64 {
        4 * u64::from(self.layers * self.heads[1]) * u64::from(row)
    }

    /// What the configuration is for.
    pub(super) fn opening(&self) -> String {
        let [heads, kv_heads] = self.heads;
        let near = |group: &LayerGroup| match group.window {
            Some(window) => format!("{} that look {window} tokens back", group.count),
            None => format!("{} that see all", group.count),
        };
        let layers = match (self.window, self.groups) {
            (Some(window), _) => format!(", a window of {window} tokens"),
            (None, []) => String::new(),
            (None, groups) => {
                format!(", in turn {}", groups.iter().map(near).collect::<Vec<_>>().join(" and "))
            }
        };
        let kib = self.token_bytes(self.head_dim.next_power_of_two()) as f64 / 1024.0;
        format!(
            "meshkv configuration for {} on the Alveo U280: {} layers of {heads} query heads and {kv_heads} KV heads of {} \
             elements{layers}. The fabric is that of configs/u280_4x8.toml, 4 x 8 tiles, with pages. A token takes {kib:.0} KiB in \
             all layers, and the pool 7 GiB of the card's HBM. {}",
            self.title, self.layers, self.head_dim, self.note
        )
    }
}
