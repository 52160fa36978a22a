//! The build cache: directories named by the hash of their inputs, in which results of tools are kept.
//!
//! An entry appears complete or not at all: it is built next to the cache and renamed into it. A
//! lock per entry makes a second builder wait instead of repeating the work. A manifest with the
//! hash of every file detects a damaged entry, which is built again. The cache does not know what
//! an entry contains.

use crate::tools::locks::{self, Lock};
use crate::tools::work_error::{io_error, WorkError};
use rustix::fs::StatVfsMountFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

const MANIFEST: &str = "manifest.json";

/// What the cache does besides, for the caller to display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CacheStep<'a> {
    /// Another process is building the same entry.
    Waiting,
    /// The file system of this cache has no locks: other processes may build the same.
    Unlocked(&'a Path),
    /// An entry is damaged and built again; the clause names both.
    Rebuilding(&'a str),
}

/// Takes the steps of the cache.
pub(crate) trait Hears {
    fn hear(&mut self, step: CacheStep);
}

impl Hears for () {
    fn hear(&mut self, _: CacheStep) {}
}

/// Contents of an entry: file name to SHA-256.
#[derive(Serialize, Deserialize)]
struct Manifest {
    files: BTreeMap<String, String>,
}

/// The hash that names an entry. It takes one label and value at a time.
pub(crate) struct Key(Sha256);

impl Key {
    pub(crate) fn new() -> Key {
        Key(Sha256::new())
    }

    /// Adds one input. Lengths are hashed too, so that two lists of inputs never concatenate to the
    /// same bytes.
    pub(crate) fn add(&mut self, label: &str, value: impl AsRef<[u8]>) -> &mut Key {
        for part in [label.as_bytes(), value.as_ref()] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    /// 128 bits in hex: enough that no two entries collide.
    pub(crate) fn finish(&self) -> String {
        hex(&self.0.clone().finalize()[..16])
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn hash_file(path: &Path) -> io::Result<String> {
    Ok(hex(&Sha256::digest(fs::read(path)?)))
}

/// Interval at which a waiting builder tries the lock and looks at `stop`.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// A cache at a root directory.
pub(crate) struct Cache<'a> {
    root: PathBuf,
    /// True once the caller gives up.
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Cache<'a> {
    /// Opens the cache at `root`, or at the place of the environment.
    pub(crate) fn open(
        root: Option<&Path>,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Result<Cache<'a>, WorkError> {
        let root = root
            .map(Path::to_owned)
            .or_else(|| of_environment(|name| env::var_os(name)))
            .ok_or(WorkError::NoCache)?;
        // Commands run in other directories and get paths below this one.
        let root = std::path::absolute(&root).map_err(io_error("cannot use", &root))?;
        fs::create_dir_all(&root).map_err(io_error("cannot create", &root))?;
        Ok(Cache { root, stop })
    }

    /// Refuses a cache whose libraries cannot be loaded, before one is built.
    pub(crate) fn for_libraries(self) -> Result<Cache<'a>, WorkError> {
        // A system that does not say how it is mounted loads the library, or says why not.
        let flags = rustix::fs::statvfs(&self.root).map(|found| found.f_flag);
        self.mounted_with(flags.unwrap_or(StatVfsMountFlags::empty()))
    }

    fn mounted_with(self, flags: StatVfsMountFlags) -> Result<Cache<'a>, WorkError> {
        match flags.contains(StatVfsMountFlags::NOEXEC) {
            true => Err(WorkError::NoExec { folder: self.root }),
            false => Ok(self),
        }
    }

    /// True if there is an intact directory of `key`.
    pub(crate) fn has(&self, key: &str) -> bool {
        check(&self.root.join(key)).is_ok()
    }

    /// Returns the directory of `key`. If there is no intact one, `build` fills an empty directory.
    pub(crate) fn entry<P: Hears + ?Sized, E: From<WorkError>>(
        &self,
        key: &str,
        progress: &mut P,
        build: impl FnOnce(&Path, &mut P) -> Result<(), E>,
    ) -> Result<PathBuf, E> {
        let entry = self.root.join(key);
        if check(&entry).is_ok() {
            return Ok(entry);
        }
        // Kept until the end of the function. The system releases the lock if the process dies.
        let (_lock, locked) = self.lock(key, progress)?;
        match check(&entry) {
            Ok(()) => return Ok(entry), // Another process built it meanwhile.
            Err(Damage::Absent) => {}
            Err(Damage::Corrupt(why)) => {
                progress.hear(CacheStep::Rebuilding(&why));
                clear(&entry)?;
            }
        }
        // The name is fixed, so the next build removes the leftovers of an interrupted one. Without a lock another
        // process may build the same.
        let work = if locked { self.work_folder(key)? } else { self.own_work_folder(key)? };
        let built = build(&work, progress).and_then(|()| Ok(seal(&work)?));
        let published =
            built.and_then(|()| Ok(fs::rename(&work, &entry).map_err(io_error("cannot publish", &entry))?));
        if let Err(error) = published {
            // The error to report is the first one, not one of the clean-up.
            let _ = clear(&work);
            // Another process was faster.
            let there = !locked && check(&entry).is_ok();
            return if there { Ok(entry) } else { Err(error) };
        }
        Ok(entry)
    }

    /// The empty folder in which the holder of the lock builds.
    fn work_folder(&self, key: &str) -> Result<PathBuf, WorkError> {
        let work = self.root.join(format!("{key}.part"));
        clear(&work)?;
        fs::create_dir_all(&work).map_err(io_error("cannot create", &work))?;
        Ok(work)
    }

    /// An empty folder that nobody else has.
    fn own_work_folder(&self, key: &str) -> Result<PathBuf, WorkError> {
        let made = tempfile::Builder::new().prefix(&format!("{key}.")).suffix(".part").tempdir_in(&self.root);
        made.map(tempfile::TempDir::keep).map_err(io_error("cannot create a folder in", &self.root))
    }

    /// Removes an entry that is intact but useless.
    pub(crate) fn evict<P: Hears + ?Sized>(&self, key: &str, progress: &mut P) -> Result<(), WorkError> {
        let _lock = self.lock(key, progress)?;
        clear(&self.root.join(key))
    }

    /// Waits for the lock of an entry. False if the file system has none.
    fn lock<P: Hears + ?Sized>(&self, key: &str, progress: &mut P) -> Result<(File, bool), WorkError> {
        let path = self.root.join(format!("{key}.lock"));
        let file = File::create(&path).map_err(io_error("cannot create", &path))?;
        let mut told = false;
        // Polled, because a blocking wait for a lock cannot be given up.
        loop {
            match locks::try_lock(&file).map_err(io_error("cannot lock", &path))? {
                Lock::Held => return Ok((file, true)),
                Lock::Unsupported => {
                    progress.hear(CacheStep::Unlocked(&self.root));
                    return Ok((file, false));
                }
                Lock::Busy if (self.stop)() => return Err(WorkError::Stopped),
                Lock::Busy => {}
            }
            if !std::mem::replace(&mut told, true) {
                progress.hear(CacheStep::Waiting);
            }
            thread::sleep(ASK_EVERY);
        }
    }
}

/// Place of the cache by the environment: `MESHKV_CACHE`, `XDG_CACHE_HOME/meshkv` or `~/.cache/meshkv`.
///
/// The XDG Base Directory Specification has a relative path ignored: it would mean another folder in each place.
fn of_environment(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("MESHKV_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").filter(|path| path.is_absolute()).map(|path| path.join("meshkv")))
        .or_else(|| set("HOME").map(|path| path.join(".cache/meshkv")))
}

