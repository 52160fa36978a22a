//! Kinds of layers: what a layer attends to, where layers of a model differ.

use crate::config::{self, LayerGroup};

/// What differs between the layers of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LayerKind {
    /// Tokens that attention looks back; none if it sees all of them.
    pub window: Option<u32>,
    /// Each query head has a sink: a logit beside those of the tokens, without a value.
    pub sinks: bool,
}

impl LayerKind {
    /// Tokens that the last of `tokens` attends to: all, or those of the window.
    pub fn attended(&self, tokens: u32) -> u32 {
        self.window.unwrap_or(tokens).min(tokens)
    }

    /// The kind of a layer of a model, whose groups repeat.
    pub(in crate::design) fn of(model: &config::Model, layer: u32) -> LayerKind {
        let groups = model.groups.as_deref().unwrap_or_default();
        let all: u32 = groups.iter().map(|group| group.count).sum();
        let mut left = layer.checked_rem(all).unwrap_or(0);
        let holds = |group: &&LayerGroup| {
            let holds = left < group.count;
            left = left.saturating_sub(group.count);
            holds
        };
        match groups.iter().find(holds) {
            Some(group) => LayerKind { window: group.window, sinks: group.sinks },
            None => LayerKind { window: model.sliding_window, sinks: false },
        }
    }
}
