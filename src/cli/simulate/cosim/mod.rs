//! `meshkv cosim`: the emitted fabric under Verilator, loaded with traffic and measured; or its model, or both.

mod args;
mod command;
mod dut_form;
mod engine;
mod fabric;
mod page;
mod report;
pub mod sim;
mod titles;

pub(in crate::cli) use args::{Options, SCOPES, TRACE_HELP};

use crate::cli::output::diagnostics::junit;
use crate::cli::output::pictures::Pictures;
use crate::cli::output::progress::Progress;
use crate::cli::output::ui::Ui;
use crate::cli::output::views::Views;
use crate::cli::simulate::work::Work;
use crate::config::Engine;
use crate::cosim::checks::lockstep::Difference;
use crate::cosim::dut::network::Network;
use crate::cosim::dut::verilated::waves::WavesWritten;
use crate::cosim::dut::watched::modelled;
use crate::cosim::traffic::generator::{Generator, Traffic};
use crate::cosim::traffic::matrix::Matrix;
use crate::cosim::traffic::packet::Packet;
use crate::cosim::traffic::trace;
use crate::cosim::workloads::network::measure::RunError;
use crate::cosim::workloads::network::PacketTimes;
use crate::design::Design;
use crate::eval::{self, MeasureError, Row, Setup, Sweep};
use crate::tools::input;
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::whole_file;
use crate::tools::workers;
use anyhow::{anyhow, Context};
use fabric::Fabric;
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// Result of `cosim` and `sim`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::cli) enum CosimOutput<'a> {
    /// One run.
    One(&'a Row),
    /// A load-latency curve, with `--sweep-load`.
    Sweep(&'a Sweep),
}

/// Job of the command line, read and checked before anything is built.
enum Job {
    One(Traffic),
    Sweep(Traffic, (f64, f64)),
    Trace(Vec<Packet>),
}

/// Co-simulate the emitted fabric under Verilator and measure it
///
/// Every flit is checked: it must reach each of its destinations exactly once, intact, in
/// order where order is promised, and at the end nothing may be left. Latencies are cycles from
/// the source queue to the ejection of a packet's last flit; loads are flits per node and cycle.
/// Exit code 1 if the fabric does anything wrong, or differs from its model in lockstep. A subcommand runs something
/// else than traffic: fetches, a decode step, attention.
#[derive(Debug, clap::Args)]
#[command(after_help = format!("Examples:
  meshkv cosim configs/tiny.toml
  meshkv cosim configs/u280_8x8.toml --traffic uniform --load 0.2 --packet 4 --vn both
  meshkv cosim configs/u280_8x8.toml --traffic multicast --fanout 8 --load 0.02 --json
  meshkv cosim configs/u280_8x8.toml --traffic hotspot --hotspot 3,3:0.1 --load 0.1
  meshkv cosim configs/u280_8x8.toml --sweep-load 0.05:1.0 --plot out
  meshkv cosim configs/tiny.toml --trace examples/packets.csv --wave packets.fst
  meshkv cosim configs/tiny.toml --traffic mixed --load 0.5 --lockstep
  meshkv cosim decode configs/tiny.toml --steps 2

{TRACE_HELP}"))]
// `misplaced` rejects options before a subcommand: clap would also reject options that every command takes.
#[command(
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    override_usage = "meshkv cosim [OPTIONS] <CONFIG>\n       meshkv cosim <COMMAND>"
)]
pub struct Args {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    work: Option<Work>,
}

/// Runs the subcommand. Exit code 1 if the fabric did anything wrong.
///
/// # Errors
/// A wrong configuration, argument or trace, a missing tool, a file that cannot be written, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    run_on(Engine::Rtl, &args.options, args.work.as_ref(), ui)
}

