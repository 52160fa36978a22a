//! Segments that a step attends to, by the kinds of its layers: windows differ.

use crate::cosim::workloads::decode::batch::lengths::StreamLength;
use crate::cosim::workloads::decode::batch::spans::Spans;
use crate::design::{Design, LayerKind};

/// Segments of each kind of layer, and the kind of each layer.
pub(in crate::cosim::workloads::decode) struct Kinds {
    kinds: Vec<(LayerKind, Spans)>,
    layers: Vec<usize>,
}

impl Kinds {
    /// Every `stride`-th segment of so many layers.
    pub(in crate::cosim::workloads::decode) fn of(
        design: &Design,
        (layers, stride): (u32, u32),
        streams: &[StreamLength],
    ) -> Kinds {
        let (mut kinds, mut of_layer) = (Vec::new(), Vec::new());
        for kind in (0..layers).map(|layer| design.layer_kind(layer)) {
            let known = kinds.iter().position(|(other, _): &(LayerKind, Spans)| other.window == kind.window);
            of_layer.push(known.unwrap_or(kinds.len()));
            if known.is_none() {
                kinds.push((kind, Spans::of(design, kind, stride, streams)));
            }
        }
        Kinds { kinds, layers: of_layer }
    }

    /// Segments of a layer.
    pub(in crate::cosim::workloads::decode) fn of_layer(&self, layer: u32) -> &Spans {
        &self.kinds[self.layers[layer as usize]].1
    }

    /// Segments of each kind.
    pub(in crate::cosim::workloads::decode) fn all(&self) -> impl Iterator<Item = &Spans> {
        self.kinds.iter().map(|(_, spans)| spans)
    }

    /// Segments of the stream with most, in the layer that sees most.
    pub(in crate::cosim::workloads::decode) fn most(&self) -> u32 {
        self.all().map(Spans::most).max().unwrap_or(0)
    }

    /// A sample in which the stream with most has `wanted` of `all` segments, and other streams and layers as large a share.
    pub(in crate::cosim::workloads::decode) fn sample(&self, wanted: u32, all: u32, p: u32) -> Kinds {
        let part = |spans: &Spans| {
            let most = spans.most();
            let wanted = u64::from(wanted) * u64::from(most) / u64::from(all);
            spans.sample((wanted as u32).max(1), most.max(1), p)
        };
        let kinds = self.kinds.iter().map(|(kind, spans)| (*kind, part(spans))).collect();
        Kinds { kinds, layers: self.layers.clone() }
    }

    /// Segments of a layer, the mean of all; shared ones count once.
    pub(in crate::cosim::workloads::decode) fn slices(&self) -> u64 {
        let all: u64 = self.layers.iter().map(|&kind| self.kinds[kind].1.slices()).sum();
        all / self.layers.len().max(1) as u64
    }

    /// Tokens that the stream with most attends to, in the layer that sees most.
    pub(in crate::cosim::workloads::decode) fn attended(&self, streams: &[StreamLength]) -> u32 {
        let of_kind = |(kind, _): &(LayerKind, Spans)| {
            streams.iter().map(|stream| kind.attended(stream.tokens)).max().unwrap_or(0)
        };
        self.kinds.iter().map(of_kind).max().unwrap_or(0)
    }
}
