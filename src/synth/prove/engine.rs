//! One proof or refutation: Yosys turns the modules into an and-inverter graph, ABC decides it, and Yosys plays a
//! counterexample into a wave.
//!
//! Verdicts are kept in the build cache, by the text that was decided. It does not know the list of proofs.

use super::verdict::{self, Method, Verdict};
use super::{key, pair};
use crate::tools::cache::{Cache, CacheStep, Hears, Key};
use crate::tools::child::{self, Ended};
use crate::tools::{io_error, Tool, WorkError};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Version of the recipe, raised with every change to force new verdicts.
const RECIPE: &str = "4";

/// Steps, and seconds, in which a mutant must break its property.
const STEPS: u32 = 150;
const SEARCH: u32 = 120;

/// Steps of an induction at most, and its seconds.
const INDUCTION: (u32, u32) = (6, 20);

/// Seconds of the plain search for an invariant.
const PLAIN: u32 = 40;

/// Files of an entry of the cache.
const DECIDED: &str = "verdict.json";
const WAVES: &str = "counterexample.fst";

/// The tools.
pub struct Provers {
    /// Yosys.
    pub yosys: Tool,
    /// ABC.
    pub abc: Tool,
}

/// Assertions to be decided.
pub(super) struct Task {
    /// Module under proof.
    pub(super) top: String,
    /// All modules.
    pub(super) text: String,
    /// Values of parameters.
    pub(super) parameters: Vec<(String, String)>,
    /// The one assertion that counts; all if there is none.
    pub(super) only: Option<String>,
    /// Registers of either copy begin with any value, but for these; none where registers keep their initial values.
    pub(super) any_state: Option<Vec<String>>,
    /// Registers of both copies that are compared.
    pub(super) same: Vec<String>,
    /// Labels of all assertions of the module.
    pub(super) labels: Vec<String>,
    /// True if clocks are wires that say where an edge is.
    pub(super) steps: bool,
    /// True if a counterexample is expected: then only runs of limited length are looked at, and none is kept.
    pub(super) falls: bool,
}

/// What was decided.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Decision {
    /// Verdict on the assertions.
    pub verdict: Verdict,
    /// How it was found; the last that was tried where none was.
    pub method: Method,
    /// Labels of assertions that the counterexample breaks.
    pub broken: Vec<String>,
    /// Seconds that it took, when it was not in the cache.
    pub seconds: f64,
    /// Flip-flops of the graph.
    pub registers: u32,
    /// Wave of the counterexample.
    #[serde(skip)]
    pub waves: Option<PathBuf>,
}

/// Time of an attempt, and whether to give up.
pub(super) struct Limits<'l> {
    /// Seconds for ABC.
    pub(super) seconds: u32,
    /// Place of the cache; that of the environment if none.
    pub(super) cache: Option<&'l Path>,
    /// True once the caller gives up.
    pub(super) stop: &'l (dyn Fn() -> bool + Sync),
}

struct Silent;
impl Hears for Silent {
    fn hear(&mut self, _: CacheStep) {}
}

/// Decides a task, or takes the decision from the cache. What stays open is tried again by the next call.
///
/// # Errors
/// When a tool fails, a file cannot be written, or the caller gives up.
pub(super) fn decide(provers: &Provers, task: &Task, limits: &Limits) -> Result<Decision, WorkError> {
    let mut key = Key::new();
    key.add("recipe", RECIPE)
        .add("yosys", provers.yosys.version.to_string())
        .add("abc", provers.abc.version.to_string())
        .add("text", key::of(&task.text, &task.top, &task.parameters))
        .add("script", graph(task, task.only.as_deref()))
        .add("falls", if task.falls { "1" } else { "0" });
    let key = format!("prove-{}", key.finish());
    let cache = Cache::open(limits.cache, limits.stop)?;
    let entry = cache.entry(&key, &mut Silent, |work, _| {
        let decision = Attempt { provers, task, limits, work }.run()?;
        let path = work.join(DECIDED);
        let text = serde_json::to_vec(&decision)
            .map_err(|e| io_error("cannot write", &path)(io::Error::other(e)))?;
        fs::write(&path, text).map_err(io_error("cannot write", &path))
    })?;
    let path = entry.join(DECIDED);
    let text = fs::read(&path).map_err(io_error("cannot read", &path))?;
    let decision: Decision =
        serde_json::from_slice(&text).map_err(|e| io_error("cannot read", &path)(io::Error::other(e)))?;
    if decision.verdict == Verdict::Open {
        cache.evict(&key, &mut Silent)?;
    }
    let waves = Some(entry.join(WAVES)).filter(|waves| waves.exists());
    Ok(Decision { waves, ..decision })
}

