//! `meshkv soak`: random fabrics and traffic through model and Verilog in lockstep.

use super::interrupt::{Interrupt, Interrupted};
use super::library::library_in;
use super::ui::Ui;
use super::watched::Watched;
use super::whole_file;
use crate::cosim::dut::Dut;
use crate::cosim::excerpt::Excerpt;
use crate::cosim::lockstep::{Difference, Lockstep};
use crate::cosim::run::RunError;
use crate::cosim::verilate::{Form, RunLength};
use crate::cosim::violation::ViolationKind;
use crate::eval::{soak_take, SoakCase};
use anyhow::Context;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Cycles without movement after which a fabric is stuck; longer than any wait in these meshes.
const WATCHDOG: u64 = 5_000;

/// What registers hold before the reset; any value must do.
const POWER_UP_SEED: u64 = 1;

/// Compare model and Verilog on random fabrics and traffic
///
/// Each seed is a fabric (mesh, virtual channels, depth, multicast or not) and eight runs of traffic, from hardly
/// any to overload, some with tiles that are slow to take what they get. Every link is compared in every cycle.
/// The first difference ends with exit code 1, names the seed that gives it again, and writes waves of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv soak --time 600
  meshkv soak --seed 1000 --count 20 --json
  meshkv soak --seed 17 --count 1                    seed 17 alone, again")]
pub struct Args {
    /// First seed; the others follow it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seeds to run [default: 10; with --time as many as there is time for]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Seconds after which no further seed is begun
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// Where waves of a difference are written [default: soak-SEED.fst]
    #[arg(long, value_name = "FILE.fst", value_hint = clap::ValueHint::FilePath)]
    wave: Option<PathBuf>,
}

/// What a soak found.
#[derive(Debug, Serialize)]
struct Report {
    /// First seed.
    seed: u64,
    /// Seeds run to their end.
    seeds: u64,
    /// Runs of traffic.
    runs: u64,
    /// Cycles simulated, in all fabrics.
    cycles: u64,
    /// Routers times cycles that were compared.
    router_cycles: u64,
    /// Seconds of wall time, builds included.
    seconds: f64,
    /// The seed that failed, and how.
    failed: Option<Failure>,
    /// The command that gives the same again.
    command: String,
}

#[derive(Debug, Serialize)]
struct Failure {
    seed: u64,
    run: usize,
    message: String,
}

/// Runs the subcommand. Exit code 1 if model and Verilog differ, or either is wrong.
///
/// # Errors
/// A missing tool, a file that cannot be written, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    if let Some(path) = &args.wave {
        whole_file::check(path).context("--wave needs a file that can be written")?;
    }
    // Fabrics that nobody asks for again do not belong into the cache of those that are.
    let cache = tempfile::tempdir().context("no temporary folder for the fabrics")?;
    let soak = Soak { args, cache: cache.path(), interrupt: &interrupt, ui };
    let report = soak.all()?;
    ui.result(&report, || prose(&report))?;
    Ok(match report.failed {
        Some(_) => ExitCode::from(1),
        None => ExitCode::SUCCESS,
    })
}

struct Soak<'a> {
    args: &'a Args,
    cache: &'a Path,
    interrupt: &'a Interrupt,
    ui: &'a Ui,
}

