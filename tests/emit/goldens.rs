//! The committed output of the reference configurations equals the output of the generator.
//!
//! `rtl_out/` shows the output to a reader who runs nothing, and shows the effect of a change of a template. Files
//! are compared verbatim, or by their digests where only the manifest is committed; `make bless` writes them again.

use meshkv::design::Design;
use meshkv::emit;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

const REFERENCES: [&str; 2] = ["tiny", "u280_4x8"];
/// Only its manifest is committed: most of its files equal those of `u280_4x8`.
const BY_DIGEST: &str = "u280_8x8";

const WAY_OUT: &str = "run `make bless` and review the diff";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `dir`, as paths from there.
fn files_below(dir: &Path) -> BTreeSet<String> {
    let mut folders = vec![dir.to_owned()];
    let mut files = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder)
            .unwrap_or_else(|e| panic!("cannot read {}: {e}; {WAY_OUT}", folder.display()));
        for entry in entries {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files
}

/// The first line in which two texts differ.
fn first_difference(committed: &str, emitted: &str) -> String {
    let line = committed.lines().zip(emitted.lines()).take_while(|(a, b)| a == b).count();
    let show = |text: &str| text.lines().nth(line).unwrap_or("(end of file)").to_owned();
    format!("line {}\n  committed: {}\n  emitted:   {}", line + 1, show(committed), show(emitted))
}

fn emitted(name: &str) -> Vec<emit::SourceFile> {
    let (design, _) = Design::load(&root().join(format!("configs/{name}.toml"))).unwrap();
    emit::emit(&design).unwrap()
}

#[test]
fn committed_output_is_what_the_generator_emits() {
    for name in REFERENCES {
        let dir = root().join("rtl_out").join(name);
        for file in emitted(name) {
            let committed = fs::read_to_string(dir.join(&file.path))
                .unwrap_or_else(|e| panic!("rtl_out/{name}/{}: {e}; {WAY_OUT}", file.path));
            assert!(
                committed == file.text,
                "rtl_out/{name}/{} is stale: {WAY_OUT}\n{}",
                file.path,
                first_difference(&committed, &file.text)
            );
        }
    }
}

#[test]
fn nothing_else_is_committed_beside_it() {
    for name in REFERENCES {
        let mut expected: BTreeSet<_> = emitted(name).into_iter().map(|file| file.path).collect();
        expected.insert(emit::MANIFEST.to_owned());
        let found = files_below(&root().join("rtl_out").join(name));
        assert_eq!(found, expected, "rtl_out/{name} holds other files than are emitted: {WAY_OUT}");
    }
}

/// The digest of each file by a manifest.
fn digests(manifest: &str) -> BTreeMap<String, String> {
    let manifest: Value = serde_json::from_str(manifest).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let files = manifest["files"].as_array().unwrap().iter();
    files.map(|file| (text(&file["path"]), text(&file["sha256"]))).collect()
}

/// An edit by hand would be overwritten by the next `make bless`, so it is refused here.
#[test]
fn the_committed_manifest_belongs_to_the_emitted_files() {
    for name in REFERENCES.into_iter().chain([BY_DIGEST]) {
        let copy = tempfile::tempdir().unwrap();
        let (design, _) = Design::load(&root().join(format!("configs/{name}.toml"))).unwrap();
        let content = (&emitted(name)[..], Some(&emit::Origin::of(&design)));
        let written = emit::write_until(&|| false, content, &copy.path().join(name), false).unwrap();
        assert!(!written.unchanged);
        let fresh = fs::read_to_string(copy.path().join(name).join(emit::MANIFEST)).unwrap();
        let path = root().join("rtl_out").join(name).join(emit::MANIFEST);
        let committed = fs::read_to_string(path).unwrap();
        let (now, before) = (digests(&fresh), digests(&committed));
        let changed = |path: &&String| now.get(*path) != before.get(*path);
        let stale: BTreeSet<&String> = now.keys().chain(before.keys()).filter(changed).collect();
        assert!(stale.is_empty(), "rtl_out/{name} has other digests of {stale:?}: {WAY_OUT}");
        assert!(committed == fresh, "rtl_out/{name}/{} is stale: {WAY_OUT}", emit::MANIFEST);
    }
}
