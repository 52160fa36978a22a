//! Swaps a whole directory tree: the work directory, its stages, and recovery after a killed run.
//!
//! During a run, `.DIR.meshkv-tmp` next to the output `DIR` contains at most
//!
//! * `stage`: the new tree while it is filled. All of it is generated.
//! * `swap`:  the finished new tree until the swap, the old tree after it.
//! * `old`:   the old tree, on systems that cannot exchange two directories in one step.
//!
//! `swap` and `old` may contain files of the user. They are removed only file by file, and only
//! if the file is generated or also in the output; anything else moves to the output.
//! The module is independent of the emitted content.

use super::manifest::{sha256_of_file, Manifest};
use crate::tools::locks::{self, Lock};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{symlink, MetadataExt};
use std::path::{Path, PathBuf};

/// Suffix of an edited file that was replaced.
const EDITED: &str = ".edited";

/// The locked work directory of one run; cleaned when dropped.
pub(super) struct WorkDir {
    path: PathBuf,
    /// Directories above the output that this run created, outermost first.
    made: Vec<PathBuf>,
    /// False if its file system has no locks.
    pub(super) locked: bool,
    /// Held for its lock, which the system releases when a process is killed.
    _lock: File,
}

/// Errors of opening the work directory.
pub(super) enum Unavailable {
    /// Another process is at work.
    Busy,
    /// It contains an entry that this program never creates.
    Foreign(PathBuf),
    /// The system returned an error.
    Io(io::Error),
}

impl From<io::Error> for Unavailable {
    fn from(error: io::Error) -> Self {
        Unavailable::Io(error)
    }
}

impl WorkDir {
    /// Creates and locks the work directory beside `output`, and recovers from a killed run.
    pub(super) fn beside(output: &Path) -> Result<WorkDir, Unavailable> {
        let name = output.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = output.with_file_name(format!(".{name}.meshkv-tmp"));
        let work = WorkDir::open(path, output, &["stage", "swap", "old"])?;
        work.recover(output)?;
        Ok(work)
    }

    /// Creates and locks the work directory at `path` for `output`, in which this program creates such entries.
    pub(super) fn open(path: PathBuf, output: &Path, entries: &[&str]) -> Result<WorkDir, Unavailable> {
        let missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
        let mut made: Vec<_> = output.ancestors().skip(1).take_while(missing).map(PathBuf::from).collect();
        made.reverse();
        let lock = create(&path).and_then(|()| File::open(&path)).inspect_err(|_| remove_empty(&made))?;
        let locked = match locks::try_lock(&lock).inspect_err(|_| drop(fs::remove_dir(&path)))? {
            Lock::Held => true,
            Lock::Unsupported => false,
            Lock::Busy => return Err(Unavailable::Busy),
        };
        // The previous holder may have removed the directory between opening and locking.
        if fs::metadata(&path).map(|m| m.ino()).ok() != Some(lock.metadata()?.ino()) {
            return Err(Unavailable::Busy);
        }
        for entry in fs::read_dir(&path)? {
            let name = entry?.file_name();
            if !entries.iter().any(|&ours| name == ours) {
                return Err(Unavailable::Foreign(path.join(name)));
            }
        }
        Ok(WorkDir { path, made, locked, _lock: lock })
    }

    /// The directory itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The tree to fill.
    pub(super) fn stage(&self) -> PathBuf {
        self.path.join("stage")
    }

    /// Path of the old tree until its removal.
    pub(super) fn old(&self) -> PathBuf {
        self.path.join("swap")
    }

    /// Puts the filled stage in the place of `output`; the old tree stays in [`WorkDir::old`].
    pub(super) fn swap(&self, output: &Path) -> io::Result<()> {
        fs::rename(self.stage(), self.old())?;
        let swapped = if !output.exists() {
            fs::rename(self.old(), output)
        } else {
            exchange(&self.old(), output).or_else(|error| match error.kind() {
                io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput => self.swap_in_two(output),
                _ => Err(error),
            })
        };
        // A stage that was not swapped in is all generated and is removed with the work directory.
        swapped.inspect_err(|_| drop(fs::rename(self.old(), self.stage())))
    }

    /// [`WorkDir::swap`] for file systems without exchange: the old tree is kept until the new one is in place.
    fn swap_in_two(&self, output: &Path) -> io::Result<()> {
        let aside = self.path.join("old");
        fs::rename(output, &aside)?;
        if let Err(error) = fs::rename(self.old(), output) {
            fs::rename(&aside, output)?;
            return Err(error);
        }
        fs::rename(&aside, self.old())
    }

    /// Removes the old tree; entries that are neither generated nor in `output` move there.
    pub(super) fn remove_old(&self, output: &Path) -> io::Result<()> {
        for name in ["old", "swap"] {
            let tree = self.path.join(name);
            if tree.exists() {
                dispose(&tree, output)?;
            }
        }
        Ok(())
    }

    /// Restores one whole tree from `output` and the work directory of a killed run.
    fn recover(&self, output: &Path) -> io::Result<()> {
        let aside = self.path.join("old");
        if aside.exists() && !output.exists() {
            fs::rename(aside, output)?;
        }
        if self.stage().exists() {
            fs::remove_dir_all(self.stage())?;
        }
        self.remove_old(output)
    }
}

