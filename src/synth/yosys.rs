//! Synthesis of one module by Yosys: maps it to UltraScale+ cells, counts them and estimates the period.
//!
//! The recipe is that of the figures in `docs/figures.md`: `synth_xilinx -family xcup -noiopad -flatten`,
//! DSPs by name. The period is an estimate: static analysis of the written netlist, divided by the ratio
//! found in placed and routed public designs. DSP48E2 and LUT memories have no timing arcs. Results are kept
//! in the build cache.

use super::netlist::{Area, Netlist};
use crate::cosim::build::cache::{Cache, Key};
use crate::cosim::build::{io_error, toolchain, BuildError, Progress};
use crate::emit::{SourceFile, CARD_DEFINES};
use crate::tools::{self, Tool, ToolError, Version};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Static analysis over post-route period, calibrated on two public designs.
const OVER_ROUTED: f64 = 1.8;

/// Oldest Yosys whose results compare with the project's figures.
const CALIBRATED: Version = Version::new(0, 60);

/// Version of the measurement, raised with every change to force new results.
const MEASURE: &str = "2";

/// File of the result in its cache entry.
const COSTS: &str = "costs.json";

/// Costs of a module, with all that it instantiates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Cells.
    pub area: Area,
    /// LUTs on the longest path between registers or ports.
    pub levels: u32,
    /// Static analysis divided by 1.8, in nanoseconds; memories and DSPs have no timing arcs.
    pub period_ns: f64,
}

/// Step of synthesis, for progress output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A module goes through Yosys.
    Synthesising(&'a str),
    /// Another process synthesises the same.
    Waiting,
    /// A damaged cache entry is rebuilt; the clause gives the reason.
    Rebuilding(&'a str),
}

/// Effort to get a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Run Yosys where the cache has no result.
    Synthesise,
    /// Use the cache only, and end with [`BuildError::Stopped`] where it has no result.
    CacheOnly,
}

/// A Yosys for synthesis, with the cache of its results.
pub struct Yosys<'a> {
    tool: Tool,
    cache_dir: Option<PathBuf>,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Yosys<'a> {
    /// Finds the newest Yosys. Results go to `cache_dir`, or to the cache of compiled fabrics. Work ends once
    /// `stop` returns true.
    ///
    /// # Errors
    /// When none is new enough.
    pub fn find(
        cache_dir: Option<&Path>,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Result<Yosys<'a>, ToolError> {
        let tool = tools::newest(&tools::SYNTHESIS)?;
        Ok(Yosys { tool, cache_dir: cache_dir.map(Path::to_owned), stop })
    }

    /// The same Yosys, whose work ends once `stop` returns true.
    pub(super) fn stopped_by<'b>(&self, stop: &'b (dyn Fn() -> bool + Sync)) -> Yosys<'b> {
        Yosys { tool: self.tool.clone(), cache_dir: self.cache_dir.clone(), stop }
    }

    /// True if work is to end.
    pub(super) fn stopped(&self) -> bool {
        (self.stop)()
    }

    /// Version.
    pub fn version(&self) -> Version {
        self.tool.version
    }

    /// True if its results compare with the project's figures. Older versions miss some LUT savings and have
    /// no timing arcs of wide multiplexers.
    pub fn calibrated(&self) -> bool {
        self.tool.version >= CALIBRATED
    }

    /// Costs of module `top` of `files`. `change` is a Yosys command that runs before, such as `chparam`.
    ///
    /// # Errors
    /// When Yosys fails, is stopped, or leaves a cell without a counting rule.
    pub fn costs(
        &self,
        files: &[SourceFile],
        top: &str,
        change: &str,
        effort: Effort,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Costs, BuildError> {
        let cache = Cache::open(self.cache_dir.as_deref(), self.stop)?;
        let [map, time] = scripts(top, change);
        let mut key = Key::new();
        key.add("measure", MEASURE)
            .add("yosys", self.tool.version.to_string())
            .add("map", &map)
            .add("time", &time);
        for file in files {
            key.add(&format!("rtl/{}", file_name(file)), code(&file.text));
        }
        let mut told = |step: Progress| match step {
            Progress::Rebuilding { why } => progress(Step::Rebuilding(why)),
            Progress::Waiting => progress(Step::Waiting),
            _ => progress(Step::Synthesising(top)),
        };
        let entry = cache.entry(&format!("synth-{}", key.finish()), &mut told, |work, told| {
            if effort == Effort::CacheOnly {
                return Err(BuildError::Stopped);
            }
            // The closure above maps this step to `Synthesising`.
            told(Progress::Verilating);
            self.measure(work, files, top, [&map, &time])
        })?;
        let path = entry.join(COSTS);
        let text = fs::read(&path).map_err(io_error("cannot read", &path))?;
        serde_json::from_slice(&text).map_err(|e| io_error("cannot read", &path)(io::Error::other(e)))
    }

    /// Fills an entry. Intermediate files of Yosys are many megabytes and are deleted.
    fn measure(
        &self,
        work: &Path,
        files: &[SourceFile],
        top: &str,
        [map, time]: [&str; 2],
    ) -> Result<(), BuildError> {
        let dir = tempfile::Builder::new().prefix("run").tempdir_in(work);
        let dir = dir.map_err(io_error("cannot write below", work))?;
        let read = |name: &str| {
            let path = dir.path().join(name);
            fs::read_to_string(&path).map_err(io_error("cannot read", &path))
        };
        fs::create_dir(dir.path().join("rtl")).map_err(io_error("cannot write below", work))?;
        for file in files {
            let path = dir.path().join("rtl").join(file_name(file));
            fs::write(&path, &file.text).map_err(io_error("cannot write", &path))?;
        }
        self.run(dir.path(), map)?;
        let netlist = Netlist::parse(&read("mapped.json")?, top).map_err(|e| unreadable(top, e))?;
        let levels = netlist.levels().map_err(|e| unreadable(top, e))?;
        // A fresh process: the one that mapped the netlist no longer has timing arcs.
        self.run(dir.path(), time)?;
        let period_ns = arrival(&read("sta.txt")?).map_err(|e| unreadable(top, e))? / OVER_ROUTED;
        let costs = Costs { area: netlist.area(), levels, period_ns };
        let text = serde_json::to_vec_pretty(&costs).map_err(io::Error::other);
        let path = work.join(COSTS);
        text.and_then(|text| fs::write(&path, text)).map_err(io_error("cannot write", &path))
    }

    fn run(&self, dir: &Path, script: &str) -> Result<(), BuildError> {
        let mut command = Command::new(&self.tool.path);
        command.args(["-q", "-p", script]).current_dir(dir);
        toolchain::run(command, self.stop)
    }
}

