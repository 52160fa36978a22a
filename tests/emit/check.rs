//! A folder that was generated, compared with what would be written, and read back as it is.

use meshkv::design::Design;
use meshkv::emit::{self, compare, read, write, Comparison, Different, Origin, SourceFile, WriteError};
use std::fs;
use std::path::PathBuf;

fn design(text: &str) -> Vec<SourceFile> {
    let paths = ["a.f", "doc/a.md", "rtl/a.v", "rtl/b.v"];
    paths.map(|path| SourceFile { path: path.into(), text: format!("{path} {text}\n") }).to_vec()
}

fn fresh() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    (parent, dir)
}

fn names(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn what_was_just_written_does_not_differ_whatever_a_user_keeps_there() {
    let (_parent, dir) = fresh();
    write(&design("x"), &dir, false).unwrap();
    assert!(compare(&design("x"), None, &dir).unwrap().is_empty());
    // Notes, and what is built from sources.
    for path in ["notes.txt", "rtl/a.vvp", "rtl/b.v.edited", "build/c.v"] {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "mine").unwrap();
    }
    assert_eq!(compare(&design("x"), None, &dir).unwrap(), Comparison::default());
}

#[test]
fn an_edit_is_told_from_another_design() {
    let (_parent, dir) = fresh();
    write(&design("old"), &dir, false).unwrap();
    fs::write(dir.join("rtl/b.v"), "edit").unwrap();
    let found = compare(&design("new"), None, &dir).unwrap();
    let of = |path: &str, edited| Different { path: path.into(), edited };
    let expected = [
        of("a.f", false),
        of("doc/a.md", false),
        of("meshkv-manifest.json", false),
        of("rtl/a.v", false),
        of("rtl/b.v", true),
    ];
    assert_eq!(found.different, expected);
    assert_eq!((found.missing, found.extra), (names(&[]), names(&[])));
}

#[test]
fn files_that_are_missing_or_too_many_are_named() {
    let (_parent, dir) = fresh();
    write(&design("x"), &dir, false).unwrap();
    fs::remove_file(dir.join("rtl/a.v")).unwrap();
    fs::write(dir.join("rtl/c.v"), "another").unwrap();
    let found = compare(&design("x"), None, &dir).unwrap();
    assert_eq!((found.missing, found.extra), (names(&["rtl/a.v"]), names(&["rtl/c.v"])));
    // What an earlier version wrote is too many, though no file of its kind is generated.
    let found = compare(&design("x")[2..], None, &dir).unwrap();
    assert_eq!(found.extra, names(&["a.f", "doc/a.md", "rtl/c.v"]));
}

#[test]
fn a_folder_without_a_manifest_or_none_at_all_lacks_what_it_lacks() {
    let (_parent, dir) = fresh();
    let all = names(&["a.f", "doc/a.md", "meshkv-manifest.json", "rtl/a.v", "rtl/b.v"]);
    assert_eq!(compare(&design("x"), None, &dir).unwrap().missing, all);
    assert!(!dir.exists());
    write(&design("x"), &dir, false).unwrap();
    fs::remove_file(dir.join(emit::MANIFEST)).unwrap();
    let found = compare(&design("x"), None, &dir).unwrap();
    assert_eq!((found.missing, found.different), (names(&[emit::MANIFEST]), vec![]));
    fs::write(dir.join(emit::MANIFEST), "{").unwrap();
    assert_eq!(compare(&design("x"), None, &dir).unwrap().different[0].path, emit::MANIFEST);
    assert!(matches!(
        compare(&design("x"), None, &dir.join("a.f")).unwrap_err(),
        WriteError::NotADirectory(_)
    ));
}

#[test]
fn a_folder_is_read_as_it_is_with_what_was_changed() {
    let (_parent, dir) = fresh();
    write(&design("x"), &dir, false).unwrap();
    fs::write(dir.join("rtl/b.v"), b"edit \xff").unwrap();
    fs::write(dir.join("rtl/c.v"), "another").unwrap();
    fs::write(dir.join("rtl/d; exec.v"), "shell").unwrap();
    fs::write(dir.join("notes.txt"), "mine").unwrap();
    fs::remove_file(dir.join("a.f")).unwrap();
    let found = read(&dir).unwrap();
    assert_eq!((found.edited, found.added), (names(&["rtl/b.v"]), names(&["rtl/c.v"])));
    assert_eq!((found.missing, found.unread), (names(&["a.f"]), names(&["rtl/d; exec.v"])));
    let paths: Vec<_> = found.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["doc/a.md", "rtl/a.v", "rtl/b.v", "rtl/c.v"]);
    assert_eq!(found.files[2].text, "edit \u{fffd}");
    assert_eq!(found.origin, None);
    let error = read(dir.parent().unwrap()).unwrap_err().to_string();
    assert!(error.contains("has no meshkv-manifest.json"), "{error}");
}

#[test]
fn the_manifest_names_program_version_and_configuration() {
    let (_parent, dir) = fresh();
    let (design, _) = Design::load(std::path::Path::new("configs/tiny.toml")).unwrap();
    let (files, origin) = (emit::emit(&design).unwrap(), Origin::of(&design));
    emit::write_until(&|| false, (&files, Some(&origin)), &dir, false).unwrap();
    let manifest: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.join(emit::MANIFEST)).unwrap()).unwrap();
    let of = &manifest["origin"];
    assert_eq!((&of["program"], &of["version"]), (&"meshkv".into(), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!((&of["config"], &of["config_sha256"]), (&"tiny".into(), &design.config_sha256().into()));
    assert_eq!(read(&dir).unwrap().origin, Some(origin.clone()));
    // Another version wrote the same files: a manifest is a file, too.
    let other = Origin { version: "0.0.1".into(), ..origin };
    let found = compare(&files, Some(&other), &dir).unwrap();
    assert_eq!(found.different, [Different { path: emit::MANIFEST.into(), edited: false }]);
    assert_eq!(found.count(), 1);
}
