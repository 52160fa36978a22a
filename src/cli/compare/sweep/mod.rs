//! `meshkv sweep`: runs every point of a grid of configurations and workloads on all cores, and writes a row
//! each.

mod estimate;
mod fill;
mod list;
mod meta;
mod output;
mod slurm;

pub(in crate::cli) use fill::fill;
pub(in crate::cli) use meta::Meta;
pub(in crate::cli) use output::{SweepOutput, SweepRow};
pub(in crate::cli) use slurm::{fill_on_slurm, SlurmArgs, SCOPES as SLURM_SCOPES};

use crate::cli::output::diagnostics::junit;
use crate::cli::output::table;
use crate::cli::output::ui::Ui;
use crate::cli::program::scope::{Only, Scope};
use crate::config::{load_grid, Engine, Grid, Report, WorkKind};
use crate::eval::grid::{expand, outline, with_area, Column, Expanded, Point, Record};
use crate::eval::sweep::execute::{Execute, Outcome};
use crate::eval::sweep::fill::Filled;
use crate::eval::sweep::store::Store;
use crate::tools::interrupt::Interrupt;
use crate::tools::workers;
use anyhow::{anyhow, Context};
use list::text;
use output::Summary;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Run every point of a grid of configurations and workloads
///
/// The file names a base configuration, the keys that vary and what is run. Each point gives one row in rows.csv and rows.jsonl, written as soon as it is known; when all are there the rows are sorted
/// and written as Parquet, too. The same command again, after whatever ended it, runs what is missing and nothing else.
/// Exit code 1 if the fabric did anything wrong at a point.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv sweep sweeps/latency_load.toml
  meshkv sweep sweeps/latency_load.toml --dry-run      the points, and which are done
  meshkv sweep sweeps/mesh_sizes.toml -o out/sizes --jobs 4
  meshkv sweep sweeps/mesh_sizes.toml --estimate          the area of each point, too
  meshkv sweep sweeps/mesh_sizes.toml --only ID --json
  meshkv sweep sweeps/mesh_sizes.toml --slurm --partition compute --time-limit 30
  meshkv report out/latency_load                       tables and pictures of the rows

A sweep file: each list is an axis, and every combination is a point:
  base = \"meshkv.toml\"
  [grid]
  noc.vc_depth = [4, 8]
  [workload]
  kind = \"traffic\"
  load = { from = 0.1, to = 0.4, step = 0.1 }
  seed = [1, 2, 3]")]
pub struct Args {
    /// Sweep file
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Folder for the rows [default: one below out/, named after the file]
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Points at once [default: as many as there are cores; half of them where Verilog carries traffic]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Add the area of each configuration: LUT, FF, BRAM, URAM, DSP, wires between SLRs, whether it fits, periods. Parts
    /// are synthesised once and kept
    #[arg(long)]
    estimate: bool,
    /// List the points and run none
    #[arg(long, conflicts_with_all = ["jobs", "set_aside", "slurm", "estimate"])]
    dry_run: bool,
    /// Leave out points that cannot be built or run, instead of running none
    #[arg(long)]
    skip_illegal: bool,
    /// Put rows of points that are no longer in the file into set-aside.jsonl; they come back with their points
    #[arg(long)]
    set_aside: bool,
    /// Run the point of this id alone and print its row; nothing is written
    #[arg(long, value_name = "ID", conflicts_with_all = ["dry_run", "output", "set_aside", "jobs", "slurm", "estimate"])]
    only: Option<String>,
    /// Write a test for each point as JUnit's XML, for CI servers; an existing file is replaced
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, conflicts_with_all = ["dry_run", "only"])]
    junit: Option<PathBuf>,
    #[command(flatten)]
    slurm: SlurmArgs,
}

/// Where options have an effect.
pub(in crate::cli) const SCOPES: &[Scope] =
    &[Scope { of: &["jobs"], only: &[Only::Without(&["slurm"])], why: "the cluster deals out the points" }];

