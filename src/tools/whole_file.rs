//! Writes a file whole or not at all: neither a reader nor a full disk ever gets half of it.
//!
//! The entry at the path keeps its kind. A symbolic link keeps its name and the file that it leads to is
//! replaced; a file keeps its owner and mode. Devices, pipes and files that cannot be replaced, such as one that is
//! mounted, are written in place.

use anyhow::Context;
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{fchown, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Most symbolic links on the way to a file, as in Linux.
const MOST_LINKS: usize = 40;

/// Writes `path`. An existing file is replaced only if `replace` is set.
///
/// # Errors
/// When the file exists and stays, or cannot be written; then nothing has changed, except in a file that is written
/// in place.
pub fn write(path: &Path, bytes: &[u8], replace: bool) -> anyhow::Result<()> {
    match write_to(path, bytes, replace) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            anyhow::bail!("{} exists; name another file, or replace it with --force", path.display())
        }
        done => done.with_context(|| format!("cannot write {}", path.display())),
    }
}

fn write_to(path: &Path, bytes: &[u8], replace: bool) -> io::Result<()> {
    let standing = standing(path)?;
    if let Some(meta) = standing.as_ref().filter(|meta| !meta.is_file()) {
        // Only a disk has content that a write replaces.
        return match meta.file_type().is_block_device() && !replace {
            true => Err(ErrorKind::AlreadyExists.into()),
            false => through(path, meta, bytes),
        };
    }
    match &standing {
        Some(meta) if is_stdout(meta) => through(path, meta, bytes),
        Some(_) if !replace => Err(ErrorKind::AlreadyExists.into()),
        old => swap(&target(path)?, bytes, old.as_ref(), replace).or_else(|error| match is_fixed(&error) {
            true if old.is_some() => in_place(path, bytes).map_err(|_| error),
            _ => Err(error),
        }),
    }
}

/// Metadata of the entry at a path; `None` if there is no entry.
fn standing(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Ok(meta) if meta.is_dir() => Err(ErrorKind::IsADirectory.into()),
        found => found.map(Some),
    }
}

/// The path behind all symbolic links, also behind those that lead to no file yet.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::symlink_metadata(&target) {
            Ok(meta) if meta.is_symlink() => target = folder(&target).join(fs::read_link(&target)?),
            _ => return Ok(target),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Replaces the file at `path`, whose description is `old`, or makes it.
fn swap(path: &Path, bytes: &[u8], old: Option<&Metadata>, replace: bool) -> io::Result<()> {
    let mut file = beside(path)?;
    if let Some(old) = old {
        // Only root gives files away. Programs that run as their owner must not get another one.
        let same = fchown(file.as_file().as_fd(), Some(old.uid()), Some(old.gid())).is_ok();
        let mode = old.mode() & if same { 0o7777 } else { 0o1777 };
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
    }
    // The content is synced before the rename: after a crash the old file or all of the new one is there.
    file.write_all(bytes).and_then(|()| file.as_file().sync_all())?;
    let kept = if replace { file.persist(path) } else { file.persist_noclobber(path) };
    kept.map_err(|error| error.error)?;
    // The folder is synced, too, or a crash could restore the old file. Not every file system supports this.
    let _ = File::open(folder(path)).and_then(|dir| dir.sync_all());
    Ok(())
}

/// True for a file that cannot be replaced but may be written: it is mounted, or its folder is not writable.
fn is_fixed(error: &io::Error) -> bool {
    use ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    [CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy].contains(&error.kind())
}

/// Writes over the content of a file.
fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).truncate(true).open(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all())
}

/// Writes into a device or a pipe, which has no content to replace.
fn through(path: &Path, meta: &Metadata, bytes: &[u8]) -> io::Result<()> {
    if is_stdout(meta) {
        // Opened a second time, a file would be written from its start, over what was printed.
        let mut out = io::stdout().lock();
        return out.write_all(bytes).and_then(|()| out.flush());
    }
    let mut file = OpenOptions::new().write(true).open(path)?;
    file.write_all(bytes).and_then(|()| file.flush())
}

/// True for what standard output is, under whatever name: `/dev/stdout` leads to it.
fn is_stdout(meta: &Metadata) -> bool {
    rustix::fs::fstat(io::stdout()).is_ok_and(|out| (out.st_dev, out.st_ino) == (meta.dev(), meta.ino()))
}

/// Checks that `path` can be written later, and leaves nothing behind.
///
/// # Errors
/// When it cannot.
pub fn check(path: &Path) -> anyhow::Result<()> {
    check_path(path).with_context(|| format!("cannot write {}", path.display()))
}

fn check_path(path: &Path) -> io::Result<()> {
    match standing(path)? {
        // Not opened: the reader of a pipe would see its end.
        Some(meta) if !meta.is_file() => Ok(rustix::fs::access(path, rustix::fs::Access::WRITE_OK)?),
        Some(_) => {
            // Opened without change: a tool that writes in place needs permissions of the file itself.
            OpenOptions::new().append(true).open(path)?;
            Ok(())
        }
        None => beside(&target(path)?).map(drop),
    }
}

/// Checks that waves can be written to `path`: their writer goes back in its file, which devices and pipes cannot.
///
/// # Errors
/// When they cannot.
pub fn check_waves(path: &Path) -> anyhow::Result<()> {
    let node = standing(path).is_ok_and(|found| found.is_some_and(|meta| !meta.is_file()));
    anyhow::ensure!(
        !node,
        "cannot write {}: waves take a file, and it is a device or a pipe",
        path.display()
    );
    check(path)
}

/// Checks that `path` is none of these inputs, each with its meaning for messages.
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

#[cfg(test)]
mod tests {
    use crate::tools::whole_file::*;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("below")).unwrap();
        fs::write(at("below/file"), "old").unwrap();
        fs::set_permissions(at("below/file"), Permissions::from_mode(0o640)).unwrap();
        symlink("below/second", at("first")).unwrap();
        symlink("file", at("below/second")).unwrap();
        write(&at("first"), b"new", true).unwrap();
        assert_eq!((fs::read(at("below/file")).unwrap(), mode(&at("below/file"))), (b"new".to_vec(), 0o640));
        assert!(at("first").is_symlink() && at("below/second").is_symlink());
        let error = write(&at("first"), b"x", false).unwrap_err().to_string();
        assert!(error.contains("exists; name another file"), "{error}");
        // A link to a file that is not there yet.
        symlink("below/later", at("dangling")).unwrap();
        check(&at("dangling")).unwrap();
        write(&at("dangling"), b"later", false).unwrap();
        assert!(at("dangling").is_symlink());
        assert_eq!(fs::read(at("below/later")).unwrap(), b"later");
        symlink("loop", at("loop")).unwrap();
        assert!(write(&at("loop"), b"", true).is_err() && at("loop").is_symlink());
    }

    #[test]
    fn a_pipe_is_written_through_and_never_opened_by_a_check() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // It would wait for a reader, or show a reader its end.
        check(&pipe).unwrap();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| fs::read(&pipe).unwrap());
            write(&pipe, b"content", false).unwrap();
            assert_eq!(reader.join().unwrap(), b"content");
        });
        assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        let entries = fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(entries, 1);
    }

    #[test]
    fn only_errors_of_a_replacement_lead_to_a_write_in_place() {
        assert!(is_fixed(&ErrorKind::ResourceBusy.into()) && !is_fixed(&ErrorKind::StorageFull.into()));
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "long content").unwrap();
        let inode = fs::metadata(&path).unwrap().ino();
        in_place(&path, b"short").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().ino()),
            (b"short".to_vec(), inode)
        );
    }
}
