//! Writes emitted files to disk: the whole directory or nothing, without loss of the user's files.
//!
//! The new tree is filled next to the output and replaces it in one step. So a killed run
//! leaves the old tree or the new one. Where that is impossible, as in a mount point, the files are put into the
//! directory, and the next run finishes a killed one ([`in_place`]). The manifest decides about existing files:
//!
//! | found                                   | without `force`  | with `force`               |
//! |-----------------------------------------|------------------|----------------------------|
//! | a file we wrote, untouched              | replaced         | replaced                   |
//! | a file we wrote, edited since           | refused, named   | kept as `<name>.edited`    |
//! | a file of the user where one of ours is to be | refused, named | kept as `<name>.edited` |
//! | any other file of the user              | stays            | stays                      |
//! | files, but no manifest                  | refused          | refused                    |
//!
//! A generated file that the user removed is written again. The module is independent of the emitted content.

mod compare;
mod error;
mod generated;
mod in_place;
mod manifest;
mod tree_swap;

use super::source_file::SourceFile;
use crate::design::Design;
use error::{on, PREPARE, REPLACE};
use generated::manifest_of;
use manifest::{sha256_of_file, Manifest};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tree_swap::{carry, edited_names, list, Listing, Unavailable, WorkDir};

pub use compare::{compare, Comparison, Different};
pub use error::WriteError;
pub use generated::{read, Generated};
pub use manifest::{Origin, WrittenFile, MANIFEST};

/// Result of [`write()`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Every generated file, sorted by path; the manifest itself is not listed.
    pub files: Vec<WrittenFile>,
    /// Paths, below the output directory, of copies of edited files that were replaced.
    pub kept: Vec<String>,
    /// The directory was up to date and was not touched.
    pub unchanged: bool,
    /// No other run could write the directory meanwhile; false on a file system without locks.
    pub locked: bool,
}

impl Origin {
    /// This program and the configuration of a design.
    pub fn of(design: &Design) -> Origin {
        Origin {
            program: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            config: design.name.clone(),
            config_sha256: design.config_sha256(),
            tiles: design.mesh.tiles(),
        }
    }
}

/// Each file with the hash of its content, sorted by path.
pub fn digests(files: &[SourceFile]) -> Vec<WrittenFile> {
    Manifest::of(files).map(|manifest| manifest.files).unwrap_or_default()
}

/// Makes `dir` contain exactly `files`, its manifest and the user's files.
///
/// Missing parents are created. A directory that is up to date is not touched.
///
/// # Errors
///
/// Every [`WriteError`]; except after `Leftover` and `Unfinished`, `dir` is as it was.
pub fn write(files: &[SourceFile], dir: &Path, force: bool) -> Result<Written, WriteError> {
    write_until(&|| false, (files, None), dir, force)
}

/// [`write()`] of files with their origin, which the manifest names; it ends between two files once `stop` returns true.
///
/// # Errors
/// As [`write()`], and [`WriteError::Stopped`].
pub fn write_until(
    stop: &dyn Fn() -> bool,
    (files, origin): (&[SourceFile], Option<&Origin>),
    dir: &Path,
    force: bool,
) -> Result<Written, WriteError> {
    let mut stopped = false;
    let written = write_by((files, origin), dir, force, &mut |path, bytes| {
        stopped = stop();
        // The kind is irrelevant: it never reaches the user.
        if stopped {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            fs::write(path, bytes)
        }
    });
    written.map_err(|error| if stopped { WriteError::Stopped } else { error })
}

/// Writes one file; tests fill the disk with it.
type Put<'p> = &'p mut dyn FnMut(&Path, &[u8]) -> io::Result<()>;

/// [`write()`] with the writing of one file as an argument.
fn write_by(
    (files, origin): (&[SourceFile], Option<&Origin>),
    dir: &Path,
    force: bool,
    put: Put,
) -> Result<Written, WriteError> {
    let new = Manifest::of(files).map_err(WriteError::BadPath)?.of_origin(origin);
    let output = resolve(dir)?;
    let tree = Tree { files, new: &new, dir, output: &output };
    if !in_place::is_needed(&output) {
        match tree.swap_in(force, put) {
            Err(error) if error.is_of_a_swap() && output.is_dir() => {}
            done => return done,
        }
    }
    tree.put_in(force, put)
}

/// A new tree on its way to the output.
struct Tree<'t> {
    files: &'t [SourceFile],
    new: &'t Manifest,
    /// The output as the user named it.
    dir: &'t Path,
    output: &'t Path,
}

