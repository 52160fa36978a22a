//! Writing of the output over edits and foreign files, into bad directories, and by a killed run.

use meshkv::emit::{write, SourceFile, WriteError, Written};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A small output, marked by `text`.
fn design(text: &str) -> Vec<SourceFile> {
    let paths = ["rtl/b.v", "rtl/a.v", "a.f", "doc/a.md"];
    paths.map(|path| SourceFile { path: path.into(), text: format!("{path} {text}\n") }).to_vec()
}

/// A fresh parent and the output directory below it, not yet made.
fn fresh() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    (parent, dir)
}

/// Every file below `root` with its content.
fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                open.push(entry);
            } else {
                files.insert(entry.strip_prefix(root).unwrap().to_owned(), fs::read(&entry).unwrap());
            }
        }
    }
    files
}

/// The message of a write that must fail and change nothing below `parent`.
fn refused(parent: &Path, files: &[SourceFile], dir: &Path, force: bool) -> String {
    let before = tree(parent);
    let error = write(files, dir, force).unwrap_err().to_string();
    assert_eq!(tree(parent), before, "{error}");
    error
}

#[test]
fn same_files_give_the_same_bytes_in_the_same_order() {
    let (parent, dir) = fresh();
    let other = parent.path().join("not/yet/there");
    let first = write(&design("x"), &dir, false).unwrap();
    let mut reversed = design("x");
    reversed.reverse();
    let second = write(&reversed, &other, false).unwrap();
    assert_eq!(first, second);
    assert_eq!(tree(&dir), tree(&other));
    let paths: Vec<_> = first.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(paths, ["a.f", "doc/a.md", "rtl/a.v", "rtl/b.v"]);
}

#[test]
fn unchanged_output_is_not_touched() {
    let (_parent, dir) = fresh();
    let first = write(&design("x"), &dir, false).unwrap();
    let time = || fs::metadata(dir.join("a.f")).unwrap().modified().unwrap();
    let before = time();
    std::thread::sleep(Duration::from_millis(20));
    let second = write(&design("x"), &dir, false).unwrap();
    assert_eq!(second, Written { unchanged: true, ..first });
    assert_eq!(time(), before);
}

#[test]
fn files_no_longer_generated_are_removed() {
    let (parent, dir) = fresh();
    write(&design("old"), &dir, false).unwrap();
    write(&design("new")[1..3], &dir, false).unwrap();
    let names: Vec<_> = tree(parent.path()).into_keys().collect();
    let expected = ["out/a.f", "out/meshkv-manifest.json", "out/rtl/a.v"];
    assert_eq!(names, expected.map(PathBuf::from));
    assert_eq!(fs::read_to_string(dir.join("rtl/a.v")).unwrap(), "rtl/a.v new\n");
    assert!(!dir.join("doc").exists());
}

#[test]
fn removed_file_is_written_again() {
    let (_parent, dir) = fresh();
    write(&design("x"), &dir, false).unwrap();
    fs::remove_file(dir.join("rtl/a.v")).unwrap();
    assert!(!write(&design("x"), &dir, false).unwrap().unchanged);
    assert!(dir.join("rtl/a.v").exists());
}

#[test]
fn edited_output_is_refused_with_all_its_names() {
    let (parent, dir) = fresh();
    write(&design("old"), &dir, false).unwrap();
    fs::write(dir.join("rtl/b.v"), "edit b").unwrap();
    fs::write(dir.join("a.f"), "edit f").unwrap();
    // Even the same design: it would undo the edit.
    for text in ["new", "old"] {
        let message = refused(parent.path(), &design(text), &dir, false);
        assert!(message.contains("    a.f\n    rtl/b.v\n"), "{message}");
        assert!(message.contains("--force"), "{message}");
    }
}