/// Run the points of a task of a job array: what `sweep --slurm` submits
#[derive(Debug, clap::Args)]
pub struct ChunkArgs {
    /// Folder of the array
    dir: PathBuf,
    /// Number of the task
    task: usize,
}

/// Runs a task of a job array.
///
/// # Errors
/// A chunk that cannot be read, a missing tool, or a signal.
pub fn run_chunk(args: &ChunkArgs) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    let (build, stop) = (fill::build(&interrupt), || interrupt.requested());
    let execute = Execute::new(&interrupt, &build);
    let yosys = || estimate::find(&stop, &Ui::silent());
    crate::eval::sweep::slurm::run_chunk((&args.dir, args.task), &execute, &yosys, &interrupt)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the subcommand. Exit code 1 if a point failed or the fabric did anything wrong.
///
/// # Errors
/// A wrong sweep file, illegal points, a folder that cannot be written or is in use, a missing tool, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let inputs = [("the sweep file", args.file.as_path())];
    junit::recorded(args.junit.as_deref(), &inputs, "meshkv sweep", ui, || points(args, ui))
}

fn points(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let grid = load_grid(&args.file)?;
    let (base, _) = crate::cli::load::load(&grid.base, ui)?;
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from("out").join(&grid.name));
    let bar = ui.progress(Some(100), "planning");
    let mut told = |done: usize, total: usize| bar.set((100 * done / total) as u64);
    if args.dry_run {
        let all = outline(&grid, &base.name, base.configuration(), &mut told);
        drop(bar);
        others(args, all.len(), (&all.illegal, all.left_out, all.repeated), ui)?;
        return list::list(&all, &output, ui);
    }
    let mut all = expand(&grid, &base.name, base.configuration(), &mut told);
    drop(bar);
    if args.estimate {
        all.columns = with_area(all.columns);
    }
    others(args, all.points.len(), (&all.illegal, all.left_out, all.repeated), ui)?;
    match &args.only {
        Some(id) => only(id, &all, ui),
        None => sweep(args, &grid, &all, output, ui),
    }
}

/// Notes how many points are left out besides so many legal ones, or refuses to go on without them.
fn others(
    args: &Args,
    legal: usize,
    (illegal, left_out, repeated): (&Option<Report>, usize, usize),
    ui: &Ui,
) -> anyhow::Result<()> {
    if let Some(report) = illegal {
        // Without a legal point, leaving out the others leaves nothing.
        if !args.skip_illegal || legal == 0 {
            if legal > 0 {
                let of = left_out + legal + repeated;
                ui.note(format_args!(
                    "{left_out} of {of} points are illegal; --skip-illegal leaves them out"
                ));
            }
            return Err(report.clone().into());
        }
        ui.note(format_args!("{left_out} illegal points are left out"));
    }
    if repeated > 0 {
        ui.note(format_args!("{repeated} points say what others say, and are run once"));
    }
    Ok(())
}

