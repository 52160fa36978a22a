//! The model whose attention the fabric computes: its shape, and the largest load.

use crate::config::{self, Config};
use crate::design::pad::head::model_dim;
use crate::design::pad::layer_kind::LayerKind;

/// Shape of the model, and limits of streams and tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Layers.
    pub layers: u32,
    /// Query heads of a layer.
    pub heads: u32,
    /// KV heads of a layer, a divisor of `heads`.
    pub kv_heads: u32,
    /// Elements of a head of the model. A row has [`Pe::head_dim`](crate::design::Pe::head_dim), which are as many or more.
    pub head_dim: u32,
    /// Tokens that attention looks back; none if it sees all of them. Where layers differ, those of the layer that a workload
    /// attends in ([`Design::of_layer`](crate::design::Design::of_layer)): layer 0 unless another is chosen.
    pub sliding_window: Option<u32>,
    /// The heads of that layer have sinks.
    pub sinks: bool,
    /// A workload has that kind in all layers, whatever their groups say.
    pub(in crate::design) alike: bool,
    /// Tokens of the longest context of a stream.
    pub max_tokens: u32,
    /// Most streams at once.
    pub max_streams: u32,
}

impl Model {
    /// The model of a configuration.
    pub(in crate::design) fn new(config: &Config) -> Model {
        // A key that is added does not compile until it is here.
        let config::Model {
            layers,
            heads,
            kv_heads,
            head_dim: _,
            sliding_window: _,
            groups: _,
            max_tokens,
            max_streams,
        } = config.model;
        let head_dim = model_dim(config);
        let LayerKind { window: sliding_window, sinks } = LayerKind::of(&config.model, 0);
        Model {
            layers,
            heads,
            kv_heads,
            head_dim,
            sliding_window,
            sinks,
            alike: false,
            max_tokens,
            max_streams,
        }
    }

    /// Query heads that share a KV head: the size of a GQA group.
    pub fn group_heads(&self) -> u32 {
        self.heads / self.kv_heads
    }

    /// What the layer of a workload attends to.
    pub fn kind(&self) -> LayerKind {
        LayerKind { window: self.sliding_window, sinks: self.sinks }
    }
}