impl Soak<'_> {
    fn all(&self) -> anyhow::Result<Report> {
        let Args { seed: first, count, time, .. } = *self.args;
        let count = count.unwrap_or(if time.is_some() { u64::MAX } else { 10 });
        let limit = time.map_or(Duration::MAX, Duration::from_secs);
        let started = Instant::now();
        let mut report = Report {
            seed: first,
            seeds: 0,
            runs: 0,
            cycles: 0,
            router_cycles: 0,
            seconds: 0.0,
            failed: None,
            command: String::new(),
        };
        for seed in (first..).take(count.try_into().unwrap_or(usize::MAX)) {
            if started.elapsed() >= limit {
                break;
            }
            self.one(&SoakCase::of(seed), &mut report)?;
            if report.failed.is_some() {
                break;
            }
            report.seeds += 1;
        }
        report.seconds = started.elapsed().as_secs_f64();
        let done = (report.seeds + u64::from(report.failed.is_some())).max(1);
        report.command = format!("meshkv soak --seed {first} --count {done}");
        Ok(report)
    }

    /// One seed. What it finds wrong is in the report.
    fn one(&self, case: &SoakCase, report: &mut Report) -> anyhow::Result<()> {
        let mut both = Lockstep::new(self.open(case, Form::Tile, RunLength::Quick)?, &case.design)?;
        both.watchdog(WATCHDOG);
        for (i, run) in case.runs.iter().enumerate() {
            for &(node, probability) in &run.stalls {
                both.stall(node, probability, case.stall_seed(node));
            }
            let mut watched = Watched { fabric: &mut both, interrupt: self.interrupt, waves: None };
            let found = soak_take(run, &case.design, &mut watched, &mut |_, _| {});
            if let Err(RunError::Network(error)) = &found {
                if error.is::<Interrupted>() {
                    return Err(stopped(report).into());
                }
            }
            report.runs += 1;
            let message = match &found {
                Ok(measured) => {
                    report.cycles += measured.cycles;
                    // A tile that stalls has still credits to give back; both were compared in that.
                    let mut wrong = measured.violations.iter().filter(|v| v.kind != ViolationKind::Credits);
                    wrong.next().map(|violation| violation.message.clone())
                }
                Err(error) => Some(error.to_string()),
            };
            if let Some(message) = message {
                self.ui.error(format_args!("seed {}, {}, run {i}: {message}", case.seed, case.title()));
                self.ui.note(format_args!("again: meshkv soak --seed {} --count 1", case.seed));
                report.failed = Some(Failure { seed: case.seed, run: i, message });
                report.router_cycles += both.router_cycles();
                return match found {
                    Err(RunError::Network(error)) => match error.downcast_ref() {
                        Some(difference) => self.show(case, difference),
                        None => Ok(()),
                    },
                    _ => Ok(()),
                };
            }
        }
        report.router_cycles += both.router_cycles();
        let (seed, compared) = (case.seed, both.router_cycles());
        self.ui.note(format_args!("seed {seed}, {}: {compared} router-cycles, no difference", case.title()));
        Ok(())
    }

    /// Runs a case again up to a difference, and writes waves of the cycles around it.
    fn show(&self, case: &SoakCase, difference: &Difference) -> anyhow::Result<()> {
        let path = match &self.args.wave {
            Some(path) => path.clone(),
            None => format!("soak-{}.fst", case.seed).into(),
        };
        whole_file::check(&path).context("the waves of the difference need a file that can be written")?;
        let mut dut = self.open(case, Form::Mesh, RunLength::Trace { depth: None })?;
        dut.watchdog(WATCHDOG);
        // Every run begins with a reset, so only the one that differs is needed.
        let at = difference.run as usize - 1;
        for &(node, probability) in case.runs[..=at].iter().flat_map(|run| &run.stalls) {
            dut.stall(node, probability, case.stall_seed(node));
        }
        let mut excerpt = Excerpt::new(dut, &path, 1, difference.around());
        // It ends when the waves are written, which is no result.
        let _ = soak_take(&case.runs[at], &case.design, &mut excerpt, &mut |_, _| {});
        self.ui.note(format_args!("waves of the cycles around it are in {}", path.display()));
        Ok(())
    }

    fn open(&self, case: &SoakCase, form: Form, run: RunLength) -> anyhow::Result<Dut> {
        let library = library_in(Some(self.cache), &case.design, form, run, self.interrupt, self.ui);
        let library =
            self.interrupt.explain(library, &format!("while the fabric of seed {} was built", case.seed))?;
        Ok(Dut::open(&library, &case.design, POWER_UP_SEED)?)
    }
}

/// What an interrupted soak leaves.
fn stopped(report: &Report) -> Interrupted {
    let (compared, next) = (report.router_cycles, report.seed + report.seeds);
    Interrupted(format!(
        "in seed {next}; {compared} router-cycles before it, no difference; go on with --seed {next}"
    ))
}

fn prose(report: &Report) -> String {
    let Report { seeds, runs, cycles, router_cycles, seconds, .. } = report;
    let verdict = if report.failed.is_some() { "a difference" } else { "no difference" };
    format!(
        "{router_cycles} router-cycles compared, {verdict}\n  \
         {seeds} fabrics, {runs} runs of traffic, {cycles} cycles, {seconds:.0} s\n  {}\n",
        report.command
    )
}