/// Runs a work, or else the traffic of the options, on the selected engine or on `default`.
pub(in crate::cli) fn run_on(
    default: Engine,
    options: &Options,
    work: Option<&Work>,
    ui: &Ui,
) -> anyhow::Result<ExitCode> {
    if let Some(work) = work {
        return work.run(default, ui);
    }
    let command = if default == Engine::Rtl { "meshkv cosim" } else { "meshkv sim" };
    junit::recorded(options.junit.as_deref(), &options.inputs(), command, ui, || {
        traffic(&options.with_engine(default), ui)
    })
}

/// Runs traffic.
fn traffic(options: &Options, ui: &Ui) -> anyhow::Result<ExitCode> {
    let (design, _) = crate::cli::load::load(options.config(), ui)?;
    let job = job(options, &design)?;
    ui.seeded(options.drawn_from());
    let interrupt = Interrupt::listen()?;
    // Unwritable files are reported here, before a build of minutes.
    let pictures = options.plot.as_deref().map(Pictures::open).transpose()?;
    if let Some(path) = &options.carrier.wave {
        whole_file::check_waves(path).context("--wave needs a file that can be written")?;
    }
    if let Some(path) = &options.packets {
        whole_file::check(path).context("--packets needs a file that can be written")?;
    }
    let views = options.carrier.wave_file(&design).map(|path| Views::of(path, &design, ui));
    let opened = fabric::open(options, &design, &interrupt, ui);
    let fabric = interrupt.explain(opened, "while the fabric was built; nothing is left of it")?;
    let mut invocation = Invocation { options, design: &design, fabric, interrupt: &interrupt, pictures, ui };
    let result = invocation.run(&job);
    // An error of the fabric is a failed check; the caller reports all other errors.
    match result.as_ref().err().and_then(|error| error.downcast_ref::<MeasureError>()) {
        Some(MeasureError::Run(RunError::Network(error))) if error.is::<Difference>() => {
            ui.error(format_args!("model and Verilog differ in {error}"));
            let difference: &Difference = error.downcast_ref().expect("asked just now");
            if let (Some(views), Some((router, _))) = (&views, difference.router) {
                views.end_at(router);
            }
            invocation.show(difference, &job)?;
            Ok(ExitCode::from(1))
        }
        Some(MeasureError::Run(failed)) => {
            ui.error(format_args!("{failed}"));
            if let RunError::Stalled { .. } = failed {
                ui.note(
                    "the run is deterministic: add --wave FILE.fst and shorten --cycles to see it happen",
                );
            }
            Ok(ExitCode::from(1))
        }
        _ => result,
    }
}

/// The rows of loads that run at once, in their order.
fn at_once(loads: &[f64], run: &(dyn Fn(f64) -> anyhow::Result<Row> + Sync)) -> Vec<anyhow::Result<Row>> {
    let places: Vec<usize> = (0..loads.len()).collect();
    let mut rows: Vec<Option<anyhow::Result<Row>>> = loads.iter().map(|_| None).collect();
    let ended = workers::work(&places, loads.len(), &|at| run(loads[*at]), &mut |at, row| {
        rows[*at] = Some(row);
        Ok(())
    });
    debug_assert!(ended.is_ok(), "an outcome is received, whatever it is");
    rows.into_iter().flatten().collect()
}

/// Bytes of a trace at most: some ten million packets.
const MOST_TRACE: u64 = 512 << 20;

/// Bytes of a matrix at most: a hundred for each rate of the largest mesh.
const MOST_MATRIX: u64 = 8 << 20;

