//! Slurm's own commands: submits a job array and asks for its state.

use crate::config::SlurmTable;
use crate::tools::child::{run, Ended};
use anyhow::{anyhow, bail, Context};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

/// Most tasks of an array if the cluster does not say it: Slurm's own default.
const MOST_TASKS: usize = 1001;

/// A cluster that answers.
pub(super) struct Cluster {
    most_tasks: usize,
}

impl Cluster {
    /// Finds Slurm.
    ///
    /// # Errors
    /// When its commands are missing, or its controller does not answer.
    pub(super) fn find() -> anyhow::Result<Cluster> {
        let mut cluster = Cluster { most_tasks: MOST_TASKS };
        let shown = cluster.call("scontrol", &["show", "config"])?;
        let text = String::from_utf8_lossy(&shown.stdout);
        if !shown.status.success() {
            bail!(
                "Slurm's controller does not answer: {}\n  help: `sinfo` must list a partition on this machine",
                said(&shown)
            );
        }
        let most = text.lines().find_map(|line| line.strip_prefix("MaxArraySize"));
        let most = most.and_then(|rest| rest.trim_start_matches([' ', '=']).trim().parse().ok());
        cluster.most_tasks = most.unwrap_or(MOST_TASKS).max(1);
        Ok(cluster)
    }

    /// Most tasks of an array: `MaxArraySize`.
    pub(super) fn most_tasks(&self) -> usize {
        self.most_tasks
    }

    /// Submits an array of so many tasks; returns its id.
    ///
    /// # Errors
    /// When Slurm refuses it.
    pub(super) fn submit(
        &self,
        script: &Path,
        dir: &Path,
        name: &str,
        tasks: usize,
        options: &SlurmTable,
    ) -> anyhow::Result<String> {
        let at_once = options.tasks.map_or(String::new(), |tasks| format!("%{tasks}"));
        let mut words = vec![
            "--parsable".to_owned(),
            format!("--job-name=meshkv-{name}"),
            format!("--array=0-{}{at_once}", tasks - 1),
            format!("--output={}/log-%a.txt", dir.display()),
            "--open-mode=append".to_owned(),
            "--cpus-per-task=1".to_owned(),
        ];
        words.extend(options.partition.iter().map(|name| format!("--partition={name}")));
        words.extend(options.account.iter().map(|name| format!("--account={name}")));
        words.extend(options.time_limit.map(|minutes| format!("--time={minutes}")));
        words.push(script.display().to_string());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let done = self.call("sbatch", &words)?;
        if !done.status.success() {
            bail!(
                "Slurm refuses the array: {}\n  help: --partition, --account and --time-limit, or [slurm] of the sweep file, \
                 must be what `sinfo` and your account allow",
                said(&done)
            );
        }
        // With several clusters the id has the name of one behind it.
        let id =
            String::from_utf8_lossy(&done.stdout).trim().split(';').next().unwrap_or_default().to_owned();
        if id.is_empty() {
            Err(anyhow!("sbatch named no job"))
        } else {
            Ok(id)
        }
    }

    /// True if a task of the array waits or runs.
    ///
    /// # Errors
    /// When the controller does not answer.
    pub(super) fn is_active(&self, id: &str) -> anyhow::Result<bool> {
        let done = self.call("squeue", &["--noheader", "--jobs", id, "--format=%T"])?;
        match said(&done) {
            // A job that ended some minutes ago is not known any more.
            text if text.contains("Invalid job id") => Ok(false),
            text if !done.status.success() => bail!("squeue: {text}"),
            _ => Ok(done.stdout.iter().any(|byte| !byte.is_ascii_whitespace())),
        }
    }

    fn call(&self, program: &str, words: &[&str]) -> anyhow::Result<Output> {
        let mut command = Command::new(program);
        command.args(words);
        // Ctrl-C is handled between calls: each takes a moment.
        match run(command, &|| false) {
            Ok(Ended::Itself(output)) => Ok(output),
            Ok(Ended::Stopped) => bail!("{program} was stopped"),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(anyhow!(
                "{program} is not found: --slurm needs the commands of Slurm\n  help: run this on a machine that submits to \
                 the cluster (`sinfo` works there), or leave out --slurm"
            )),
            Err(error) => Err(error).with_context(|| format!("cannot run {program}")),
        }
    }
}

/// What a command said, in a line.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or("it says nothing").trim().to_owned()
}