/// Runs one point and prints its row.
fn only(id: &str, all: &Expanded, ui: &Ui) -> anyhow::Result<ExitCode> {
    let point = all.points.iter().find(|point| point.id == id).ok_or_else(|| {
        anyhow!("no point of this sweep has the id {id}\n  help: --dry-run lists the points with their ids")
    })?;
    ui.made_from(&point.design.name, point.design.config_sha256());
    ui.seeded(Some(point.work.seed()));
    let interrupt = Interrupt::listen()?;
    let build = fill::build(&interrupt);
    match Execute::new(&interrupt, &build).run(point) {
        Outcome::Row(found) => {
            let record = Record::new(&all.columns, point, &found);
            let pairs = || all.columns.iter().zip(&record.values);
            let row: Map<String, Value> =
                pairs().map(|(column, value)| (column.name.clone(), value.clone())).collect();
            let right = row.get("violations") == Some(&Value::from(0));
            ui.result(&SweepOutput::Row(SweepRow(row)), || {
                let line = |(column, value): (&Column, &Value)| {
                    vec![column.name.clone(), text(value), column.unit.clone()]
                };
                table::columns(&pairs().map(line).collect::<Vec<_>>())
            })?;
            Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Outcome::Failed(why) => {
            ui.error(format_args!("point {id}: {why}"));
            Ok(ExitCode::FAILURE)
        }
        Outcome::Fatal(error) => interrupt.explain(Err(error), "no row"),
    }
}

fn jobs(args: &Args, grid: &Grid, points: &[Point]) -> usize {
    let cores = workers::cores();
    // Runs of single verilated tiles already use two threads.
    let paired = grid.kind == WorkKind::Traffic && points.iter().any(|p| p.work.engine() == Engine::Rtl);
    args.jobs.map_or(if paired { cores.div_ceil(2) } else { cores }, usize::from)
}

fn sweep(args: &Args, grid: &Grid, all: &Expanded, output: PathBuf, ui: &Ui) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    let started = Instant::now();
    let meta = Meta::new(ui.origin(), (&args.file, args.estimate), grid, all);
    let mut store = Store::open(&output, &meta, all, args.set_aside)?;
    for note in store.notes() {
        ui.note(note);
    }
    let missing: Vec<(&Point, u64)> = all
        .points
        .iter()
        .filter(|point| !store.has(&point.id))
        .map(|point| (point, point.length()))
        .collect();
    let kept = all.points.len() - missing.len();
    let Filled { run, failed } = if args.slurm.slurm {
        let of = (&args.slurm, &grid.slurm, grid.name.as_str());
        fill_on_slurm(&mut store, (&missing, args.estimate), of, &interrupt, ui)?
    } else {
        if args.estimate {
            estimate::fill_areas(&mut store, args.jobs, &interrupt, ui)?;
        }
        fill(&mut store, &missing, (jobs(args, grid, &all.points), "sweeping"), &interrupt, ui)?
    };
    if args.junit.is_some() {
        checked(&store.rows(), &failed, ui);
    }
    let lacking = if args.estimate { store.lacking_areas().len() } else { 0 };
    if lacking > 0 {
        ui.warn(format_args!(
            "{lacking} configurations have no area yet; the same command goes on with them"
        ));
    }
    let violations =
        store.finish().with_context(|| format!("the rows in {} are not whole", output.display()))?;
    let seconds = started.elapsed().as_secs_f64();
    let summary = Summary { points: all.points.len(), kept, run, failed, violations, seconds, output };
    let right = summary.failed.is_empty() && violations == 0;
    let text = prose(&summary);
    ui.result(&SweepOutput::Summary(summary), || text)?;
    Ok(if right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Names each point with its row, and those without one.
fn checked(rows: &BTreeMap<String, Map<String, Value>>, failed: &[String], ui: &Ui) {
    for (id, row) in rows {
        let violations = row.get("violations").and_then(Value::as_u64).unwrap_or(0);
        let failure = (violations > 0).then(|| format!("{violations} violations"));
        ui.checked(format!("no promise is broken at point {id}"), failure);
    }
    for id in failed {
        ui.checked(format!("the run of point {id} ends"), Some("it came to no end".to_owned()));
    }
}

fn prose(summary: &Summary) -> String {
    let Summary { points, kept, run, failed, violations, seconds, output } = summary;
    let mut text = format!("{points} points: {run} run in {seconds:.1} s, {kept} there already\n");
    if !failed.is_empty() {
        text += &format!("  {} without a row, because their run came to no end\n", failed.len());
    }
    if *violations > 0 {
        text += &format!("  {violations} violations: see the column of that name\n");
    }
    let dir = output.display();
    text + &format!("  rows in {dir}/; meshkv report {dir} makes tables and pictures of them\n")
}