fn job(args: &Options, design: &Design) -> anyhow::Result<Job> {
    if let Some(path) = &args.trace {
        let file = path.display().to_string();
        let bytes = input::read(path, MOST_TRACE).with_context(|| format!("cannot read the trace {file}"))?;
        let packets = trace::parse(&file, text(&file, &bytes, "a trace is CSV or JSON Lines")?, design.mesh)?;
        return Ok(Job::Trace(match args.trace_rate {
            Some(rate) => trace::at_rate(packets, rate)?,
            None => packets,
        }));
    }
    let rates = args.matrix.as_deref().map(|path| -> anyhow::Result<Matrix> {
        let file = path.display().to_string();
        let bytes =
            input::read(path, MOST_MATRIX).with_context(|| format!("cannot read the matrix {file}"))?;
        Ok(Matrix::parse(
            &file,
            text(&file, &bytes, "a matrix is CSV, with a line for each source")?,
            design.mesh,
        )?)
    });
    let traffic = args.traffic_on(design.mesh.tiles(), rates.transpose()?);
    // Rejected here, before a build of minutes.
    Generator::new(design, &traffic)?;
    Ok(match args.sweep_load {
        Some(range) => Job::Sweep(traffic, range),
        None => Job::One(traffic),
    })
}

/// The text of a file, or an error that names the line that is not UTF-8 and the expected kind of file.
fn text<'a>(file: &str, bytes: &'a [u8], is: &str) -> anyhow::Result<&'a str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|&&b| b == b'\n').count() + 1;
        anyhow!("{file}:{line}: this is no UTF-8 text\n  help: {is}, see --help")
    })
}

/// One run of the subcommand, with its fabric open.
struct Invocation<'a> {
    options: &'a Options,
    design: &'a Design,
    fabric: Fabric,
    interrupt: &'a Interrupt,
    pictures: Option<Pictures>,
    ui: &'a Ui,
}

