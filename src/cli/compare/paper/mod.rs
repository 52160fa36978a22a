//! `meshkv paper`: runs the paper's evaluation and writes every number of it beside ours.

mod output;
mod resources;

use crate::cli::compare::energy;
use crate::cli::compare::sweep::{fill, fill_on_slurm, Meta, SlurmArgs};
use crate::cli::output::ui::Ui;
use crate::cli::program::scope::{Only, Scope};
use crate::config::{KvFormat, SlurmTable, WorkKind};
use crate::eval::grid::{Point, ROW_FORMAT};
use crate::eval::paper::{claims, plan, Draw, Errors, Extent, Found, Head, Plan, Section, Verdict};
use crate::eval::paper::{figures, page, tables};
use crate::eval::sweep::fill::Filled;
use crate::eval::sweep::store::Store;
use crate::eval::DEFAULT_TIER;
use crate::tools::interrupt::Interrupt;
use crate::tools::workers;
use clap::ValueEnum;
use output::Output;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Run the paper's evaluation and set every number of it beside ours
///
/// Decode steps of every configuration run on the cycle-exact model. The folder gets index.html, which needs no other
/// file, claims.json, a CSV file for each table, an SVG and a PNG for each figure, and all rows as JSON Lines, CSV and
/// Parquet. Rows are kept as they come: the same command again, after whatever ended it, runs what is missing and
/// nothing else. Resources are those of `meshkv estimate`, if Yosys is there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  meshkv paper --quick -o out/paper            samples: minutes
  meshkv paper -o out/paper                    whole layers: an hour or two on two cores
  meshkv paper --quick --section latency       the rows and claims of one section
  meshkv paper --quick --no-resources --json")]
pub struct Args {
    /// Folder for the page and all files beside it
    #[arg(short, long, value_name = "DIR", default_value = "out/paper", value_hint = clap::ValueHint::DirPath)]
    output: PathBuf,
    /// Run samples instead of whole layers; their error stands beside each row
    #[arg(long)]
    quick: bool,
    /// Run this section alone; may be repeated [default: all]
    #[arg(long, value_enum, value_name = "SECTION")]
    section: Vec<Section>,
    /// Points at once [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// File of energies instead of the one that ships with the program (energy/published.toml)
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    energy: Option<PathBuf>,
    /// Leave out the resources, which take Yosys some minutes the first time
    #[arg(long)]
    no_resources: bool,
    #[command(flatten)]
    slurm: SlurmArgs,
}

/// Sections whose rows are run.
const WITH_ROWS: Only =
    Only::Where("section", &["traffic", "bisection", "throughput", "latency", "ablation", "card", "step"]);

/// Where options have an effect.
pub(in crate::cli) const SCOPES: &[Scope] = &[
    Scope { of: &["quick", "energy", "slurm"], only: &[WITH_ROWS], why: "no row is run" },
    Scope {
        of: &["jobs"],
        only: &[Only::Without(&["slurm"]), Only::Where("section", &["accuracy"])],
        why: "the cluster deals out the points",
    },
    Scope { of: &["jobs"], only: &[WITH_ROWS, Only::Where("section", &["accuracy"])], why: "" },
    Scope { of: &["no_resources"], only: &[Only::Where("section", &["resources"])], why: "" },
];

/// The paper's evaluation.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct PaperOutput {
    /// `quick` for samples, `full` for whole layers.
    extent: &'static str,
    /// Points of the evaluation.
    points: usize,
    /// Rows that there are.
    rows: usize,
    /// Rows that this run added.
    run: usize,
    /// Ids of points without a row, because their run failed.
    failed: Vec<String>,
    /// Violations of all rows.
    violations: u64,
    /// Claims of the paper.
    claims: usize,
    /// Number of claims by verdict: `exceeded`, `holds`, `holds-under-assumption`, `does-not-hold`, `not-measured`; those
    /// of no claim are left out.
    verdicts: BTreeMap<&'static str, usize>,
    /// Path of the page.
    page: PathBuf,
}

