//! Descriptions of the fabric for tools of others: FuseSoC, IP-XACT, SystemRDL, and benches for cocotb and for any simulator.

mod bench;
mod fusesoc;
mod ipxact;
mod register_map;
mod systemrdl;

pub use bench::BENCH_OUTPUTS;

use crate::design::Design;
use crate::emit::rtl::spec::module::ModuleSpec;
use crate::emit::source_file::SourceFile;
use anyhow::Result;

/// All descriptions of a design; `modules` in dependency order.
///
/// # Errors
/// If a template uses a missing value.
pub(super) fn emit(design: &Design, modules: &[ModuleSpec]) -> Result<Vec<SourceFile>> {
    let mut files = bench::emit(design, modules)?;
    files.push(fusesoc::emit(design, modules)?);
    files.push(ipxact::emit(design, modules)?);
    files.push(systemrdl::emit(design)?);
    Ok(files)
}