/// Commands of Yosys up to a flat netlist with free inputs: nets that nothing drives, and what registers hold at first.
/// A module that is a header only would be a black box. Without outputs, what only they need is gone before memories
/// become registers, which are most of a netlist.
fn netlist(task: &Task, only: Option<&str>, outputs: bool) -> String {
    let values: Vec<_> =
        task.parameters.iter().map(|(name, value)| format!(" -set {name} {value}")).collect();
    let change =
        if values.is_empty() { String::new() } else { format!("chparam{} {}; ", values.concat(), task.top) };
    let only = only.map_or(String::new(), |label| {
        // Labels are names of cells.
        format!("delete t:$assert */{label} %d; ")
    });
    // Registers of the copies have names of their own once all is flat.
    let same: String = task
        .same
        .iter()
        .flat_map(|name| {
            ["a", "b"].map(|copy| format!("connect -set {copy}_same_{} u_{copy}.{name}; ", pair::flat(name)))
        })
        .collect();
    let free = task.any_state.as_ref().map_or(String::new(), |keeps| {
        let kept: String = keeps.iter().map(|name| format!(" w:u_?.{name} %d")).collect();
        format!("setattr -unset init w:u_a.* w:u_b.* %u{kept}; ")
    });
    let needed = if outputs { "" } else { "delete -port o:*; opt_clean; " };
    format!(
        "read_verilog -formal -noblackbox -DSYNTHESIS rtl.v; {change}prep -top {top} -flatten; {same}{only}{free}{needed}memory_map; async2sync; \
         setundef -undriven -expose; opt_clean",
        top = task.top
    )
}

/// Commands of Yosys up to the graph of one assertion, or of all.
fn graph(task: &Task, only: Option<&str>) -> String {
    format!(
        "{}; opt -full; techmap; opt -fast; dffunmap; abc -g AND -fast; opt_clean; \
         write_aiger -zinit -map graph.aim graph.aig",
        netlist(task, only, false)
    )
}

/// Commands of Yosys that play a counterexample.
fn replay(task: &Task) -> String {
    let clock = if task.steps { "-multiclock" } else { "-clock clk" };
    let netlist = netlist(task, task.only.as_deref(), true);
    format!("{netlist}; sim -hdlname -r counterexample.aiw -map graph.aim {clock} -fst {WAVES}")
}

struct Attempt<'a> {
    provers: &'a Provers,
    task: &'a Task,
    limits: &'a Limits<'a>,
    work: &'a Path,
}

