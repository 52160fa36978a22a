//! A case: a fabric, a model and a workload of which the paper or this repository claims something.

use crate::config::{AskedMapping, DecodeWork, Mapping, Sharing};

/// A model of the paper's evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// LLaMA-2-7B: 32 layers of 32 heads of 128, multi-head.
    Llama,
    /// Mistral-7B: the same with 8 KV heads and a window of 4 096 tokens.
    Mistral,
}

impl Model {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Model::Llama => "LLaMA-2-7B",
            Model::Mistral => "Mistral-7B",
        }
    }
}

/// A decode step of a model on a fabric, one layer of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The fabric, as [`super::fabric()`] names it.
    pub fabric: &'static str,
    /// The model.
    pub model: Model,
    /// Streams, all with one common prefix of the whole context.
    pub batch: u32,
    /// Tokens in the cache.
    pub tokens: u32,
    /// Heads to tiles.
    pub mapping: Mapping,
    /// Receivers of a slice.
    pub sharing: Sharing,
    /// Seed of a memory that answers out of order, with gaps; nothing for one that is at its best and draws nothing.
    pub unruly: Option<u32>,
    /// Layers that run one after the other, where that is what is measured; nothing for one that stands for any.
    pub layers: Option<u32>,
    /// A context of which every eighth segment is attended to, so that all homes are in one row, in some steps.
    pub skewed: bool,
}

/// Every slice in the column that computes its KV head, so that no key and no value crosses a link: the limit of what
/// placement can do.
pub(super) const OWN_COLUMNS: &str = "meshkv/spread=slice";

/// The paper's longest context.
pub(super) const LONGEST: u32 = 32_768;

/// Steps of a case that is skewed; homes may swap after each.
pub(super) const SKEWED_STEPS: u32 = 9;
/// Segments apart that it attends to: as many as a column has homes.
const SKEWED_STRIDE: u32 = 8;

impl Case {
    /// LLaMA-2-7B, one stream of 32 K tokens, each head on one tile, slices shared by the heads of a KV head.
    pub const fn of(fabric: &'static str) -> Case {
        Case {
            fabric,
            model: Model::Llama,
            batch: 1,
            tokens: LONGEST,
            mapping: Mapping::HeadTile,
            sharing: Sharing::KvHead,
            unruly: None,
            layers: None,
            skewed: false,
        }
    }

    /// The same under a mapping.
    pub const fn mapped(self, mapping: Mapping) -> Case {
        Case { mapping, ..self }
    }

    /// The same for a model.
    pub const fn model(self, model: Model) -> Case {
        Case { model, ..self }
    }

    /// The same with so many streams.
    pub const fn batch(self, batch: u32) -> Case {
        Case { batch, ..self }
    }

    /// The same with so many tokens.
    pub const fn tokens(self, tokens: u32) -> Case {
        Case { tokens, ..self }
    }

    /// The same with every slice for every head.
    pub const fn shared(self) -> Case {
        Case { sharing: Sharing::Segment, ..self }
    }

    /// The same with a memory that draws its order and its gaps from a seed.
    pub const fn unruly(self, seed: u32) -> Case {
        Case { unruly: Some(seed), ..self }
    }

    /// The same in so many layers, one after the other.
    pub const fn layers(self, layers: u32) -> Case {
        Case { layers: Some(layers), ..self }
    }

    /// The same with all attended segments in one row, in `SKEWED_STEPS` steps.
    pub const fn skewed(self) -> Case {
        Case { skewed: true, ..self }
    }

    /// True if the whole workload runs: no figure is scaled to a whole layer.
    pub(super) fn is_all(self) -> bool {
        self.layers.is_some() || self.skewed
    }

    /// Layers that spread over all columns, where the homes of a layer are in one: a takv placement of stride 0.
    pub(super) fn layers_in_columns(self) -> bool {
        let name = self.fabric.split('/').next().unwrap_or_default();
        self.fabric != OWN_COLUMNS && matches!(name, "takv" | "meshkv" | "no_bloom" | "no_pad" | "no_mare")
    }

    /// The run of so many layers and segments of a layer; 0 segments for all.
    pub(super) fn work(self, layers: u32, segments: u32) -> DecodeWork {
        DecodeWork {
            tokens: Some(self.tokens),
            batch: self.batch,
            prefix: if self.batch > 1 { self.tokens } else { 0 },
            mapping: AskedMapping::Fixed(self.mapping),
            sharing: self.sharing,
            stride: if self.skewed { SKEWED_STRIDE } else { 1 },
            steps: if self.skewed { SKEWED_STEPS } else { 1 },
            segments: Some(segments),
            layers,
            unruly_memory: self.unruly.is_some(),
            seed: u64::from(self.unruly.unwrap_or(1)),
            ..DecodeWork::default()
        }
    }
}

/// The file of a case's fabric: in the repository, or in the folder of the page.
pub(super) fn path(case: Case) -> String {
    let changed = case.fabric.contains('/') || case.model != Model::Llama;
    match changed {
        false => format!("configs/{}.toml", case.fabric),
        true => format!("fabrics/{}.toml", file_name(case)),
    }
}

/// A name for a file, without characters that a shell reads.
pub(super) fn file_name(case: Case) -> String {
    let model = if case.model == Model::Mistral { "-mistral" } else { "" };
    format!("{}{model}", case.fabric.replace(['/', '='], "-"))
}
