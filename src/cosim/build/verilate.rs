//! Turns emitted Verilog into a shared library that
//! [`crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh`] drives.
//!
//! Three kinds of cache entries make a library. The runtime is Verilator's own code and the fixed
//! part of the shim. Precompiled headers and the runtime are built once for each tool version, and
//! the fabric once for each content. This file knows nothing of traffic and does not search for
//! Verilator.

use super::compile::{Fabric, LIBRARY};
use super::error::BuildError;
use super::ffi::Library;
use super::form::{BuildForm, RunLength};
use super::progress::Progress;
use super::recipe::Recipe;
use super::toolchain::Toolchain;
use crate::design::Design;
use crate::emit::SourceFile;
use crate::tools::cache::Cache;
use std::path::PathBuf;

/// Settings of a build.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Verilator and compiler, with their versions.
    pub toolchain: Toolchain,
    /// The verilated part of the design.
    pub form: BuildForm,
    /// Length of the run, which chooses the flags.
    pub run: RunLength,
    /// Place of the cache; `None` for `MESHKV_CACHE`, `XDG_CACHE_HOME/meshkv` or `~/.cache/meshkv`.
    pub cache_dir: Option<PathBuf>,
}

/// Verilates and compiles `files`, or takes the result from the cache.
///
/// # Errors
/// [`BuildError`] names the missing tool or carries the report of a failed one.
pub fn build(
    files: &[SourceFile],
    design: &Design,
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Library, BuildError> {
    build_until(&|| false, files, design, options, progress)
}

/// Like [`build`], but ends with everything it runs once `stop` returns true.
///
/// # Errors
/// As [`build`], and [`WorkError::Stopped`](crate::tools::WorkError::Stopped).
pub fn build_until(
    stop: &(dyn Fn() -> bool + Sync),
    files: &[SourceFile],
    design: &Design,
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Library, BuildError> {
    let cache = Cache::open(options.cache_dir.as_deref(), stop)?.for_libraries()?;
    let recipe = Recipe::new(options.form, options.run, design)?;
    let fabric = Fabric { files, recipe, toolchain: &options.toolchain, stop };
    let runtime_key = fabric.runtime_key();
    let key = fabric.key(&runtime_key);

    for attempt in 0.. {
        let entry = cache.entry(&key, progress, |work, progress| {
            let runtime =
                cache.entry(&runtime_key, progress, |work, progress| fabric.build_runtime(work, progress))?;
            let mut headers = Vec::new();
            for level in fabric.levels() {
                let key = fabric.headers_key(level);
                let built =
                    cache.entry(&key, progress, |work, progress| fabric.build_headers(work, level, progress));
                headers.push((level, built?));
            }
            fabric.build(work, &runtime, &headers, progress)
        })?;
        match Library::load(&entry.join(LIBRARY)) {
            // Intact but not loadable: the system's libraries have changed since it was linked.
            Err(BuildError::Load(why)) if attempt == 0 => {
                progress(Progress::Rebuilding { why: &why });
                cache.evict(&key, progress)?;
                cache.evict(&runtime_key, progress)?;
            }
            result => return result,
        }
    }
    unreachable!("the second attempt returns")
}
