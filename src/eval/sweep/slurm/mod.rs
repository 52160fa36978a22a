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

pub use chunk::run_chunk;

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

/// News of an array, for progress output.
#[derive(Debug)]
pub enum News<'a> {
    /// An array of this id was submitted, for so many points.
    Submitted(&'a str, usize),
    /// Of the points of the array of this id, so many have a row, and so many failed.
    Passed(&'a str, usize, usize),
    /// The controller does not answer now; it may later.
    Silent(anyhow::Error),
}

/// Points of an array, with their lengths in router-cycles: those without a row, and those that bring the area of their
/// configuration.
#[derive(Debug)]
pub struct Wanted<'p> {
    points: Vec<(&'p Point, u64)>,
    /// Ids of the points that bring an area.
    carriers: BTreeSet<String>,
}

impl<'p> Wanted<'p> {
    /// The points without a row, and a point of each configuration that lacks its area; to find those takes so many seconds in
    /// all, which are part of the lengths.
    pub fn new(missing: &[(&'p Point, u64)], lacking: &[&'p Point], seconds: f64) -> Wanted<'p> {
        let mut points = missing.to_vec();
        let each = (seconds / lacking.len().max(1) as f64) as u64 * chunk::SPEED;
        for point in lacking {
            match points.iter_mut().find(|(there, _)| there.id == point.id) {
                Some((_, length)) => *length += each,
                None => points.push((point, each.max(1))),
            }
        }
        Wanted { points, carriers: lacking.iter().map(|point| point.id.clone()).collect() }
    }

    /// Number of points.
    #[allow(clippy::len_without_is_empty)] // Nobody asks.
    pub fn len(&self) -> usize {
        self.points.len()
    }
}

/// A cluster that answers, and the options of its arrays.
pub struct Slurm<'a> {
    cluster: Cluster,
    options: &'a SlurmTable,
    /// Name of the sweep.
    name: &'a str,
}

impl<'a> Slurm<'a> {
    /// Finds Slurm.
    ///
    /// # Errors
    /// When its commands are missing, or its controller does not answer.
    pub fn find(options: &'a SlurmTable, name: &'a str) -> anyhow::Result<Slurm<'a>> {
        Ok(Slurm { cluster: Cluster::find()?, options, name })
    }

    /// Runs what is wanted, and keeps it.
    ///
    /// # Errors
    /// When a job is refused, when arrays end without a row, or on Ctrl-C; rows so far are kept.
    pub fn fill(
        &self,
        store: &mut Store<'_>,
        wanted: &Wanted<'_>,
        interrupt: &Interrupt,
        hear: &mut dyn FnMut(News),
    ) -> anyhow::Result<Filled> {
        let folder = Folder::of(store)?;
        let by_id: BTreeMap<&str, &Point> =
            wanted.points.iter().map(|(point, _)| (point.id.as_str(), *point)).collect();
        let mut gather = Gather::new(&folder.0);
        let (mut filled, mut fruitless) = (Filled::default(), 0);
        loop {
            let before = gather.len() + filled.failed.len();
            gather.read(store, &by_id, &mut filled)?;
            let is_done = |point: &Point| filled.failed.contains(&point.id) || gather.has(&point.id);
            let left: Vec<(&Point, u64)> =
                wanted.points.iter().filter(|(point, _)| !is_done(point)).copied().collect();
            if left.is_empty() {
                break;
            }
            let job = self.job(&folder, store, (&left, &wanted.carriers), fruitless, hear)?;
            loop {
                let active = self.cluster.is_active(&job.id);
                gather.read(store, &by_id, &mut filled)?;
                hear(News::Passed(&job.id, filled.run, filled.failed.len()));
                match active {
                    Ok(false) => break,
                    Ok(true) => {}
                    Err(error) => hear(News::Silent(error)),
                }
                if interrupt.requested() {
                    return Err(interrupted(store, &job.id).into());
                }
                std::thread::sleep(LOOK);
            }
            // The last rows may reach this machine after the end of their task.
            gather.read(store, &by_id, &mut filled)?;
            fruitless = if gather.len() + filled.failed.len() > before { 0 } else { fruitless + 1 };
        }
        fs::remove_dir_all(&folder.0).with_context(|| format!("cannot remove {}", folder.0.display()))?;
        Ok(filled)
    }

    /// The array that runs, or a new one of the points that are left.
    fn job(
        &self,
        folder: &Folder,
        store: &Store<'_>,
        (left, carriers): (&[(&Point, u64)], &BTreeSet<String>),
        fruitless: u32,
        hear: &mut dyn FnMut(News),
    ) -> anyhow::Result<Job> {
        let last = folder.last();
        if let Some(job) = last.clone().filter(|job| self.cluster.is_active(&job.id).unwrap_or(true)) {
            return Ok(job);
        }
        if fruitless >= FRUITLESS {
            bail!(
                "{FRUITLESS} arrays ended without a row\n  help: {} has what their tasks said",
                last.map_or(folder.0.clone(), |job| folder.array(job.number)).display()
            );
        }
        let mut chunks =
            chunk::deal(left, self.options.chunk_seconds.unwrap_or(SECONDS), self.cluster.most_tasks());
        chunks.iter_mut().flatten().for_each(|task| task.wants(&|id| !store.has(id), carriers));
        let job = self.submit(folder, last.map_or(0, |job| job.number + 1), &chunks)?;
        hear(News::Submitted(&job.id, left.len()));
        Ok(job)
    }

    /// Writes the chunks of an array and submits it.
    fn submit(&self, folder: &Folder, number: u32, chunks: &[Vec<chunk::Task>]) -> anyhow::Result<Job> {
        let dir = folder.array(number);
        fs::create_dir_all(&dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
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
        let id = self.cluster.submit(&script, &dir, self.name, chunks.len(), self.options)?;
        let job = Job { id, number };
        whole_file::write(&folder.job(), &serde_json::to_vec(&job)?, true)?;
        Ok(job)
    }
}

/// What Ctrl-C leaves.
fn interrupted(store: &Store<'_>, id: &str) -> Interrupted {
    Interrupted(format!(
        "with {} of {} rows in {}; array {id} goes on: the same command gathers its rows, and `{}` ends it",
        store.row_count(),
        store.points(),
        store.dir().display(),
        array::cancel(id)
    ))
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
