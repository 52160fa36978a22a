//! Every JSON file that a command writes names the program, its version and the configuration.

use crate::support::sandbox::Sandbox;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// JSON files below a folder.
fn json_files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(json_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn is_digest(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[test]
fn every_json_file_names_its_origin() {
    let sandbox = Sandbox::new();
    sandbox.file("grid.toml", "base = \"small.toml\"\n[workload]\nkind = \"traffic\"\ncycles = 200\n");
    for line in [
        "generate small.toml -o out/generated",
        "sweep grid.toml -o out/sweep",
        "report out/sweep -o out/report",
        "sim small.toml --cycles 200 --plot out/plot",
        "sim run small.toml --tokens 8 --vectors out/vectors",
        "paper --quick --section card -o out/paper",
    ] {
        let said = sandbox.run(line);
        assert_eq!(said.code, Some(0), "{line}: {}", said.err);
    }
    let files = json_files(&sandbox.path("out"));
    let names: Vec<String> =
        files.iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect();
    for name in ["meshkv-manifest.json", "sweep.json", "claims.json"] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    for path in files {
        let value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let shown = path.display();
        let origin = value
            .get("meshkv")
            .or_else(|| value.get("origin"))
            .unwrap_or_else(|| panic!("{shown}: no origin"));
        assert_eq!(origin["program"], "meshkv", "{shown}");
        assert_eq!(origin["version"], env!("CARGO_PKG_VERSION"), "{shown}");
        // A file of many configurations has the digest of each.
        let own = is_digest(&origin["config_sha256"]);
        let each = || {
            let all = value["configs"].as_array().filter(|all| !all.is_empty());
            all.is_some_and(|all| {
                all.iter().all(|one| is_digest(&one["config_sha256"]) && one["config"].is_string())
            })
        };
        // The rows of a paper are of many, and each row has its own.
        assert!(own || each() || value["row_format"].is_number(), "{shown}: {origin}");
    }
}
