//! The committed output of the reference configurations equals the output of the generator.
//!
//! `rtl_out/` shows the output to a reader who runs nothing, and shows the effect of a change of a template. Files
//! are compared verbatim; `make bless` writes them again.

use meshkv::design::Design;
use meshkv::emit;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const REFERENCES: [&str; 3] = ["tiny", "u280_4x8", "u280_8x8"];

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

/// An edit by hand would be overwritten by the next `make bless`, so it is refused here.
#[test]
fn the_committed_manifest_belongs_to_the_committed_files() {
    for name in REFERENCES {
        let copy = tempfile::tempdir().unwrap();
        let (design, _) = Design::load(&root().join(format!("configs/{name}.toml"))).unwrap();
        let content = (&emitted(name)[..], Some(&emit::Origin::of(&design)));
        let written = emit::write_until(&|| false, content, &copy.path().join(name), false).unwrap();
        assert!(!written.unchanged);
        let fresh = fs::read_to_string(copy.path().join(name).join(emit::MANIFEST)).unwrap();
        let committed = fs::read_to_string(root().join("rtl_out").join(name).join(emit::MANIFEST)).unwrap();
        assert!(committed == fresh, "rtl_out/{name}/{} is stale: {WAY_OUT}", emit::MANIFEST);
    }
}
