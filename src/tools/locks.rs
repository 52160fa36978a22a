//! Locks of files between processes, also on file systems that have none.
//!
//! A lock is advice to other runs of this program. Where a file system has no locks, work goes on without one, and
//! its caller says so. The module is independent of the protected files.

use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io;

/// State of a lock that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// This process has it, until the file is closed or the process dies.
    Held,
    /// Another process has it.
    Busy,
    /// The file system has no locks.
    Unsupported,
}

/// Asks for the lock of an open file, without waiting.
///
/// # Errors
/// When the system refuses the lock for any other reason.
pub fn try_lock(file: &File) -> io::Result<Lock> {
    loop {
        return match file.try_lock() {
            Ok(()) => Ok(Lock::Held),
            Err(TryLockError::WouldBlock) => Ok(Lock::Busy),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(TryLockError::Error(error)) if has_none(&error) => Ok(Lock::Unsupported),
            Err(TryLockError::Error(error)) => Err(error),
        };
    }
}

/// True if an error of the system says that a file system has no locks.
fn has_none(error: &io::Error) -> bool {
    // ENOSYS: the file system or a sandbox has no such call. ENOLCK: a network file system without a server for
    // locks. EOPNOTSUPP, EINVAL: a file system in user space. EBADF: one that locks only files open for writing,
    // as NFS does, when the file is a folder; the file itself is open.
    let known = [Errno::NOSYS, Errno::NOLCK, Errno::OPNOTSUPP, Errno::INVAL, Errno::BADF];
    Errno::from_io_error(error).is_some_and(|errno| known.contains(&errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_by_one_file_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let open = || File::create(dir.path().join("lock")).unwrap();
        let first = open();
        assert_eq!(try_lock(&first).unwrap(), Lock::Held);
        assert_eq!(try_lock(&open()).unwrap(), Lock::Busy);
        drop(first);
        assert_eq!(try_lock(&open()).unwrap(), Lock::Held);
    }

    #[test]
    fn only_errors_of_file_systems_without_locks_are_taken_for_them() {
        let error = |errno: Errno| io::Error::from_raw_os_error(errno.raw_os_error());
        for errno in [Errno::NOSYS, Errno::NOLCK, Errno::OPNOTSUPP, Errno::INVAL, Errno::BADF] {
            assert!(has_none(&error(errno)), "{errno:?}");
        }
        for errno in [Errno::IO, Errno::ACCESS, Errno::STALE, Errno::AGAIN] {
            assert!(!has_none(&error(errno)), "{errno:?}");
        }
    }
}
