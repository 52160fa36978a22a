//! `--mapping auto` takes the mapping that the cycle model finds best, or one nearly as fast.

use meshkv::config::Config;
use meshkv::cosim::workloads::decode::{step, Bench, Plan, Workload};
use meshkv::design::{Choice, Design, Mapping, Sharing};
use std::path::Path;

/// Most cycles of the chosen mapping over those of the best.
const MOST: f64 = 1.05;

/// A design of `configs/`, with so many KV heads, for eight streams of short contexts.
fn named(name: &str, kv_heads: Option<u32>) -> Design {
    let (design, _) = Design::load(&Path::new("configs").join(name).with_extension("toml")).unwrap();
    let mut config: Config = design.configuration().clone();
    config.model.max_streams = 8;
    if name != "tiny" {
        (config.model.max_tokens, config.model.layers) = (4096, 8);
    }
    config.model.kv_heads = kv_heads.unwrap_or(config.model.kv_heads);
    Design::from_config(name, &config).unwrap()
}

/// One layer with `row-aligned`.
fn load(tokens: u32, batch: u32, prefix: u32, segments: u32) -> Workload {
    Workload {
        tokens,
        batch,
        prefix,
        mapping: Mapping::RowAligned,
        sharing: Sharing::KvHead,
        segments: Some(segments),
        layers: 1,
        stride: 1,
        append: false,
    }
}

/// Cycles on the model.
fn cycles(design: &Design, load: &Workload) -> u64 {
    let plan = Plan::new(design, step(design, load).unwrap().descriptors, 1);
    let done = Bench::on_model(design).run(&plan, &mut |_| false).unwrap();
    assert_eq!(done.violations, 0, "{:?}", done.violation_list);
    done.cycles
}

/// Asserts that the choice is nearly as fast as the best, that no bound is above the cycles of its mapping, and that
/// the best is much better than the worst if `matters`. Returns the choice.
fn ranks(design: &Design, load: &Workload, matters: bool) -> Mapping {
    let choice = Choice::new(design, &step(design, load).unwrap().descriptors);
    let mut found = Vec::new();
    for (mapping, forecast) in &choice.forecasts {
        let Ok(forecast) = forecast else { continue };
        let cycles = cycles(design, &Workload { mapping: *mapping, ..*load });
        let what = format!("{} {load:?}: {mapping:?} takes {cycles} cycles, {forecast:?}", design.name);
        let least = forecast.bounds.tightest().1;
        assert!(least <= cycles && least <= forecast.cycles, "{what}");
        found.push((*mapping, cycles));
    }
    let of =
        |best: &dyn Fn(u64, u64) -> u64| found.iter().map(|(_, cycles)| *cycles).reduce(best).unwrap() as f64;
    let (best, worst) = (of(&|a, b| a.min(b)), of(&|a, b| a.max(b)));
    let (_, chosen) = found.iter().find(|(mapping, _)| *mapping == choice.mapping).unwrap();
    let what = format!("{} {load:?}: {:?} of {found:?}", design.name, choice.mapping);
    assert!(*chosen as f64 <= MOST * best, "{what}");
    assert!(!matters || worst > MOST * best, "{what}: every mapping would pass");
    choice.mapping
}

#[test]
fn one_stream_has_the_fastest_mapping() {
    for (name, kv_heads, segments, matters) in [
        ("tiny", None, 8, true),
        ("u280_4x8", None, 8, true),
        ("u280_4x8", Some(8), 8, true),
        ("u280_8x8", Some(8), 4, true),
        ("meshkv", None, 4, false),
    ] {
        let tokens = if name == "tiny" { 256 } else { 4096 };
        ranks(&named(name, kv_heads), &load(tokens, 1, 0, segments), matters);
    }
}

#[test]
fn so_have_streams_that_share_a_prefix() {
    let tiny = named("tiny", None);
    assert_eq!(ranks(&tiny, &load(256, 8, 256, 8), true), Mapping::RowAligned);
    let grouped = named("u280_4x8", Some(8));
    ranks(&grouped, &load(4096, 8, 4096, 8), true);
    // With one segment, seven of eight rows have no work, and their empty results go to the roots all the same.
    let strided = named("u280_4x8_strided", Some(8));
    assert_eq!(ranks(&strided, &load(64, 8, 64, 1), true), Mapping::HeadTile);
    assert_eq!(ranks(&named("meshkv_stride1", None), &load(4096, 8, 4096, 4), true), Mapping::RowAligned);
    ranks(&named("u280_8x8", Some(8)), &load(4096, 2, 4096, 4), true);
}

#[test]
fn so_have_streams_of_their_own() {
    ranks(&named("u280_4x8", Some(8)), &load(64, 8, 0, 1), false);
    ranks(&named("tiny", None), &load(64, 8, 0, 8), true);
    ranks(&named("meshkv", Some(8)), &load(256, 8, 128, 4), true);
    // Where each KV head has a query head of its own, a forecast that saw a slice of one home alone took the fixed rows for
    // those of the homes.
    let mut many = named("u280_4x8", None).configuration().clone();
    (many.model.max_streams, many.model.max_tokens) = (12, 2048);
    let many = Design::from_config("many", &many).unwrap();
    assert_eq!(ranks(&many, &load(512, 12, 0, 8), true), Mapping::RowAligned);
}
