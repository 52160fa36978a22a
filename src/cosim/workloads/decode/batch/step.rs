//! A decode step as descriptors for the column controllers.
//!
//! It states the attended tokens: layers, segments and rows of every stream. It does not know their
//! places or the tiles that fetch them.

use crate::cosim::workloads::decode::batch::kinds::Kinds;
use crate::cosim::workloads::decode::batch::lengths::StreamLength;
use crate::cosim::workloads::decode::batch::spans::{imbalance, Span};
use crate::cosim::workloads::decode::batch::workload_error::WorkloadError;
use crate::design::Descriptor;
use crate::design::{Design, Mapping, Sharing};

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

/// One step: all its descriptors, and their share of the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// In the order in which they are sent.
    pub descriptors: Vec<Descriptor>,
    /// Attended tokens of every stream, before sampling.
    pub attended: u32,
    /// Largest possible sample of segments: of the common prefix, and of each stream's own.
    pub most_segments: u32,
    /// Segments of a layer, before sampling and in the run; shared ones count once. Where layers differ, the mean.
    pub segments: (u64, u64),
    /// Layers of the model, and layers in the run.
    pub layers: (u32, u32),
    /// Segments of the first layer that the fullest memory port has, over the mean of all ports that have a home: before
    /// sampling and in the run.
    pub imbalance: (f64, f64),
    /// Tokens of the segments in the run, over streams and layers.
    pub rows: u64,
    /// Bytes of external memory that the caches of all streams take, in all layers of the model. Common segments are
    /// stored once, whole ones in the cache of stream 0.
    pub cache_bytes: u64,
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
    default_segments_of(design, load, &alike(load))
}

/// The same for streams of these lengths: segments of the longest.
///
/// # Errors
/// As [`default_segments`].
pub fn default_segments_of(
    design: &Design,
    load: &Workload,
    streams: &[StreamLength],
) -> Result<u32, WorkloadError> {
    let all = step_of(design, &Workload { segments: None, ..*load }, streams)?.most_segments;
    // Of every n-th segment, homes repeat after as many visits.
    let visits = |round: u32| (1..=round).find(|visits| (visits * load.stride).is_multiple_of(round));
    let round = visits(design.placement.round()).unwrap_or(1);
    let sample = round * ROUNDS.max(SAMPLE.div_ceil(round));
    Ok(if sample > all / 2 { all } else { sample })
}

/// Streams that all have the length of a workload.
fn alike(load: &Workload) -> Vec<StreamLength> {
    vec![StreamLength { tokens: load.tokens, prefix: load.prefix }; load.batch as usize]
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
    // A batch beyond all reason is refused before its streams are listed.
    let most = design.model.max_streams;
    range("the batch", load.batch, (1, most), "model.max_streams of the configuration is the largest")?;
    step_of(design, load, &alike(load))
}

