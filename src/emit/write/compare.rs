//! Compares a folder with the files that would be written to it, and changes nothing.

use super::error::{on, WriteError};
use super::in_place;
use super::manifest::{sha256, sha256_of_file, Manifest, Origin, MANIFEST};
use crate::emit::source_file::SourceFile;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A file with another content than the generated one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Different {
    /// Path below the folder, with `/`.
    pub path: String,
    /// True if it was edited since it was written, by the folder's manifest. False if another configuration or another
    /// version wrote it.
    pub edited: bool,
}

/// Differences between a folder and the files that would be written to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Files with another content, sorted.
    pub different: Vec<Different>,
    /// Generated files that the folder lacks, sorted.
    pub missing: Vec<String>,
    /// Files that are not generated, sorted: those that meshkv wrote before, and those beside generated ones of their
    /// kind, which a tool that reads `*.v` would take for them.
    pub extra: Vec<String>,
}

impl Comparison {
    /// True if nothing differs.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Number of all files that differ.
    pub fn count(&self) -> usize {
        self.different.len() + self.missing.len() + self.extra.len()
    }
}

/// Compares `dir` with `files` and their manifest. A folder that is not there lacks all of them.
///
/// # Errors
/// When `dir` is no folder or cannot be read.
pub fn compare(files: &[SourceFile], origin: Option<&Origin>, dir: &Path) -> Result<Comparison, WriteError> {
    let new = Manifest::of(files).map_err(WriteError::BadPath)?.of_origin(origin);
    let mut found = Comparison::default();
    if !dir.exists() {
        found.missing = new.files.iter().map(|file| file.path.clone()).chain([MANIFEST.to_owned()]).collect();
        found.missing.sort();
        return Ok(found);
    }
    if !dir.is_dir() {
        return Err(WriteError::NotADirectory(dir.to_owned()));
    }
    let listing = in_place::listing(dir).map_err(on("read", dir))?;
    // A manifest that does not read is another content: it differs below.
    let old = Manifest::read(dir).ok().flatten();
    let there: BTreeSet<&PathBuf> = listing.files.iter().collect();
    let own = sha256(new.to_text().as_bytes());
    let wanted = new.files.iter().map(|file| (file.path.as_str(), file.sha256.as_str()));
    for (path, hash) in wanted.chain([(MANIFEST, own.as_str())]) {
        if !there.contains(&PathBuf::from(path)) {
            found.missing.push(path.to_owned());
            continue;
        }
        let is = sha256_of_file(&dir.join(path)).map_err(on("read", &dir.join(path)))?;
        if is.as_deref() != Some(hash) {
            let written = old.as_ref().and_then(|old| old.hash_of(Path::new(path)));
            let edited = written.is_some() && is.as_deref() != written;
            found.different.push(Different { path: path.to_owned(), edited });
        }
    }
    let extra = listing.files.iter().filter(|path| is_extra(path, &new, old.as_ref()));
    found.extra = extra.map(|path| path.to_string_lossy().into_owned()).collect();
    found.different.sort_by(|a, b| a.path.cmp(&b.path));
    found.missing.sort();
    Ok(found)
}

/// True for a file that is not generated, though meshkv wrote it or a tool would take it for a generated one.
fn is_extra(path: &Path, new: &Manifest, old: Option<&Manifest>) -> bool {
    if path == Path::new(MANIFEST) || new.hash_of(path).is_some() {
        return false;
    }
    old.is_some_and(|old| old.hash_of(path).is_some()) || is_beside_its_kind(path, new)
}

/// True if the files of a manifest include one of the same folder and extension.
pub(super) fn is_beside_its_kind(path: &Path, manifest: &Manifest) -> bool {
    let kind = |path: &Path| (path.parent().map(PathBuf::from), path.extension().map(OsStr::to_owned));
    path.extension().is_some() && manifest.files.iter().any(|file| kind(Path::new(&file.path)) == kind(path))
}
