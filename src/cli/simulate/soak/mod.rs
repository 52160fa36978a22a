//! `meshkv soak`: runs random networks, storms of fetches and fabrics on model and Verilog in lockstep, and devices.

mod output;

pub(in crate::cli) use output::SoakOutput;

use crate::cli::output::ui::Ui;
use crate::cli::output::views::Views;
use crate::cli::simulate::library::library_in;
use crate::cli::simulate::ports::{place, Verilog};
use crate::cosim::build::{BuildForm, RunLength, LONG_RUN};
use crate::cosim::checks::lockstep::{Difference, Lockstep};
use crate::cosim::checks::violation::ViolationKind;
use crate::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use crate::cosim::dut::verilated::waves::WaveWindow;
use crate::cosim::dut::watched::power_up;
use crate::cosim::dut::DutError;
use crate::cosim::workloads::decode::{Bench, DecodeError, Progress};
use crate::cosim::workloads::device::DeviceError;
use crate::cosim::workloads::fetch;
use crate::cosim::workloads::network::measure::RunError;
use crate::design::{Design, Mesh, NodeId, Port};
use crate::eval::{soak_take, SoakCase, SoakDevice, SoakFabric, SoakStorm, BEYOND_SOAK};
use crate::model::cycle::common::{Rare, Reached};
use crate::model::cycle::network::Upset;
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::whole_file;
use anyhow::Context;
use output::{prose, Failure};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Cycles without movement after which a fabric is stuck; longer than any wait in these meshes.
const WATCHDOG: u64 = 5_000;

/// Compare model and Verilog on random networks, storms, fabrics and devices
///
/// Each odd seed is a network (mesh, virtual channels, depth, multicast or not) and eight runs of traffic, from hardly
/// any to overload, some with tiles that are slow to accept flits: every link is compared in every cycle. Each fourth
/// seed is a storm of fetches on routers and home agents. Of the other seeds every second is a whole fabric under decode
/// steps, some with ragged batches, caches that grow, a memory out of order or with faults, whose reports are checked. Of
/// storms and fabrics every port is compared in every cycle. The remaining seeds are devices, whose front is Verilog: hosts
/// and memories do what they must not, each error must be read, and the runs before and after it must be right.
/// The first difference ends the soak with exit code 1; its seed is named and its waves are written.
///
/// With --length a design has more runs, storms or steps. Blocks count the rare states that they have been in. --steer runs a storm, a fabric or a device only if it leads to one
/// that is still empty, by a look at the model, and exits with code 1 if one stays empty.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv soak --time 600 --steer
  meshkv soak --seed 1000 --count 20 --json
  meshkv soak --time 3600 --length 20                many cycles of few designs
  meshkv soak --seed 17 --count 1                    seed 17 alone, again")]
pub struct Args {
    /// First seed; the others follow it
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seeds to run [default: 10; with --time as many as there is time for, with --steer until nothing is empty]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Seconds after which no further seed is begun
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
    /// So many times as many runs, storms and steps of a seed: a design takes longer to build than to run
    #[arg(long, default_value_t = 1, value_name = "TIMES", value_parser = clap::value_parser!(u64).range(1..))]
    length: u64,
    /// Pass over seeds that lead to no rare state that is still empty; exit code 1 if one stays empty
    #[arg(long)]
    steer: bool,
    /// Where waves of a difference are written [default: soak-SEED.fst]
    #[arg(long, value_name = "FILE.fst", value_parser = crate::cli::simulate::engine::fst, value_hint = clap::ValueHint::FilePath)]
    wave: Option<PathBuf>,
    /// Let the model's router at X,Y lose the credits of its tile in a cycle of every run, to see it found
    #[arg(long, value_name = "X,Y@CYCLE", value_parser = crate::cli::simulate::engine::upset)]
    upset: Option<(u32, u32, u64)>,
}

