//! What crosses between clocks ends in a register; an end in a memory, in a DSP slice or behind logic is named.

use crate::support::elaborated::elaborated;
use crate::support::sources::source_mut;
use meshkv::design::Design;
use meshkv::emit::{emit, SourceFile, TOP};
use meshkv::synth::lint::graph::{crossings, flat::Flat};
use std::path::Path;

/// Messages of the check about these files.
fn said(files: &[SourceFile]) -> Vec<String> {
    let modules = elaborated(files);
    crossings::check(&Flat::new(&modules, TOP).unwrap()).into_iter().map(|message| message.text).collect()
}

/// A named configuration, with stages that overlap or not.
fn named(name: &str, overlap: bool) -> Design {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
    let mut config = Design::load(&path).unwrap().0.configuration().clone();
    config.pad.enable = overlap;
    Design::from_config("test", &config).unwrap()
}

#[test]
fn every_crossing_ends_in_a_register() {
    for overlap in [true, false] {
        assert_eq!(said(&emit(&named("tiny", overlap)).unwrap()), [""; 0], "overlap: {overlap}");
    }
}

#[test]
fn a_crossing_that_ends_elsewhere_is_named_with_both_ends() {
    let mutants = [
        // The idle state as it is computed, in front of the synchronizer.
        (
            "meshkv_pad",
            "assign compute_idle = idle_q;",
            "assign compute_idle = idle_q & ~kv_valid;",
            "before a synchronizer",
        ),
        // The word of a partial result, negated on its way to the link.
        (
            "meshkv_tile_port",
            "part_turn_q ? part_data :",
            "part_turn_q ? part_data + 1'b1 :",
            "more than one multiplexer",
        ),
        // The state of the arrays' reset, sampled by a register that is not made for it.
        (
            "meshkv_reset",
            "down_q     <= down & ~ask_q & ~request;",
            "down_q     <= pe_low_q;",
            "is sampled by a plain register",
        ),
        // The write pointer of a FIFO, in binary.
        (
            "meshkv_async_fifo",
            ".s_data(write_gray),",
            ".s_data({write_position, write_gray[0]}),",
            "only a Gray code",
        ),
        // Flits of the requester, written by the array's clock as well.
        ("meshkv_reorder_fifo", "put_data;", "put_data ^ m_data;", "ends in a memory"),
    ];
    let sound = emit(&named("tiny", false)).unwrap();
    let known = said(&sound);
    for (module, from, to, says) in mutants {
        let mut files = sound.clone();
        let file = source_mut(&mut files, module);
        assert!(file.text.contains(from), "{module} has no {from}");
        file.text = file.text.replacen(from, to, 1);
        let found = said(&files);
        assert!(found.iter().any(|text| text.contains(says) && !known.contains(text)), "{module}: {found:?}");
    }
}
