//! Options of a run on a cluster, and what is said of it.

use crate::cli::compare::sweep::estimate::{announce, find};
use crate::cli::output::ui::Ui;
use crate::cli::program::scope::{Only, Scope};
use crate::config::SlurmTable;
use crate::eval::grid::Point;
use crate::eval::sweep::fill::Filled;
use crate::eval::sweep::slurm::{News, Slurm, Wanted};
use crate::eval::sweep::store::Store;
use crate::tools::interrupt::Interrupt;

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
    let slurm = Slurm::find(&options, name)?;
    // A point of each configuration brings its area, and does so even where its row is there.
    let lacking = if estimate { store.lacking_areas() } else { Vec::new() };
    let stop = || interrupt.requested();
    let seconds = match lacking.is_empty() {
        true => 0.0,
        false => announce(&lacking, &find(&stop, ui)?, 1, ui)?,
    };
    let wanted = Wanted::new(missing, &lacking, seconds);
    let progress = ui.progress(Some(wanted.len() as u64), "on the cluster");
    slurm.fill(store, &wanted, interrupt, &mut |news| match news {
        News::Submitted(id, points) => {
            progress.aside(|| ui.note(format_args!("submitted array {id} for {points} points")));
        }
        News::Passed(id, run, failed) => {
            progress.set((run + failed) as u64);
            progress.message(format!("{run} of {} points, array {id}", wanted.len()));
        }
        News::Silent(error) => progress.aside(|| ui.detail(format_args!("{error:#}"))),
    })
}
