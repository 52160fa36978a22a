//! Every shape of fabric is clean under Verilator, Icarus, Yosys and slang, and under Verilator's later language.

use crate::support::verilated::design;
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::{emit, FABRIC, ROOT, TOP};
use meshkv::synth::lint::passes::{lay_out, Depth, Linters, SYNTHESIS};
use meshkv::tools::interrupt::Interrupt;

/// All messages about a module and the modules below it, from the wanted passes: tool and language.
fn messages(design: &Design, top: &str, wanted: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
    let dir = tempfile::tempdir().unwrap();
    let sources = lay_out(&emit(design).unwrap(), dir.path()).unwrap();
    let passes = linters.passes(&sources, top, Depth::of(design.mesh.tiles()));
    let passes = passes.iter().filter(|pass| wanted(pass.tool.name, pass.language));
    let found = passes.flat_map(|pass| {
        let said = pass.run(dir.path(), &Interrupt::default()).unwrap();
        said.into_iter().map(move |m| format!("{} as {}: {}", pass.tool.name, pass.language, m.text))
    });
    found.collect()
}

/// The language of the design, and one whose keywords it must avoid; keywords are the same in every shape.
const LANGUAGES: [&str; 2] = ["1364-2005", "1800-2017"];

/// A design with small tiles: the tests check the connections between them.
fn light(cols: u32, rows: u32, change: impl FnOnce(&mut Config)) -> Design {
    design(cols, rows, |config| {
        (config.mare.bloom_bits, config.mare.bloom_refresh) = (16, 4);
        (config.mare.tag_entries, config.mare.request_entries) = (2, 4);
        (config.pe.array_rows, config.model.max_streams) = (1, 2);
        change(config);
    })
}

/// Asserts that the whole design is clean, or only the fabric where the arrays are the same as elsewhere.
fn is_clean(top: &str, cols: u32, rows: u32, change: impl FnOnce(&mut Config)) {
    let design = light(cols, rows, change);
    let found = messages(&design, top, |_, language| language == LANGUAGES[0]);
    assert!(found.is_empty(), "{cols}x{rows} {:?}:\n{}", design.configuration().noc, found.join("\n"));
}

#[test]
fn meshes_of_every_shape_are_clean() {
    // Nine of a side take as many bits as sixteen; two by two is what flits of every width run on.
    // Four rows stand in three SLRs: all that the front has for those is in it.
    for (top, cols, rows) in [(TOP, 3, 4), (FABRIC, 2, 9), (FABRIC, 9, 2)] {
        is_clean(top, cols, rows, |_| {});
    }
}

#[test]
fn a_column_of_one_head_and_one_stream_is_clean() {
    is_clean(ROOT, 2, 2, |c| (c.model.heads, c.model.kv_heads, c.model.max_streams) = (2, 2, 1));
}

#[test]
fn a_device_whose_cache_grows_is_clean() {
    is_clean(TOP, 2, 2, |c| c.kv.append = true);
}

#[test]
fn a_device_whose_flits_carry_parity_is_clean() {
    for stages in [2, 3] {
        is_clean(TOP, 2, 2, |c| {
            (c.noc.parity, c.noc.router_stages, c.kv.append) = (true, stages, stages == 3)
        });
    }
}

#[test]
fn the_largest_mesh_is_clean() {
    // Icarus elaborates each of the 256 routers and takes minutes; the others take one for all.
    assert_eq!(messages(&light(16, 16, |_| {}), TOP, |tool, _| tool != "iverilog"), [""; 0]);
}

#[test]
fn no_name_is_a_keyword_of_later_languages() {
    for (top, multicast) in [(TOP, true), (FABRIC, false)] {
        let design = light(2, 2, |config| config.mare.multicast = multicast);
        assert_eq!(messages(&design, top, |_, language| language == LANGUAGES[1]), [""; 0]);
    }
}

#[test]
fn designs_without_the_checks_of_a_simulation_are_clean() {
    for (top, plain) in [(TOP, false), (FABRIC, true)] {
        let design = light(2, 2, |config| {
            (config.mare.multicast, config.mare.dedup, config.pad.enable) = (!plain, !plain, !plain);
            config.takv.swap_epoch = Some(u32::from(plain));
        });
        assert_eq!(messages(&design, top, |_, language| language == SYNTHESIS), [""; 0]);
    }
}

#[test]
fn one_and_four_channels_of_any_depth_are_clean() {
    for (vn0, vn1, depth) in [(1, 3, 2), (4, 4, 64), (3, 2, 5)] {
        is_clean(FABRIC, 3, 2, |config| {
            (config.noc.vn0_vcs, config.noc.vn1_vcs, config.noc.vc_depth) = (vn0, vn1, depth);
        });
    }
}

#[test]
fn ports_of_any_number_of_tiles_are_clean() {
    // With eight tiles a port an ID of the host has eight bits.
    for (top, cols, tiles) in [(TOP, 3, 2), (TOP, 5, 4), (FABRIC, 9, 8)] {
        is_clean(top, cols, 2, |config| config.memory.tiles_per_port = Some(tiles));
    }
}

#[test]
fn flits_of_every_width_are_clean() {
    for width in [64, 128, 256, 512, 1024] {
        let design = design(2, 2, |config| {
            config.noc.flit_width = width;
            // A flit is read in one cycle, from 72-bit blocks side by side.
            config.kv.uram_per_tile = config.kv.uram_per_tile.max(width.div_ceil(72));
        });
        // It is Verilator that knows of widths. Yosys takes most of a minute for the widest.
        let tools: &[&str] = match width {
            64 => &["verilator", "iverilog", "yosys", "slang"],
            1024 => &["verilator", "iverilog", "slang"],
            _ => &["verilator", "slang"],
        };
        let wanted = |tool: &str, language: &str| language == LANGUAGES[0] && tools.contains(&tool);
        assert_eq!(messages(&design, TOP, wanted), [""; 0], "{width}");
    }
}

#[test]
fn routers_without_multicast_are_clean() {
    for (cols, rows, vn0, vn1) in [(3, 4, 1, 2), (2, 2, 4, 4)] {
        is_clean(FABRIC, cols, rows, |config| {
            config.mare.multicast = false;
            (config.noc.vn0_vcs, config.noc.vn1_vcs) = (vn0, vn1);
        });
    }
}