#[test]
fn force_replaces_an_edited_file_and_keeps_the_edit() {
    let (_parent, dir) = fresh();
    write(&design("old"), &dir, false).unwrap();
    fs::write(dir.join("rtl/b.v"), "edit one").unwrap();
    let written = write(&design("new"), &dir, true).unwrap();
    assert_eq!(written.kept, ["rtl/b.v.edited"]);

    fs::write(dir.join("rtl/b.v"), "edit two").unwrap();
    let written = write(&design("new"), &dir, true).unwrap();
    assert_eq!(written.kept, ["rtl/b.v.edited.2"]);

    let read = |path| fs::read_to_string(dir.join(path)).unwrap();
    assert_eq!(read("rtl/b.v"), "rtl/b.v new\n");
    assert_eq!((read("rtl/b.v.edited"), read("rtl/b.v.edited.2")), ("edit one".into(), "edit two".into()));
    // A kept edit is a file of the user: it is in nobody's way.
    assert!(write(&design("new"), &dir, false).unwrap().unchanged);
}

#[test]
fn foreign_files_survive() {
    let (_parent, dir) = fresh();
    write(&design("old"), &dir, false).unwrap();
    fs::create_dir_all(dir.join("sim/empty")).unwrap();
    fs::write(dir.join("sim/tb.v"), "bench").unwrap();
    fs::write(dir.join("rtl/extra.v"), "extra").unwrap();
    symlink("../rtl", dir.join("sim/link")).unwrap();

    write(&design("new"), &dir, false).unwrap();
    let read = |path| fs::read_to_string(dir.join(path)).unwrap();
    assert_eq!((read("sim/tb.v"), read("rtl/extra.v")), ("bench".into(), "extra".into()));
    assert_eq!(fs::read_link(dir.join("sim/link")).unwrap(), Path::new("../rtl"));
    assert!(dir.join("sim/empty").is_dir());
    assert_eq!(read("rtl/a.v"), "rtl/a.v new\n");
}

#[test]
fn foreign_file_where_ours_is_to_be_is_treated_as_an_edit() {
    let (parent, dir) = fresh();
    write(&design("x")[..2], &dir, false).unwrap();
    fs::write(dir.join("a.f"), "mine").unwrap();
    let message = refused(parent.path(), &design("x"), &dir, false);
    assert!(message.contains("    a.f\n"), "{message}");
    assert_eq!(write(&design("x"), &dir, true).unwrap().kept, ["a.f.edited"]);
    assert_eq!(fs::read_to_string(dir.join("a.f.edited")).unwrap(), "mine");
}

#[test]
fn directory_and_file_that_change_places_are_refused() {
    let (parent, dir) = fresh();
    write(&design("x")[..2], &dir, false).unwrap();
    fs::create_dir(dir.join("a.f")).unwrap();
    let message = refused(parent.path(), &design("x"), &dir, true);
    assert!(message.contains("a.f is in the way of a generated file"), "{message}");
    fs::remove_dir(dir.join("a.f")).unwrap();
    fs::write(dir.join("doc"), "mine").unwrap();
    let message = refused(parent.path(), &design("x"), &dir, true);
    assert!(message.contains("doc is in the way of a generated directory"), "{message}");
}

#[test]
fn directory_that_is_not_ours_is_refused_even_with_force() {
    let (parent, dir) = fresh();
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("thesis.tex"), "years of work").unwrap();
    for force in [false, true] {
        let message = refused(parent.path(), &design("x"), &dir, force);
        assert!(message.contains("choose another output directory"), "{message}");
    }
    fs::write(dir.join("meshkv-manifest.json"), "{}").unwrap();
    let message = refused(parent.path(), &design("x"), &dir, true);
    assert!(message.contains("not a manifest of this meshkv"), "{message}");
}

#[test]
fn empty_directory_is_accepted() {
    let (_parent, dir) = fresh();
    fs::create_dir(&dir).unwrap();
    write(&design("x"), &dir, false).unwrap();
    assert!(dir.join("rtl/a.v").exists());
}