impl Invocation<'_> {
    fn run(&mut self, job: &Job) -> anyhow::Result<ExitCode> {
        match job {
            Job::One(traffic) => self.one(traffic),
            Job::Sweep(traffic, range) => self.sweep(traffic, *range),
            Job::Trace(packets) => self.replay(packets.clone()),
        }
    }

    /// Runs the job again up to a difference, and writes waves of the cycles around it.
    fn show(&mut self, difference: &Difference, job: &Job) -> anyhow::Result<()> {
        let Some(path) = self.options.carrier.wave_file(self.design) else { return Ok(()) };
        whole_file::check_waves(&path)
            .context("the waves of the difference need a file that can be written")?;
        let opened =
            fabric::around((difference, self.options.seed), &path, self.design, self.interrupt, self.ui);
        self.fabric = self.interrupt.explain(opened, "while waves of the difference were prepared")?;
        let (result, written) = (self.run(job), path.display());
        match result.err().map(|error| error.downcast::<MeasureError>()) {
            Some(Err(error)) => return Err(error),
            Some(Ok(MeasureError::Run(RunError::Network(end)))) if end.is::<WavesWritten>() => {
                self.ui.note(format_args!("waves of the cycles around it are in {written}"));
            }
            _ => self.ui.note(format_args!("the mesh ended otherwise than the tile; waves are in {written}")),
        }
        Ok(())
    }

    fn one(&mut self, traffic: &Traffic) -> anyhow::Result<ExitCode> {
        let zero_load = self.zero_load(traffic)?;
        self.fabric.network().reset()?;
        let phases = self.options.phases();
        let progress = self.ui.progress(Some(phases.warmup + phases.measure), "simulating");
        self.finish_with(progress, &mut |network, setup| eval::measure(network, setup, traffic, zero_load))
    }

    fn replay(&mut self, packets: Vec<Packet>) -> anyhow::Result<ExitCode> {
        let progress = self.ui.progress(packets.last().map(|p| p.cycle), "replaying");
        let trace_rate = self.options.trace_rate;
        self.finish_with(progress, &mut |network, setup| {
            Ok(Row { trace_rate, ..eval::replay(network, setup, packets.clone())? })
        })
    }

    /// Measures one row, which waves show, and hands it out.
    fn finish_with(
        &mut self,
        progress: Progress,
        measure: &mut dyn FnMut(&mut dyn Network, &mut Setup<'_>) -> Result<Row, MeasureError>,
    ) -> anyhow::Result<ExitCode> {
        let mut packets = Vec::new();
        let mut setup = Setup {
            design: self.design,
            phases: self.options.phases(),
            saturated_at: None,
            stop: &mut |cycle| {
                progress.set(cycle);
                self.interrupt.requested()
            },
            packets: self.options.packets.as_ref().map(|_| &mut packets),
        };
        let waves = self.options.carrier.waves_until_then();
        let row = measure(self.fabric.network(), &mut setup).map_err(|error| interrupted(error, &waves))?;
        drop(progress);
        self.finish(row, &packets)
    }

    fn sweep(&mut self, traffic: &Traffic, range: (f64, f64)) -> anyhow::Result<ExitCode> {
        let zero_load = self.zero_load(traffic)?;
        let progress = self.ui.progress(None, "simulating");
        let mut phases = self.options.phases();
        let saturated_at = self.options.latency_limit;
        phases.latency_limit = Some(eval::NOT_SHOWN_ABOVE * zero_load.max(saturated_at.unwrap_or(0.0)));
        let (design, interrupt, ui) = (self.design, self.interrupt, self.ui);
        let measured = |network: &mut dyn Network, load: f64| -> anyhow::Result<Row> {
            network.reset()?;
            let stop = &mut |_| interrupt.requested();
            let mut setup = Setup { design, phases, saturated_at, stop, packets: None };
            let traffic = Traffic { load, ..traffic.clone() };
            eval::measure(network, &mut setup, &traffic, zero_load).map_err(|error| interrupted(error, ""))
        };
        // A model is made in no time; Verilog has threads of its own.
        let ahead = if matches!(self.fabric, Fabric::Model(_)) { workers::cores() } else { 1 };
        let mut done: Vec<f64> = Vec::new();
        let mut points = |loads: &[f64]| -> Vec<anyhow::Result<Row>> {
            let shown: Vec<String> = loads.iter().map(|load| format!("{load:.4}")).collect();
            progress.message(format!("point {}: offering {}", done.len() + 1, shown.join(", ")));
            let rows = match loads {
                [load] => vec![measured(self.fabric.network(), *load)],
                _ => at_once(loads, &|load| measured(&mut modelled(design), load)),
            };
            for (load, row) in
                loads.iter().zip(&rows).filter_map(|(load, row)| Some((load, row.as_ref().ok()?)))
            {
                let found = format!("offering {load:.4}: latency {:.2} cycles", row.latency_mean);
                progress.aside(|| ui.detail(found));
                done.push(*load);
            }
            rows
        };
        let found = eval::sweep(range, traffic.shape.fanout(), zero_load, saturated_at, (ahead, &mut points));
        drop(progress);
        let found =
            found.map_err(|error| if error.is::<Interrupted>() { unfinished(&done) } else { error })?;
        let command = self.options.command();
        // The picture shows the links just below saturation; in an overloaded mesh only the edges are
        // visible.
        let shown = found.points.iter().rev().find(|row| !row.saturated).or(found.points.last());
        if let (Some(pictures), Some(row)) = (&self.pictures, shown) {
            pictures.write_page(&page::of_sweep(self.design, &found, row, command.clone())?, self.ui)?;
        }
        let points = found.points.into_iter();
        let points = points.map(|row| {
            let command = self.options.command_at(row.load);
            self.signed(Row { links: Vec::new(), latency_bins: Vec::new(), ..row }, command)
        });
        let found = Sweep { points: points.collect(), command, ..found };
        for row in &found.points {
            self.ui.paced(row.cycles_per_second);
            let name = format!("no promise is broken at load {:.4}", row.load.unwrap_or(row.offered));
            self.ui.checked(name, broken(row));
        }
        self.ui.result(&CosimOutput::Sweep(&found), || report::sweep(self.design, &found))?;
        let worst = found.points.iter().max_by_key(|row| row.violations);
        Ok(worst.map_or(ExitCode::SUCCESS, |row| verdict(found.violations, row, self.ui)))
    }

    fn zero_load(&mut self, traffic: &Traffic) -> anyhow::Result<f64> {
        let _progress = self.ui.progress(None, "measuring the latency without load");
        let stop = &mut |_| self.interrupt.requested();
        let latency = eval::zero_load_latency(self.fabric.network(), self.design, traffic, stop)
            .map_err(|error| interrupted(error, ""))?;
        self.ui.detail(format_args!("latency without load: {latency:.2} cycles"));
        Ok(latency)
    }

    /// Adds the facts to a row that only the command has.
    fn signed(&self, row: Row, command: String) -> Row {
        Row {
            command,
            engine: self.options.carrier.name(),
            dut: self.options.form().map(|form| form.name().to_owned()),
            router_cycles_compared: self.fabric.router_cycles(),
            ..row
        }
    }

    fn finish(&mut self, row: Row, packets: &[PacketTimes]) -> anyhow::Result<ExitCode> {
        self.list(&row, packets)?;
        let row = self.signed(row, self.options.command());
        if let Some(pictures) = &self.pictures {
            pictures.write_page(&page::of_run(self.design, &row)?, self.ui)?;
        }
        self.ui.paced(row.cycles_per_second);
        self.ui.checked("no promise is broken", broken(&row));
        self.ui.result(&CosimOutput::One(&row), || report::row(self.design, &row))?;
        Ok(verdict(row.violations, &row, self.ui))
    }
}

