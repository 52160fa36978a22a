//! From emitted Verilog to a shared library that [`crate::cosim::dut::verilated_mesh::VerilatedMesh`] drives.
//!
//! Three kinds of cache entries make one library: the runtime (Verilator's own code and the part of the
//! shim that knows no design) and headers, precompiled, once for each tool version, and the fabric, compiled
//! once for each content. Knows nothing of traffic; does not look for Verilator.

use super::cache::Cache;
use super::compile::{Fabric, LIBRARY};
use super::error::BuildError;
use super::ffi::Library;
use super::form::{BuildForm, RunLength};
use super::progress::Progress;
use super::recipe::Recipe;
use super::toolchain::Toolchain;
use crate::design::Design;
use crate::emit::SourceFile;
use std::path::{Path, PathBuf};

/// What a build is made with.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Verilator and compiler, asked for their versions.
    pub toolchain: Toolchain,
    /// What is verilated.
    pub form: BuildForm,
    /// Chooses the flags.
    pub run: RunLength,
    /// Where built libraries are kept; `None` for `MESHKV_CACHE`, `XDG_CACHE_HOME/meshkv` or `~/.cache/meshkv`.
    pub cache_dir: Option<PathBuf>,
}

/// Verilates and compiles `files`, or takes the result from the cache.
///
/// # Errors
/// [`BuildError`] says which tool is missing or what it reported.
pub fn build(
    files: &[SourceFile],
    design: &Design,
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Library, BuildError> {
    build_until(&|| false, files, design, options, progress)
}

/// [`build`] that is given up, and everything it runs ended, once `stop` says so.
///
/// # Errors
/// As [`build`], and [`BuildError::Stopped`].
pub fn build_until(
    stop: &(dyn Fn() -> bool + Sync),
    files: &[SourceFile],
    design: &Design,
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Library, BuildError> {
    let cache = Cache::open(options.cache_dir.as_deref(), stop)?;
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
                let build = |work: &Path, progress: &mut dyn FnMut(Progress)| {
                    fabric.build_headers(work, level, progress)
                };
                headers.push((level, cache.entry(&key, progress, build)?));
            }
            fabric.build(work, &runtime, &headers, progress)
        })?;
        match Library::load(&entry.join(LIBRARY)) {
            // Intact and still not loadable: the system's libraries have changed since it was linked.
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