/// Runs the subcommand. Exit code 1 if a point failed or the fabric did anything wrong.
///
/// # Errors
/// A folder that cannot be written or holds something else, or Ctrl-C.
pub fn run(args: &Args, ui: &Ui) -> anyhow::Result<ExitCode> {
    let extent = if args.quick { Extent::Quick } else { Extent::Full };
    let energies = energy::table(args.energy.as_deref())?.energies(DEFAULT_TIER, KvFormat::Fp16)?;
    let interrupt = Interrupt::listen()?;
    let sections = if args.section.is_empty() { &Section::ALL } else { args.section.as_slice() };
    let plan = plan(extent, sections)?;
    let output = Output::open(&args.output)?;
    let started = Instant::now();
    let done = rows(args, &plan, &output, &args.command(), &interrupt, ui)?;
    let resources = match sections.contains(&Section::Resources) && !args.no_resources {
        false => None,
        true => {
            interrupt.explain(resources::measure(&interrupt, ui), "while synthesising; all rows are kept")?
        }
    };
    let found = Found::new(&plan, &done.rows, &energies);
    let mut claims = claims(&found, resources.as_ref(), extent);
    if !args.section.is_empty() {
        claims.retain(|claim| claim.verdict().0 != Verdict::NotMeasured);
    }
    let errors = match sections.contains(&Section::Accuracy) {
        true => {
            interrupt.explain(accuracy(args, &interrupt, ui), "while computing errors; all rows are kept")?
        }
        false => Vec::new(),
    };
    let (tables, drawn) = (tables(&found, &claims, &errors), figures(&found, &claims)?);
    let head = Head {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: args.command(),
        extent: extent.name(),
        rows: done.rows.len(),
        points: plan.all.points.len(),
        sampling: sampling(extent, &found),
        warnings: done.warnings(),
    };
    let html = page(&head, &claims, &drawn, &tables)?;
    let configs = plan.all.points.iter().map(|point| &point.design);
    let configs = configs.map(|design| (design.name.clone(), design.config_sha256())).collect();
    let path = output.write(&html, &claims, &drawn, &tables, (&head, &ui.origin(), &configs))?;
    ui.note(format_args!("wrote {}", path.display()));
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    claims.iter().for_each(|claim| *counts.entry(claim.verdict().0.name()).or_default() += 1);
    let seconds = started.elapsed().as_secs_f64();
    let ok = done.failed.is_empty() && done.violations == 0;
    let output = PaperOutput {
        extent: extent.name(),
        points: plan.all.points.len(),
        rows: done.rows.len(),
        run: done.run,
        failed: done.failed,
        violations: done.violations,
        claims: claims.len(),
        verdicts: counts,
        page: path,
    };
    ui.result(&output, || {
        let mut text =
            format!("{} claims of the paper, {} rows, {seconds:.0} s\n", output.claims, output.rows);
        for (name, count) in &output.verdicts {
            text += &format!("  {count:>3} {name}\n");
        }
        text + &format!("  page in {}\n", output.page.display())
    })?;
    let missing = claims.iter().any(|claim| claim.verdict().0 == Verdict::NotMeasured);
    if missing && args.no_resources {
        ui.note("claims on resources are not measured: --no-resources");
    }
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the rows are samples of, and their error.
fn sampling(extent: Extent, found: &Found) -> String {
    let [cycles, traffic] = found.worst_errors().map(|error| 100.0 * error);
    match extent {
        Extent::Quick => format!(
            "Rows are samples of one layer, scaled to all of it: cycles may be wrong by up to {cycles:.0} %, and traffic \
             where fetches of several tiles meet by up to {traffic:.0} %, since tiles drift apart over a layer. Of segment \
             sharing one segment runs, which tells traffic and no cycles."
        ),
        Extent::Full => format!(
            "Rows are whole layers, but for those that would take more than {:.1} million cycles: these are samples, whose \
             error stands beside them.",
            extent.most_cycles() as f64 / 1e6
        ),
    }
}

impl Args {
    fn command(&self) -> String {
        let mut words = vec!["meshkv paper".to_owned()];
        words.extend(self.quick.then(|| "--quick".to_owned()));
        let name = |section: &Section| section.to_possible_value().map(|name| name.get_name().to_owned());
        words.extend(self.section.iter().filter_map(name).map(|name| format!("--section {name}")));
        words.extend(self.no_resources.then(|| "--no-resources".to_owned()));
        words.extend(self.energy.as_ref().map(|file| format!("--energy {}", file.display())));
        words.push(format!("-o {}", self.output.display()));
        words.join(" ")
    }
}

/// All rows after a run.
struct Done {
    rows: BTreeMap<String, serde_json::Map<String, Value>>,
    run: usize,
    failed: Vec<String>,
    violations: u64,
}

impl Done {
    fn warnings(&self) -> Vec<String> {
        let failed = (!self.failed.is_empty())
            .then(|| format!("{} points have no row: their runs came to no end.", self.failed.len()));
        let wrong = (self.violations > 0)
            .then(|| format!("The rows have {} violations: the fabric was wrong.", self.violations));
        failed.into_iter().chain(wrong).collect()
    }
}

/// Computes the errors of attention on all drawn tensors.
///
/// # Errors
/// Ctrl-C.
fn accuracy(args: &Args, interrupt: &Interrupt, ui: &Ui) -> anyhow::Result<Vec<Errors>> {
    let draws = Draw::all();
    let progress = ui.progress(Some(draws.len() as u64), "computing errors");
    let jobs = args.jobs.map_or_else(workers::cores, usize::from);
    let mut all = Vec::with_capacity(draws.len());
    workers::work(&draws, jobs, &|draw: &Draw| draw.errors(), &mut |_, errors| {
        all.push(errors);
        progress.set(all.len() as u64);
        if interrupt.requested() {
            anyhow::bail!("stopped");
        }
        Ok(())
    })?;
    Ok(all)
}

/// Runs the points that have no row yet.
fn rows(
    args: &Args,
    plan: &Plan,
    output: &Output,
    command: &str,
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Done> {
    let all = &plan.all;
    let meta = Meta {
        meshkv: ui.origin(),
        name: "paper".to_owned(),
        kind: WorkKind::Decode,
        command: command.to_owned(),
        row_format: ROW_FORMAT,
        points: all.points.len(),
        base: String::new(),
        text: String::new(),
        columns: all.columns.clone(),
    };
    // Rows of the other extent are set aside, and come back with it.
    let mut store = Store::open(&output.rows(), &meta, all, true)?;
    for note in store.notes() {
        ui.detail(note);
    }
    let missing: Vec<(&Point, u64)> = all
        .points
        .iter()
        .filter(|point| !store.has(&point.id))
        .map(|point| (point, point.length()))
        .collect();
    let Filled { run, failed } = if args.slurm.slurm {
        fill_on_slurm(
            &mut store,
            (&missing, false),
            (&args.slurm, &SlurmTable::default(), "paper"),
            interrupt,
            ui,
        )?
    } else {
        let jobs = args.jobs.map_or_else(workers::cores, usize::from);
        fill(&mut store, &missing, (jobs, "measuring"), interrupt, ui)?
    };
    let rows = store.rows();
    let violations = store.finish()?;
    Ok(Done { rows, run, failed, violations })
}
