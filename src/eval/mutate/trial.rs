//! One mutant under some checks, in this process, until one of them finds it.
//!
//! A check that takes too long ends the process: a simulation that does not end cannot be stopped otherwise. What was
//! found is printed as it is known, so that a process that dies has said up to where it came.

use super::checks::{checks, Bed, Check};
use super::session::{Outcome, Session, Without};
use crate::cosim::build::Library;
use crate::design::Design;
use anyhow::{anyhow, Context};
use std::collections::BTreeMap;
use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

/// Begins a line that names the check that begins.
pub const BEGINS: &str = "check ";
/// Begins a line that has a check as it is without a mutant.
pub const WITHOUT: &str = "without ";
/// Begins the line that has the outcome.
pub const ENDED: &str = "outcome ";

/// Tries a mutant, 0 for the design itself, under these checks in their order, and prints what is found.
///
/// # Errors
/// If the session is not one of this design, has no such check, or a library is not there.
pub fn attempt(session: &Session, number: u32, names: &[String]) -> anyhow::Result<()> {
    let design = Design::from_config(&session.name, &session.config)
        .map_err(|report| anyhow!("the configuration of the session is refused: {report}"))?;
    let mut libraries: BTreeMap<&str, Library> = BTreeMap::new();
    let mut outcome =
        Outcome { number, found: None, what: String::new(), differed: false, absent: false, seconds: 0.0 };
    let all = checks(&design);
    let begun = Instant::now();
    for name in names {
        let check = all.iter().find(|check| check.name == name);
        let check = check.ok_or_else(|| anyhow!("there is no check `{name}`"))?;
        let form = check.form.name();
        if !libraries.contains_key(form) {
            let library = session.library(check.form).with_context(|| format!("the library `{form}`"))?;
            libraries.insert(form, library);
        }
        let library = &libraries[form];
        let mutants = library.mutants().ok_or_else(|| anyhow!("a library has no mutants"))?;
        mutants.choose(number);
        let started = Instant::now();
        let found = timed(check, session.limit(check.name), &outcome, || {
            (check.run)(&Bed::new(&design, library, check.name))
        });
        outcome.differed |= mutants.differed();
        if number == 0 {
            let present = session.mutants.iter().map(|mutant| mutant.number);
            let present = present.filter(|number| mutants.is_present(*number)).collect();
            let reached = mutants.reached().into_iter().collect();
            let without = Without { seconds: started.elapsed().as_secs_f64(), present, reached };
            println!("{WITHOUT}{}", serde_json::to_string(&without)?);
        }
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
    if !seconds.is_finite() {
        return run();
    }
    let over = alarm(check.name.to_owned(), seconds, so_far.clone());
    let found = run();
    // The thread hears that the sender is gone.
    drop(over);
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