/// Runs the subcommand. Exit code 1 if model and Verilog differ, or either is wrong.
///
/// # Errors
/// A missing tool, a file that cannot be written, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    ui.seeded(Some(args.seed));
    let interrupt = Interrupt::listen()?;
    if let Some(path) = &args.wave {
        whole_file::check_waves(path).context("--wave needs a file that can be written")?;
    }
    // Random fabrics are not reused, so they stay out of the common cache.
    let cache = tempfile::tempdir().context("no temporary folder for the fabrics")?;
    let soak = Soak { args, cache: cache.path(), interrupt: &interrupt, ui };
    let report = soak.all()?;
    ui.result(&report, || prose(&report))?;
    let missing: Vec<_> = missing(&report.reached).map(Rare::name).collect();
    let lacks = args.steer && !missing.is_empty();
    if lacks && report.failed.is_none() {
        ui.error(format_args!("rare states that no seed has reached: {}", missing.join(", ")));
    }
    Ok(if report.failed.is_some() || lacks { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

struct Soak<'a> {
    args: &'a Args,
    cache: &'a Path,
    interrupt: &'a Interrupt,
    ui: &'a Ui,
}

impl Soak<'_> {
    fn all(&self) -> anyhow::Result<SoakOutput> {
        let Args { seed: first, count, time, .. } = *self.args;
        let endless = time.is_some() || self.args.steer;
        let count = count.unwrap_or(if endless { u64::MAX } else { 10 });
        let limit = time.map_or(Duration::MAX, Duration::from_secs);
        let started = Instant::now();
        let mut report = SoakOutput { seed: first, ..SoakOutput::default() };
        for seed in first.. {
            if started.elapsed() >= limit || report.seeds >= count || self.has_all(&report) {
                break;
            }
            if self.args.steer && !self.is_new(seed, &report)? {
                report.passed_over += 1;
                continue;
            }
            match seed % 4 {
                0 => self.storms(&SoakStorm::of(seed), &mut report)?,
                2 if is_device(seed) => self.device(&SoakDevice::of(seed), &mut report)?,
                2 => self.fabrics(&SoakFabric::of(seed), &mut report)?,
                _ => {
                    let length = self.args.length as usize;
                    self.network(&SoakCase::of_length(seed, length), &mut report)?;
                }
            }
            if report.failed.is_some() {
                break;
            }
            report.seeds += 1;
        }
        report.close();
        report.seconds = started.elapsed().as_secs_f64();
        let done = (report.seeds + u64::from(report.failed.is_some())).max(1);
        report.command = self.command(first, done);
        Ok(report)
    }

    /// Every rare state was reached, and that is all that is asked for.
    fn has_all(&self, report: &SoakOutput) -> bool {
        let Args { steer, count, time, .. } = *self.args;
        steer && count.is_none() && time.is_none() && missing(&report.reached).next().is_none()
    }

    /// A seed leads to a rare state that is still empty, by the model. One in which the model fails is run, to show it.
    fn is_new(&self, seed: u64, report: &SoakOutput) -> anyhow::Result<bool> {
        let empty: Vec<_> = missing(&report.reached).collect();
        let mut stop = || self.interrupt.requested();
        let foreseen = match seed % 4 {
            _ if empty.is_empty() => return Ok(true),
            0 => SoakStorm::of(seed).foreseen(&mut stop).ok(),
            2 if is_device(seed) => return Ok(SoakDevice::of(seed).leads_to(&empty)),
            2 => SoakFabric::of(seed).foreseen(&mut stop).ok(),
            _ => return Ok(false),
        };
        if self.interrupt.requested() {
            return Err(stopped(report, seed).into());
        }
        Ok(foreseen.is_none_or(|reached| empty.iter().any(|&rare| reached.of(rare) > 0)))
    }

    /// Runs a network. Failures go to the report.
    fn network(&self, case: &SoakCase, report: &mut SoakOutput) -> anyhow::Result<()> {
        let mut both = Lockstep::new(self.open(case, BuildForm::OneRouter, RunLength::Quick)?, &case.design)?;
        both.watchdog(WATCHDOG);
        if let Some((cycle, tile)) = self.upset(case.design.mesh)? {
            both.upset_at(cycle, tile, Upset::LoseCredits(Port::Local));
        }
        for (i, run) in case.runs.iter().enumerate() {
            for &(node, probability) in &run.stalls {
                both.stall(node, probability, case.stall_seed(node));
            }
            let found = soak_take(run, &case.design, &mut both, &mut |_| self.interrupt.requested());
            if let Err(RunError::Stopped { .. }) = &found {
                return Err(stopped(report, case.seed).into());
            }
            report.runs += 1;
            let message = match &found {
                Ok(measured) => {
                    report.cycles += measured.cycles;
                    // A stalled tile may still owe credits; lockstep has compared them.
                    let mut wrong = measured.violations.iter().filter(|v| v.kind != ViolationKind::Credits);
                    wrong.next().map(|violation| violation.message.clone())
                }
                Err(error) => Some(error.to_string()),
            };
            if let Some(message) = message {
                report.router_cycles += both.router_cycles();
                self.failed(report, case.seed, i, &case.title(), message);
                return match found {
                    Err(RunError::Network(error)) => match error.downcast_ref() {
                        Some(difference) => self.show(case, difference),
                        None => Ok(()),
                    },
                    _ => Ok(()),
                };
            }
        }
        report.networks += 1;
        report.router_cycles += both.router_cycles();
        self.passed(case.seed, &case.title(), both.router_cycles());
        Ok(())
    }

    /// Runs the storms of a seed. Failures go to the report.
    fn storms(&self, case: &SoakStorm, report: &mut SoakOutput) -> anyhow::Result<()> {
        for part in 0..self.args.length {
            self.storm(&case.clone().part(part), report)?;
            if report.failed.is_some() {
                return Ok(());
            }
        }
        report.storms += 1;
        Ok(())
    }

    /// Runs the decode steps of a seed on its fabric. Failures go to the report.
    fn fabrics(&self, case: &SoakFabric, report: &mut SoakOutput) -> anyhow::Result<()> {
        for part in 0..self.args.length {
            self.fabric(&case.clone().part(part), report)?;
            if report.failed.is_some() {
                return Ok(());
            }
        }
        report.fabrics += 1;
        Ok(())
    }

    /// Runs a storm of fetches. Failures go to the report.
    fn storm(&self, case: &SoakStorm, report: &mut SoakOutput) -> anyhow::Result<()> {
        use fetch::{Bench, FetchError};
        let (design, plan) = (&case.design, &case.plan);
        let verilog = self.verilog(design, BuildForm::TransportPieces, case.seed);
        let socket = verilog.beside(&Bench::ports(design), Bench::model(design), self.upset(design.mesh)?)?;
        let mut stop = |_: u64, _: u64| self.interrupt.requested();
        let found = Bench::on(socket, design)?.run(plan, &mut stop);
        report.runs += 1;
        let message = match &found {
            Err(FetchError::Stopped) => return Err(stopped(report, case.seed).into()),
            Ok(done) => {
                let compared = self.count(report, done.periods, design, done.reached.as_ref());
                match done.violation_list.first() {
                    Some(violation) => violation.message.clone(),
                    None => {
                        self.passed(case.seed, &case.title(), compared);
                        return Ok(());
                    }
                }
            }
            Err(error) => error.to_string(),
        };
        self.failed(report, case.seed, 0, &case.title(), message);
        let Err(FetchError::Dut(DutError::Differ(difference))) = found else { return Ok(()) };
        verilog.show(&difference, &self.waves(case.seed), |socket| {
            match Bench::on(socket, design).map(|bench| bench.run(plan, &mut stop)) {
                Ok(Err(FetchError::Dut(end))) | Err(end) => Some(end),
                Ok(_) => None,
            }
        })
    }

    /// Counts the cycles of a run that is over, and the rare states that it has reached. Returns its router-cycles.
    fn count(
        &self,
        report: &mut SoakOutput,
        periods: u64,
        design: &Design,
        reached: Option<&Reached>,
    ) -> u64 {
        let compared = periods * design.mesh.tiles() as u64;
        report.cycles += periods;
        report.router_cycles += compared;
        reached.into_iter().for_each(|reached| report.reached.add(reached));
        compared
    }

    /// The Verilog of a case.
    fn verilog<'v>(&'v self, design: &'v Design, form: BuildForm, seed: u64) -> Verilog<'v> {
        let (length, cache) = (RunLength::Quick, Some(self.cache));
        Verilog { design, form, length, cache, seed, interrupt: self.interrupt, ui: self.ui }
    }

    /// Runs a whole fabric. Failures go to the report.
    fn fabric(&self, case: &SoakFabric, report: &mut SoakOutput) -> anyhow::Result<()> {
        let (design, plan) = (&case.design, &case.plan);
        let verilog = self.verilog(design, BuildForm::FabricPieces, case.seed);
        let upset = self.upset(design.mesh)?;
        let socket = verilog.beside(&Bench::ports(design), Bench::model(design), upset)?;
        let mut stop = |_: Progress| self.interrupt.requested();
        let found = Bench::on(socket, design)?.run_through(plan, &mut stop);
        report.runs += 1;
        let message = match &found {
            Err(DecodeError::Stopped) => return Err(stopped(report, case.seed).into()),
            Ok(done) => {
                let compared = self.count(report, done.periods, design, done.reached.as_ref());
                report.fabric_router_cycles += compared;
                report.faults += SoakFabric::reached(done);
                match case.wrong(done) {
                    Some(message) => message,
                    None => {
                        self.passed(case.seed, &case.title(), compared);
                        return Ok(());
                    }
                }
            }
            Err(error) => error.to_string(),
        };
        self.failed(report, case.seed, 0, &case.title(), message);
        let Err(DecodeError::Dut(DutError::Differ(difference))) = found else { return Ok(()) };
        verilog.show(&difference, &self.waves(case.seed), |socket| {
            match Bench::on(socket, design).map(|bench| bench.run_through(plan, &mut stop)) {
                Ok(Err(DecodeError::Dut(end))) | Err(end) => Some(end),
                Ok(_) => None,
            }
        })
    }

    /// Tries out a device. Failures go to the report.
    fn device(&self, case: &SoakDevice, report: &mut SoakOutput) -> anyhow::Result<()> {
        let (verilog, job) = (self.verilog(&case.design, BuildForm::FrontAlone, case.seed), case.job());
        for (at, &trial) in case.trials.iter().enumerate() {
            let mut bench = case.bench(verilog.build()?, &job)?;
            let tried = bench.try_out(&job, trial, &mut |_| self.interrupt.requested());
            report.runs += 1;
            report.cycles += bench.driver.device.cycle();
            let message = match tried {
                Err(DeviceError::Stopped) => return Err(stopped(report, case.seed).into()),
                Ok((reached, wrong)) => {
                    report.reached.add(&reached);
                    wrong
                }
                Err(error) => Some(format!("{}: {error}", trial.0)),
            };
            if let Some(message) = message {
                self.failed(report, case.seed, at, &case.title(), message);
                return Ok(());
            }
        }
        report.devices += 1;
        self.ui.note(format_args!(
            "seed {}, {}: each was read, and the next run right",
            case.seed,
            case.title()
        ));
        Ok(())
    }

    fn upset(&self, mesh: Mesh) -> anyhow::Result<Option<(u64, NodeId)>> {
        self.args.upset.map(|upset| place(mesh, upset)).transpose()
    }

    fn passed(&self, seed: u64, title: &str, compared: u64) {
        self.ui.note(format_args!("seed {seed}, {title}: {compared} router-cycles, no difference"));
    }

    fn failed(&self, report: &mut SoakOutput, seed: u64, run: usize, title: &str, message: String) {
        self.ui.error(format_args!("seed {seed}, {title}, run {run}: {message}"));
        self.ui.note(format_args!("again: {}", self.command(seed, 1)));
        report.failed = Some(Failure { seed, run, message });
    }

    /// The command that runs some seeds again.
    fn command(&self, seed: u64, count: u64) -> String {
        let upset =
            self.args.upset.map_or(String::new(), |(x, y, cycle)| format!(" --upset {x},{y}@{cycle}"));
        let steer = if count > 1 && self.args.steer { " --steer" } else { "" };
        let length = match self.args.length {
            1 => String::new(),
            length => format!(" --length {length}"),
        };
        format!("meshkv soak --seed {seed} --count {count}{length}{steer}{upset}")
    }

    /// File for waves of a seed's difference.
    fn waves(&self, seed: u64) -> PathBuf {
        self.args.wave.clone().unwrap_or_else(|| format!("soak-{seed}.fst").into())
    }

    /// Runs a case again up to a difference, and writes waves of the cycles around it.
    fn show(&self, case: &SoakCase, difference: &Difference) -> anyhow::Result<()> {
        let path = self.waves(case.seed);
        whole_file::check_waves(&path)
            .context("the waves of the difference need a file that can be written")?;
        let views = Views::of(path.clone(), &case.design, self.ui);
        if let Some((router, _)) = difference.router {
            views.end_at(router);
        }
        let work = difference.cycle * case.design.mesh.tiles() as u64;
        let mut dut = self.open(case, BuildForm::WholeMesh, RunLength::of(work, LONG_RUN).traced(None))?;
        dut.watchdog(WATCHDOG);
        // Every run begins with a reset, so only the one that differs is needed.
        let at = difference.run as usize - 1;
        for &(node, probability) in case.runs[..=at].iter().flat_map(|run| &run.stalls) {
            dut.stall(node, probability, case.stall_seed(node));
        }
        let mut excerpt = WaveWindow::new(dut, &path, 1, difference.wave_cycles());
        // The run ends when the waves are written; it has no result.
        let _ = soak_take(&case.runs[at], &case.design, &mut excerpt, &mut |_| false);
        self.ui.note(format_args!("waves of the cycles around it are in {}", path.display()));
        Ok(())
    }

    fn open(&self, case: &SoakCase, form: BuildForm, run: RunLength) -> anyhow::Result<VerilatedMesh> {
        let library = library_in(Some(self.cache), &case.design, form, run, self.interrupt, self.ui);
        let library =
            self.interrupt.explain(library, &format!("while the fabric of seed {} was built", case.seed))?;
        Ok(VerilatedMesh::open(&library, &case.design, power_up(case.seed))?)
    }
}

/// True if the case of an even seed that is no storm is a device.
fn is_device(seed: u64) -> bool {
    seed % 8 == 6
}

/// Rare states that were not reached, and that a seed may reach.
fn missing(reached: &Reached) -> impl Iterator<Item = Rare> {
    reached.empty().into_iter().filter(|rare| !BEYOND_SOAK.contains(rare))
}

/// The error of an interrupted soak.
fn stopped(report: &SoakOutput, next: u64) -> Interrupted {
    let compared = report.router_cycles;
    Interrupted(format!(
        "in seed {next}; {compared} router-cycles before it, no difference; go on with --seed {next}"
    ))
}
