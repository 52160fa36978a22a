//! Tests with a disk that fails on command; the others are in tests/emit/write.rs.

use super::*;

fn design(text: &str) -> Vec<SourceFile> {
    let paths = ["a.f", "doc/a.md", "rtl/a.v", "rtl/b.v"];
    paths.map(|path| SourceFile { path: path.into(), text: format!("{path} {text}\n") }).to_vec()
}

/// Writes `text` as if the disk were full after `room` files.
fn write_with_room(room: usize, text: &str, dir: &Path) -> Result<Written, WriteError> {
    let mut count = 0;
    write_by((&design(text), None), dir, true, &mut |path, bytes| {
        count += 1;
        if count > room {
            // As the kernel leaves it: the file exists, but is short.
            fs::write(path, &bytes[..bytes.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        fs::write(path, bytes)
    })
}

#[test]
fn full_disk_leaves_the_old_tree_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    write(&design("old"), &dir, false).unwrap();
    fs::write(dir.join("rtl/a.v"), "edit").unwrap();
    let before = list(parent.path()).unwrap();

    for room in 0..5 {
        let error = write_with_room(room, "new", &dir).unwrap_err();
        assert!(error.to_string().contains("free some space"), "{error}");
        let after = list(parent.path()).unwrap();
        assert_eq!((after.dirs, after.files), (before.dirs.clone(), before.files.clone()));
        assert_eq!(fs::read_to_string(dir.join("rtl/a.v")).unwrap(), "edit");
        assert_eq!(fs::read_to_string(dir.join("rtl/b.v")).unwrap(), "rtl/b.v old\n");
    }
    assert!(write_with_room(5, "new", &dir).is_ok());
}

#[test]
fn full_disk_takes_back_the_parents_it_made() {
    let parent = tempfile::tempdir().unwrap();
    let error = write_with_room(2, "new", &parent.path().join("a/b/out")).unwrap_err();
    assert!(error.to_string().starts_with("cannot write"), "{error}");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
}

#[test]
fn errors_name_the_path_of_the_user() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    let error = write_with_room(2, "new", &dir).unwrap_err().to_string();
    assert!(error.contains(&format!("cannot write {}", dir.join("rtl/a.v").display())), "{error}");
    assert!(!error.contains("meshkv-tmp"), "{error}");
}

#[test]
fn writing_that_is_stopped_leaves_the_old_tree_and_nothing_else() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("out");
    write(&design("old"), &dir, false).unwrap();
    let before = list(parent.path()).unwrap();
    // Four files and the manifest.
    for calls in 0..5_i32 {
        let left = std::cell::Cell::new(calls);
        let stop = || left.replace(left.get() - 1) == 0;
        let error = write_until(&stop, (&design("new"), None), &dir, false).unwrap_err();
        assert!(matches!(error, WriteError::Stopped), "{error}");
        let after = list(parent.path()).unwrap();
        assert_eq!((after.dirs, after.files), (before.dirs.clone(), before.files.clone()));
        assert_eq!(fs::read_to_string(dir.join("rtl/b.v")).unwrap(), "rtl/b.v old\n");
    }
}
