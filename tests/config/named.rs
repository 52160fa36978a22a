//! The configurations that come with the program: legal, explained, and comparable where they are compared.

use meshkv::config::{Board, Config, PlacementKind, Spread};
use meshkv::design::Design;
use std::fs;
use std::path::{Path, PathBuf};

/// The difference of one configuration from another.
type Change = fn(&mut Config);

fn load(name: &str) -> Config {
    let path = Path::new("configs").join(name).with_extension("toml");
    Design::load(&path).unwrap_or_else(|report| panic!("{report}")).0.configuration().clone()
}

fn all() -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir("configs").unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 17, "{paths:?}");
    paths
}

#[test]
fn every_configuration_is_legal_and_only_those_that_mean_to_be_are_unwise() {
    for path in all() {
        let (_, warnings) = Design::load(&path).unwrap_or_else(|report| panic!("{report}"));
        // The largest mesh, and designs whose short FIFOs are to be full.
        let unwise = ["mesh_16x16.toml", "mutate_two_stages.toml", "mutate_three_stages.toml"];
        let unwise = unwise.iter().any(|name| path.ends_with(name));
        assert_eq!(warnings.is_empty(), !unwise, "{}: {warnings}", path.display());
    }
}

#[test]
fn every_configuration_opens_with_its_purpose() {
    for path in all() {
        let text = fs::read_to_string(&path).unwrap();
        let purpose: Vec<_> = text.lines().take_while(|line| line.starts_with("# ")).collect();
        assert!(purpose.concat().len() > 40, "{} opens with {purpose:?}", path.display());
        assert!(text.lines().nth(purpose.len()) == Some(""), "{}: no empty line after it", path.display());
    }
}

#[test]
fn the_four_that_are_compared_differ_only_in_placement_and_transport() {
    let reference = load("meshkv");
    assert_eq!(reference, Config::default(), "everything else is the reference's");
    for (name, placement, multicast) in [
        ("cent", PlacementKind::Hub, false),
        ("shared", PlacementKind::RoundRobin, false),
        ("takv", PlacementKind::Takv, false),
        ("meshkv", PlacementKind::Takv, true),
    ] {
        let mut config = load(name);
        assert_eq!((config.takv.placement, config.mare.enable), (placement, multicast), "{name}");
        (config.takv.placement, config.mare.enable) = (reference.takv.placement, reference.mare.enable);
        assert_eq!(config, reference, "{name}");
    }
}

#[test]
fn an_ablation_takes_one_thing_away() {
    let without: [(&str, Change); 7] = [
        ("no_bloom", |c| c.mare.dedup = false),
        ("no_takv", |c| c.takv.placement = PlacementKind::RoundRobin),
        ("no_pad", |c| c.pad.enable = false),
        ("no_mare", |c| c.mare.enable = false),
        ("no_slr_registers", |c| c.floorplan.slr_registers = false),
        ("meshkv_stride1", |c| c.takv.column_stride = 1),
        ("u280_16x4", |c| {
            (c.mesh.cols, c.mesh.rows, c.takv.spread) = (16, 4, Spread::Slice);
            (c.model.layers, c.model.max_tokens, c.model.max_streams) = (16, 16_384, 1);
            c.memory.capacity_gib = 8.0;
        }),
    ];
    for (name, change) in without {
        let mut expected = load("meshkv");
        change(&mut expected);
        assert_eq!(load(name), expected, "{name}");
    }
    let mut expected = load("cent");
    expected.takv.hub_x = expected.mesh.cols / 2;
    assert_eq!(load("cent_bottom_middle"), expected);
}

/// Bytes of the regions of all homes, and of a layer's queries and outputs, which share HBM without a shell.
fn bytes_in_hbm(design: &Design) -> u64 {
    let (model, head_dim) = (&design.model, u64::from(design.pe.head_dim));
    let caches = design.placement.numbered_caches(model.max_streams);
    let of_home =
        u64::from(design.placement.blocks_of_home()) * u64::from(design.placement.block_slices() * caches);
    let caches = u64::from(design.placement.homes()) * of_home * design.memory.slice_bytes;
    caches + 2 * u64::from(model.max_streams * model.heads) * head_dim * 2
}

#[test]
fn all_that_a_configuration_of_the_card_keeps_in_hbm_fits_there() {
    let of_the_card = |path: &PathBuf| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        Board::ALL.iter().any(|board| name.starts_with(&format!("{}_", board.name())))
    };
    let paths: Vec<_> = all().into_iter().filter(of_the_card).collect();
    assert!(paths.len() >= 3, "{paths:?}");
    for path in paths {
        let (design, warnings) = Design::load_for_the_card(&path).unwrap_or_else(|report| panic!("{report}"));
        // The paper's layer in one column costs bandwidth, and is kept in some of them on purpose.
        let mut others = warnings.problems.iter().filter(|p| !p.message.starts_with("takv.column_stride"));
        assert!(others.next().is_none(), "{}: {warnings}", path.display());
        let fpga = design.fpga();
        let hbm = u64::from(fpga.hbm_channels) * fpga.hbm_channel_bytes;
        let needed = bytes_in_hbm(&design);
        assert!(needed <= hbm, "{} needs {needed} of {hbm} bytes", path.display());
        let claimed = design.memory.capacity_gib * f64::from(1 << 30);
        assert!(claimed <= hbm as f64, "{} claims {claimed} of {hbm} bytes", path.display());
    }
}

#[test]
fn the_models_are_the_papers() {
    let model = |name| {
        let config = load(name);
        (config.model.layers, config.model.heads, config.model.kv_heads, config.model.sliding_window)
    };
    assert_eq!(model("llama2_7b"), (32, 32, 32, None));
    assert_eq!(model("mistral_7b"), (32, 32, 8, Some(4096)));
}