/// Name of a source in the one folder that Yosys reads.
fn file_name(file: &SourceFile) -> &str {
    file.path.rsplit('/').next().unwrap_or(&file.path)
}

/// Marks the registers that Vivado does not put into shift registers: Yosys does not read its attribute.
const FLIP_FLOPS: &str = "setattr -set keep 1 a:shreg_extract=no %ci1:+[Q] t:$* %i";

/// Yosys commands that map `top`, and that time the mapped netlist. What the sources keep apart is mapped apart, and
/// counted and timed together.
fn scripts(top: &str, change: &str) -> [String; 2] {
    let defines = CARD_DEFINES.map(|name| format!("-D{name}")).join(" ");
    let change = if change.is_empty() { String::new() } else { format!("{change}; ") };
    [
        format!(
            "read_verilog {defines} rtl/*.v; {change}hierarchy -top {top}; proc; {FLIP_FLOPS}; \
             synth_xilinx -family xcup -noiopad -flatten -top {top}; \
             setattr -mod -unset keep_hierarchy; setattr -unset keep_hierarchy; flatten; clean; \
             write_verilog -noattr -noexpr mapped.v; write_json mapped.json"
        ),
        format!(
            "read_verilog -lib -specify +/xilinx/cells_sim.v; read_verilog mapped.v; hierarchy -top {top}; \
             tee -o sta.txt sta"
        ),
    ]
}

/// A source without comment lines: they name the configuration, and configurations share modules.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

/// Latest arrival in a report of `sta`, in nanoseconds.
fn arrival(report: &str) -> anyhow::Result<f64> {
    let line = report.lines().find(|line| line.starts_with("Latest arrival time"));
    let line = line.context("static timing analysis found no path")?;
    let value = line.rsplit(' ').next().map(|word| word.trim_end_matches(':')).unwrap_or_default();
    let picoseconds: f64 = value.parse().with_context(|| format!("no time in {line:?}"))?;
    Ok(picoseconds / 1000.0)
}

fn unreadable(top: &str, error: anyhow::Error) -> BuildError {
    BuildError::Io { what: format!("cannot read what Yosys made of {top}"), source: io::Error::other(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_arrival_is_read_in_nanoseconds() {
        let report = "4. Executing STA pass.\nLatest arrival time in 'meshkv_router' is 5108:\n    5108 x\n";
        assert!((arrival(report).unwrap() - 5.108).abs() < 1e-9);
        assert!(arrival("Warning: no path").is_err());
    }

    #[test]
    fn comments_do_not_tell_two_modules_apart_and_code_does() {
        let [a, b] = ["tiny", "small"].map(|name| format!("// from {name}.toml\nmodule m; // {name}\n"));
        assert_ne!(code(&a), code(&b));
        assert_eq!(code("// a\nwire x;\n  // b\n"), code("wire x;\n"));
    }
}
