//! A decode step as descriptors for the column controllers.
//!
//! It states what is attended: layers, segments and rows of every stream. It does not know their
//! places or the tiles that fetch them.

use crate::design::Descriptor;
use crate::design::{segments, Design, Mapping, Sharing};

/// Parameters of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload {
    /// Tokens in the cache of every stream (T).
    pub tokens: u32,
    /// Streams (B).
    pub batch: u32,
    /// Tokens that all streams share, from the first on. Whole segments of them are shared; if the
    /// prefix is all tokens, the last short one too.
    pub prefix: u32,
    /// Assignment of heads to tiles.
    pub mapping: Mapping,
    /// Receivers of a slice.
    pub sharing: Sharing,
    /// Segments of a layer that are run, from the first on; `None` for all.
    pub segments: Option<u32>,
    /// Layers that are run, from the first on.
    pub layers: u32,
    /// Distance from one attended segment to the next: 1 but for sparse attention.
    pub stride: u32,
    /// The last token of every stream is new.
    pub append: bool,
}

/// Reason why a workload is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// A new token, and a cache that cannot be written.
    #[error("a new token is to be appended, and the cache of this configuration is read only\n  help: set kv.append = true")]
    ReadOnly,
    /// New tokens without a segment of their own.
    #[error("a new token is to be appended to the common prefix\n  help: a token belongs to one stream: give more --tokens than --prefix")]
    Shared,
    /// A number outside its range.
    #[error("{what} is {value}, and must be {least} to {most}\n  help: {help}")]
    Range {
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: u32,
        /// Its least legal value.
        least: u32,
        /// Its largest legal value.
        most: u32,
        /// Suggestion.
        help: &'static str,
    },
}

/// One step: all its descriptors, and their share of the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// In the order in which they are sent.
    pub descriptors: Vec<Descriptor>,
    /// Attended tokens of every stream, before sampling.
    pub attended: u32,
    /// Largest possible sample of segments: of the common prefix, and of each stream's own.
    pub most_segments: u32,
    /// Segments of a layer, before sampling and in the run; shared ones count once.
    pub segments: (u64, u64),
    /// Layers of the model, and layers in the run.
    pub layers: (u32, u32),
    /// Share of the segments in the run that the busiest home of the first layer has, over its
    /// share of all segments: 1 if the run loads the homes as the whole layer does.
    pub imbalance: f64,
    /// Tokens of the segments in the run, over streams and layers.
    pub rows: u64,
    /// Bytes of external memory that the caches of all streams take, in all layers of the model. Common segments are
    /// stored once, whole ones in the cache of stream 0.
    pub cache_bytes: u64,
}

/// Consecutive tokens of one cache, as a descriptor's segments.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u32,
    count: u32,
    first_row: u32,
    last_row: u32,
}

/// Every `stride`-th of the segments that contain tokens `from..to`; `None` if there are no tokens.
fn span(tokens: u32, from: u32, to: u32, stride: u32) -> Option<Span> {
    if from >= to {
        return None;
    }
    let (first, last) = (from / tokens, (to - 1) / tokens);
    let count = (last - first) / stride + 1;
    let whole = first + (count - 1) * stride < last;
    let last_row = if whole { tokens - 1 } else { (to - 1) % tokens };
    Some(Span { first, count, first_row: from % tokens, last_row })
}

/// The first `count` segments of a span.
fn sampled(span: Option<Span>, count: u32, segment_tokens: u32) -> Option<Span> {
    let span = span.filter(|_| count > 0)?;
    let last_row = if count < span.count { segment_tokens - 1 } else { span.last_row };
    Some(Span { count, last_row, ..span })
}

/// Share of the busiest home of the first layer in the segments of spans. Each span counts as often
/// as it is read.
fn busiest(design: &Design, stride: u32, spans: [(Option<Span>, u32); 2]) -> f64 {
    let mut reads = vec![0_u64; design.mesh.tiles()];
    for (span, times) in spans {
        for number in 0..span.map_or(0, |span| span.count) {
            let segment = span.map_or(0, |span| span.first) + number * stride;
            reads[design.placement.home(0, segment).index()] += u64::from(times);
        }
    }
    let most = reads.iter().copied().max().unwrap_or(0);
    most as f64 / reads.iter().sum::<u64>().max(1) as f64
}

/// Rounds over the homes of a layer in a sample, at least.
const ROUNDS: u32 = 2;
/// Segments of a sample, at least.
const SAMPLE: u32 = 16;

