//! Every path between two SLRs leads from register to register, and resets of tiles come from registers of their own; what
//! does otherwise is found and named.

use crate::support::sources::source_mut;
use meshkv::design::Design;
use meshkv::emit::{emit, SourceFile, TOP};
use meshkv::synth::lint::graph::{fanout, slr};
use meshkv::synth::lint::passes::{lay_out, Depth, Linters};
use meshkv::synth::lint::vivado;
use meshkv::tools::interrupt::Interrupt;
use std::path::Path;

/// Messages of the check about these files.
fn said(files: &[SourceFile]) -> Vec<String> {
    let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
    let dir = tempfile::tempdir().unwrap();
    let sources = lay_out(files, dir.path()).unwrap();
    for pass in linters.passes(&sources, TOP, Depth::Places).iter().filter(|pass| pass.tool.name == "yosys") {
        let found = pass.run(dir.path(), &Interrupt::default()).unwrap();
        assert!(found.is_empty(), "{found:?}");
    }
    let modules = vivado::registers(&linters, dir.path(), TOP, &Interrupt::default()).unwrap();
    let mut found = slr::check(&modules, dir.path(), TOP).unwrap();
    found.extend(fanout::check(&modules, TOP).unwrap());
    found.into_iter().map(|message| message.text).collect()
}

fn named(name: &str) -> Design {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
    Design::load(&path).unwrap().0
}

#[test]
fn nothing_but_registers_is_on_a_path_between_two_slrs() {
    for name in ["tiny", "u280_4x8", "u280_8x8"] {
        assert_eq!(said(&emit(&named(name)).unwrap()), [""; 0], "{name}");
    }
}

#[test]
fn logic_an_enable_a_reset_and_what_controls_too_much_are_named() {
    let sound = emit(&named("tiny")).unwrap();
    assert_eq!(said(&sound), [""; 0]);
    let not_data = "is not the data input of a register";
    let mutants = [
        // Logic before the register of a link; it is in no region.
        (
            "meshkv_mesh",
            ".d  ({gen_row[y+1]",
            ".d  (~{gen_row[y+1]",
            "logic in no region is between SLR0 and SLR1",
        ),
        // The column of a tile is computed in SLR0 for a row of SLR1.
        (
            "meshkv_counter_choice",
            "(asks[AWAY*9+:9])",
            "(asks[AWAY*9+:9] - 9'd1)",
            "is logic, not a register",
        ),
        // The reset of a register between SLRs is that of the sender.
        ("meshkv_mesh", ".rst(rst[TILE]),", ".rst(rst[TILE + COLS]),", not_data),
        // Errors of tiles are masked before they have passed a register.
        (
            "meshkv_front",
            "({error_memory[y*COLS+:COLS], error",
            "({error_memory[y*COLS+:COLS] & {COLS{idle}}, error",
            not_data,
        ),
        // One register resets all tiles.
        (
            "meshkv_top",
            ".rst            (rst),",
            ".rst            ({TILES{rst[0]}}),",
            "need a tree of registers",
        ),
        // A tile's reset passes logic.
        (
            "meshkv_top",
            ".rst            (rst),",
            ".rst            (rst & {TILES{idle}}),",
            "need a register before them",
        ),
    ];
    for (module, from, to, says) in mutants {
        let mut files = sound.clone();
        let file = source_mut(&mut files, module);
        assert!(file.text.contains(from), "{module} has no {from}");
        file.text = file.text.replacen(from, to, 1);
        let found = said(&files);
        assert!(found.iter().any(|text| text.contains(says)), "{module}, {to}: {found:?}");
    }
}
