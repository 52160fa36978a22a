//! Single modules of the emitted Verilog under Icarus, each with a test bench of `tests/<block>/`.

use crate::support::sources::source_mut;
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::{emit_block, SourceFile};
use meshkv::synth::lint::passes::{lay_out, Depth, Linters};
use meshkv::tools;
use meshkv::tools::interrupt::Interrupt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The sources of a module and of the modules that it instantiates.
pub fn sources(module: &str) -> Vec<SourceFile> {
    let design = Design::from_config("test", &Config::default()).expect("the defaults are legal");
    emit_block(&design, module).expect("it is emitted")
}

/// Replaces a text that must occur once in a module.
pub fn change(files: &mut [SourceFile], module: &str, from: &str, to: &str) {
    let file = source_mut(files, module);
    assert_eq!(file.text.matches(from).count(), 1, "{module} has not one `{from}`");
    file.text = file.text.replace(from, to);
}

/// A compiled test bench.
pub struct Bench {
    dir: TempDir,
}

impl Bench {
    /// Compiles `tests/<bench>.v` with these sources; `parameters` are those of the bench.
    pub fn of(sources: &[SourceFile], bench: &str, parameters: &[(&str, u32)]) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = sources
            .iter()
            .map(|file| {
                let path = dir.path().join(Path::new(&file.path).file_name().unwrap());
                fs::write(&path, &file.text).unwrap();
                path
            })
            .collect();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/{bench}.v"));
        let top = bench.rsplit('/').next().unwrap();
        let iverilog =
            tools::find(&tools::IVERILOG).expect("this test needs Icarus; run `meshkv doctor`").path;
        let mut compile = Command::new(iverilog);
        compile.args(["-g2005", "-s", top, "-o"]).arg(dir.path().join("bench"));
        compile.args(parameters.iter().map(|(name, value)| format!("-P{top}.{name}={value}")));
        let said = compile.args(&paths).arg(fixture).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        Bench { dir }
    }

    /// Runs the bench and returns its output; `input` becomes the file that its `+input=` names.
    pub fn run(&self, input: &str, arguments: &[(&str, u32)]) -> String {
        let path = self.dir.path().join("input");
        fs::write(&path, input).unwrap();
        let mut run = Command::new("vvp");
        run.arg(self.dir.path().join("bench")).arg(format!("+input={}", path.display()));
        run.args(arguments.iter().map(|(name, value)| format!("+{name}={value}")));
        let said = run.output().expect("vvp comes with Icarus");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        eprint!("{}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8(said.stdout).unwrap()
    }
}

/// The messages of the linters about a module with these values of its parameters.
pub fn lint(module: &str, parameters: &[(&str, u32)]) -> Vec<String> {
    let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
    let mut files = sources(module);
    // As the emitted file of a design that asks for these values.
    let top = source_mut(&mut files, module);
    for (name, value) in parameters {
        let start = top.text.find(&format!(" {name} = ")).expect("a parameter") + name.len() + 4;
        let end = start + top.text[start..].find([',', '\n']).expect("its end");
        top.text.replace_range(start..end, &value.to_string());
    }
    let dir = tempfile::tempdir().unwrap();
    let files = lay_out(&files, dir.path()).unwrap();
    let passes = linters.passes(&files, module, Depth::Places);
    let found = passes.iter().flat_map(|pass| {
        let said = pass.run(dir.path(), &Interrupt::default()).unwrap();
        said.into_iter().map(move |m| format!("{} as {}: {}", pass.tool.name, pass.language, m.text))
    });
    found.collect()
}
