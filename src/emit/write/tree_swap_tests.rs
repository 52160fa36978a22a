//! Trees left by runs that were killed at each step.

use super::*;
use crate::emit::source_file::SourceFile;
use crate::emit::write::manifest::MANIFEST;

/// Writes `text` below `root`, with parents.
fn put(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// A generated tree whose only file holds `text`.
fn generated(root: &Path, text: &str) {
    put(root, "rtl/a.v", text);
    let file = SourceFile { path: "rtl/a.v".into(), text: text.into() };
    put(root, MANIFEST, &Manifest::of(&[file]).unwrap().to_text());
}

fn read(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap()
}

/// An output directory `out` that holds a generated "old" and the user's notes, and its parent.
fn output() -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let out = parent.path().join("out");
    generated(&out, "old");
    put(&out, "notes/n.txt", "mine");
    (parent, out)
}

/// Opens and closes a work directory, and returns the entries of the parent.
fn recovered(parent: &Path, out: &Path) -> Vec<PathBuf> {
    match WorkDir::beside(out) {
        Ok(work) => drop(work),
        Err(Unavailable::Io(e)) => panic!("{e}"),
        Err(_) => panic!("not available"),
    }
    list(parent).unwrap().files
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

#[test]
fn kill_while_filling_leaves_the_old_tree() {
    let (parent, out) = output();
    let stage = parent.path().join(".out.meshkv-tmp/stage");
    put(&stage, "rtl/a.v", "half of the ne");
    fs::create_dir_all(stage.join("notes")).unwrap();
    fs::hard_link(out.join("notes/n.txt"), stage.join("notes/n.txt")).unwrap();

    let left = recovered(parent.path(), &out);
    assert_eq!(left, paths(&["out/meshkv-manifest.json", "out/notes/n.txt", "out/rtl/a.v"]));
    assert_eq!((read(&out, "rtl/a.v"), read(&out, "notes/n.txt")), ("old".into(), "mine".into()));
}

#[test]
fn kill_before_the_swap_leaves_the_old_tree() {
    let (parent, out) = output();
    let swap = parent.path().join(".out.meshkv-tmp/swap");
    generated(&swap, "new");
    carry(&out.join("notes/n.txt"), &swap.join("notes/n.txt")).unwrap();

    let left = recovered(parent.path(), &out);
    assert_eq!(left, paths(&["out/meshkv-manifest.json", "out/notes/n.txt", "out/rtl/a.v"]));
    assert_eq!(read(&out, "rtl/a.v"), "old");
}

#[test]
fn kill_after_the_swap_leaves_the_new_tree() {
    let (parent, out) = output();
    let swap = parent.path().join(".out.meshkv-tmp/swap");
    generated(&swap, "older");
    carry(&out.join("notes/n.txt"), &swap.join("notes/n.txt")).unwrap();
    // A kept edit is in the new tree under its other name.
    put(&swap, "rtl/b.v", "edit");
    carry(&swap.join("rtl/b.v"), &out.join("rtl/b.v.edited")).unwrap();

    recovered(parent.path(), &out);
    let left = recovered(parent.path(), &out);
    let names = ["out/meshkv-manifest.json", "out/notes/n.txt", "out/rtl/a.v", "out/rtl/b.v.edited"];
    assert_eq!(left, paths(&names));
    assert_eq!(read(&out, "rtl/b.v.edited"), "edit");
}

#[test]
fn kill_between_two_renames_brings_the_old_tree_back() {
    let (parent, out) = output();
    let work = parent.path().join(".out.meshkv-tmp");
    generated(&work.join("swap"), "new");
    fs::rename(&out, work.join("old")).unwrap();

    let left = recovered(parent.path(), &out);
    assert_eq!(left, paths(&["out/meshkv-manifest.json", "out/notes/n.txt", "out/rtl/a.v"]));
    assert_eq!(read(&out, "rtl/a.v"), "old");
}

#[test]
fn file_that_appears_during_the_swap_is_moved_to_the_output() {
    let (parent, out) = output();
    let swap = parent.path().join(".out.meshkv-tmp/swap");
    generated(&swap, "older");
    put(&swap, "late/l.txt", "late");
    put(&swap, "rtl/a.v", "edited at the last moment");

    recovered(parent.path(), &out);
    assert_eq!(read(&out, "late/l.txt"), "late");
    assert_eq!(read(&out, "rtl/a.v.edited"), "edited at the last moment");
    assert_eq!(read(&out, "rtl/a.v"), "old");
}

#[test]
fn copies_stand_for_hard_links_where_there_are_none() {
    let (parent, out) = output();
    let swap = parent.path().join(".out.meshkv-tmp/swap");
    generated(&swap, "older");
    put(&swap, "notes/n.txt", "mine");
    put(&swap, "rtl/a.v", "edit");
    put(&out, "rtl/a.v.edited", "edit");

    let left = recovered(parent.path(), &out);
    let names = ["out/meshkv-manifest.json", "out/notes/n.txt", "out/rtl/a.v", "out/rtl/a.v.edited"];
    assert_eq!(left, paths(&names));
}

#[test]
fn two_renames_do_what_the_exchange_does() {
    let (parent, out) = output();
    let Ok(work) = WorkDir::beside(&out) else { panic!("not available") };
    generated(&work.old(), "new");
    work.swap_in_two(&out).unwrap();
    assert_eq!(read(&out, "rtl/a.v"), "new");
    assert_eq!(read(&work.old(), "rtl/a.v"), "old");
    work.remove_old(&out).unwrap();
    drop(work);
    assert_eq!(list(parent.path()).unwrap().dirs, paths(&["out", "out/notes", "out/rtl"]));
    // The notes were not linked over, so removal of the old tree had to move them.
    assert_eq!(read(&out, "notes/n.txt"), "mine");
}

#[test]
fn work_directory_of_somebody_else_is_left_alone() {
    let (parent, out) = output();
    put(parent.path(), ".out.meshkv-tmp/precious", "mine");
    let Err(Unavailable::Foreign(path)) = WorkDir::beside(&out) else { panic!("opened") };
    assert_eq!(fs::read_to_string(path).unwrap(), "mine");
}

#[test]
fn second_run_on_the_same_output_is_turned_away() {
    let (_parent, out) = output();
    let first = WorkDir::beside(&out);
    assert!(first.is_ok());
    assert!(matches!(WorkDir::beside(&out), Err(Unavailable::Busy)));
    drop(first);
    assert!(WorkDir::beside(&out).is_ok());
}

#[test]
fn links_are_carried_as_links() {
    let (parent, out) = output();
    symlink("nowhere", out.join("dangling")).unwrap();
    let to = parent.path().join("elsewhere/dangling");
    carry(&out.join("dangling"), &to).unwrap();
    assert_eq!(fs::read_link(to).unwrap(), Path::new("nowhere"));
}

#[test]
fn kill_while_the_old_tree_is_removed_leaves_what_tells_ours_from_the_users() {
    let (parent, out) = output();
    let old = parent.path().join(".out.meshkv-tmp/swap");
    generated(&old, "older");
    // An entry that cannot be removed ends the removal midway, as a kill would.
    put(&old, "late/b.txt", "of the user");
    put(&out, "late", "in the way");

    assert!(matches!(WorkDir::beside(&out), Err(Unavailable::Io(_))));
    assert!(old.join(MANIFEST).exists());
    fs::remove_file(out.join("late")).unwrap();
    let left = recovered(parent.path(), &out);
    let kept = ["out/late/b.txt", "out/meshkv-manifest.json", "out/notes/n.txt", "out/rtl/a.v"];
    assert_eq!(left, paths(&kept));
}