/// Reason why an entry cannot be used.
enum Damage {
    Absent,
    Corrupt(String),
}

fn check(entry: &Path) -> Result<(), Damage> {
    if !entry.exists() {
        return Err(Damage::Absent);
    }
    let corrupt =
        |what: &str| Damage::Corrupt(format!("{what} in the build cache entry {}", entry.display()));
    let text = fs::read(entry.join(MANIFEST)).map_err(|_| corrupt("there is no manifest"))?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|_| corrupt("the manifest is damaged"))?;
    for (name, hash) in &manifest.files {
        if hash_file(&entry.join(name)).ok().as_ref() != Some(hash) {
            return Err(corrupt(&format!("{name} is not what was built")));
        }
    }
    Ok(())
}

/// Writes the manifest of a finished build.
fn seal(work: &Path) -> Result<(), WorkError> {
    let mut files = BTreeMap::new();
    for item in fs::read_dir(work).map_err(io_error("cannot read", work))? {
        let path = item.map_err(io_error("cannot read", work))?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            let hash = hash_file(&path).map_err(io_error("cannot read", &path))?;
            files.insert(name.to_string_lossy().into_owned(), hash);
        }
    }
    let text = serde_json::to_vec_pretty(&Manifest { files }).map_err(io::Error::other);
    let path = work.join(MANIFEST);
    text.and_then(|text| fs::write(&path, text)).map_err(io_error("cannot write", &path))
}