impl Tree<'_> {
    /// Replaces the output by the tree in one step.
    fn swap_in(&self, force: bool, put: Put) -> Result<Written, WriteError> {
        let Tree { dir, output, .. } = *self;
        let work = self.opened(WorkDir::beside(output))?;
        let found = if output.exists() { Some(list(output).map_err(on("read", dir))?) } else { None };
        let plan = Plan::of(dir, output, found, self.new, force)?;
        if plan.unchanged {
            return Ok(self.written(&work, Vec::new(), true));
        }
        self.fill(&work.stage(), put)?;
        plan.carry_over(dir, output, &work.stage())?;
        work.swap(output).map_err(on(REPLACE, dir))?;
        work.remove_old(output).map_err(|source| WriteError::Leftover {
            dir: dir.to_owned(),
            left: work.old(),
            source,
        })?;
        Ok(self.written(&work, plan.kept, false))
    }

    /// Puts the files of the tree into the output, which stays the directory that it is.
    fn put_in(&self, force: bool, put: Put) -> Result<Written, WriteError> {
        let Tree { dir, output, .. } = *self;
        let work = self.opened(in_place::open(output))?;
        let found = in_place::listing(output).map_err(on("read", dir))?;
        let plan = Plan::of(dir, output, Some(found), self.new, force)?;
        if plan.unchanged {
            return Ok(self.written(&work, Vec::new(), true));
        }
        self.fill(&work.stage(), put)?;
        plan.copy_edits(dir, output, &work.stage())?;
        let unfinished = |source| WriteError::Unfinished { dir: dir.to_owned(), source };
        in_place::put(&work, output).map_err(unfinished)?;
        Ok(self.written(&work, plan.kept, false))
    }

    fn opened(&self, work: Result<WorkDir, Unavailable>) -> Result<WorkDir, WriteError> {
        work.map_err(|why| match why {
            Unavailable::Busy => WriteError::Busy(self.dir.to_owned()),
            Unavailable::Foreign(path) => WriteError::InTheWay { path, wanted: "directory" },
            Unavailable::Io(source) => WriteError::Io { doing: PREPARE, path: self.dir.to_owned(), source },
        })
    }

    /// Writes all files and the manifest into the new directory `stage`.
    fn fill(&self, stage: &Path, put: Put) -> Result<(), WriteError> {
        fs::create_dir(stage).map_err(on("write", self.dir))?;
        let manifest = self.new.to_text();
        let texts = self.files.iter().map(|f| (f.path.as_str(), f.text.as_str()));
        for (path, text) in texts.chain([(MANIFEST, manifest.as_str())]) {
            let to = stage.join(path);
            let parent = fs::create_dir_all(to.parent().unwrap_or(stage));
            // The error names the user's path, not the one below the work directory.
            parent.and_then(|()| put(&to, text.as_bytes())).map_err(on("write", &self.dir.join(path)))?;
        }
        Ok(())
    }

    fn written(&self, work: &WorkDir, kept: Vec<String>, unchanged: bool) -> Written {
        Written { files: self.new.files.clone(), kept, unchanged, locked: work.locked }
    }
}

/// Path for the rename of the output, after the check that it may be renamed.
fn resolve(dir: &Path) -> Result<PathBuf, WriteError> {
    // This removes a trailing slash, which would make the system follow a link.
    let dir: PathBuf = dir.components().collect();
    let meta = match fs::symlink_metadata(&dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound && dir.file_name().is_some() => return Ok(dir),
        meta => meta.map_err(on("write", &dir))?,
    };
    if meta.is_symlink() {
        let target = fs::read_link(&dir).map_err(on("read", &dir))?;
        return Err(WriteError::Symlink { dir, target });
    }
    if !meta.is_dir() {
        return Err(WriteError::NotADirectory(dir));
    }
    // A swap needs no write permission on the directory itself, but its owner denied it.
    let writable = rustix::fs::access(&dir, rustix::fs::Access::WRITE_OK).map_err(io::Error::from);
    writable.map_err(on("write", &dir))?;
    if meta.permissions().readonly() {
        return Err(on("write", &dir)(io::ErrorKind::PermissionDenied.into()));
    }
    let full = fs::canonicalize(&dir).map_err(on("read", &dir))?;
    match std::env::current_dir().and_then(fs::canonicalize) {
        // Files may be put into a mounted directory even if it is the current one.
        Ok(current) if current.starts_with(&full) && !in_place::is_needed(&full) => {
            Err(WriteError::ContainsCurrentDir(dir))
        }
        _ => Ok(full),
    }
}

