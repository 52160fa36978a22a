//! The file of waves: Verilator's writer removes an existing file of its name and makes a new one.
//!
//! So it gets the name behind symbolic links and never that of a device or a pipe, and the new file gets the mode of
//! the old one.

use crate::cosim::dut::error::DutError;
use std::ffi::CString;
use std::fs::{self, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Starts waves in the file at `path` with `open`, which gets the name for the writer.
pub(in crate::cosim::dut) fn start(
    path: &Path,
    open: impl FnOnce(CString) -> Result<(), DutError>,
) -> Result<(), DutError> {
    let old = fs::metadata(path).ok();
    if old.as_ref().is_some_and(|meta| !meta.is_file()) {
        return Err(DutError::Wave(format!("cannot write the wave file {}: it is no file", path.display())));
    }
    if path.is_symlink() {
        // A link to nothing leads to a file from here on; if not, the writer says why.
        let _ = OpenOptions::new().create(true).append(true).open(path);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = CString::new(target.as_os_str().as_bytes())
        .map_err(|_| DutError::Wave(format!("{} cannot be a file name", path.display())))?;
    open(name)?;
    if let Some(old) = old {
        // Waves are worth more than their mode.
        let _ = fs::set_permissions(&target, old.permissions());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::cosim::dut::verilated::wave_file::*;
    use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
    use std::path::PathBuf;

    /// Starts waves as Verilator's writer does.
    fn write(path: &Path) -> Result<(), DutError> {
        start(path, |name| {
            let path = PathBuf::from(name.to_str().unwrap());
            let _ = fs::remove_file(&path);
            fs::write(path, "waves").map_err(|e| DutError::Wave(e.to_string()))
        })
    }

    #[test]
    fn links_and_modes_stay_and_a_device_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        symlink("later.fst", at("link.fst")).unwrap();
        write(&at("link.fst")).unwrap();
        fs::set_permissions(at("later.fst"), fs::Permissions::from_mode(0o604)).unwrap();
        write(&at("link.fst")).unwrap();
        assert!(at("link.fst").is_symlink() && fs::read(at("later.fst")).unwrap() == b"waves");
        assert_eq!(fs::metadata(at("later.fst")).unwrap().mode() & 0o777, 0o604);
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        for node in [at("pipe"), dir.path().to_owned()] {
            let error = write(&node).unwrap_err().to_string();
            assert!(error.contains("it is no file") && node.exists(), "{error}");
        }
    }
}
