//! `meshkv-manifest.json`: the generated files of a directory, with hashes of their content, and their origin.
//!
//! Files are replaced or removed only on the ground of this manifest. It is independent of
//! the files' meaning.

use crate::emit::source_file::SourceFile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Component, Path};

/// Name of the manifest below the output directory.
pub const MANIFEST: &str = "meshkv-manifest.json";

/// One file that was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenFile {
    /// Path below the output directory, with `/`.
    pub path: String,
    /// SHA-256 of its bytes, lower-case hexadecimal.
    pub sha256: String,
}

/// Program and configuration that the files of a directory come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// Program that wrote them.
    pub program: String,
    /// Its version.
    pub version: String,
    /// Name of the configuration.
    pub config: String,
    /// SHA-256 of the configuration, as every JSON output has it.
    pub config_sha256: String,
    /// Tiles of the fabric.
    pub tiles: usize,
}

/// Version of the manifest's layout.
const FORMAT: u32 = 2;
/// Versions that are read. The first has no origin.
const READ: std::ops::RangeInclusive<u32> = 1..=FORMAT;

/// The files of one output directory, sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    format: u32,
    /// None if the writer named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) origin: Option<Origin>,
    pub(super) files: Vec<WrittenFile>,
}

impl Manifest {
    /// The manifest of `files`, or a path that is not allowed below the output directory.
    pub(super) fn of(files: &[SourceFile]) -> Result<Manifest, String> {
        let entry = |f: &SourceFile| WrittenFile { path: f.path.clone(), sha256: sha256(f.text.as_bytes()) };
        let mut files: Vec<_> = files.iter().map(entry).collect();
        files.sort();
        let manifest = Manifest { format: FORMAT, origin: None, files };
        manifest.bad_path().map_or(Ok(manifest.clone()), |path| Err(path.to_owned()))
    }

    /// The same files, of this origin.
    pub(super) fn of_origin(self, origin: Option<&Origin>) -> Manifest {
        Manifest { origin: origin.cloned(), ..self }
    }

    /// The manifest of a directory; `None` if it has none.
    ///
    /// # Errors
    ///
    /// `InvalidData` if it is not one that [`Manifest::to_text`] wrote.
    pub(super) fn read(dir: &Path) -> io::Result<Option<Manifest>> {
        let text = match fs::read(dir.join(MANIFEST)) {
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None)
            }
            text => text?,
        };
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let manifest: Manifest = serde_json::from_slice(&text).map_err(|e| invalid(e.to_string()))?;
        if !READ.contains(&manifest.format) {
            let [first, last] = [READ.start(), READ.end()];
            return Err(invalid(format!("format {}, not {first} to {last}", manifest.format)));
        }
        // A path that leaves the directory would change files elsewhere.
        match manifest.bad_path() {
            Some(path) => Err(invalid(format!("impossible path {path:?}"))),
            None => Ok(Some(manifest)),
        }
    }

    /// The manifest's text on disk.
    pub(super) fn to_text(&self) -> String {
        let json = serde_json::to_string_pretty(self).expect("strings and a number are JSON");
        json + "\n"
    }

    /// Hash of a path's written content.
    pub(super) fn hash_of(&self, path: &Path) -> Option<&str> {
        let path = path.to_str()?;
        let found = self.files.binary_search_by(|f| f.path.as_str().cmp(path));
        found.ok().map(|i| self.files[i].sha256.as_str())
    }

    /// True if the file at `path` below `dir` is unchanged since it was written; the manifest included.
    pub(super) fn wrote(&self, dir: &Path, path: &Path) -> io::Result<bool> {
        match self.hash_of(path) {
            Some(hash) => Ok(sha256_of_file(&dir.join(path))?.as_deref() == Some(hash)),
            None => Ok(path == Path::new(MANIFEST)),
        }
    }

    /// True if a listed file needs `path` to be a directory.
    pub(super) fn needs_directory(&self, path: &Path) -> bool {
        self.files.iter().any(|f| Path::new(&f.path).ancestors().skip(1).any(|dir| dir == path))
    }

    /// The first path that is absolute, climbs, repeats, or is the manifest's own.
    fn bad_path(&self) -> Option<&str> {
        let plain = |path: &str| {
            let normal = Path::new(path).components().all(|c| matches!(c, Component::Normal(_)));
            normal && !path.is_empty() && path != MANIFEST
        };
        let odd = self.files.iter().find(|f| !plain(&f.path));
        let twice = || self.files.windows(2).find(|f| f[0].path >= f[1].path).map(|f| &f[1]);
        odd.or_else(twice).map(|f| f.path.as_str())
    }
}

/// SHA-256 in lower-case hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of a regular file; `None` for everything else, because generated files are regular.
pub(super) fn sha256_of_file(path: &Path) -> io::Result<Option<String>> {
    match fs::symlink_metadata(path)?.is_file() {
        true => Ok(Some(sha256(&fs::read(path)?))),
        false => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), text: path.to_owned() }
    }

    #[test]
    fn manifest_reads_back_what_it_wrote() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = Manifest::of(&[file("rtl/b.v"), file("a.f")]).unwrap();
        let origin = Origin {
            program: "meshkv".into(),
            version: "1.2.3".into(),
            config: "tiny".into(),
            config_sha256: sha256(b""),
            tiles: 6,
        };
        for manifest in [manifest.clone(), manifest.of_origin(Some(&origin))] {
            fs::write(dir.path().join(MANIFEST), manifest.to_text()).unwrap();
            assert_eq!(Manifest::read(dir.path()).unwrap(), Some(manifest));
        }
    }

    #[test]
    fn a_manifest_of_the_first_format_still_reads() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(MANIFEST), r#"{"format": 1, "files": [{"path": "a", "sha256": ""}]}"#)
            .unwrap();
        let read = Manifest::read(dir.path()).unwrap().unwrap();
        assert_eq!((read.origin, read.files[0].path.as_str()), (None, "a"));
    }

    #[test]
    fn hash_is_that_of_sha256sum() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), empty);
    }

    #[test]
    fn paths_that_leave_the_directory_are_refused() {
        for path in ["/etc/passwd", "../a.v", "rtl/../../a.v", "", MANIFEST] {
            assert_eq!(Manifest::of(&[file("a.f"), file(path)]), Err(path.to_owned()));
        }
        assert_eq!(Manifest::of(&[file("a.f"), file("a.f")]), Err("a.f".to_owned()));
    }

    #[test]
    fn damaged_manifest_is_not_guessed_at() {
        let dir = tempfile::tempdir().unwrap();
        let listed = r#"{"format": 1, "files": [{"path": "../a", "sha256": ""}]}"#;
        for text in ["", "{", "[]", r#"{"format": 3, "files": []}"#, listed] {
            fs::write(dir.path().join(MANIFEST), text).unwrap();
            let error = Manifest::read(dir.path()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{text}");
        }
    }
}
