//! Puts a tree into a directory that cannot be swapped: a mount point, or one below a parent that is not writable.
//!
//! The work directory is `.meshkv-tmp` in the output. It contains at most
//!
//! * `stage`: the new tree while it is filled, with copies of edited files that it replaces.
//! * `put`:   the finished new tree, whose files move into the output one by one, the manifest last.
//!
//! A killed run leaves the old files, or `put`, and the next run moves the rest. The module is independent of the
//! emitted content.

use super::manifest::{Manifest, MANIFEST};
use super::tree_swap::{content, edited_names, list, list_but, Listing, Unavailable, WorkDir};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Name of the work directory.
const WORK: &str = ".meshkv-tmp";

/// Entries of the output that are neither generated nor of the user: `mkfs` makes the second in a new volume.
const SYSTEM: [&str; 2] = [WORK, "lost+found"];

/// True if files must be put into the existing `output`; then a swap is not tried.
pub(super) fn is_needed(output: &Path) -> bool {
    // A run that was killed there is finished there, also where a swap would be possible now.
    is_mount_point(output) || output.join(WORK).exists()
}

/// Creates and locks the work directory, and finishes a killed run.
pub(super) fn open(output: &Path) -> Result<WorkDir, Unavailable> {
    let work = WorkDir::open(output.join(WORK), output, &["stage", "put"])?;
    if work.stage().exists() {
        fs::remove_dir_all(work.stage())?;
    }
    finish(&tree(&work), output)?;
    Ok(work)
}

/// Moves the filled stage into `output`, and removes generated files that it does not have.
pub(super) fn put(work: &WorkDir, output: &Path) -> io::Result<()> {
    fs::rename(work.stage(), tree(work))?;
    finish(&tree(work), output)
}

/// Everything in the output that the plan has to know.
pub(super) fn listing(output: &Path) -> io::Result<Listing> {
    list_but(output, &SYSTEM)
}

fn tree(work: &WorkDir) -> PathBuf {
    work.path().join("put")
}

/// Moves the remaining entries of `tree`. Every step may be repeated after a kill.
fn finish(tree: &Path, output: &Path) -> io::Result<()> {
    if !tree.exists() {
        return Ok(());
    }
    let listing = list(tree)?;
    // Without a readable manifest no file in the output counts as generated.
    let old = Manifest::read(output).ok().flatten();
    let new = Manifest::read(tree)?;
    for path in listing.files.iter().filter(|path| path.as_os_str() != MANIFEST) {
        let to = output.join(path);
        fs::create_dir_all(to.parent().unwrap_or(output))?;
        if exists(&to) && !is_spare(path, output, tree, [&old, &new])? {
            fs::rename(&to, free_name(path, output, tree))?;
        }
        fs::rename(tree.join(path), to)?;
    }
    if let (Some(old), Some(new)) = (&old, &new) {
        remove_old(old, new, output, tree)?;
    }
    if new.is_some() {
        fs::rename(tree.join(MANIFEST), output.join(MANIFEST))?;
    }
    for dir in listing.dirs.iter().rev() {
        fs::remove_dir(tree.join(dir))?;
    }
    fs::remove_dir(tree)
}

/// Removes files of the old manifest that the new one does not have, and directories that this empties.
fn remove_old(old: &Manifest, new: &Manifest, output: &Path, tree: &Path) -> io::Result<()> {
    for path in old.files.iter().map(|file| Path::new(&file.path)) {
        let gone = new.hash_of(path).is_some() || !exists(&output.join(path));
        if gone || !is_spare(path, output, tree, [&Some(old.clone()), &None])? {
            continue;
        }
        fs::remove_file(output.join(path))?;
        for dir in path.ancestors().skip(1).take_while(|dir| !dir.as_os_str().is_empty()) {
            if fs::remove_dir(output.join(dir)).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// True if the file at `path` of the output is generated, or its content is also under a name of an edited file.
fn is_spare(path: &Path, output: &Path, tree: &Path, manifests: [&Option<Manifest>; 2]) -> io::Result<bool> {
    for manifest in manifests.into_iter().flatten() {
        if manifest.wrote(output, path)? {
            return Ok(true);
        }
    }
    let wanted = content(&output.join(path))?;
    let names = edited_names(path).map(|name| [output.join(&name), tree.join(&name)]);
    for name in names.take_while(|places| places.iter().any(|name| exists(name))).flatten() {
        if wanted.is_some() && exists(&name) && content(&name)? == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A name for an edit that appeared after the plan was made.
fn free_name(path: &Path, output: &Path, tree: &Path) -> PathBuf {
    let free = |name: &PathBuf| !exists(&output.join(name)) && !exists(&tree.join(name));
    output.join(edited_names(path).find(free).expect("there is no end of names"))
}

/// True for links that lead nowhere, too.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// True if a file system is mounted at `dir`, an absolute path without links.
fn is_mount_point(dir: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|meta| meta.dev()).ok();
    let parent = dir.parent().unwrap_or(dir);
    if device(dir) != device(parent) {
        return dir.exists();
    }
    // A directory that is mounted a second time has the device of its parent.
    let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
    let escaped = escaped(dir);
    mounts.split(|&b| b == b'\n').any(|line| line.split(|&b| b == b' ').nth(4) == Some(&escaped))
}

/// A path as the kernel prints it in a table with blanks between columns.
fn escaped(path: &Path) -> Vec<u8> {
    let byte = |&byte: &u8| match byte {
        b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
        other => vec![other],
    };
    path.as_os_str().as_bytes().iter().flat_map(byte).collect()
}

#[cfg(test)]
#[path = "in_place_tests.rs"]
mod tests;