/// Plan for all existing entries of the output.
#[derive(Default)]
struct Plan {
    /// Files of the user, old path and new path.
    carried: Vec<(PathBuf, PathBuf)>,
    /// Empty directories of the user.
    empty_dirs: Vec<PathBuf>,
    /// The new paths of `carried` that contain edits.
    kept: Vec<String>,
    /// The output is up to date.
    unchanged: bool,
}

impl Plan {
    /// The plan for the entries `found` in the output, if there is one.
    fn of(
        dir: &Path,
        output: &Path,
        found: Option<Listing>,
        new: &Manifest,
        force: bool,
    ) -> Result<Plan, WriteError> {
        let Some(found) = found else { return Ok(Plan::default()) };
        let old = manifest_of(dir, output)?;
        let Some(old) = old else {
            let empty = found.dirs.is_empty() && found.files.is_empty();
            return if empty { Ok(Plan::default()) } else { Err(WriteError::NotOurs(dir.to_owned())) };
        };

        refuse_misfits(dir, &found, new)?;
        let mut plan = Plan { empty_dirs: empty_dirs(&found), ..Plan::default() };
        let mut edited = Vec::new();
        let mut ours = 0;
        for path in found.files {
            if old.wrote(output, &path).map_err(on("read", &dir.join(&path)))? {
                ours += 1;
            } else if old.hash_of(&path).is_some() || new.hash_of(&path).is_some() {
                edited.push(path);
            } else {
                plan.carried.push((path.clone(), path));
            }
        }
        // The manifest is generated, but not in its own list.
        plan.unchanged = edited.is_empty() && old == *new && ours == new.files.len() + 1;
        // An edit that equals the new content need not be kept.
        edited.retain(|path| match sha256_of_file(&output.join(path)) {
            Ok(hash) => hash.is_none() || hash.as_deref() != new.hash_of(path),
            Err(_) => true,
        });
        if !edited.is_empty() && !force {
            let files = edited.iter().map(|p| p.to_string_lossy().into_owned()).collect();
            return Err(WriteError::Edited { dir: dir.to_owned(), files });
        }
        plan.keep_edits(output, new, edited);
        Ok(plan)
    }

    /// Copies the user's files into the new tree, and sets the permissions of the old one.
    fn carry_over(&self, dir: &Path, output: &Path, stage: &Path) -> Result<(), WriteError> {
        for path in &self.empty_dirs {
            fs::create_dir_all(stage.join(path)).map_err(on("keep", &dir.join(path)))?;
        }
        for (from, to) in &self.carried {
            carry(&output.join(from), &stage.join(to)).map_err(on("keep", &dir.join(from)))?;
        }
        match fs::metadata(output) {
            Ok(old) => fs::set_permissions(stage, old.permissions()).map_err(on("write", dir)),
            Err(_) => Ok(()),
        }
    }

    /// Copies only the edits that are replaced into the new tree.
    fn copy_edits(&self, dir: &Path, output: &Path, stage: &Path) -> Result<(), WriteError> {
        for (from, to) in self.carried.iter().filter(|(from, to)| from != to) {
            carry(&output.join(from), &stage.join(to)).map_err(on("keep", &dir.join(from)))?;
        }
        Ok(())
    }

    /// Gives every edited file a free name.
    fn keep_edits(&mut self, output: &Path, new: &Manifest, edited: Vec<PathBuf>) {
        for path in edited {
            let free = |name: &PathBuf| {
                fs::symlink_metadata(output.join(name)).is_err()
                    && new.hash_of(name).is_none()
                    && !new.needs_directory(name)
                    && self.carried.iter().all(|(_, to)| to != name)
            };
            let name = edited_names(&path).find(free).expect("there is no end of names");
            self.kept.push(name.to_string_lossy().into_owned());
            self.carried.push((path, name));
        }
    }
}

/// Rejects a directory at the path of a file, and a file at the path of a directory.
fn refuse_misfits(dir: &Path, found: &Listing, new: &Manifest) -> Result<(), WriteError> {
    let in_the_way = |path: &Path, wanted| Err(WriteError::InTheWay { path: dir.join(path), wanted });
    if let Some(path) = found.dirs.iter().find(|path| new.hash_of(path).is_some()) {
        return in_the_way(path, "file");
    }
    match found.files.iter().find(|path| new.needs_directory(path)) {
        Some(path) => in_the_way(path, "directory"),
        None => Ok(()),
    }
}

/// Directories without any entry.
fn empty_dirs(found: &Listing) -> Vec<PathBuf> {
    let entries = || found.dirs.iter().chain(&found.files);
    let empty = |dir: &&PathBuf| entries().all(|entry| entry.parent() != Some(dir.as_path()));
    found.dirs.iter().filter(empty).cloned().collect()
}

#[cfg(test)]
mod tests;
