//! The streams of a step that a fabric decodes at once, as a schedule of one step over their pages.

use super::batching::Stream;
use crate::cosim::workloads::steps::Schedule;
use crate::design::{Design, LayerKind};
use crate::model::datapath::tensors::{Logits, Tensors};

/// A run: the step of some streams in a layer.
#[derive(Debug)]
pub struct OneRun {
    /// The design, whose table has the pages of the streams: stream b in cache b.
    pub design: Design,
    /// Their caches, and the step.
    pub schedule: Schedule,
    /// Tokens in whole pages that all of them have in common.
    common: u32,
}

/// The runs of a step in a layer of a kind: streams of one prefix, or of none, as many as a run has at most. No run names a
/// page twice, so with a window, in which each stream reads a prefix by itself, one of them may look back that far.
pub fn runs(streams: &[Stream], most: u32, kind: LayerKind) -> Vec<Vec<&Stream>> {
    let looks_at_prefix = |stream: &Stream| {
        kind.window.is_some_and(|window| stream.tokens + 1 < window + stream.common) && stream.common > 0
    };
    let mut runs: Vec<Vec<&Stream>> = Vec::new();
    for stream in streams {
        let takes = |run: &&mut Vec<&Stream>| {
            let twice = looks_at_prefix(stream) && run.iter().any(|other| looks_at_prefix(other));
            run[0].prefix == stream.prefix && run.len() < most as usize && !twice
        };
        match runs.iter_mut().find(takes) {
            Some(run) => run.push(stream),
            None => runs.push(vec![stream]),
        }
    }
    runs
}

impl OneRun {
    /// The run of some streams of one prefix in a layer.
    ///
    /// # Panics
    /// If the design has no pages, or there is no stream.
    pub fn new(design: &Design, layer: u32, streams: &[&Stream]) -> OneRun {
        let mut design = design.of_layer(layer);
        let (common, prefix) = (common(streams), read_once(design.model.kind(), streams));
        let lengths: Vec<u32> = streams.iter().map(|stream| stream.tokens).collect();
        let batches = vec![(0..lengths.len() as u32).collect()];
        let pages = design.pages.as_ref().expect("a design with pages");
        let table = (0..pages.caches as usize).flat_map(|cache| {
            let own = streams.get(cache).map_or(&streams[0].pages[..1], |stream| &stream.pages);
            // No segment without a token is read: it has the last page.
            (0..pages.segments as usize).map(|segment| own[segment.min(own.len() - 1)])
        });
        let table = table.collect();
        design.pages = Some(pages.with(table));
        OneRun { design, schedule: Schedule { lengths, prefix, batches }, common }
    }

    /// Tokens of all streams, and their queries; without a seed no numbers.
    pub fn tensors(&self, drawn: Option<(u64, Logits)>) -> Tensors {
        // Streams have the pages of their prefix in common where each reads them by itself, too.
        let shared = Schedule { prefix: self.common, ..self.schedule.clone() };
        match drawn {
            Some((seed, logits)) => shared.tensors(&self.design, seed, logits),
            None => shared.blank(&self.design),
        }
    }
}

/// Bytes of K and V that the streams of a run need in a layer of a kind; a common prefix that is read once counts once.
pub fn kv_bytes(design: &Design, kind: LayerKind, streams: &[&Stream]) -> u64 {
    let prefix = read_once(kind, streams);
    let own: u64 = streams.iter().map(|stream| u64::from(kind.attended(stream.tokens + 1) - prefix)).sum();
    (own + u64::from(prefix)) * design.cached_token_bytes()
}

/// Tokens in whole pages that all streams of a run have in common.
fn common(streams: &[&Stream]) -> u32 {
    if streams.len() > 1 {
        streams[0].common
    } else {
        0
    }
}

/// Those of them that one descriptor reads for all: in a window each stream begins elsewhere.
fn read_once(kind: LayerKind, streams: &[&Stream]) -> u32 {
    kind.window.map_or(common(streams), |_| 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_streams_of_one_prefix_and_names_no_page_twice() {
        let stream = |request: usize, tokens: u32, prefix: Option<usize>| {
            let common = if prefix.is_some() { 16 } else { 0 };
            Stream::new((request, request as u32), tokens, (Vec::new(), common), prefix)
        };
        let streams = [
            stream(0, 20, Some(0)),
            stream(1, 100, None),
            stream(2, 90, Some(0)),
            stream(3, 31, Some(0)),
            stream(4, 8, None),
        ];
        let of = |most, window| {
            let runs = runs(&streams, most, LayerKind { window, sinks: false });
            runs.iter().map(|run| run.iter().map(|stream| stream.request).collect()).collect::<Vec<Vec<_>>>()
        };
        assert_eq!(of(8, None), [vec![0, 2, 3], vec![1, 4]]);
        assert_eq!(of(2, None), [vec![0, 2], vec![1, 4], vec![3]]);
        // In a window of 40 tokens two look back into the prefix; in one of 16, whose last begins behind it, one does.
        assert_eq!(of(8, Some(40)), [vec![0, 2], vec![1, 4], vec![3]]);
        assert_eq!(of(8, Some(16)), [vec![0, 2, 3], vec![1, 4]]);
    }
}
