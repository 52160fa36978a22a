//! A mutant in a process of its own: the process that is started, and the command that it runs.

use crate::eval::mutate::session::{Folder, Outcome, Without};
use crate::eval::mutate::trial::{attempt as attempt_here, BEGINS, ENDED, WITHOUT};
use crate::tools::child::{self, Ended};
use crate::tools::interrupt::Interrupt;
use anyhow::{anyhow, Context};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};

/// Try one mutant of a folder: what `mutate` starts
#[derive(Debug, clap::Args)]
pub struct OneArgs {
    /// Folder of the session
    dir: PathBuf,
    /// Number of the mutant, 0 for the design itself
    number: u32,
    /// Checks, in their order
    checks: Vec<String>,
}

/// Tries the mutant and prints what is found.
///
/// # Errors
/// If the folder has no session, or a library is not there.
pub fn run_one(args: &OneArgs) -> anyhow::Result<ExitCode> {
    let session = Folder::open(&args.dir)?.session()?;
    let session = session.ok_or_else(|| anyhow!("{} has no session", args.dir.display()))?;
    attempt_here(&session, args.number, &args.checks)?;
    Ok(ExitCode::SUCCESS)
}

/// What a process found.
pub(super) struct Tried {
    pub(super) outcome: Outcome,
    /// The last check as it is without a mutant.
    pub(super) without: Option<Without>,
}

/// Tries a mutant in a process of its own, which ends with all its children when it takes too long.
///
/// # Errors
/// If the process cannot be started, or says that the session is wrong.
pub(super) fn attempt(
    folder: &Folder,
    number: u32,
    checks: &[String],
    most: Duration,
    interrupt: &Interrupt,
) -> anyhow::Result<Tried> {
    let program = std::env::current_exe().context("the program does not find itself")?;
    let mut command = Command::new(program);
    command.arg("mutate-one").arg(folder.path()).arg(number.to_string()).args(checks);
    let begun = Instant::now();
    let ended = child::run(command, &|| interrupt.requested() || begun.elapsed() > most);
    let seconds = begun.elapsed().as_secs_f64();
    let died = |found: Option<String>, what: String| Outcome {
        number,
        found,
        what,
        differed: true,
        absent: false,
        seconds,
    };
    let output = match ended.context("a process of a mutant cannot be started")? {
        Ended::Stopped => {
            let what = format!("it was ended after {seconds:.0} s");
            let outcome = died(Some("time".to_owned()), what);
            return Ok(Tried { outcome, without: None });
        }
        Ended::Itself(output) => output,
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut without = text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix(WITHOUT)?).ok());
    let without = without.next_back();
    if let Some(line) = text.lines().find_map(|line| line.strip_prefix(ENDED)) {
        let outcome = serde_json::from_str(line).context("an outcome is not read")?;
        return Ok(Tried { outcome, without });
    }
    // It ended within a check: a panic of the bench, or a crash of the simulation.
    match text.lines().rev().find_map(|line| line.strip_prefix(BEGINS)) {
        Some(check) => Ok(Tried { outcome: died(Some(check.to_owned()), last_words(&output)), without }),
        None => Err(anyhow!("a process of a mutant failed: {}", last_words(&output))),
    }
}

fn last_words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
    format!("{}: {}", output.status, lines.join(" "))
}
