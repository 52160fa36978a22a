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
    /// When Slurm refuses it, or names no job.
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
            // Slurm replaces `%` and a letter in the names of outputs.
            format!("--output={}/log-%a.txt", dir.display().to_string().replace('%', "%%")),
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
            let why = said(&done);
            bail!("Slurm refuses the array of {tasks} tasks: {why}\n  help: {}", way_out(&why));
        }
        let printed = String::from_utf8_lossy(&done.stdout);
        job_id(&printed).ok_or_else(|| {
            let first = printed.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            anyhow!(
                "sbatch took the array and printed no job id: {first:?}\n  help: `scancel --name=meshkv-{name}` ends the \
                 array; sbatch must be Slurm's own, or print what it prints"
            )
        })
    }

    /// True if a task of the array waits or runs.
    ///
    /// # Errors
    /// When the controller does not answer.
    pub(super) fn is_active(&self, id: &str) -> anyhow::Result<bool> {
        // With several clusters the id has the name of one behind it.
        let (number, cluster) = id.split_once(';').unwrap_or((id, ""));
        let mut words = vec!["--noheader", "--jobs", number, "--format=%T"];
        if !cluster.is_empty() {
            words.extend(["--clusters", cluster]);
        }
        let done = self.call("squeue", &words)?;
        match said(&done) {
            // A job that ended some minutes ago is not known any more.
            text if text.contains("Invalid job id") => Ok(false),
            text if !done.status.success() => bail!("squeue: {text}"),
            _ => Ok(String::from_utf8_lossy(&done.stdout).lines().any(is_alive)),
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

/// The id that `sbatch --parsable` printed, with the name of a cluster behind a semicolon where there are several.
/// Sites print greetings before and behind it, and some print the line of `sbatch` without the option.
fn job_id(printed: &str) -> Option<String> {
    let lines = || printed.lines().rev().map(str::trim);
    let whole = lines().find(|line| is_job_id(line));
    let sentence = || lines().find_map(|line| line.strip_prefix("Submitted batch job ")?.split(' ').next());
    whole.or_else(|| sentence().filter(|word| is_job_id(word))).map(str::to_owned)
}

/// True for `4100` and `4100;cluster`.
fn is_job_id(word: &str) -> bool {
    let (number, cluster) = word.split_once(';').unwrap_or((word, "c"));
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits && number != "0" && !cluster.is_empty() && cluster.chars().all(of_name)
}

/// The command that ends an array.
pub(super) fn cancel(id: &str) -> String {
    match id.split_once(';') {
        Some((number, cluster)) => format!("scancel --clusters={cluster} {number}"),
        None => format!("scancel {id}"),
    }
}

/// True for the line of a task that waits or runs: a state in capital letters, and not that of an end. Other lines are
/// greetings of a site, or name a cluster.
fn is_alive(line: &str) -> bool {
    const ENDED: [&str; 11] = [
        "BOOT_FAIL",
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "FAILED",
        "LAUNCH_FAILED",
        "NODE_FAIL",
        "OUT_OF_MEMORY",
        "PREEMPTED",
        "REVOKED",
        "TIMEOUT",
    ];
    let state = line.trim();
    !state.is_empty()
        && state.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        && !ENDED.contains(&state)
}

/// Words of a refusal, and what helps.
const WAYS_OUT: [(&[&str], &str); 5] = [
    (
        &["Submit", "job array specification", "MaxArray", "submit limit"],
        "the cluster limits the tasks that wait and run: a longer --chunk-seconds makes fewer tasks; or run this again \
         when others have ended",
    ),
    (&["WallDuration", "time limit", "Time limit", "TimeLimit"], "--time-limit must be what the partition allows"),
    (&["account", "Account"], "--account must name one of yours, and one that may use the partition"),
    (&["partition", "Partition"], "--partition must be one of those that `sinfo` lists"),
    (&["QOS", "Assoc", "MaxJobs"], "--tasks runs fewer tasks at once, and a longer --chunk-seconds makes fewer of them"),
];

/// The option that helps against a refusal.
fn way_out(refusal: &str) -> String {
    // The first error is the reason; the last lists what it may be.
    let of = |error: &str| WAYS_OUT.iter().find(|(words, _)| words.iter().any(|word| error.contains(word)));
    let known = refusal.split("; ").find_map(of);
    let any = "--partition, --account and --time-limit must be what `sinfo` and your account allow";
    format!("{}; [slurm] of the sweep file has the same keys", known.map_or(any, |(_, way)| way))
}

/// What a command said is wrong, in a line: its errors if it marks any, else its first words.
fn said(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let errors: Vec<&str> =
        lines().filter_map(|line| line.split_once("error: ").map(|(_, what)| what)).collect();
    match errors.is_empty() {
        true => lines().next().unwrap_or("it says nothing").to_owned(),
        false => errors.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use crate::eval::sweep::slurm::array::*;

    #[test]
    fn an_id_is_found_wherever_a_site_lets_it_stand() {
        for (printed, id) in [
            ("4100\n", Some("4100")),
            ("4100;alpha\n", Some("4100;alpha")),
            ("Hello from login node 3\n\nchecking 12 quotas... fine\n4100\n", Some("4100")),
            ("4100\nGoodbye, 17 users are here\n", Some("4100")),
            ("Welcome\nSubmitted batch job 4100\n", Some("4100")),
            ("Submitted batch job 4100 on cluster alpha\n", Some("4100")),
            ("Hello from login node 3\n", None),
            ("4100 jobs wait\n", None),
            ("0\n", None),
            ("4100;\n", None),
            ("", None),
        ] {
            assert_eq!(job_id(printed).as_deref(), id, "{printed:?}");
        }
    }

    #[test]
    fn only_states_of_tasks_that_wait_or_run_keep_an_array_alive() {
        for line in ["RUNNING", " PENDING ", "COMPLETING", "REQUEUE_HOLD"] {
            assert!(is_alive(line), "{line}");
        }
        for line in ["", "COMPLETED", "NODE_FAIL", "CLUSTER: alpha", "Welcome to node 3", "4100"] {
            assert!(!is_alive(line), "{line}");
        }
    }

    #[test]
    fn a_refusal_names_the_option_that_helps_and_no_other() {
        let policy =
            "Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size \
                      and/or time limits)";
        for (refusal, option) in [
            ("QOSMaxSubmitJobPerUserLimit", "--chunk-seconds"),
            ("AssocMaxSubmitJobLimit", "--chunk-seconds"),
            (policy, "--chunk-seconds"),
            ("Batch job submission failed: Invalid job array specification", "--chunk-seconds"),
            (&format!("QOSMaxWallDurationPerJobLimit; {policy}"), "--time-limit"),
            ("Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)", "--time-limit"),
            ("invalid partition specified: nowhere", "--partition"),
            ("Batch job submission failed: Invalid account or account/partition combination specified", "--account"),
        ] {
            let help = way_out(refusal);
            let options = ["--chunk-seconds", "--time-limit", "--partition", "--account", "--tasks"];
            let named: Vec<_> = options.into_iter().filter(|option| help.contains(option)).collect();
            assert_eq!(named, [option], "{refusal}: {help}");
        }
    }

    #[test]
    fn errors_are_found_behind_a_greeting() {
        let output =
            |text: &str| Output { status: Default::default(), stdout: Vec::new(), stderr: text.into() };
        let text =
            "Hello from login node 3\nsbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job \
                    submission failed: x\n";
        assert_eq!(said(&output(text)), "QOSMaxSubmitJobPerUserLimit; Batch job submission failed: x");
        assert_eq!(said(&output("\nslurm is away\n")), "slurm is away");
    }
}
