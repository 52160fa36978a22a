//! Emitted files as Yosys elaborates them.

use meshkv::emit::{SourceFile, TOP};
use meshkv::synth::lint::passes::{lay_out, Depth, Linters};
use meshkv::synth::lint::vivado;
use meshkv::synth::Modules;
use meshkv::tools::interrupt::Interrupt;

/// The modules of a design that Yosys reads without a word.
pub fn elaborated(files: &[SourceFile]) -> Modules {
    let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
    let dir = tempfile::tempdir().unwrap();
    let sources = lay_out(files, dir.path()).unwrap();
    let passes = linters.passes(&sources, TOP, Depth::Modules);
    for pass in passes.iter().filter(|pass| pass.tool.name == "yosys") {
        assert_eq!(pass.run(dir.path(), &Interrupt::default()).unwrap(), []);
    }
    vivado::registers(&linters, dir.path(), TOP, &Interrupt::default()).unwrap()
}
