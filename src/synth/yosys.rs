//! Synthesis of one module by Yosys: maps it to UltraScale+ cells, counts and times them.
//!
//! The recipe is that of the figures in `docs/figures.md`: `synth_xilinx -family xcup -noiopad -flatten`, mapped for
//! few levels, DSPs by name. [`timing`](super::timing) analyses the netlist. Results are kept in the build cache.

use super::netlist::{area::Area, flat::Netlist};
use super::timing::{PartTiming, Timing};
use crate::emit::{SourceFile, CARD_DEFINES};
use crate::tools::cache::{Cache, CacheStep, Hears, Key};
use crate::tools::{self, child, io_error, Caller, Tool, ToolError, Version, WorkError};
use anyhow::Context;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Oldest Yosys whose results compare with the project's figures.
const CALIBRATED: Version = Version::new(0, 60);

/// Version of the measurement, raised with every change to force new results.
const MEASURE: &str = "5";

/// Files of the results in their cache entries.
const COSTS: &str = "costs.json";
const TIMING: &str = "timing.json";
/// Netlist that Yosys writes.
const MAPPED: &str = "mapped.il";

/// Costs of a module, with all that it instantiates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Cells.
    pub area: Area,
    /// LUTs on the longest path between registers or ports.
    pub levels: u32,
    /// Delay of the longest path between registers or ports, in nanoseconds.
    pub period_ns: f64,
}