impl Invocation<'_> {
    /// Writes the packets that count, if that is wanted.
    fn list(&self, row: &Row, packets: &[PacketTimes]) -> anyhow::Result<()> {
        let Some(path) = &self.options.packets else { return Ok(()) };
        let bytes = match path.extension().is_some_and(|ending| ending == "csv") {
            true => eval::packets_to_csv(packets).into_bytes(),
            false => eval::packets_to_parquet(packets)?,
        };
        whole_file::write(path, &bytes, true)?;
        self.ui.note(format_args!("wrote {} with {} rows", path.display(), packets.len()));
        let all: u64 = row.latency_bins.iter().map(|bin| bin.count).sum();
        let missing = all - packets.len() as u64;
        if missing > 0 {
            self.ui.warn(format_args!(
                "{missing} deliveries of the sample came too late for it, and have no row in {}",
                path.display()
            ));
        }
        Ok(())
    }
}

/// Separates an interrupted run from a failed one; a clause names the waves until then.
fn interrupted(error: MeasureError, waves: &str) -> anyhow::Error {
    match error {
        MeasureError::Run(RunError::Stopped { cycle }) => {
            Interrupted(format!("in cycle {cycle}; no result, no picture{waves}")).into()
        }
        error => error.into(),
    }
}

/// The error of an interrupted sweep: names the finished loads, which single runs can repeat.
fn unfinished(done: &[f64]) -> anyhow::Error {
    let loads: Vec<_> = done.iter().map(|load| format!("{load:.4}")).collect();
    let loads = if loads.is_empty() { "none".to_owned() } else { loads.join(", ") };
    Interrupted(format!("in a sweep; no result, no picture; loads that were finished: {loads}")).into()
}

/// Violations of a run, a line each, if there are any.
fn broken(row: &Row) -> Option<String> {
    let told: Vec<_> = row.violation_list.iter().map(|violation| violation.message.to_string()).collect();
    (row.violations > 0)
        .then(|| format!("{} violations, of which the first are\n{}", row.violations, told.join("\n")))
}

/// Reports violations, if any, and picks the exit code.
fn verdict(violations: u64, row: &Row, ui: &Ui) -> ExitCode {
    if violations == 0 {
        return ExitCode::SUCCESS;
    }
    for violation in &row.violation_list {
        ui.stderr(format_args!("  {}", violation.message));
    }
    ui.error(format_args!("{violations} protocol violations; the first are listed above"));
    ExitCode::from(1)
}
