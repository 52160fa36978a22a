//! The emitted placement equals the formula that the rest of the program uses, for every segment of every layer,
//! under Icarus.

use crate::support::sources::is_source;
use crate::support::verilated::design;
use meshkv::config::{Config, PlacementKind, Spread};
use meshkv::design::{index_bits, Design};
use meshkv::emit::{emit, modules};
use meshkv::tools;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The output of a test bench with the emitted sources of these modules.
fn simulate(design: &Design, sources: &[&str], bench: &str, arguments: &[String]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for file in emit(design).unwrap() {
        if sources.iter().any(|name| is_source(&file, name)) {
            let path = dir.path().join(Path::new(&file.path).file_name().unwrap());
            fs::write(&path, &file.text).unwrap();
            paths.push(path);
        }
    }
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/takv/{bench}.v"));
    let program = dir.path().join("bench");
    let iverilog = tools::find(&tools::IVERILOG).expect("this test needs Icarus; run `meshkv doctor`").path;
    let mut compile = Command::new(iverilog);
    compile.args(["-g2005", "-s", bench]).args(arguments).arg("-o").arg(&program);
    let said = compile.args(&paths).arg(fixture).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let said = Command::new("vvp").arg(&program).output().expect("vvp comes with Icarus");
    String::from_utf8(said.stdout).unwrap()
}

/// Width of a port of the emitted placement.
fn width(design: &Design, port: &str) -> u32 {
    let modules = modules(design);
    let placement = modules.iter().find(|m| m.name == "meshkv_placement").unwrap();
    placement.ports.iter().find(|p| p.name == port).unwrap().width.bits
}

fn agrees(cols: u32, rows: u32, change: impl FnOnce(&mut Config)) {
    let design = design(cols, rows, change);
    let (placement, mesh) = (design.placement, design.mesh);
    let defines = [
        ("LAYERS", placement.layers),
        ("SEGMENTS", placement.segments),
        ("LAYER_WIDTH", index_bits(placement.layers)),
        ("SEGMENT_WIDTH", index_bits(placement.segments)),
        ("X_WIDTH", index_bits(cols)),
        ("Y_WIDTH", index_bits(rows)),
        ("BLOCK_WIDTH", width(&design, "block")),
    ];
    let of_slice = || {
        let (g, cache) = (design.model.kv_heads - 1, design.model.max_streams - 1);
        let column = placement.own_column(g).0;
        [
            ("BY_SLICE", 1),
            ("AHEAD_WIDTH", width(&design, "ahead")),
            ("COLUMN", column),
            ("AHEAD", placement.turn(g) + cache),
        ]
    };
    let of_slice = placement.by_slice().then(of_slice);
    let defines: Vec<_> = defines.into_iter().chain(of_slice.into_iter().flatten()).collect();
    let defines: Vec<_> = defines.iter().map(|(name, value)| format!("-D{name}={value}")).collect();
    let said = simulate(&design, &["meshkv_placement", "meshkv_divmod"], "placement_tb", &defines);
    let mut lines = said.lines();
    for layer in 0..placement.layers {
        for segment in 0..placement.segments {
            // With slices, that of the last KV head in the last cache.
            let (cache, kv_head) = (design.model.max_streams - 1, design.model.kv_heads - 1);
            let (x, y) = mesh.coords(placement.home_of(cache, layer, segment, kv_head));
            let block = placement.block(layer, segment);
            let expected = format!("{layer} {segment} {x} {y} {block}");
            assert_eq!(
                lines.next(),
                Some(expected.as_str()),
                "{cols}x{rows} {:?}",
                design.configuration().takv
            );
        }
    }
    assert_eq!(lines.next(), None);
}

#[test]
fn takv_is_where_the_formula_says() {
    for (cols, rows, stride) in
        [(2, 2, 0), (3, 2, 2), (4, 3, 1), (8, 8, 1), (16, 4, 0), (5, 7, 3), (3, 16, 1)]
    {
        agrees(cols, rows, |c| {
            c.takv.column_stride = stride;
            (c.model.layers, c.model.max_tokens, c.kv.segment_tokens) = (19, 8 * 77, 8);
        });
    }
}

#[test]
fn slices_are_where_the_formula_says() {
    for (cols, rows, kv_heads) in
        [(2, 2, 2), (3, 2, 6), (4, 3, 20), (8, 8, 32), (16, 4, 16), (5, 7, 15), (3, 16, 3)]
    {
        agrees(cols, rows, |c| {
            (c.takv.spread, c.takv.swap_epoch) = (Spread::Slice, None);
            (c.model.heads, c.model.kv_heads, c.model.max_streams) = (kv_heads, kv_heads, 5);
            (c.model.layers, c.model.max_tokens, c.kv.segment_tokens) = (19, 8 * 77, 8);
        });
    }
}

#[test]
fn round_robin_and_hub_are_where_the_formula_says() {
    for (cols, rows) in [(2, 2), (3, 2), (8, 8), (5, 7), (16, 3)] {
        for kind in [PlacementKind::RoundRobin, PlacementKind::Hub] {
            agrees(cols, rows, |c| {
                (c.takv.placement, c.takv.hub_x, c.takv.hub_y) = (kind, cols - 1, rows / 2);
                (c.model.layers, c.model.max_tokens) = (7, 8 * 50);
            });
        }
    }
}

#[test]
fn a_single_layer_and_a_single_segment_have_a_home() {
    agrees(3, 2, |c| (c.model.layers, c.model.max_tokens, c.takv.column_stride) = (1, 256, 1));
    agrees(3, 2, |c| (c.model.layers, c.model.max_tokens) = (6, 8));
}

#[test]
fn every_residue_and_quotient_is_that_of_the_division() {
    let design = design(2, 2, |_| {});
    for modulus in 2..=16_u32 {
        for width in [1, 8, 9] {
            let set = |name: &str, value: u32| format!("-Pdivmod_tb.{name}={value}");
            let arguments =
                [set("WIDTH", width), set("MODULUS", modulus), set("RESIDUE_WIDTH", index_bits(modulus))];
            let said = simulate(&design, &["meshkv_divmod"], "divmod_tb", &arguments);
            assert_eq!(said, "all\n", "{width} bits by {modulus}");
        }
    }
}