/// Step of synthesis, for progress output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// A module goes through Yosys.
    Synthesising(&'a str),
    /// Another process synthesises the same.
    Waiting,
    /// The file system of the cache has no locks: another process may synthesise the same.
    Unlocked(&'a Path),
    /// A damaged cache entry is rebuilt; the clause gives the reason.
    Rebuilding(&'a str),
}

impl Hears for dyn FnMut(Step<'_>) + '_ {
    fn hear(&mut self, step: CacheStep) {
        self(match step {
            CacheStep::Waiting => Step::Waiting,
            CacheStep::Unlocked(folder) => Step::Unlocked(folder),
            CacheStep::Rebuilding(why) => Step::Rebuilding(why),
        });
    }
}

/// Effort to get a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Run Yosys where the cache has no result.
    Synthesise,
    /// Use the cache only, and end with [`WorkError::Stopped`] where it has no result.
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
        Yosys::find_for(cache_dir, &Caller { hear: &|_| {}, stop }, stop)
    }

    /// [`Yosys::find`] for a caller that hears of slow and broken ones.
    ///
    /// # Errors
    /// As [`Yosys::find`].
    pub fn find_for(
        cache_dir: Option<&Path>,
        caller: &Caller,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Result<Yosys<'a>, ToolError> {
        let tool = tools::find_for(&tools::SYNTHESIS, caller)?;
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
    /// When Yosys fails, is stopped, or leaves a cell without a rule of counting or timing.
    pub fn costs(
        &self,
        files: &[SourceFile],
        top: &str,
        change: &str,
        effort: Effort,
        progress: &mut dyn FnMut(Step),
    ) -> Result<Costs, WorkError> {
        read(&self.measured(files, top, change, effort, progress)?.join(COSTS))
    }

    /// Timing of the same module; both come from one run.
    ///
    /// # Errors
    /// As [`costs`](Self::costs).
    pub fn timing(
        &self,
        files: &[SourceFile],
        top: &str,
        change: &str,
        effort: Effort,
        progress: &mut dyn FnMut(Step),
    ) -> Result<PartTiming, WorkError> {
        read(&self.measured(files, top, change, effort, progress)?.join(TIMING))
    }

    /// The cache entry with both.
    fn measured(
        &self,
        files: &[SourceFile],
        top: &str,
        change: &str,
        effort: Effort,
        progress: &mut dyn FnMut(Step),
    ) -> Result<PathBuf, WorkError> {
        let job = Job::part(files, top, change);
        self.entry(&job, effort, progress, &mut |netlist, work| {
            let timing = PartTiming::of(netlist)?;
            let costs =
                Costs { area: netlist.area()?, levels: timing.worst_levels(), period_ns: timing.worst_ns() };
            write(&work.join(COSTS), &costs)?;
            write(&work.join(TIMING), &timing)
        })
    }

    /// Timing of a whole design. Module `top` is synthesised with the modules of `parts` as black boxes;
    /// `time` gets that netlist. `parts` are described by their synthesis, since the result depends on it.
    ///
    /// # Errors
    /// As [`costs`](Self::costs), and those of `time`.
    pub fn whole(
        &self,
        files: &[SourceFile],
        top: &str,
        parts: &[(&str, String)],
        effort: Effort,
        progress: &mut dyn FnMut(Step),
        time: &mut dyn FnMut(&Netlist) -> anyhow::Result<Timing>,
    ) -> Result<Timing, WorkError> {
        let job = Job::whole(files, top, parts);
        let entry = self
            .entry(&job, effort, progress, &mut |netlist, work| write(&work.join(TIMING), &time(netlist)?))?;
        read(&entry.join(TIMING))
    }

    /// Name of the result of a part: that of [`costs`](Self::costs).
    pub(super) fn key(&self, files: &[SourceFile], top: &str, change: &str) -> String {
        self.name(&Job::part(files, top, change))
    }

    /// Name of the result of a whole design.
    pub(super) fn key_of_whole(&self, files: &[SourceFile], top: &str, parts: &[(&str, String)]) -> String {
        self.name(&Job::whole(files, top, parts))
    }

    /// True if the cache has the result of this name.
    pub(super) fn has(&self, key: &str) -> Result<bool, WorkError> {
        Ok(Cache::open(self.cache_dir.as_deref(), self.stop)?.has(key))
    }

    /// Name of a job's entry in the cache.
    fn name(&self, job: &Job) -> String {
        let mut key = Key::new();
        key.add("measure", MEASURE)
            .add("yosys", self.tool.version.to_string())
            .add("map", &job.script)
            .add("described", &job.described);
        for file in job.files {
            key.add(&format!("rtl/{}", file_name(file)), code(&file.text));
        }
        format!("{}-{}", job.kind, key.finish())
    }

    /// The cache entry of a job. `fill` writes the results of a netlist into it.
    fn entry(
        &self,
        job: &Job,
        effort: Effort,
        progress: &mut dyn FnMut(Step),
        fill: &mut dyn FnMut(&Netlist, &Path) -> anyhow::Result<()>,
    ) -> Result<PathBuf, WorkError> {
        let cache = Cache::open(self.cache_dir.as_deref(), self.stop)?;
        cache.entry(&self.name(job), progress, |work, progress| {
            if effort == Effort::CacheOnly {
                return Err(WorkError::Stopped);
            }
            progress(Step::Synthesising(job.top));
            let netlist = self.map(work, job)?;
            fill(&netlist, work).map_err(|e| unreadable(job.top, e))
        })
    }

    /// Maps a module. Intermediate files of Yosys are many megabytes and are deleted.
    fn map(&self, work: &Path, job: &Job) -> Result<Netlist, WorkError> {
        let dir = tempfile::Builder::new().prefix("run").tempdir_in(work);
        let dir = dir.map_err(io_error("cannot write below", work))?;
        fs::create_dir(dir.path().join("rtl")).map_err(io_error("cannot write below", work))?;
        for file in job.files {
            let path = dir.path().join("rtl").join(file_name(file));
            fs::write(&path, &file.text).map_err(io_error("cannot write", &path))?;
        }
        self.run(dir.path(), &job.script)?;
        let path = dir.path().join(MAPPED);
        let text = fs::read_to_string(&path).map_err(io_error("cannot read", &path))?;
        Netlist::parse(&text, job.top).map_err(|e| unreadable(job.top, e))
    }

    fn run(&self, dir: &Path, script: &str) -> Result<(), WorkError> {
        let mut command = self.tool.command();
        command.args(["-q", "-p", script]).current_dir(dir);
        child::succeed(command, self.stop)
    }
}

/// Name of a source in the one folder that Yosys reads.
fn file_name(file: &SourceFile) -> &str {
    file.path.rsplit('/').next().unwrap_or(&file.path)
}

/// Marks the registers that Vivado does not put into shift registers: Yosys does not read its attribute.
const FLIP_FLOPS: &str = "setattr -set keep 1 a:shreg_extract=no %ci1:+[Q] t:$* %i";

/// Makes ABC try three structures for each piece of logic and count a net as 1 ns, so that it maps for few levels and
/// not for the fast pins of a look-up table: in UltraScale+ a net costs more than the difference of pins.
const FEW_LEVELS: &str =
    "scratchpad -set synth_xilinx.abc9.W 1000; scratchpad -copy abc9.script.flow3 abc9.script";

/// Yosys commands that map `top`, after `change`. What the sources keep apart is mapped apart, and counted and timed
/// together.
fn script(top: &str, change: &str) -> String {
    let defines = CARD_DEFINES.map(|name| format!("-D{name}")).join(" ");
    let change = if change.is_empty() { String::new() } else { format!("{change}; ") };
    format!(
        "{FEW_LEVELS}; read_verilog {defines} rtl/*.v; {change}hierarchy -top {top}; proc; {FLIP_FLOPS}; \
         synth_xilinx -family xcup -noiopad -flatten -top {top}; \
         setattr -mod -unset keep_hierarchy; setattr -unset keep_hierarchy; flatten; clean; \
         write_rtlil {MAPPED}"
    )
}

/// A source without comment lines: they name the configuration, and configurations share modules.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

/// Reads a result.
fn read<T: DeserializeOwned>(path: &Path) -> Result<T, WorkError> {
    let text = fs::read(path).map_err(io_error("cannot read", path))?;
    serde_json::from_slice(&text).map_err(|e| io_error("cannot read", path)(io::Error::other(e)))
}

/// Writes a result.
fn write<T: Serialize>(path: &Path, result: &T) -> anyhow::Result<()> {
    let text = serde_json::to_vec(result)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A module to be mapped.
struct Job<'j> {
    /// Kind of its result.
    kind: &'static str,
    files: &'j [SourceFile],
    top: &'j str,
    script: String,
    /// What else decides about the result.
    described: String,
}

impl<'j> Job<'j> {
    fn part(files: &'j [SourceFile], top: &'j str, change: &str) -> Job<'j> {
        Job { kind: "synth", files, top, script: script(top, change), described: String::new() }
    }

    fn whole(files: &'j [SourceFile], top: &'j str, parts: &[(&str, String)]) -> Job<'j> {
        let boxes: Vec<_> = parts.iter().map(|(module, _)| format!("*{module}")).collect();
        let prepare = format!("hierarchy -top {top}; blackbox {}", boxes.join(" "));
        let described = parts.iter().map(|(module, change)| format!("{module}: {change}\n")).collect();
        Job { kind: "whole", files, top, script: script(top, &prepare), described }
    }
}

fn unreadable(top: &str, error: anyhow::Error) -> WorkError {
    WorkError::Io { what: format!("cannot read what Yosys made of {top}"), source: io::Error::other(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_do_not_tell_two_modules_apart_and_code_does() {
        let [a, b] = ["tiny", "small"].map(|name| format!("// from {name}.toml\nmodule m; // {name}\n"));
        assert_ne!(code(&a), code(&b));
        assert_eq!(code("// a\nwire x;\n  // b\n"), code("wire x;\n"));
    }
}