impl Drop for WorkDir {
    /// Best effort: the next run recognises leftovers.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.stage());
        let _ = fs::remove_dir(&self.path);
        remove_empty(&self.made);
    }
}

fn create(path: &Path) -> io::Result<()> {
    match fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).and_then(|()| fs::create_dir(path)) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        done => done,
    }
}

/// Removes empty directories, innermost first.
fn remove_empty(dirs: &[PathBuf]) {
    for dir in dirs.iter().rev() {
        let _ = fs::remove_dir(dir);
    }
}

#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{renameat_with, RenameFlags, CWD};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Entries below a directory as relative paths; directories listed separately, before their content.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) dirs: Vec<PathBuf>,
    /// Files, symbolic links (never followed) and special files.
    pub(super) files: Vec<PathBuf>,
}

/// Lists a tree, sorted.
pub(super) fn list(root: &Path) -> io::Result<Listing> {
    list_but(root, &[])
}

/// Lists a tree without some entries of its root, sorted.
pub(super) fn list_but(root: &Path, left_out: &[&str]) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut open = vec![PathBuf::new()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(root.join(&dir))? {
            let entry = entry?;
            let path = dir.join(entry.file_name());
            if left_out.iter().any(|name| path.as_os_str() == *name) {
                continue;
            }
            if entry.file_type()?.is_dir() {
                open.push(path.clone());
                listing.dirs.push(path);
            } else {
                listing.files.push(path);
            }
        }
    }
    listing.dirs.sort();
    listing.files.sort();
    Ok(listing)
}

/// Makes `to` the same file as `from`, which remains: a hard link where the file system
/// has them, so that even huge files cost nothing and later edits are in both.
pub(super) fn carry(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    let kind = fs::symlink_metadata(from)?;
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    match fs::hard_link(from, to) {
        // Copying a pipe or a device would hang; those are an error.
        Err(_) if kind.is_file() => fs::copy(from, to).map(|_| ()),
        done => done,
    }
}

/// The names under which an edited `path` may be kept, the likeliest first.
pub(super) fn edited_names(path: &Path) -> impl Iterator<Item = PathBuf> + '_ {
    let with = |suffix: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    (1u32..).map(move |n| with(if n == 1 { EDITED.to_owned() } else { format!("{EDITED}.{n}") }))
}

/// Removes `tree` without loss of a file that is not generated.
fn dispose(tree: &Path, output: &Path) -> io::Result<()> {
    // Without a readable manifest no file counts as generated.
    let own = Manifest::read(tree).ok().flatten();
    let listing = list(tree)?;
    let mut standing = HashSet::new();
    if output.exists() {
        for path in list(output)?.files {
            let meta = fs::symlink_metadata(output.join(path))?;
            standing.insert((meta.dev(), meta.ino()));
        }
    }
    // The manifest is removed last, so that after a kill the next run can still identify the generated files.
    let (manifest, files): (Vec<_>, Vec<_>) =
        listing.files.iter().partition(|path| path.as_os_str() == super::MANIFEST);
    for path in files.into_iter().chain(manifest) {
        let file = tree.join(path);
        let meta = fs::symlink_metadata(&file)?;
        let ours = match &own {
            Some(own) => own.wrote(tree, path)?,
            None => false,
        };
        if ours || standing.contains(&(meta.dev(), meta.ino())) || has_copy(&file, path, output)? {
            fs::remove_file(file)?;
        } else {
            rescue(&file, path, output)?;
        }
    }
    // One by one: a file that appears meanwhile makes this fail and is not lost.
    for dir in listing.dirs.iter().rev() {
        fs::remove_dir(tree.join(dir))?;
    }
    fs::remove_dir(tree)
}

/// The hash of a file's content or the target of a link, to compare with others.
pub(super) fn content(file: &Path) -> io::Result<Option<String>> {
    match fs::symlink_metadata(file)?.is_symlink() {
        true => Ok(fs::read_link(file)?.to_str().map(str::to_owned)),
        false => sha256_of_file(file),
    }
}

/// True if `output` has the same content under `path` or one of the names of an edited file.
fn has_copy(file: &Path, path: &Path, output: &Path) -> io::Result<bool> {
    let wanted = content(file)?;
    let names = std::iter::once(path.to_owned()).chain(edited_names(path));
    for name in names.map(|n| output.join(n)).take_while(|n| fs::symlink_metadata(n).is_ok()) {
        if wanted.is_some() && content(&name)? == wanted {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves a file that appeared during a swap into `output`, under a free name.
fn rescue(file: &Path, path: &Path, output: &Path) -> io::Result<()> {
    let names = std::iter::once(path.to_owned()).chain(edited_names(path));
    let free = names.map(|n| output.join(n)).find(|n| fs::symlink_metadata(n).is_err());
    let to = free.expect("there is no end of names");
    fs::create_dir_all(to.parent().unwrap_or(output))?;
    fs::rename(file, to)
}

#[cfg(test)]
#[path = "tree_swap_tests.rs"]
mod tests;
