//! No shift by an amount that nothing has set decides a register, an enable or an address.

use crate::support::device::mutant;
use crate::support::elaborated::elaborated;
use meshkv::design::Design;
use meshkv::emit::{emit, SourceFile, TOP};
use meshkv::synth::lint::{graph::flat::Flat, unset};
use std::path::Path;

fn said(files: &[SourceFile]) -> Vec<String> {
    let modules = elaborated(files);
    unset::check(&Flat::new(&modules, TOP).unwrap()).into_iter().map(|message| message.text).collect()
}

#[test]
fn the_shift_of_an_idle_filler_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/tiny.toml");
    let sound = emit(&Design::load(&path).unwrap().0).unwrap();
    assert_eq!(said(&sound), [""; 0]);
    // As it once was: nothing sets the identifier, and used_q masks its shift behind an inverter.
    let filler = "meshkv_filler";
    let unset = mutant(&sound, filler, "            d_id_q     <= {ID_WIDTH{1'b0}};\n", "");
    assert_eq!(said(&unset), [""; 0], "the shift is masked by itself");
    let slip =
        mutant(&unset, filler, "{IDS{frees}} & FIRST_ID << d_id_q", "{{IDS-1{1'b0}}, frees} << d_id_q");
    let found = said(&slip);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("u_filler/d_id_q") && found[0].contains("u_filler/used_q"), "{found:?}");
}