fn clear(path: &Path) -> Result<(), WorkError> {
    let removed = if path.is_file() { fs::remove_file(path) } else { fs::remove_dir_all(path) };
    match removed {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(io_error("cannot remove", path)(source))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the rebuilt entries.
    struct Rebuilt(u32);

    impl Hears for Rebuilt {
        fn hear(&mut self, step: CacheStep) {
            self.0 += u32::from(matches!(step, CacheStep::Rebuilding(_)));
        }
    }

    #[test]
    fn a_relative_path_of_xdg_is_ignored() {
        let place = |cache: &str, xdg: &str| {
            let value = |name: &str| match name {
                "MESHKV_CACHE" => Some(cache.into()),
                "XDG_CACHE_HOME" => Some(xdg.into()),
                _ => Some("/someone".into()),
            };
            of_environment(value).unwrap()
        };
        assert_eq!(place("", "/var/c"), Path::new("/var/c/meshkv"));
        for relative in ["c", "./c", "../c", ""] {
            assert_eq!(place("", relative), Path::new("/someone/.cache/meshkv"), "{relative}");
        }
        // Our own variable is a choice of the user, whatever it names.
        assert_eq!(place("mine", "/var/c"), Path::new("mine"));
    }

    #[test]
    fn an_entry_is_built_once() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(root.path()), &|| false).unwrap();
        let mut built = 0;
        for _ in 0..2 {
            let entry = cache.entry("k", &mut (), |dir, _| {
                built += 1;
                fs::write(dir.join("a"), "1").map_err(io_error("write", dir))
            });
            assert_eq!(fs::read_to_string(entry.unwrap().join("a")).unwrap(), "1");
        }
        assert_eq!(built, 1);
    }

    #[test]
    fn a_damaged_entry_is_built_again_with_a_note() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(root.path()), &|| false).unwrap();
        let mut rebuilt = Rebuilt(0);
        let fill =
            |dir: &Path, _: &mut Rebuilt| fs::write(dir.join("a"), "whole").map_err(io_error("write", dir));
        let entry = cache.entry("k", &mut rebuilt, fill).unwrap();
        fs::write(entry.join("a"), "hole").unwrap();
        cache.entry("k", &mut rebuilt, fill).unwrap();
        assert_eq!(rebuilt.0, 1);
        assert_eq!(fs::read_to_string(entry.join("a")).unwrap(), "whole");
        // A file in place of the entry's directory.
        fs::remove_dir_all(&entry).unwrap();
        fs::write(&entry, "").unwrap();
        cache.entry("k", &mut rebuilt, fill).unwrap();
        assert_eq!(fs::read_to_string(entry.join("a")).unwrap(), "whole");
    }

    #[test]
    fn a_failed_build_leaves_nothing_behind() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(root.path()), &|| false).unwrap();
        let failed = cache.entry("k", &mut (), |dir, _| {
            fs::write(dir.join("half"), "").map_err(io_error("write", dir))?;
            Err(WorkError::NoCache)
        });
        assert!(failed.is_err());
        assert!(!root.path().join("k").exists() && !root.path().join("k.part").exists());
    }

    #[test]
    fn two_builders_of_one_entry_do_the_work_once() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(root.path()), &|| false).unwrap();
        let built = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    cache.entry("k", &mut (), |_, _| {
                        built.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        Ok::<(), WorkError>(())
                    })
                });
            }
        });
        assert_eq!(built.into_inner(), 1);
    }

    #[test]
    fn waiting_for_another_builder_can_be_given_up() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::open(Some(root.path()), &|| false).unwrap();
        let _held = cache.lock("k", &mut ()).unwrap();
        let impatient = Cache::open(Some(root.path()), &|| true).unwrap();
        assert!(matches!(impatient.lock("k", &mut ()), Err(WorkError::Stopped)));
    }

    #[test]
    fn a_cache_without_execution_is_refused_for_libraries_alone() {
        let root = tempfile::tempdir().unwrap();
        let open = || Cache::open(Some(root.path()), &|| false).unwrap();
        let refused = open().mounted_with(StatVfsMountFlags::NOEXEC);
        assert!(matches!(refused, Err(WorkError::NoExec { .. })));
        assert!(open().mounted_with(StatVfsMountFlags::RDONLY).is_ok());
    }

    #[test]
    fn inputs_do_not_run_together_in_a_key() {
        let mut a = Key::new();
        let mut b = Key::new();
        a.add("x", "ab").add("y", "c");
        b.add("x", "a").add("y", "bc");
        assert_ne!(a.finish(), b.finish());
    }
}