/// The segments of a layer that are run unless somebody chooses others: whole rounds over its homes,
/// so that each home has the share that it has in the whole layer. A sample of more than half would save
/// little and cost an error: then all are run.
///
/// # Errors
/// If the design cannot hold the workload.
pub fn default_segments(design: &Design, load: &Workload) -> Result<u32, WorkloadError> {
    let all = step(design, &Workload { segments: None, ..*load })?.most_segments;
    // Of every n-th segment, homes repeat after as many visits.
    let visits = |round: u32| (1..=round).find(|visits| (visits * load.stride).is_multiple_of(round));
    let round = visits(design.placement.round()).unwrap_or(1);
    let sample = round * ROUNDS.max(SAMPLE.div_ceil(round));
    Ok(if sample > all / 2 { all } else { sample })
}

fn range(
    what: &'static str,
    value: u32,
    (least, most): (u32, u32),
    help: &'static str,
) -> Result<(), WorkloadError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(WorkloadError::Range { what, value, least, most, help })
    }
}

/// The descriptors of a decode step.
///
/// # Errors
/// If the design cannot hold the workload.
pub fn step(design: &Design, load: &Workload) -> Result<Step, WorkloadError> {
    let (model, p) = (&design.config.model, design.config.kv.segment_tokens);
    range(
        "the context in tokens",
        load.tokens,
        (1, model.max_tokens),
        "model.max_tokens of the configuration is the longest",
    )?;
    range(
        "the batch",
        load.batch,
        (1, model.max_streams),
        "model.max_streams of the configuration is the largest",
    )?;
    range(
        "the number of layers",
        load.layers,
        (1, model.layers),
        "model.layers of the configuration is the most",
    )?;
    if load.append && design.append.is_none() {
        return Err(WorkloadError::ReadOnly);
    }
    range("the common prefix in tokens", load.prefix, (0, load.tokens), "a prefix is part of the context")?;
    let longest = segments(&design.config).saturating_sub(1).max(1);
    range("the segment stride", load.stride, (1, longest), "1 attends to every segment")?;

    let from = load.tokens - model.sliding_window.unwrap_or(load.tokens).min(load.tokens);
    // Caches are shared by whole segments: the rest of a prefix belongs to each stream. If nothing
    // follows the prefix, its last segment is complete, however short.
    let shared = if load.prefix == load.tokens { load.tokens } else { load.prefix / p * p };
    let common = span(p, from, shared, load.stride);
    let own = span(p, from.max(shared), load.tokens, load.stride);
    if load.append && own.is_none() {
        return Err(WorkloadError::Shared);
    }
    let counts = [common, own].map(|s| s.map_or(0, |s| s.count));
    let all = counts[0] + counts[1];
    let wanted = load.segments.unwrap_or(all);
    range(
        "the number of segments",
        wanted,
        (1, all),
        "leave it out to run all segments that are attended to",
    )?;
    let of_common = (u64::from(wanted) * u64::from(counts[0])).div_ceil(u64::from(all)) as u32;
    let of_own = wanted - of_common;
    let share = |common, own| busiest(design, load.stride, [(common, 1), (own, load.batch)]);
    let of_all = share(common, own);
    let (common, own) = (sampled(common, of_common, p), sampled(own, of_own, p));

    let descriptor = |layer, prefix, span: Span, stream, streams, close| Descriptor {
        prefix,
        layer,
        first: span.first,
        stride: load.stride,
        count: span.count,
        first_row: span.first_row,
        last_row: span.last_row,
        stream,
        streams,
        mapping: load.mapping,
        sharing: load.sharing,
        close,
        step: false,
        append: false,
    };
    let mut descriptors = Vec::new();
    for layer in 0..load.layers {
        // The prefix is in the cache of stream 0, whose own segments are other ones.
        descriptors.extend(common.map(|span| descriptor(layer, 0, span, 0, load.batch, own.is_none())));
        if let Some(span) = own {
            let own = |b| Descriptor { append: load.append, ..descriptor(layer, b, span, b, 1, true) };
            descriptors.extend((0..load.batch).map(own));
        }
    }
    if let Some(last) = descriptors.last_mut() {
        last.step = true;
    }
    let rows = |d: &Descriptor| {
        let rows = |i| d.rows(i, p);
        u64::from(d.streams) * (0..d.count).map(|i| u64::from(rows(i).1 + 1 - rows(i).0)).sum::<u64>()
    };
    let stored = |tokens: u32| u64::from(tokens.div_ceil(p));
    let caches = stored(shared) + u64::from(load.batch) * (stored(load.tokens) - stored(shared));
    let slices = |of: [u32; 2]| u64::from(of[0]) + u64::from(load.batch) * u64::from(of[1]);
    Ok(Step {
        attended: load.tokens - from,
        most_segments: all,
        segments: (slices(counts), slices([of_common, of_own])),
        layers: (model.layers, load.layers),
        imbalance: share(common, own) / of_all,
        rows: descriptors.iter().map(rows).sum(),
        cache_bytes: caches * u64::from(model.layers * model.kv_heads) * design.memory.slice_bytes,
        descriptors,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    /// Segments of 8 tokens, 256 tokens, 4 layers, 2 streams.
    fn design(window: Option<u32>) -> Design {
        let mut config = Config::default();
        config.kv.segment_tokens = 8;
        config.model.layers = 4;
        config.model.max_tokens = 256;
        config.model.max_streams = 2;
        config.model.sliding_window = window;
        Design::from_config("test", &config).unwrap()
    }

    const LOAD: Workload = Workload {
        tokens: 256,
        batch: 1,
        prefix: 0,
        mapping: Mapping::HeadTile,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 1,
        stride: 1,
        append: false,
    };

    /// (prefix, layer, first, count, first row, last row, stream, streams, close) of each descriptor.
    type Short = (u32, u32, u32, u32, u32, u32, u32, u32, bool);

    fn short(step: &Step) -> Vec<Short> {
        let short = |d: &Descriptor| {
            (d.prefix, d.layer, d.first, d.count, d.first_row, d.last_row, d.stream, d.streams, d.close)
        };
        step.descriptors.iter().map(short).collect()
    }

    #[test]
    fn a_context_that_ends_in_mid_segment_has_a_short_last_one() {
        let made = step(&design(None), &Workload { tokens: 21, layers: 2, ..LOAD }).unwrap();
        assert_eq!(short(&made), [(0, 0, 0, 3, 0, 4, 0, 1, true), (0, 1, 0, 3, 0, 4, 0, 1, true)]);
        assert_eq!(made.descriptors.iter().map(|d| d.step).collect::<Vec<_>>(), [false, true]);
        assert_eq!((made.segments, made.layers, made.rows), ((3, 3), (4, 2), 42));
        let d = made.descriptors[0];
        assert_eq!([0, 1, 2].map(|i| d.rows(i, 8)), [(0, 7), (0, 7), (0, 4)]);
    }

    #[test]
    fn a_window_begins_in_mid_segment() {
        let made = step(&design(Some(10)), &Workload { tokens: 21, ..LOAD }).unwrap();
        assert_eq!(short(&made), [(0, 0, 1, 2, 3, 4, 0, 1, true)]);
        assert_eq!((made.attended, made.rows), (10, 10));
        let short_context = step(&design(Some(10)), &Workload { tokens: 9, ..LOAD }).unwrap();
        assert_eq!(short(&short_context), [(0, 0, 0, 2, 0, 0, 0, 1, true)]);
    }

    #[test]
    fn a_prefix_is_read_for_all_streams_and_the_rest_for_each() {
        let load = Workload { tokens: 30, batch: 2, prefix: 20, ..LOAD };
        let made = step(&design(None), &load).unwrap();
        assert_eq!(
            short(&made),
            [(0, 0, 0, 2, 0, 7, 0, 2, false), (0, 0, 2, 2, 0, 5, 0, 1, true), (1, 0, 2, 2, 0, 5, 1, 1, true)]
        );
        assert_eq!(made.segments, (6, 6), "what is shared counts once");
        assert_eq!(made.rows, 60);
        let all = step(&design(None), &Workload { tokens: 32, prefix: 32, ..load }).unwrap();
        assert_eq!(short(&all), [(0, 0, 0, 4, 0, 7, 0, 2, true)]);
    }

    #[test]
    fn a_shared_prefix_takes_memory_once() {
        let design = design(None);
        // Of a segment of 8 tokens, in 4 layers of 32 KV heads.
        let segment = 4 * 32 * design.memory.slice_bytes;
        let bytes = |tokens, batch, prefix| {
            let load = Workload { tokens, batch, prefix, segments: Some(1), ..LOAD };
            step(&design, &load).unwrap().cache_bytes / segment
        };
        assert_eq!([bytes(64, 1, 0), bytes(64, 1, 64)], [8, 8]);
        assert_eq!([bytes(64, 2, 0), bytes(64, 2, 32), bytes(64, 2, 64)], [16, 12, 8]);
        // A common prefix that ends in mid-segment is shared up to the segment before.
        assert_eq!([bytes(61, 2, 20), bytes(61, 2, 60), bytes(61, 2, 61)], [14, 9, 8]);
    }

    #[test]
    fn a_window_may_leave_nothing_of_the_prefix() {
        let load = Workload { tokens: 64, batch: 2, prefix: 16, ..LOAD };
        let made = step(&design(Some(20)), &load).unwrap();
        assert_eq!(short(&made), [(0, 0, 5, 3, 4, 7, 0, 1, true), (1, 0, 5, 3, 4, 7, 1, 1, true)]);
    }

    #[test]
    fn a_sample_takes_the_first_segments_whole() {
        let made = step(&design(None), &Workload { tokens: 21, segments: Some(2), ..LOAD }).unwrap();
        assert_eq!(short(&made), [(0, 0, 0, 2, 0, 7, 0, 1, true)]);
        assert_eq!(made.segments, (3, 2));
        // Of 4 common and 4 own segments, 2 each.
        let load = Workload { tokens: 64, batch: 2, prefix: 32, segments: Some(4), ..LOAD };
        let made = step(&design(None), &load).unwrap();
        assert_eq!(made.descriptors.iter().map(|d| d.count).collect::<Vec<_>>(), [2, 2, 2]);
        assert_eq!(made.segments, (12, 6));
        // A sample of one is common, and closes for all.
        let made = step(&design(None), &Workload { segments: Some(1), ..load }).unwrap();
        assert_eq!(short(&made), [(0, 0, 0, 1, 0, 7, 0, 2, true)]);
    }

    #[test]
    fn a_sample_is_whole_rounds_over_the_homes_of_a_layer() {
        let spread = |cols, rows, stride, column_stride| {
            let mut config = design(None).config;
            (config.mesh.cols, config.mesh.rows) = (cols, rows);
            (config.takv.column_stride, config.model.max_tokens) = (column_stride, 4096);
            let design = Design::from_config("test", &config).unwrap();
            let load = Workload { tokens: 4096, stride, ..LOAD };
            let segments = default_segments(&design, &load).unwrap();
            (segments, step(&design, &Workload { segments: Some(segments), ..load }).unwrap().imbalance)
        };
        // Eight homes, 64, and 32.
        assert_eq!(spread(8, 8, 1, 0), (16, 1.0));
        assert_eq!(spread(8, 8, 1, 1), (128, 1.0));
        assert_eq!(spread(4, 8, 1, 1), (64, 1.0));
        assert_eq!(spread(8, 8, 3, 1).0, 128);
        // Every eighth has its home in one row.
        assert_eq!(spread(8, 8, 8, 1), (16, 1.0));
        let (segments, imbalance) = spread(3, 5, 1, 1);
        assert_eq!(segments, 30);
        // 512 segments are no whole number of rounds.
        assert!((imbalance - (2.0 / 30.0) / (35.0 / 512.0)).abs() < 1e-12, "{imbalance}");
        // A context of less than that runs whole, and so does one of less than twice that.
        for (tokens, segments) in [(100, 13), (248, 31), (256, 16)] {
            assert_eq!(default_segments(&design(None), &Workload { tokens, ..LOAD }), Ok(segments));
        }
    }

    #[test]
    fn a_sample_of_some_homes_says_how_uneven_it_is() {
        let mut config = design(None).config;
        config.takv.column_stride = 1;
        config.model.max_tokens = 1024;
        let design = Design::from_config("test", &config).unwrap();
        let imbalance = |load: Workload| step(&design, &load).unwrap().imbalance;
        // 16 of 64 homes.
        assert_eq!(imbalance(Workload { tokens: 1024, segments: Some(16), ..LOAD }), 4.0);
        // A common segment is read once, an own one by each stream.
        let load = Workload { tokens: 512, batch: 2, prefix: 256, ..LOAD };
        assert_eq!(imbalance(load), 1.0);
        assert_eq!(imbalance(Workload { segments: Some(16), ..load }), 4.0);
    }

    #[test]
    fn a_stride_leaves_segments_out() {
        let made = step(&design(None), &Workload { tokens: 61, stride: 3, ..LOAD }).unwrap();
        let d = made.descriptors[0];
        assert_eq!((d.segments().collect::<Vec<_>>(), d.last_row), (vec![0, 3, 6], 7));
        let made = step(&design(None), &Workload { tokens: 53, stride: 3, ..LOAD }).unwrap();
        let d = made.descriptors[0];
        assert_eq!((d.segments().collect::<Vec<_>>(), d.last_row), (vec![0, 3, 6], 4));
    }

    #[test]
    fn what_the_design_cannot_hold_is_refused() {
        let cases: [(Workload, &str); 9] = [
            (Workload { tokens: 257, ..LOAD }, "context in tokens is 257, and must be 1 to 256"),
            (Workload { tokens: 0, ..LOAD }, "context in tokens is 0"),
            (Workload { batch: 3, ..LOAD }, "model.max_streams"),
            (Workload { batch: 0, ..LOAD }, "batch is 0"),
            (Workload { layers: 5, ..LOAD }, "must be 1 to 4"),
            (Workload { prefix: 300, ..LOAD }, "must be 0 to 256"),
            (Workload { segments: Some(0), ..LOAD }, "number of segments is 0, and must be 1 to 32"),
            (Workload { segments: Some(33), ..LOAD }, "leave it out"),
            (Workload { stride: 0, ..LOAD }, "segment stride is 0"),
        ];
        for (load, words) in cases {
            let text = step(&design(None), &load).unwrap_err().to_string();
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