/// Refuses lengths and prefixes that no stream of the design can have.
fn check(design: &Design, load: &Workload, streams: &[StreamLength]) -> Result<(), WorkloadError> {
    let model = &design.model;
    for stream in streams {
        range(
            "the context in tokens",
            stream.tokens,
            (1, model.max_tokens),
            "model.max_tokens of the configuration is the longest",
        )?;
        range(
            "the common prefix in tokens",
            stream.prefix,
            (0, stream.tokens),
            "a prefix is part of the context",
        )?;
    }
    range(
        "the batch",
        streams.len() as u32,
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
    let longest = design.placement.segments.saturating_sub(1).max(1);
    range("the segment stride", load.stride, (1, longest), "1 attends to every segment")?;
    let differ = |of: fn(&StreamLength) -> u32| streams.windows(2).any(|two| of(&two[0]) != of(&two[1]));
    let shared = streams.iter().any(|stream| stream.prefix > 0);
    let windowed = (0..load.layers).any(|layer| design.layer_kind(layer).window.is_some());
    if shared && windowed && differ(|stream| stream.tokens) {
        let other = "a common prefix leaves a sliding window at one place";
        let help = "leave out the prefix, the windows of [model], or the lengths";
        return Err(WorkloadError::Different { what: "lengths", other, help });
    }
    let ends = streams.iter().any(|stream| stream.prefix == stream.tokens && stream.prefix > 0);
    if ends && differ(|stream| stream.prefix) {
        let other = "one of them ends with its prefix";
        let help = "give that stream a token of its own";
        return Err(WorkloadError::Different { what: "prefixes", other, help });
    }
    Ok(())
}

/// The descriptors of a decode step of streams with these lengths, in the order of falling prefixes; those of `load` do not
/// count.
///
/// # Errors
/// If the design cannot hold the workload.
pub fn step_of(design: &Design, load: &Workload, streams: &[StreamLength]) -> Result<Step, WorkloadError> {
    check(design, load, streams)?;
    let (model, p) = (&design.model, design.placement.segment_tokens);
    let kinds = Kinds::of(design, (load.layers, load.stride), streams);
    if load.append && kinds.all().any(|spans| spans.own.iter().any(Option::is_none)) {
        return Err(WorkloadError::Shared);
    }
    let all = kinds.most();
    let wanted = load.segments.unwrap_or(all);
    range(
        "the number of segments",
        wanted,
        (1, all),
        "a longer context has more; leave it out to sample whole rounds over the homes of a layer",
    )?;
    let run = kinds.sample(wanted, all, p);
    let imbalance = |kinds: &Kinds| imbalance(design, &descriptors(load, kinds));
    let descriptors = descriptors(load, &run);
    let rows = |d: &Descriptor| {
        let rows = |i| d.rows(i, p);
        u64::from(d.streams) * (0..d.count).map(|i| u64::from(rows(i).1 + 1 - rows(i).0)).sum::<u64>()
    };
    let stored = |tokens: u32| u64::from(tokens.div_ceil(p));
    let shared = |stream: &StreamLength| match stream.prefix == stream.tokens {
        true => stored(stream.tokens),
        false => u64::from(stream.prefix / p),
    };
    let own: u64 = streams.iter().map(|stream| stored(stream.tokens) - shared(stream)).sum();
    let caches = streams.iter().map(shared).max().unwrap_or(0) + own;
    Ok(Step {
        attended: kinds.attended(streams),
        most_segments: all,
        segments: (kinds.slices(), run.slices()),
        layers: (model.layers, load.layers),
        imbalance: (imbalance(&kinds), imbalance(&run)),
        rows: descriptors.iter().map(rows).sum(),
        cache_bytes: caches * u64::from(model.layers * model.kv_heads) * design.memory.slice_bytes,
        descriptors,
    })
}

/// The descriptors of the segments of a batch, layer by layer.
fn descriptors(load: &Workload, kinds: &Kinds) -> Vec<Descriptor> {
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
        let spans = kinds.of_layer(layer);
        // Prefixes are in the cache of stream 0, whose own segments are other ones.
        let last = spans.common.len().saturating_sub(1);
        let ends = |at: usize| at == last && spans.own.iter().all(Option::is_none);
        let common = spans.common.iter().enumerate();
        descriptors
            .extend(common.map(|(at, &(span, sharing))| descriptor(layer, 0, span, 0, sharing, ends(at))));
        for (stream, span) in (0..).zip(&spans.own) {
            let own =
                |span| Descriptor { append: load.append, ..descriptor(layer, stream, span, stream, 1, true) };
            descriptors.extend(span.map(own));
        }
    }
    if let Some(last) = descriptors.last_mut() {
        last.step = true;
    }
    descriptors
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, PlacementKind};
    use crate::cosim::workloads::decode::batch::step::*;

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
            let mut config = design(None).configuration().clone();
            (config.mesh.cols, config.mesh.rows) = (cols, rows);
            (config.takv.column_stride, config.model.max_tokens) = (column_stride, 4096);
            let design = Design::from_config("test", &config).unwrap();
            let load = Workload { tokens: 4096, stride, ..LOAD };
            let segments = default_segments(&design, &load).unwrap();
            let (whole, run) =
                step(&design, &Workload { segments: Some(segments), ..load }).unwrap().imbalance;
            (segments, run / whole)
        };
        // Eight homes, 64, and 32.
        assert_eq!(spread(8, 8, 1, 0), (16, 1.0));
        assert_eq!(spread(8, 8, 1, 1), (128, 1.0));
        assert_eq!(spread(4, 8, 1, 1), (64, 1.0));
        // Two rounds are more than half of 171.
        assert_eq!(spread(8, 8, 3, 1), (171, 1.0));
        // Every eighth has its home in one row.
        assert_eq!(spread(8, 8, 8, 1), (16, 1.0));
        let (segments, unevenness) = spread(3, 5, 1, 1);
        assert_eq!(segments, 30);
        // 512 segments are no whole number of rounds.
        assert!((unevenness - (2.0 / 30.0) / (35.0 / 512.0)).abs() < 1e-12, "{unevenness}");
        // A context of less than that runs whole, and so does one of less than twice that.
        for (tokens, segments) in [(100, 13), (248, 31), (256, 16)] {
            assert_eq!(default_segments(&design(None), &Workload { tokens, ..LOAD }), Ok(segments));
        }
    }

    #[test]
    fn imbalance_is_the_fullest_port_over_the_mean_of_all_with_a_home() {
        let mut config = design(None).configuration().clone();
        config.takv.column_stride = 1;
        config.model.max_tokens = 1024;
        let design = Design::from_config("test", &config).unwrap();
        let imbalance = |load: Workload| step(&design, &load).unwrap().imbalance;
        // The homes of 16 segments lie in two columns, which share ports: 8 of 32 have them.
        assert_eq!(imbalance(Workload { tokens: 1024, segments: Some(16), ..LOAD }), (1.0, 4.0));
        // A common segment is read once, an own one by each stream.
        let load = Workload { tokens: 512, batch: 2, prefix: 256, ..LOAD };
        assert_eq!(imbalance(load), (4.0 / 3.0, 4.0 / 3.0));
        assert_eq!(imbalance(Workload { segments: Some(16), ..load }), (4.0 / 3.0, 8.0 / 3.0));
        // A hub is the only port with a home.
        config.takv.placement = PlacementKind::Hub;
        let design = Design::from_config("test", &config).unwrap();
        assert_eq!(step(&design, &LOAD).unwrap().imbalance, (1.0, 1.0));
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
