//! Runs points as a job array of Slurm: submits chunks of points, watches the array, gathers rows, and submits again
//! what was lost.
//!
//! Only this process writes the rows of the folder. A task of the array writes a file of its own, so a shared file
//! system needs no locks:
//!
//! | file, below the folder of the rows | content |
//! |---|---|
//! | `slurm/job.json` | the array that was submitted last |
//! | `slurm/<n>/chunk-<k>.json` | points of task k of the n-th array |
//! | `slurm/<n>/rows-<k>.jsonl` | rows of the task, a line a point |
//! | `slurm/<n>/log-<k>.txt` | messages of the task |

mod array;
mod chunk;
mod gather;

pub(super) use chunk::run_chunk;

use crate::cli::compare::sweep::estimate::{announce, carriers, find};
use crate::cli::output::ui::Ui;
use crate::cli::program::scope::{Only, Scope};
use crate::config::SlurmTable;
use crate::eval::grid::Point;
use crate::eval::sweep::fill::Filled;
use crate::eval::sweep::store::Store;
use crate::tools::interrupt::{Interrupt, Interrupted};
use crate::tools::whole_file;
use anyhow::{bail, Context};
use array::Cluster;
use gather::Gather;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time between two looks at the array.
const LOOK: Duration = Duration::from_secs(2);
/// Arrays without a new row after which nothing is submitted any more.
const FRUITLESS: u32 = 3;

/// Seconds of a task, about, unless somebody chooses others.
const SECONDS: u32 = 60;

/// Options of a run on a cluster.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct SlurmArgs {
    /// Run the points as a job array of Slurm, watch it and gather the rows; the folder must be on a file system that
    /// the nodes share. Ctrl-C leaves the array running, and the same command goes on with it
    #[arg(long, help_heading = "Cluster")]
    pub(in crate::cli) slurm: bool,
    /// Partition of the array
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    partition: Option<String>,
    /// Account that pays for it
    #[arg(long, value_name = "NAME", help_heading = "Cluster")]
    account: Option<String>,
    /// Time limit of a task, in minutes
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Cluster")]
    time_limit: Option<u32>,
    /// Tasks at once, at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Cluster")]
    tasks: Option<u32>,
    /// Seconds of a task, about: points are dealt to tasks of this length [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Cluster")]
    chunk_seconds: Option<u32>,
}

/// Where the options of a run on a cluster have an effect.
pub(in crate::cli) const SCOPES: &[Scope] = &[Scope {
    of: &["partition", "account", "time_limit", "tasks", "chunk_seconds"],
    only: &[Only::With(&["slurm"])],
    why: "",
}];

impl SlurmArgs {
    /// The options, with those of a sweep file where the command line has none.
    fn over(&self, file: &SlurmTable) -> SlurmTable {
        SlurmTable {
            partition: self.partition.clone().or_else(|| file.partition.clone()),
            account: self.account.clone().or_else(|| file.account.clone()),
            time_limit: self.time_limit.or(file.time_limit),
            tasks: self.tasks.or(file.tasks),
            chunk_seconds: self.chunk_seconds.or(file.chunk_seconds),
        }
    }
}

/// The array that was submitted last.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Job {
    id: String,
    /// Number of the array in this folder.
    number: u32,
}

/// Files of a folder's arrays.
struct Folder(PathBuf);

