//! The file of `--host-model`: a host behind its link.

use crate::cosim::workloads::device::HostModel;
use crate::tools::input;
use anyhow::Context as _;
use std::path::Path;

/// Size of such a file at most.
const MOST_BYTES: u64 = 1 << 20;

/// The host that ships with the program, by its name.
const SHIPPED: &str = "pcie3_x16";

/// Reads the file of a host.
///
/// # Errors
/// If it cannot be read, or is no such file.
pub(in crate::cli::simulate) fn read(path: &Path) -> anyhow::Result<HostModel> {
    if path.as_os_str() == SHIPPED {
        return Ok(HostModel::default());
    }
    let read = || {
        format!("cannot read {}\n  help: {SHIPPED} is the host that ships with the program", path.display())
    };
    let text = String::from_utf8(input::read(path, MOST_BYTES).with_context(read)?).with_context(read)?;
    HostModel::parse(&text).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))
}
