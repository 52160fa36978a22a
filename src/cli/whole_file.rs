//! Writes a file whole or not at all: neither a reader nor a full disk ever gets half of it.

use anyhow::Context;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes `path`. An existing file is replaced only if `replace` is set.
///
/// # Errors
/// When the file exists and stays, or cannot be written; then nothing has changed.
pub fn write(path: &Path, bytes: &[u8], replace: bool) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let mut file = beside(path).with_context(cannot)?;
    // The content is synced before the rename: after a crash the old file or all of the new one is there.
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).with_context(cannot)?;
    let kept = if replace { file.persist(path) } else { file.persist_noclobber(path) };
    match kept {
        Ok(_) => {
            // The folder is synced, too, or a crash could restore the old file. Not every file system
            // supports this.
            let _ = File::open(folder(path)).and_then(|dir| dir.sync_all());
            Ok(())
        }
        Err(e) if e.error.kind() == ErrorKind::AlreadyExists => {
            anyhow::bail!("{} exists; name another file, or replace it with --force", path.display())
        }
        Err(e) => Err(e.error).with_context(cannot),
    }
}

/// Checks that `path` can be written later, and leaves nothing behind.
///
/// # Errors
/// When it cannot.
pub fn check(path: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    if path.is_dir() {
        return Err(io::Error::from(ErrorKind::IsADirectory)).with_context(cannot);
    }
    // Opened without change: a tool that writes in place needs permissions of the file itself.
    if path.exists() {
        OpenOptions::new().append(true).open(path).with_context(cannot)?;
    }
    beside(path).map(drop).with_context(cannot)
}

/// Checks that `path` is none of these inputs, each with what it is.
///
/// # Errors
/// When it is the same file.
pub fn spares(path: &Path, inputs: &[(&str, &Path)]) -> anyhow::Result<()> {
    let Ok(target) = path.canonicalize() else { return Ok(()) };
    let same = inputs.iter().find(|(_, input)| input.canonicalize().is_ok_and(|input| input == target));
    match same {
        Some((what, _)) => {
            anyhow::bail!("cannot write {}: it is {what}\n  help: name another file", path.display())
        }
        None => Ok(()),
    }
}

/// A file in the same folder that is removed unless it is renamed.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    // A temporary file is private by default, and would stay so under its new name.
    tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder(path))
        .map_err(plain)
}

/// The folder of a file.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The system's message without the random name of the temporary file.
fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or(&text))
}
