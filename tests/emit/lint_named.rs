//! `meshkv lint` finds nothing in any named configuration, nor in any ablation with either router.
//!
//! Designs that were found clean are kept in the build cache: a second run takes a moment.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};

/// The configurations of the repository whose names begin so, sorted.
fn named(begin: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin)));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// What lint says of a configuration, if that is not clean.
fn complaint(path: &Path) -> Option<String> {
    let output = Command::cargo_bin("meshkv").unwrap().arg("lint").arg(path).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (!output.status.success()).then(|| format!("{}:\n{}", path.display(), String::from_utf8_lossy(&said)))
}

fn are_clean(paths: &[PathBuf]) {
    let found: Vec<_> = paths.iter().filter_map(|path| complaint(path)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The text of a configuration with a router of so many stages.
fn with_stages(text: &str, stages: u32) -> String {
    let line = format!("router_stages = {stages}\n");
    let own = text.lines().filter(|line| !line.starts_with("router_stages")).flat_map(|line| [line, "\n"]);
    let own: String = own.collect();
    match own.contains("[noc]\n") {
        true => own.replace("[noc]\n", &format!("[noc]\n{line}")),
        false => own + "\n[noc]\n" + &line,
    }
}

#[test]
fn every_named_configuration_is_clean() {
    are_clean(&named(""));
}

#[test]
fn every_ablation_is_clean_with_both_routers() {
    let dir = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    // What the ablations take away, and the whole.
    for path in named("no_").into_iter().chain(named("meshkv.toml")) {
        for stages in [2, 3] {
            let name = path.file_stem().unwrap().to_string_lossy();
            let changed = dir.path().join(format!("{name}_{stages}.toml"));
            fs::write(&changed, with_stages(&fs::read_to_string(&path).unwrap(), stages)).unwrap();
            paths.push(changed);
        }
    }
    are_clean(&paths);
}

#[test]
fn a_design_that_was_clean_is_not_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let lint = |detail: &str| {
        let mut command = Command::cargo_bin("meshkv").unwrap();
        command.args(["lint", "configs/tiny.toml", "-v", "--json"]).env("MESHKV_CACHE", dir.path());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains(detail), "{said}");
        let mut value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(value.as_object_mut().unwrap().remove("wall").is_some(), "seconds stand apart");
        value
    };
    let first = lint("--top-module");
    assert_eq!(lint("this design was read before"), first);
}
