//! Views of a wave file: the signals of a flit's way, grouped, named and translated, for GTKWave
//! and for Surfer.
//!
//! The names are those of the file itself, which is read back. So a view never names a signal that
//! the file lacks, whatever was verilated and however deep it was traced.

mod file;
mod groups;
mod gtkwave;
mod hierarchy;
mod meaning;
mod surfer;
mod way;

pub use file::ViewFile;
pub use groups::{groups, Group, Line};
pub use hierarchy::{read, Hierarchy, Signal, ViewError};
pub use meaning::{Meaning, States, STATES};
pub use way::Focus;

use crate::design::Design;
use std::path::Path;

/// The files of the views of `waves`, the first for GTKWave and the second for Surfer; then the
/// tables of values that both name.
///
/// # Errors
/// If `waves` is no whole FST file.
pub fn views(waves: &Path, design: &Design, focus: Focus) -> Result<Vec<ViewFile>, ViewError> {
    let hierarchy = read(waves)?;
    let groups = groups(&hierarchy, design, focus);
    let mut files = gtkwave::files(waves, &hierarchy, &groups, design);
    let others = surfer::files(waves, &groups, design);
    files.splice(1..1, others);
    Ok(files)
}