impl Attempt<'_> {
    /// Decides in a folder of its own; a wave stays in the entry.
    fn run(&self) -> Result<Decision, WorkError> {
        let begun = Instant::now();
        let dir = tempfile::Builder::new().prefix("run").tempdir_in(self.work);
        let dir = dir.map_err(io_error("cannot write below", self.work))?;
        let path = dir.path().join("rtl.v");
        fs::write(&path, &self.task.text).map_err(io_error("cannot write", &path))?;
        self.yosys(dir.path(), &graph(self.task, self.task.only.as_deref()))?;
        let registers = latches(&dir.path().join("graph.aig"))?;
        let (verdict, method) = self.decide(dir.path())?;
        let mut broken = Vec::new();
        if let (Verdict::Refuted { frame }, false) = (&verdict, self.task.falls) {
            from_zero(&dir.path().join("counterexample.aiw"), registers)?;
            self.yosys(dir.path(), &replay(self.task))?;
            broken = self.broken(dir.path(), *frame)?;
            let waves = dir.path().join(WAVES);
            fs::rename(&waves, self.work.join(WAVES)).map_err(io_error("cannot move", &waves))?;
        }
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Decision { verdict, method, broken, seconds, registers, waves: None })
    }

    /// The verdict of the first method that finds one.
    fn decide(&self, dir: &Path) -> Result<(Verdict, Method), WorkError> {
        let seconds = self.limits.seconds;
        if self.task.falls {
            return self.abc(dir, Method::Bounded, &format!("bmc3 -F {STEPS} -T {}", seconds.min(SEARCH)));
        }
        if let verdict @ Verdict::Proved { .. } = self.induction(dir)? {
            return Ok((verdict, Method::Induction));
        }
        // Where the plain search finds no invariant soon, one that drops more literals mostly does.
        let plain = self.abc(dir, Method::Reachability, &format!("pdr -T {}", seconds.min(PLAIN)))?;
        if plain.0 != Verdict::Open {
            return Ok(plain);
        }
        match self.abc(dir, Method::Reachability, &format!("pdr -nct -T {seconds}")) {
            // ABC may end by a signal where a search meets its limit.
            Err(WorkError::Failed { status, .. }) if status.code().is_none() => Ok(plain),
            other => other,
        }
    }

    /// Labels of the assertions that some run of so many steps breaks, each decided by itself.
    fn broken(&self, dir: &Path, frame: u32) -> Result<Vec<String>, WorkError> {
        let mut broken = Vec::new();
        for label in &self.task.labels {
            self.yosys(dir, &graph(self.task, Some(label)))?;
            let (verdict, _) = self.abc(dir, Method::Bounded, &format!("bmc3 -F {}", frame + 1))?;
            broken.extend(matches!(verdict, Verdict::Refuted { .. }).then(|| label.clone()));
        }
        Ok(broken)
    }

    fn yosys(&self, dir: &Path, script: &str) -> Result<(), WorkError> {
        let mut command = self.provers.yosys.command();
        command.args(["-q", "-p", script]).current_dir(dir);
        child::succeed(command, self.limits.stop)
    }

    /// What ABC says when it goes `way`, which is of `method` unless the graph has no state.
    fn abc(&self, dir: &Path, method: Method, way: &str) -> Result<(Verdict, Method), WorkError> {
        let mut log = self.log(dir, way)?;
        let mut used = method;
        if verdict::is_combinational(&log) {
            log = self.log(dir, "sat")?;
            used = Method::Sat;
        }
        let verdict = verdict::read(&log).ok_or_else(|| WorkError::Io {
            what: format!("ABC gave no verdict on {}", self.task.top),
            source: io::Error::other(log.trim().to_owned()),
        })?;
        Ok((verdict, used))
    }

    /// All assertions together, by induction over a few steps: where lemmas tie wide counters together it takes a moment,
    /// and a search for clauses does not end.
    fn induction(&self, dir: &Path) -> Result<Verdict, WorkError> {
        let (steps, most) = INDUCTION;
        let seconds = most.min(self.limits.seconds);
        let way = format!("orpos; bmc3 -F {} -T {seconds}; ind -F {steps} -T {seconds}", steps + 1);
        Ok(verdict::of_induction(&self.log(dir, &way)?, steps + 1))
    }

    /// What ABC prints on the graph.
    fn log(&self, dir: &Path, way: &str) -> Result<String, WorkError> {
        let mut command = self.provers.abc.command();
        let script =
            format!("read_aiger graph.aig; fold; strash; scorr; dc2; {way}; write_cex -a counterexample.aiw");
        command.args(["-s", "-q", &script]).current_dir(dir);
        output(command, self.limits.stop)
    }
}

/// Runs a tool that must succeed; returns what it printed.
fn output(mut command: std::process::Command, stop: &(dyn Fn() -> bool + Sync)) -> Result<String, WorkError> {
    let program = command.get_program().to_string_lossy().into_owned();
    child::keep_temporaries(&mut command);
    let ended = child::run(command, stop)
        .map_err(|source| WorkError::Io { what: format!("cannot run {program}"), source })?;
    let Ended::Itself(output) = ended else { return Err(WorkError::Stopped) };
    let log = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if output.status.success() {
        return Ok(log);
    }
    Err(WorkError::Failed { program, status: output.status, log: child::first_errors(&log) })
}

/// Lets a counterexample begin with all latches of the graph at zero: ABC names only those that it has kept.
fn from_zero(path: &Path, latches: u32) -> Result<(), WorkError> {
    let text = fs::read_to_string(path).map_err(io_error("cannot read", path))?;
    let (_, inputs) = text.split_once('\n').unwrap_or_default();
    let text = format!("{}\n{inputs}", "0".repeat(latches as usize));
    fs::write(path, text).map_err(io_error("cannot write", path))
}

/// Latches of a graph, from its header: `aig M I L O A B ...`. A graph without assertions says nothing, so it is refused.
fn latches(path: &Path) -> Result<u32, WorkError> {
    let bytes = fs::read(path).map_err(io_error("cannot read", path))?;
    let header =
        String::from_utf8_lossy(bytes.split(|&b| b == b'\n').next().unwrap_or_default()).into_owned();
    let numbers: Vec<u32> = header.split(' ').skip(1).map_while(|n| n.parse().ok()).collect();
    match numbers[..] {
        [_, _, latches, _, _, assertions, ..] if assertions > 0 => Ok(latches),
        _ => Err(io_error("cannot use", path)(io::Error::other(format!("{header:?} has no assertion")))),
    }
}
