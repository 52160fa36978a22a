//! Output of a subcommand: results, notes, warnings and progress.
//!
//! The result goes to standard output: prose, or one JSON object under `--json`. Everything else (notes,
//! warnings, progress) goes to standard error, so that a pipe gets only the result. This module is
//! independent of subcommands.

use crate::cli::output::diagnostics::{Check, Diagnostic};
use crate::cli::output::progress::{Progress, Shown, EVERY};
use crate::cli::output::provenance::{ErrorOutput, Failure, Provenance, Wall};
use crate::tools::input;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// The options every subcommand takes.
#[derive(Debug, Clone, clap::Args)]
pub struct UiArgs {
    /// Say nothing but warnings and errors: the exit code tells the rest. What --json prints is printed
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Global options")]
    quiet: bool,
    /// Say more about what is done
    #[arg(short, long, global = true, help_heading = "Global options")]
    verbose: bool,
    /// Print the result as one JSON object on standard output
    #[arg(long, global = true, help_heading = "Global options")]
    json: bool,
    /// When to colour: NO_COLOR is respected by `auto`
    #[arg(long, global = true, value_enum, default_value_t = clap::ColorChoice::Auto, value_name = "WHEN", help_heading = "Global options")]
    color: clap::ColorChoice,
}

/// Output of one run of a subcommand.
#[derive(Debug, Clone)]
pub struct Ui {
    quiet: bool,
    verbose: bool,
    json: bool,
    color: ColorChoice,
    started: Instant,
    said: Arc<Said>,
}

/// What was said so far.
#[derive(Debug, Default)]
struct Said {
    /// The result is on standard output.
    result: AtomicBool,
    /// Errors, without colour.
    errors: Mutex<Vec<String>>,
    /// Warnings that are said once.
    warnings: Mutex<BTreeSet<String>>,
    /// Origin of the result.
    provenance: Mutex<Provenance>,
    /// Problems of files, one by one.
    diagnostics: Mutex<Vec<Diagnostic>>,
    /// What was checked, and how it ended.
    checks: Mutex<Vec<Check>>,
    /// Simulated cycles a second of wall time, run by run.
    pace: Mutex<Vec<f64>>,
}

/// A result as one JSON object, after its origin and what differs from run to run.
#[derive(Serialize)]
struct Signed<'a, T> {
    meshkv: &'a Provenance,
    wall: Wall,
    #[serde(flatten)]
    result: &'a T,
}

impl Ui {
    /// Output as selected on the command line.
    pub fn new(args: &UiArgs) -> Ui {
        let color = match args.color {
            clap::ColorChoice::Auto => ColorChoice::Auto,
            clap::ColorChoice::Always => ColorChoice::Always,
            clap::ColorChoice::Never => ColorChoice::Never,
        };
        let started = Instant::now();
        Ui { quiet: args.quiet, verbose: args.verbose, json: args.json, color, started, said: Arc::default() }
    }

    /// Output of results only, in prose and without colour; for tests and library callers.
    pub fn silent() -> Ui {
        let (said, started) = (Arc::default(), Instant::now());
        Ui { quiet: true, verbose: false, json: false, color: ColorChoice::Never, started, said }
    }

    /// Output of the result alone, as JSON; for an error before options are known.
    pub fn json_only() -> Ui {
        Ui { json: true, ..Ui::silent() }
    }

    /// True if the result is printed as JSON.
    pub fn json(&self) -> bool {
        self.json
    }

    /// True if `-v` was given.
    pub fn verbose(&self) -> bool {
        self.verbose
    }

    /// Names the configuration that results and errors from now on are of, by its name and hash.
    pub fn made_from(&self, config: &str, sha256: String) {
        let mut provenance = self.provenance();
        provenance.config = Some(config.to_owned());
        provenance.config_sha256 = Some(sha256);
    }

    /// Names no configuration: results from now on are of several, and say which.
    pub fn made_from_several(&self) {
        let mut provenance = self.provenance();
        provenance.config = None;
        provenance.config_sha256 = None;
    }

    /// Names the seed of all random choices; none if nothing is drawn.
    pub fn seeded(&self, seed: Option<u64>) {
        self.provenance().seed = seed;
    }

    /// Origin of the result, for files that have it, too.
    pub fn origin(&self) -> Provenance {
        self.provenance().clone()
    }

