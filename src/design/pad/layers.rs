//! The layers of a design: their kinds, and the design as a workload of one of them has it.

use crate::design::design::Design;
use crate::design::pad::layer_kind::LayerKind;

impl Design {
    /// The kind of a layer.
    pub fn layer_kind(&self, layer: u32) -> LayerKind {
        match self.model.alike {
            true => self.model.kind(),
            false => LayerKind::of(&self.config.model, layer),
        }
    }

    /// Kinds of the layers, each with its number of layers and the first of them, in the order of the first.
    pub fn layer_kinds(&self) -> Vec<(LayerKind, u32, u32)> {
        self.layer_kinds_of(self.model.layers)
    }

    /// The same of a model with so many layers, of which this design has some.
    pub fn layer_kinds_of(&self, layers: u32) -> Vec<(LayerKind, u32, u32)> {
        let mut kinds: Vec<(LayerKind, u32, u32)> = Vec::new();
        for layer in 0..layers {
            let kind = self.layer_kind(layer);
            match kinds.iter_mut().find(|(known, ..)| *known == kind) {
                Some((_, layers, _)) => *layers += 1,
                None => kinds.push((kind, 1, layer)),
            }
        }
        kinds
    }

    /// True if a root can begin the sum of a head with a sink.
    pub fn has_sinks(&self) -> bool {
        self.config.model.groups.iter().flatten().any(|group| group.sinks)
    }

    /// Tokens that the layer with the longest window looks back; none if a layer sees all of them.
    pub fn longest_window(&self) -> Option<u32> {
        let windows = self.layer_kinds().into_iter().map(|(kind, ..)| kind.window);
        windows.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// The same design for a workload that looks so many tokens back, whatever its layer does.
    #[must_use]
    pub fn with_window(mut self, window: u32) -> Design {
        (self.model.sliding_window, self.model.alike) = (Some(window), true);
        self
    }

    /// The same design for a workload that attends in this layer: its [`Model`](crate::design::Model) has the window and the
    /// sinks of it. The Verilog is the same.
    #[must_use]
    pub fn of_layer(&self, layer: u32) -> Design {
        let mut design = self.clone();
        let LayerKind { window, sinks } = self.layer_kind(layer);
        (design.model.sliding_window, design.model.sinks, design.model.alike) = (window, sinks, true);
        design
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, KvScales, LayerGroup};
    use crate::design::pad::layer_kind::LayerKind;
    use crate::design::Design;

    fn design(groups: Option<Vec<LayerGroup>>) -> Design {
        let mut config = Config::default();
        (config.model.layers, config.model.groups, config.kv.scales) = (8, groups, KvScales::Head);
        Design::from_config("test", &config).unwrap()
    }

    #[test]
    fn groups_repeat_until_all_layers_have_a_kind() {
        let near = LayerGroup { count: 2, window: Some(128), sinks: true };
        let design = design(Some(vec![near, LayerGroup::default()]));
        let kinds: Vec<_> = (0..8).map(|layer| design.layer_kind(layer).window.is_some()).collect();
        assert_eq!(kinds, [true, true, false, true, true, false, true, true]);
        let near = LayerKind { window: Some(128), sinks: true };
        assert_eq!(design.layer_kinds(), [(near, 6, 0), (LayerKind { window: None, sinks: false }, 2, 2)]);
        assert!(design.has_sinks() && design.longest_window().is_none());
        let full = design.of_layer(5);
        assert_eq!((full.model.sliding_window, full.model.sinks), (None, false));
        assert_eq!(full.layer_kinds(), [(LayerKind { window: None, sinks: false }, 8, 0)]);
        assert_eq!((design.model.sliding_window, design.model.sinks), (Some(128), true));
    }

    #[test]
    fn without_groups_all_layers_are_alike() {
        let design = design(None);
        assert_eq!(design.layer_kinds(), [(LayerKind { window: None, sinks: false }, 8, 0)]);
        assert!(!design.has_sinks());
    }
}
