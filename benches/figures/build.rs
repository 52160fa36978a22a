//! Time from emitted Verilog to a loaded library: without a cache, after a change, and from the
//! cache.

use super::figure::{Figure, Goal};
use anyhow::Result;
use meshkv::config::Config;
use meshkv::cosim::build::toolchain::Toolchain;
use meshkv::cosim::build::verilate::BuildOptions;
use meshkv::cosim::build::{verilate, BuildForm, Library, RunLength};
use meshkv::design::Design;
use meshkv::{emit, tools};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Mesh side and flit width in bits.
const SIZES: [(u32, u32); 2] = [(4, 64), (8, 512)];

pub fn measure() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (side, width) in SIZES {
        let design = design(side, width)?;
        for (name, form, run) in [
            ("one tile, for short runs (-O1)", BuildForm::OneRouter, RunLength::Quick),
            ("one tile, for long runs (-O2)", BuildForm::OneRouter, RunLength::Long),
            ("the whole mesh, for short runs (-O1)", BuildForm::WholeMesh, RunLength::Quick),
            ("the whole mesh, for long runs (-O2)", BuildForm::WholeMesh, RunLength::Long),
        ] {
            let cache = tempfile::tempdir()?;
            let timed = |design: &Design| timed(design, form, run, cache.path());
            let first = timed(&design)?;
            // The runtime is compiled once per tool version: a changed fabric does not compile it
            // again.
            let mut changed = design.clone();
            changed.name.push_str("_changed");
            let fabric = timed(&changed)?;
            let cached = timed(&design)?;
            figures.push(Figure {
                what: format!("verilate and build, {side}x{side} at {width} bit, {name}"),
                value: format!(
                    "{fabric:.1} s; {first:.1} s with Verilator's runtime, {cached:.3} s from the cache"
                ),
                goal: Goal::Stated,
                command: "cargo bench --bench figures -- build".to_owned(),
            });
        }
    }
    Ok(figures)
}

/// The built fabric, from the cache at `cache` or the usual one.
pub fn library(design: &Design, form: BuildForm, run: RunLength, cache: Option<&Path>) -> Result<Library> {
    let (verilator, cxx) = (tools::find(&tools::VERILATOR)?, tools::find(&tools::CXX)?);
    let toolchain = Toolchain::probe(verilator.program(), cxx.program())?;
    let options = BuildOptions { toolchain, form, run, cache_dir: cache.map(PathBuf::from) };
    Ok(verilate::build(&emit::emit(design)?, design, &options, &mut |_| {})?)
}

fn timed(design: &Design, form: BuildForm, run: RunLength, cache: &Path) -> Result<f64> {
    let started = Instant::now();
    library(design, form, run, Some(cache))?;
    Ok(started.elapsed().as_secs_f64())
}

fn design(side: u32, width: u32) -> Result<Design> {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows, config.noc.flit_width) = (side, side, width);
    Ok(Design::from_config("bench", &config)?)
}