    fn provenance(&self) -> MutexGuard<'_, Provenance> {
        held(&self.said.provenance)
    }

    /// Keeps simulated cycles a second of wall time for the result.
    pub fn paced(&self, cycles_per_second: f64) {
        held(&self.said.pace).push(cycles_per_second);
    }

    /// Keeps a check and its failure, if it failed, for the files of [`Ui::checks`].
    pub fn checked(&self, name: impl Into<String>, failure: Option<String>) {
        held(&self.said.checks).push(Check { name: name.into(), failure });
    }

    /// What was checked so far.
    pub fn checks(&self) -> Vec<Check> {
        held(&self.said.checks).clone()
    }

    /// Keeps problems of a file, for an error that is printed as JSON.
    pub fn diagnose(&self, found: impl IntoIterator<Item = Diagnostic>) {
        held(&self.said.diagnostics).extend(found);
    }

    /// All errors so far, without colour.
    pub fn errors(&self) -> Vec<String> {
        held(&self.said.errors).clone()
    }

    /// A command and the configuration that it reads, if it is known.
    pub fn subject(&self, command: &str) -> String {
        let config = self.provenance().config.clone();
        config.map_or_else(|| command.to_owned(), |config| format!("{command} {config}"))
    }

    /// Seconds of wall time so far.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn wall(&self) -> Wall {
        Wall { seconds: self.seconds(), cycles_per_second: held(&self.said.pace).clone() }
    }

    /// The object that `--json` prints: `meshkv`, `wall`, then the keys of `result`, which is an object.
    fn signed<T: Serialize>(&self, result: &T) -> serde_json::Result<String> {
        let signed = Signed { meshkv: &self.provenance(), wall: self.wall(), result };
        Ok(format!("{}\n", serde_json::to_string_pretty(&signed)?))
    }

    /// Prints the result of a subcommand once: `value`, an object, as JSON after its origin, or `prose`, which is
    /// silent under `-q`.
    ///
    /// # Errors
    /// When standard output cannot be written; a closed pipe is an error of kind `BrokenPipe`.
    pub fn result<T: Serialize>(&self, value: &T, prose: impl FnOnce() -> String) -> io::Result<()> {
        self.document(value, || if self.quiet { String::new() } else { prose() })
    }

    /// The same for a text that was asked for as it is, such as a file: it is printed under `-q`, too.
    ///
    /// # Errors
    /// As [`Ui::result`].
    pub fn document<T: Serialize>(&self, value: &T, text: impl FnOnce() -> String) -> io::Result<()> {
        let text = if self.json { self.signed(value)? } else { text() };
        self.said.result.store(true, Ordering::Relaxed);
        self.print(&text)
    }

    /// The same for a result that is too long for a text: its parts are written as they are made.
    ///
    /// # Errors
    /// As [`Ui::result`].
    pub fn stream<T: Serialize>(
        &self,
        value: &T,
        prose: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        self.said.result.store(true, Ordering::Relaxed);
        let mut out = io::BufWriter::new(io::stdout().lock());
        let written = match self.json {
            true => {
                let signed = Signed { meshkv: &self.provenance(), wall: self.wall(), result: value };
                let json = serde_json::to_writer_pretty(&mut out, &signed).map_err(io::Error::from);
                json.and_then(|()| writeln!(out))
            }
            false if self.quiet => Ok(()),
            false => prose(&mut out),
        };
        written.and_then(|()| out.flush()).map_err(named)
    }

    /// Writes text to standard output as it is; colour is stripped where it is not wanted.
    ///
    /// # Errors
    /// As [`Ui::result`].
    pub fn print(&self, text: &str) -> io::Result<()> {
        let mut out = AutoStream::new(io::stdout(), self.color).lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(named)
    }

    /// Prints a note; silent under `-q`.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            self.stderr(text);
        }
    }

    /// Tells a person what to do next; a program that reads `--json` knows.
    pub fn next(&self, text: impl Display) {
        if !self.json {
            self.note(format_args!("Next: {text}"));
        }
    }

    /// Prints a detail; only under `-v`.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            self.stderr(text);
        }
    }

    /// Prints a warning, also under `-q`.
    pub fn warn(&self, text: impl Display) {
        self.stderr(format_args!("{WARNING}warning:{WARNING:#} {text}"));
    }

    /// Prints a warning unless the same was printed before: many files may be in one folder.
    pub fn warn_once(&self, text: impl Display) {
        let text = text.to_string();
        let mut said = held(&self.said.warnings);
        if said.insert(text.clone()) {
            self.warn(text);
        }
    }

    /// Prints an error, also under `-q`.
    pub fn error(&self, text: impl Display) {
        let text = input::clipped(&text.to_string());
        self.stderr(format_args!("{ERROR}error:{ERROR:#} {text}"));
        self.note_error(text);
    }

    /// Keeps an error that was printed otherwise, for [`Ui::explain_failure`].
    pub fn note_error(&self, text: impl Display) {
        held(&self.said.errors).push(text.to_string());
    }

    /// Prints `error` as the result under `--json`, if there is no other and something failed.
    pub fn explain_failure(&self, exit_code: u8) {
        let errors = held(&self.said.errors);
        if !self.json || errors.is_empty() || self.said.result.load(Ordering::Relaxed) {
            return;
        }
        let error = Failure { exit_code: exit_code.into(), message: errors.join("\n") };
        let diagnostics = held(&self.said.diagnostics).clone();
        let Ok(text) = self.signed(&ErrorOutput { error, diagnostics }) else { return };
        // Standard output that is closed cannot take it.
        let _ = self.print(&text);
    }

    /// Writes one line to standard error as it is, also under `-q`.
    pub fn stderr(&self, text: impl Display) {
        // A closed standard error cannot be reported.
        let _ = writeln!(AutoStream::new(io::stderr(), self.color), "{text}");
    }

    /// Progress of `what` over `len` steps, or of unknown length. On a terminal a bar appears after two seconds and
    /// disappears when dropped; elsewhere long work says a line now and then.
    pub fn progress(&self, len: Option<u64>, what: &str) -> Progress {
        let shown = match (self.quiet, io::stderr().is_terminal()) {
            (true, _) => Shown::Nowhere,
            (false, true) => Shown::OnTerminal,
            (false, false) => {
                let ui = self.clone();
                Shown::AsLines(EVERY, Box::new(move |line| ui.stderr(line)))
            }
        };
        Progress::start(len, what, shown)
    }
}

/// What a mutex holds, also after a thread that held it has panicked.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error of standard output. The kind is kept: it distinguishes a closed pipe from a full disk.
fn named(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write the result: {error}"))
}