impl Folder {
    fn of(store: &Store<'_>) -> anyhow::Result<Folder> {
        let dir = store.dir().join("slurm");
        fs::create_dir_all(&dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
        // Tasks run in other folders.
        Ok(Folder(fs::canonicalize(&dir)?))
    }

    fn job(&self) -> PathBuf {
        self.0.join("job.json")
    }

    fn array(&self, number: u32) -> PathBuf {
        self.0.join(number.to_string())
    }

    /// The array that was submitted last, if there is one.
    fn last(&self) -> Option<Job> {
        serde_json::from_slice(&fs::read(self.job()).ok()?).ok()
    }
}

/// Runs the missing points on a cluster.
///
/// # Errors
/// Without Slurm, when a job is refused, when arrays end without a row, or on Ctrl-C; rows so far are kept.
pub(in crate::cli) fn fill_on_slurm(
    store: &mut Store<'_>,
    (missing, estimate): (&[(&Point, u64)], bool),
    (args, file, name): (&SlurmArgs, &SlurmTable, &str),
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Filled> {
    let options = args.over(file);
    let cluster = Cluster::find()?;
    let folder = Folder::of(store)?;
    // A point of each configuration brings its area, and does so even where its row is there.
    let lacking = if estimate { store.lacking_areas() } else { Vec::new() };
    let missing = &with_carriers(missing, &lacking, interrupt, ui)?[..];
    let carriers = carriers(&lacking);
    let progress = ui.progress(Some(missing.len() as u64), "on the cluster");
    let by_id: BTreeMap<&str, &Point> =
        missing.iter().map(|(point, _)| (point.id.as_str(), *point)).collect();
    let mut gather = Gather::new(&folder.0);
    let (mut filled, mut fruitless) = (Filled::default(), 0);
    loop {
        let before = gather.len() + filled.failed.len();
        gather.read(store, &by_id, &mut filled)?;
        let done =
            |point: &Point, filled: &Filled| filled.failed.contains(&point.id) || gather.has(&point.id);
        let left: Vec<(&Point, u64)> =
            missing.iter().filter(|(point, _)| !done(point, &filled)).copied().collect();
        let tasks = Tasks { points: &left, rows: &|id| !store.has(id), carriers: &carriers };
        if left.is_empty() {
            break;
        }
        let last = folder.last();
        let job = match last.clone().filter(|job| cluster.is_active(&job.id).unwrap_or(true)) {
            Some(job) => job,
            None if fruitless >= FRUITLESS => bail!(
                "{FRUITLESS} arrays ended without a row\n  help: {} has what their tasks said",
                last.map_or(folder.0.clone(), |job| folder.array(job.number)).display()
            ),
            None => {
                let number = last.map_or(0, |job| job.number + 1);
                let job = submit(&cluster, &folder, (number, name), &tasks, &options)?;
                progress
                    .aside(|| ui.note(format_args!("submitted array {} for {} points", job.id, left.len())));
                job
            }
        };
        loop {
            let active = cluster.is_active(&job.id);
            gather.read(store, &by_id, &mut filled)?;
            progress.set((filled.run + filled.failed.len()) as u64);
            progress.message(format!("{} of {} points, array {}", filled.run, missing.len(), job.id));
            match active {
                Ok(false) => break,
                Ok(true) => {}
                // A controller that does not answer now may answer later.
                Err(error) => progress.aside(|| ui.detail(format_args!("{error:#}"))),
            }
            if interrupt.requested() {
                let what = format!(
                    "with {} of {} rows in {}; array {} goes on: the same command gathers its rows, and `{}` ends it",
                    store.row_count(),
                    store.points(),
                    store.dir().display(),
                    job.id,
                    array::cancel(&job.id)
                );
                return Err(Interrupted(what).into());
            }
            std::thread::sleep(LOOK);
        }
        // The last rows may reach this machine after the end of their task.
        gather.read(store, &by_id, &mut filled)?;
        fruitless = if gather.len() + filled.failed.len() > before { 0 } else { fruitless + 1 };
    }
    drop(progress);
    fs::remove_dir_all(&folder.0).with_context(|| format!("cannot remove {}", folder.0.display()))?;
    Ok(filled)
}

/// Points of an array: those without a row, and those that bring the area of their configuration.
struct Tasks<'a> {
    points: &'a [(&'a Point, u64)],
    /// True for the id of a point that has no row.
    rows: &'a dyn Fn(&str) -> bool,
    carriers: &'a BTreeSet<String>,
}

/// The missing points and their lengths, with those that bring an area and have their row. The time of the synthesis is said,
/// and is part of the lengths.
fn with_carriers<'p>(
    missing: &[(&'p Point, u64)],
    lacking: &[&'p Point],
    interrupt: &Interrupt,
    ui: &Ui,
) -> anyhow::Result<Vec<(&'p Point, u64)>> {
    let mut all = missing.to_vec();
    if lacking.is_empty() {
        return Ok(all);
    }
    let stop = || interrupt.requested();
    let seconds = announce(lacking, &find(&stop, ui)?, 1, ui)?;
    let each = (seconds / lacking.len() as f64) as u64 * chunk::SPEED;
    for point in lacking {
        match all.iter_mut().find(|(there, _)| there.id == point.id) {
            Some((_, length)) => *length += each,
            None => all.push((point, each.max(1))),
        }
    }
    Ok(all)
}

/// Writes the chunks of an array and submits it.
fn submit(
    cluster: &Cluster,
    folder: &Folder,
    (number, name): (u32, &str),
    left: &Tasks<'_>,
    options: &SlurmTable,
) -> anyhow::Result<Job> {
    let dir = folder.array(number);
    fs::create_dir_all(&dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let mut chunks = chunk::deal(left.points, options.chunk_seconds.unwrap_or(SECONDS), cluster.most_tasks());
    chunks.iter_mut().flatten().for_each(|task| task.wants(left.rows, left.carriers));
    for (task, points) in chunks.iter().enumerate() {
        let bytes = serde_json::to_vec(points)?;
        whole_file::write(&chunk::file(&dir, task), &bytes, true)?;
    }
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let script = dir.join("task.sh");
    let text = format!(
        "#!/bin/sh\nexec {} sweep-chunk {} \"$SLURM_ARRAY_TASK_ID\"\n",
        quoted(&program),
        quoted(&dir)
    );
    whole_file::write(&script, text.as_bytes(), true)?;
    let id = cluster.submit(&script, &dir, name, chunks.len(), options)?;
    let job = Job { id, number };
    whole_file::write(&folder.job(), &serde_json::to_vec(&job)?, true)?;
    Ok(job)
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
