//! A file of a view.

use std::path::{Path, PathBuf};

/// A file of a view: its path and its text.
pub type ViewFile = (PathBuf, String);

/// The name of a wave file without its extension.
pub(super) fn stem(waves: &Path) -> String {
    waves.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