#[test]
fn outputs_that_are_no_directory_are_refused() {
    let (parent, dir) = fresh();
    fs::write(&dir, "a file").unwrap();
    let message = refused(parent.path(), &design("x"), &dir, true);
    assert!(message.contains("is not a directory"), "{message}");
    // Below a regular file not even root can write.
    let message = refused(parent.path(), &design("x"), &dir.join("below"), true);
    assert!(message.starts_with(&format!("cannot write {}", dir.join("below").display())), "{message}");
    assert!(message.contains("choose another output directory"), "{message}");
}

#[test]
fn symbolic_link_is_refused_with_its_target() {
    let (parent, dir) = fresh();
    fs::create_dir(parent.path().join("real")).unwrap();
    for (target, slash) in [("real", ""), ("real", "/"), ("dangling", "")] {
        symlink(target, &dir).unwrap();
        let given = format!("{}{slash}", dir.display());
        let error = write(&design("x"), Path::new(&given), true).unwrap_err();
        assert!(matches!(&error, WriteError::Symlink { target: t, .. } if t == Path::new(target)), "{error}");
        assert!(tree(&parent.path().join("real")).is_empty());
        fs::remove_file(&dir).unwrap();
    }
}

#[test]
fn unwritable_places_are_refused() {
    let (parent, dir) = fresh();
    // The kernel makes no directories in /proc for anybody, root included.
    let error = write(&design("x"), Path::new("/proc/meshkv/out"), false).unwrap_err().to_string();
    assert!(error.starts_with("cannot prepare /proc/meshkv/out: "), "{error}");

    write(&design("x"), &dir, false).unwrap();
    let mode = |readonly| {
        let mut permissions = fs::metadata(&dir).unwrap().permissions();
        permissions.set_readonly(readonly);
        fs::set_permissions(&dir, permissions).unwrap();
    };
    mode(true);
    let message = refused(parent.path(), &design("y"), &dir, true);
    mode(false);
    assert!(message.contains("choose an output directory that you may write"), "{message}");
}

#[test]
fn current_directory_is_refused() {
    let error = write(&design("x"), Path::new("."), true).unwrap_err();
    assert!(matches!(error, WriteError::ContainsCurrentDir(_)), "{error}");
    assert!(!Path::new("meshkv-manifest.json").exists());
}

/// The variable that names the directory to the child process of the test below.
const VICTIM_DIR: &str = "MESHKV_TEST_VICTIM_DIR";

/// The program of the killed process, no test: writes two designs in turn until it is killed.
#[test]
#[ignore = "runs until it is killed"]
fn victim() {
    let Some(dir) = std::env::var_os(VICTIM_DIR) else { return };
    for text in ["even", "odd"].into_iter().cycle() {
        write(&design(text), Path::new(&dir), true).unwrap();
    }
}

#[test]
fn killed_run_leaves_one_whole_tree_and_the_next_run_cleans_up() {
    let (parent, dir) = fresh();
    write(&design("even"), &dir, false).unwrap();
    fs::write(dir.join("notes.txt"), "mine").unwrap();
    let whole = ["even", "odd"].map(|text| {
        let (_parent, dir) = fresh();
        write(&design(text), &dir, false).unwrap();
        fs::write(dir.join("notes.txt"), "mine").unwrap();
        tree(&dir)
    });

    for round in 0..30 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "emit::write::victim"])
            .env(VICTIM_DIR, &dir)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Once it writes, each round at another point of it.
        let started = Instant::now();
        while !parent.path().join(".out.meshkv-tmp").exists() {
            assert!(started.elapsed().as_secs() < 60, "the victim does not write");
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(41 * round));
        child.kill().unwrap();
        child.wait().unwrap();

        let standing = tree(&dir);
        assert!(whole.contains(&standing), "round {round}: {:?}", standing.keys());
        write(&design("even"), &dir, false).unwrap();
        assert_eq!(tree(&dir), whole[0], "round {round}");
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1, "round {round}: leftovers");
    }
}
