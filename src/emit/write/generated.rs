//! Reads a generated folder back, with the edits made since.

use super::compare::is_beside_its_kind;
use super::error::{on, WriteError};
use super::in_place;
use super::manifest::{Manifest, Origin, MANIFEST};
use crate::emit::source_file::SourceFile;
use std::fs;
use std::io;
use std::path::Path;

/// A folder that was generated, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Program and configuration; none if a version before manifests had them wrote it.
    pub origin: Option<Origin>,
    /// Files of the manifest that are there, and those beside them of their kind, sorted.
    pub files: Vec<SourceFile>,
    /// Paths of files that were edited since.
    pub edited: Vec<String>,
    /// Paths of files of the manifest that are not there.
    pub missing: Vec<String>,
    /// Paths of files that were put beside generated ones of their kind.
    pub added: Vec<String>,
    /// Of these, paths with characters that scripts of tools take for their own. They are not among the files.
    pub unread: Vec<String>,
}

/// Reads a folder that was generated.
///
/// # Errors
/// When it has no manifest that reads, or a file cannot be read.
pub fn read(dir: &Path) -> Result<Generated, WriteError> {
    if !dir.is_dir() {
        return Err(WriteError::NotADirectory(dir.to_owned()));
    }
    let manifest = manifest_of(dir, dir)?.ok_or_else(|| WriteError::NotGenerated(dir.to_owned()))?;
    let listing = in_place::listing(dir).map_err(on("read", dir))?;
    let mut generated = Generated {
        origin: manifest.origin.clone(),
        files: Vec::new(),
        edited: Vec::new(),
        missing: Vec::new(),
        added: Vec::new(),
        unread: Vec::new(),
    };
    for path in listing.files.iter().filter(|path| path.as_path() != Path::new(MANIFEST)) {
        generated.take(dir, path, &manifest)?;
    }
    let there = |path: &str| generated.files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok();
    let missing = manifest.files.iter().filter(|file| !there(&file.path));
    generated.missing = missing.map(|file| file.path.clone()).collect();
    Ok(generated)
}

impl Generated {
    /// Reads a file, if it is generated or beside generated ones of its kind.
    fn take(&mut self, dir: &Path, path: &Path, manifest: &Manifest) -> Result<(), WriteError> {
        let name = path.to_string_lossy().into_owned();
        if manifest.hash_of(path).is_none() {
            if !is_beside_its_kind(path, manifest) {
                return Ok(());
            }
            if !is_plain(&name) {
                self.unread.push(name);
                return Ok(());
            }
            self.added.push(name.clone());
        } else if !manifest.wrote(dir, path).map_err(on("read", &dir.join(path)))? {
            self.edited.push(name.clone());
        }
        let bytes = fs::read(dir.join(path)).map_err(on("read", &dir.join(path)))?;
        // An edit may be in any encoding; the tools say what they make of it.
        let text = String::from_utf8_lossy(&bytes).into_owned();
        self.files.push(SourceFile { path: name, text });
        Ok(())
    }
}

/// True for a path that is one word for every tool.
fn is_plain(path: &str) -> bool {
    path.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c))
}

/// The manifest of the output, which the user named `dir`.
pub(super) fn manifest_of(dir: &Path, output: &Path) -> Result<Option<Manifest>, WriteError> {
    Manifest::read(output).map_err(|e| match e.kind() {
        io::ErrorKind::InvalidData => {
            WriteError::BadManifest { path: dir.join(MANIFEST), reason: e.to_string() }
        }
        _ => on("read", &dir.join(MANIFEST))(e),
    })
}
