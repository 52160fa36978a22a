//! The cycles of a whole layer that a sample of its segments promises are those of the whole layer.

use meshkv::cosim::workloads::decode::{default_segments, step, Bench, Plan, Workload};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::eval::DecodeRow;
use std::path::Path;

/// Largest error of the default sample where memory holds a layer up.
const MOST: f64 = 0.02;

fn named(name: &str) -> Design {
    Design::load(&Path::new("configs").join(name).with_extension("toml")).unwrap().0
}

/// One stream, one layer.
fn load(tokens: u32) -> Workload {
    Workload {
        tokens,
        batch: 1,
        prefix: 0,
        mapping: Mapping::RowAligned,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 1,
        stride: 1,
        append: false,
    }
}

/// The row of a run on the model.
fn run(design: &Design, load: &Workload) -> DecodeRow {
    let step = step(design, load).unwrap();
    let plan = Plan::new(design, step.descriptors.clone(), 1);
    let done = Bench::on_model(design).run(&plan, &mut |_| false).unwrap();
    assert_eq!(done.violations, 0, "{:?}", done.violation_list);
    DecodeRow::new(design, &step, &plan, &done, load.batch)
}

/// Error of the cycles of a layer that a sample of so many segments promises, and its unevenness.
fn error(design: &Design, load: &Workload, segments: u32) -> (f64, f64) {
    let whole = run(design, load);
    let sample = run(design, &Workload { segments: Some(segments), ..*load });
    let layers = f64::from(sample.sample.of_layers);
    (sample.whole.cycles / layers / whole.cycles as f64 - 1.0, sample.sample.unevenness())
}

/// Asserts that a layer takes the cycles that the default sample promises, but for this share.
fn is_within(most: f64, design: &Design, load: &Workload) {
    let (error, unevenness) = error(design, load, default_segments(design, load).unwrap());
    let what = format!("{} {load:?}: {:.2} %", design.name, 100.0 * error);
    assert!(error.abs() <= most && (unevenness - 1.0).abs() < 1e-9, "{what}, unevenness {unevenness}");
}

#[test]
fn whole_rounds_over_the_homes_promise_the_cycles_of_a_layer_and_other_samples_do_not() {
    let mut config = named("u280_4x8").configuration().clone();
    (config.takv.spread, config.takv.column_stride) = (meshkv::config::Spread::Segment, 1);
    let design = Design::from_config("strided", &config).unwrap();
    let load = load(8192);
    is_within(MOST, &design, &load);
    // Half of the homes have all of it, which takes twice as long and somewhat more.
    let (error, unevenness) = error(&design, &load, 16);
    assert_eq!(unevenness, 2.0);
    assert!((0.5..1.2).contains(&error), "{error}");
}

#[test]
fn the_stated_error_holds_under_other_mappings_and_placements() {
    for (name, tokens, mapping, most) in [
        ("meshkv", 8192, Mapping::RowAligned, MOST),
        // Queues of links grow over the layer: what `whole.error` says.
        ("u280_4x8", 8192, Mapping::HeadTile, 0.08),
        ("meshkv_stride1", 16_384, Mapping::RowAligned, 0.08),
    ] {
        is_within(most, &named(name), &Workload { mapping, ..load(tokens) });
    }
}
