//! Compiles the part of the co-simulation shim that no design changes, lists the examples that the program
//! carries, and checks for Verilator.
//!
//! Neither a compiler nor Verilator is needed to build the program. Without a C++ compiler the objects are left empty and
//! compiled at the first co-simulation. Without Verilator there is a warning.

use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The oldest Verilator that the shim supports.
const OLDEST: (u32, u32) = (5, 6);

/// Sources of the shim that know no design; `PREBUILT` in `src/cosim/build/compile.rs` lists the same.
const UNITS: [&str; 5] = ["harness", "pins", "shim", "termination", "worker_pair"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=sim");
    println!("cargo::rerun-if-env-changed=CXX");
    println!("cargo::rerun-if-env-changed=MESHKV_VERILATOR");
    compile_shim();
    embed_examples();
    digest_of_lint();
    look_for_verilator();
}

/// Files that decide what `meshkv lint` finds: designs that it has found clean are kept as long as none changes.
const LINT: [&str; 4] = ["src/synth/lint", "src/synth/netlist", "sim/lint.vlt", "sim/vivado"];

/// Sets `MESHKV_LINT_CHECKS` to a digest of them.
fn digest_of_lint() {
    let mut digest = DefaultHasher::new();
    let mut left: Vec<PathBuf> = LINT.iter().map(PathBuf::from).collect();
    LINT.iter().for_each(|path| println!("cargo::rerun-if-changed={path}"));
    while let Some(path) = left.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("a folder of the package");
            let mut inside: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
            inside.sort();
            left.extend(inside);
        } else {
            fs::read(&path).expect("a file of the package").hash(&mut digest);
        }
    }
    println!("cargo::rustc-env=MESHKV_LINT_CHECKS={:016x}", digest.finish());
}

fn compile_shim() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let cxx = env::var("CXX").unwrap_or_default();
    // Words after the program are its arguments, as in `CXX="ccache g++"`, unless all is one path.
    let whole = Path::new(&cxx).is_file();
    let mut words = if whole { vec![cxx.as_str()] } else { cxx.split_whitespace().collect() };
    let program = if words.is_empty() { "g++" } else { words.remove(0) };
    let command = || {
        let mut command = Command::new(program);
        command.args(&words);
        command
    };
    // As `Toolchain` describes a compiler.
    let version = first_line(command()).map(|version| [&[version.as_str()][..], &words].concat().join(" "));
    let mut version = version.unwrap_or_default();
    for unit in UNITS {
        let object = out.join(format!("{unit}.o"));
        let compiled = command()
            .args(["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-c"])
            .arg(format!("sim/{unit}.cpp"))
            .arg("-o")
            .arg(&object)
            .status()
            .is_ok_and(|status| status.success());
        if !compiled {
            version.clear();
        }
    }
    if version.is_empty() {
        println!("cargo::warning=no C++ compiler ({program}): co-simulation will need one");
        for unit in UNITS {
            fs::write(out.join(format!("{unit}.o")), []).expect("OUT_DIR is writable");
        }
    }
    // The objects are used only with the compiler that made them.
    println!("cargo::rustc-env=MESHKV_SHIM_CXX={version}");
}

/// Folders of the files that the program carries, so that it shows examples without the repository.
const EXAMPLES: [&str; 4] = ["configs", "energy", "examples", "sweeps"];

/// Writes the list of the files for `src/cli/program/examples.rs`: names and bytes, sorted.
fn embed_examples() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let mut list = String::from("[\n");
    for folder in EXAMPLES {
        println!("cargo::rerun-if-changed={folder}");
        let entries = fs::read_dir(root.join(folder)).expect("a folder of the package");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.retain(|path| path.extension().is_some_and(|kind| kind != "rs"));
        paths.sort();
        for path in paths {
            let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
            let path = path.to_string_lossy().into_owned();
            list += &format!("    (\"{folder}/{name}\", include_bytes!({path:?})),\n");
        }
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("examples.rs"), list).expect("OUT_DIR is writable");
}

fn look_for_verilator() {
    let local = Path::new(".tools/venv/bin/verilator").to_path_buf();
    let mut candidates: Vec<PathBuf> =
        env::var_os("MESHKV_VERILATOR").map(PathBuf::from).into_iter().collect();
    candidates.extend([PathBuf::from("verilator"), local]);
    let found: Vec<_> = candidates.iter().filter_map(|c| first_line(Command::new(c))).collect();
    if found.iter().any(|line| version(line).is_some_and(|v| v >= OLDEST)) {
        return;
    }
    let why = match found.first() {
        Some(line) => format!("{line} is older than 5.006"),
        None => "Verilator was not found".to_owned(),
    };
    println!("cargo::warning={why}: `meshkv cosim` and `meshkv lint` will not run; see `meshkv doctor`");
}

/// (5, 6) of "Verilator 5.006 2023-01-22 rev ...".
fn version(line: &str) -> Option<(u32, u32)> {
    line.split_whitespace().find_map(|word| {
        let mut numbers = word.trim_start_matches('v').split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    })
}

fn first_line(mut program: Command) -> Option<String> {
    let output = program.arg("--version").output().ok().filter(|o| o.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
}
