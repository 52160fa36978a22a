//! Folders above which the tools of the repository are looked for.

use std::env;
use std::path::{Path, PathBuf};

/// True if this program or the working directory is in the repository, whose Makefile installs tools.
pub fn in_repository() -> bool {
    starts().iter().flat_map(|start| start.ancestors()).any(|dir| dir.join("scripts/tools.sh").is_file())
}

/// Folders that are searched upwards: the working directory, and that of this program.
pub(in crate::tools) fn starts() -> Vec<PathBuf> {
    let exe_dir = env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned));
    env::current_dir().ok().into_iter().chain(exe_dir).collect()
}
