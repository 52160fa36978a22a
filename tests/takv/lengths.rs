//! Streams of different lengths, some of which share prefixes: every slice reaches its tiles, and a batch of one length is what
//! it was.

use meshkv::config::Config;
use meshkv::cosim::workloads::decode::{step, step_of, Bench, Plan, StreamLength, Workload, WorkloadError};
use meshkv::design::{Design, Mapping, Sharing};

fn design(change: impl Fn(&mut Config)) -> Design {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (3, 2);
    config.noc.flit_width = 128;
    config.kv.segment_tokens = 8;
    (config.model.layers, config.model.heads, config.model.kv_heads) = (2, 6, 3);
    (config.model.max_tokens, config.model.max_streams) = (256, 4);
    config.pe.head_dim = 32;
    config.takv.column_stride = 1;
    change(&mut config);
    Design::from_config("test", &config).unwrap()
}

fn load(mapping: Mapping) -> Workload {
    Workload {
        tokens: 256,
        batch: 4,
        prefix: 0,
        mapping,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 2,
        stride: 1,
        append: false,
    }
}

fn streams(all: [(u32, u32); 4]) -> Vec<StreamLength> {
    all.map(|(tokens, prefix)| StreamLength { tokens, prefix }).to_vec()
}

#[test]
fn streams_of_different_lengths_and_prefixes_get_every_slice_once() {
    let design = design(|_| {});
    let all = streams([(90, 72), (50, 24), (47, 24), (9, 0)]);
    for mapping in [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped] {
        let made = step_of(&design, &load(mapping), &all).unwrap();
        let plan = Plan::new(&design, made.descriptors.clone(), 3);
        let done = Bench::on_model(&design).run(&plan, &mut |_| false).unwrap();
        assert_eq!(done.violations, 0, "{mapping:?}: {:?}", done.violation_list);
        // What streams share is read once: 3 segments for three streams, 6 more of the first; then their own.
        assert_eq!(made.segments.0, 3 + 6 + 3 + 4 + 3 + 2);
        assert_eq!(made.rows, u64::from(2 * (90 + 50 + 47 + 9_u32)), "every token of every stream attends");
    }
}

#[test]
fn a_batch_of_one_length_is_that_of_the_workload() {
    let design = design(|_| {});
    for prefix in [0, 20, 64, 100] {
        for segments in [None, Some(5)] {
            let load = Workload { tokens: 100, prefix, segments, ..load(Mapping::HeadTile) };
            let alike = step(&design, &load).unwrap();
            assert_eq!(step_of(&design, &load, &streams([(100, prefix); 4])).unwrap(), alike);
        }
    }
}

#[test]
fn a_sample_takes_as_large_a_share_of_each_stream() {
    let design = design(|_| {});
    let load = Workload { segments: Some(8), layers: 1, ..load(Mapping::RowAligned) };
    let made = step_of(&design, &load, &streams([(256, 0), (128, 0), (64, 0), (3, 0)])).unwrap();
    assert_eq!(made.descriptors.iter().map(|d| d.count).collect::<Vec<_>>(), [8, 4, 2, 1]);
    assert_eq!((made.segments, made.most_segments), ((32 + 16 + 8 + 1, 15), 32));
}

#[test]
fn what_streams_of_different_lengths_cannot_do_is_refused() {
    let plain = design(|_| {});
    let refused =
        |design: &Design, all| step_of(design, &load(Mapping::RowAligned), &streams(all)).unwrap_err();
    let text = refused(&plain, [(64, 64), (64, 8), (64, 8), (64, 8)]).to_string();
    assert!(text.contains("prefixes") && text.contains("a token of its own"), "{text}");
    let window = design(|c| c.model.sliding_window = Some(32));
    let error = refused(&window, [(64, 8), (60, 8), (64, 8), (64, 8)]);
    assert!(matches!(error, WorkloadError::Different { what: "lengths", .. }), "{error}");
    assert!(refused(&plain, [(300, 0), (8, 0), (8, 0), (8, 0)]).to_string().contains("model.max_tokens"));
}
