//! One mutant under the checks, in this process, until one of them finds it.
//!
//! A check that takes too long ends the process: a simulation that does not end cannot be stopped otherwise. What was
//! found is printed as it is known, so that a process that dies has said up to where it came.

use super::checks::{checks, Bed, Check};
use super::session::{Outcome, Session};
use crate::cosim::build::{BuildForm, Library};
use crate::design::Design;
use anyhow::{anyhow, Context};
use std::collections::BTreeMap;
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Begins a line that names the check that begins.
pub const BEGINS: &str = "check ";
/// Begins a line that has the seconds of a check.
pub const TOOK: &str = "took ";
/// Begins the line that has the outcome.
pub const ENDED: &str = "outcome ";

/// Tries a mutant, 0 for the design itself, and prints what is found.
///
/// # Errors
/// If the session is not one of this design, or a library is not there.
pub fn attempt(session: &Session, number: u32) -> anyhow::Result<()> {
    let design = Design::from_config(&session.name, &session.config)
        .map_err(|report| anyhow!("the configuration of the session is refused: {report}"))?;
    let mut libraries: BTreeMap<&str, Library> = BTreeMap::new();
    let mut outcome = Outcome {
        number,
        found: None,
        what: String::new(),
        differed: false,
        absent: number > 0,
        seconds: 0.0,
    };
    let mut all = checks(&design);
    // The cheapest first, as they took without a mutant.
    all.sort_by(|a, b| session.limit(a.name).total_cmp(&session.limit(b.name)));
    let forms: Vec<BuildForm> = all.iter().map(|check| check.form).collect();
    for form in forms {
        if !libraries.contains_key(form.name()) {
            let library = session.library(form).with_context(|| format!("the library `{}`", form.name()))?;
            libraries.insert(form.name(), library);
        }
    }
    let begun = Instant::now();
    for check in &all {
        let library = &libraries[check.form.name()];
        let mutants = library.mutants().ok_or_else(|| anyhow!("a library has no mutants"))?;
        if number > 0 && !mutants.is_present(number) {
            continue;
        }
        outcome.absent = false;
        mutants.choose(number);
        let found = timed(check, session.limit(check.name), &outcome, || {
            (check.run)(&Bed { design: &design, library })
        });
        outcome.differed |= mutants.differed();
        if let Err(what) = found {
            (outcome.found, outcome.what) = (Some(check.name.to_owned()), what);
            break;
        }
    }
    outcome.seconds = begun.elapsed().as_secs_f64();
    print(&outcome)
}

fn print(outcome: &Outcome) -> anyhow::Result<()> {
    println!("{ENDED}{}", serde_json::to_string(outcome)?);
    Ok(())
}

/// Runs a check; beyond its time, ends the process with what is known.
fn timed(
    check: &Check,
    seconds: f64,
    so_far: &Outcome,
    run: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    println!("{BEGINS}{}", check.name);
    let begun = Instant::now();
    let found = if seconds.is_finite() {
        let over = alarm(check.name.to_owned(), seconds, so_far.clone());
        let found = run();
        // The thread hears that the sender is gone.
        drop(over);
        found
    } else {
        run()
    };
    println!("{TOOK}{} {}", begun.elapsed().as_secs_f64(), check.name);
    found
}

fn alarm(check: String, seconds: f64, mut outcome: Outcome) -> Sender<()> {
    let (sender, over) = mpsc::channel();
    thread::spawn(move || {
        if over.recv_timeout(Duration::from_secs_f64(seconds)) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        outcome.found = Some(check);
        outcome.what = format!("it has not ended after {seconds:.0} s");
        (outcome.differed, outcome.absent, outcome.seconds) = (true, false, outcome.seconds + seconds);
        let _ = print(&outcome);
        // The main thread is in the simulation and hears nothing.
        process::abort();
    });
    sender
}
