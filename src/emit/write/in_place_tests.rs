//! Directories that cannot be swapped, and runs that were killed in them.

use super::*;
use crate::emit::source_file::SourceFile;
use crate::emit::write::{Tree, WriteError, Written};
use std::collections::BTreeMap;

fn design(paths: &[&str], text: &str) -> Vec<SourceFile> {
    paths.iter().map(|path| SourceFile { path: (*path).into(), text: format!("{path} {text}\n") }).collect()
}

const PATHS: [&str; 4] = ["a.f", "doc/a.md", "rtl/a.v", "rtl/b.v"];

/// Writes as into a mount point.
fn put_in(files: &[SourceFile], dir: &Path, force: bool) -> Result<Written, WriteError> {
    let new = Manifest::of(files).unwrap();
    Tree { files, new: &new, dir, output: dir }.put_in(force, &mut |path, bytes| fs::write(path, bytes))
}

/// Every file with its content.
fn files(dir: &Path) -> BTreeMap<String, String> {
    let name = |path: &PathBuf| path.to_str().unwrap().to_owned();
    let read = |path: &PathBuf| (name(path), fs::read_to_string(dir.join(path)).unwrap());
    list(dir).unwrap().files.iter().map(read).collect()
}

#[test]
fn files_are_put_in_and_the_directory_stays() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    fs::create_dir_all(dir.join("lost+found")).unwrap();
    let inode = || fs::metadata(&dir).unwrap().ino();
    let before = inode();
    assert!(!put_in(&design(&PATHS, "old"), &dir, false).unwrap().unchanged);
    assert!(put_in(&design(&PATHS, "old"), &dir, false).unwrap().unchanged);
    fs::create_dir_all(dir.join("sim/empty")).unwrap();
    fs::write(dir.join("sim/tb.v"), "bench").unwrap();
    put_in(&design(&PATHS[2..], "new"), &dir, false).unwrap();
    let found = files(&dir);
    let names: Vec<_> = found.keys().map(String::as_str).collect();
    assert_eq!(names, [MANIFEST, "rtl/a.v", "rtl/b.v", "sim/tb.v"]);
    assert_eq!(found["rtl/a.v"], "rtl/a.v new\n");
    assert!(!dir.join("doc").exists() && dir.join("sim/empty").is_dir() && !dir.join(WORK).exists());
    assert_eq!(inode(), before);
    // Nothing is written beside it.
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
}

#[test]
fn edits_are_refused_or_kept_as_in_a_swap() {
    let dir = tempfile::tempdir().unwrap();
    put_in(&design(&PATHS, "old"), dir.path(), false).unwrap();
    fs::write(dir.path().join("rtl/b.v"), "edit").unwrap();
    fs::write(dir.path().join("a.f"), "edit of what goes").unwrap();
    let refused = put_in(&design(&PATHS[1..], "new"), dir.path(), false).unwrap_err();
    assert!(matches!(refused, WriteError::Edited { .. }), "{refused}");
    let written = put_in(&design(&PATHS[1..], "new"), dir.path(), true).unwrap();
    assert_eq!(written.kept, ["a.f.edited", "rtl/b.v.edited"]);
    let found = files(dir.path());
    assert_eq!((found["rtl/b.v"].as_str(), found["rtl/b.v.edited"].as_str()), ("rtl/b.v new\n", "edit"));
    assert_eq!(found["a.f.edited"], "edit of what goes");
    assert!(!found.contains_key("a.f") && found.len() == 6, "{found:?}");
}

#[test]
fn the_next_run_finishes_one_that_was_killed_at_any_file() {
    for moved in 0..4 {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        put_in(&design(&PATHS, "old"), dir, false).unwrap();
        let put = dir.join(WORK).join("put");
        let new = design(&PATHS[1..], "new");
        for file in &new {
            fs::create_dir_all(put.join(&file.path).parent().unwrap()).unwrap();
            fs::write(put.join(&file.path), &file.text).unwrap();
        }
        fs::write(put.join(MANIFEST), Manifest::of(&new).unwrap().to_text()).unwrap();
        for file in new.iter().take(moved) {
            fs::rename(put.join(&file.path), dir.join(&file.path)).unwrap();
        }
        // Somebody edits a file in between.
        fs::write(dir.join("rtl/b.v"), "late edit").unwrap();
        assert!(is_needed(dir));

        drop(open(dir).unwrap_or_else(|_| panic!("not available")));
        let found = files(dir);
        let edited = if moved == 3 { "rtl/b.v" } else { "rtl/b.v.edited" };
        assert_eq!(found[edited], "late edit", "{moved}");
        assert_eq!(found["doc/a.md"], "doc/a.md new\n", "{moved}");
        assert!(!found.contains_key("a.f") && !dir.join(WORK).exists(), "{moved}: {found:?}");
    }
}

#[test]
fn a_killed_run_before_the_first_file_leaves_the_old_ones() {
    let dir = tempfile::tempdir().unwrap();
    put_in(&design(&PATHS, "old"), dir.path(), false).unwrap();
    let before = files(dir.path());
    let half = dir.path().join(WORK).join("stage/rtl/a.v");
    fs::create_dir_all(half.parent().unwrap()).unwrap();
    fs::write(half, "half of").unwrap();
    drop(open(dir.path()).unwrap_or_else(|_| panic!("not available")));
    assert_eq!(files(dir.path()), before);
}

#[test]
fn mount_points_are_known() {
    assert!(is_mount_point(Path::new("/proc")));
    let dir = tempfile::tempdir().unwrap();
    assert!(!is_mount_point(&fs::canonicalize(dir.path()).unwrap()));
    assert_eq!(escaped(Path::new("/a b\\c")), b"/a\\040b\\134c");
}
