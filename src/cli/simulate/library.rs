//! The verilated fabric of a command: built, or taken from the cache.

use crate::cli::output::ui::Ui;
use crate::cli::program::found;
use crate::cosim::build::toolchain::Toolchain;
use crate::cosim::build::verilate::BuildOptions;
use crate::cosim::build::{verilate, BuildError, BuildForm, Library, Progress, RunLength};
use crate::design::Design;
use crate::emit::{self, SourceFile};
use crate::tools::interrupt::Interrupt;
use crate::tools::{self, WorkError};
use anyhow::anyhow;
use std::path::Path;
use std::time::Instant;

const CACHE_HELP: &str = "\n  help: compiled fabrics are kept in MESHKV_CACHE, else in ~/.cache/meshkv; \
                          set it to a folder that you may write, on a disk with room";

/// Builds and loads the verilated library of a command.
///
/// # Errors
/// When a tool is missing or fails, or the build is interrupted.
pub(in crate::cli) fn library(
    design: &Design,
    form: BuildForm,
    run: RunLength,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Library> {
    library_in(None, design, form, run, interrupt, ui)
}

/// The same, with its own cache folder if one is given.
///
/// # Errors
/// As [`library`].
pub(in crate::cli) fn library_in(
    cache_dir: Option<&Path>,
    design: &Design,
    form: BuildForm,
    run: RunLength,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Library> {
    library_of(&emit::emit(design)?, cache_dir, design, form, run, interrupt, ui)
}

/// The same of files that are not the emitted ones.
///
/// # Errors
/// As [`library`].
pub(in crate::cli) fn library_of(
    files: &[SourceFile],
    cache_dir: Option<&Path>,
    design: &Design,
    form: BuildForm,
    run: RunLength,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Library> {
    let stop = || interrupt.requested();
    let verilator = found::find(&tools::VERILATOR, &stop, ui)?;
    let cxx = found::find(&tools::CXX, &stop, ui)?;
    let toolchain = Toolchain::probe(verilator.program(), cxx.program())?;
    ui.detail(format_args!("verilator {} at {}", verilator.version, verilator.path.display()));
    let progress = ui.progress(None, "building the fabric");
    let start = Instant::now();
    let options = BuildOptions { toolchain, form, run, cache_dir: cache_dir.map(Path::to_owned) };
    let library = verilate::build_until(&stop, files, design, &options, &mut |step| match step {
        Progress::Waiting => progress.message("another process builds this fabric"),
        Progress::Unlocked { folder } => progress.aside(|| ui.warn_once(unlocked(folder))),
        Progress::Rebuilding { why } => {
            progress.aside(|| ui.warn(format_args!("{why}; building it again")));
        }
        Progress::Verilating => progress.message("verilating the fabric"),
        Progress::Compiling { done, total } => {
            progress.message(format!("compiling the fabric, {done} of {total}"))
        }
        Progress::Linking => progress.message("linking the fabric"),
    });
    if library.is_ok() {
        progress
            .aside(|| ui.detail(format_args!("fabric loaded after {:.1} s", start.elapsed().as_secs_f64())));
    }
    library.map_err(|error| match error {
        BuildError::Work(WorkError::Io { .. }) => anyhow!("{:#}{CACHE_HELP}", anyhow::Error::from(error)),
        error => error.into(),
    })
}

/// The word about a cache without locks.
pub(in crate::cli) fn unlocked(folder: &Path) -> String {
    format!("{} has no locks: two runs at a time may build the same", folder.display())
}
