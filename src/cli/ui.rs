//! Output of a subcommand: results, notes, warnings and progress.
//!
//! The result goes to standard output: prose, or one JSON object under `--json`. Everything else (notes,
//! warnings, progress) goes to standard error, so that a pipe gets only the result. This module is
//! independent of subcommands.

use super::provenance::{ErrorOutput, Failure, Provenance};
use crate::input;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work shorter than this shows no progress: a bar that flashes by is only noise.
const PROGRESS_AFTER: Duration = Duration::from_secs(2);

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// The options every subcommand takes.
#[derive(Debug, Clone, clap::Args)]
pub struct UiArgs {
    /// Say nothing but results, warnings and errors
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
}

/// A result as one JSON object, after its origin.
#[derive(Serialize)]
struct Signed<'a, T> {
    meshkv: &'a Provenance,
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
        Ui { quiet: args.quiet, verbose: args.verbose, json: args.json, color, said: Arc::default() }
    }

    /// Output of results only, in prose and without colour; for tests and library callers.
    pub fn silent() -> Ui {
        let said = Arc::default();
        Ui { quiet: true, verbose: false, json: false, color: ColorChoice::Never, said }
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

    /// Names the seed of all random choices; none if nothing is drawn.
    pub fn seeded(&self, seed: Option<u64>) {
        self.provenance().seed = seed;
    }

    fn provenance(&self) -> MutexGuard<'_, Provenance> {
        self.said.provenance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The object that `--json` prints: `meshkv`, then the keys of `result`, which is an object.
    fn signed<T: Serialize>(&self, result: &T) -> serde_json::Result<String> {
        let signed = Signed { meshkv: &self.provenance(), result };
        Ok(format!("{}\n", serde_json::to_string_pretty(&signed)?))
    }

    /// Prints the result of a subcommand once: `value`, an object, as JSON after its origin, or `prose`.
    ///
    /// # Errors
    /// When standard output cannot be written; a closed pipe is an error of kind `BrokenPipe`.
    pub fn result<T: Serialize>(&self, value: &T, prose: impl FnOnce() -> String) -> io::Result<()> {
        let text = if self.json { self.signed(value)? } else { prose() };
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
                let signed = Signed { meshkv: &self.provenance(), result: value };
                let json = serde_json::to_writer_pretty(&mut out, &signed).map_err(io::Error::from);
                json.and_then(|()| writeln!(out))
            }
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
        let mut said = self.said.warnings.lock().unwrap_or_else(PoisonError::into_inner);
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
        self.said.errors.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_string());
    }

    /// Prints `error` as the result under `--json`, if there is no other and something failed.
    pub fn explain_failure(&self, exit_code: u8) {
        let errors = self.said.errors.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.json || errors.is_empty() || self.said.result.load(Ordering::Relaxed) {
            return;
        }
        let error = Failure { exit_code: exit_code.into(), message: errors.join("\n") };
        let Ok(text) = self.signed(&ErrorOutput { error }) else { return };
        // Standard output that is closed cannot take it.
        let _ = self.print(&text);
    }

    /// Writes one line to standard error as it is, also under `-q`.
    pub fn stderr(&self, text: impl Display) {
        // A closed standard error cannot be reported.
        let _ = writeln!(AutoStream::new(io::stderr(), self.color), "{text}");
    }

    /// Progress of `what` over `len` steps, or of unknown length. It appears after two seconds, on a
    /// terminal, and disappears when dropped.
    pub fn progress(&self, len: Option<u64>, what: &str) -> Progress {
        let bar = ProgressBar::with_draw_target(len, ProgressDrawTarget::hidden());
        bar.set_style(progress_style(len.is_some()));
        bar.set_message(what.to_owned());
        if self.quiet || !io::stderr().is_terminal() {
            return Progress { bar, reveal: None };
        }
        let (done, waits) = mpsc::channel::<()>();
        let shown = bar.clone();
        let thread = std::thread::spawn(move || {
            if waits.recv_timeout(PROGRESS_AFTER) == Err(mpsc::RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Progress { bar, reveal: Some((done, thread)) }
    }
}

/// An error of standard output. The kind is kept: it distinguishes a closed pipe from a full disk.
fn named(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot write the result: {error}"))
}

fn progress_style(known_length: bool) -> ProgressStyle {
    let template = if known_length {
        "{msg} [{bar:30}] {percent:>3} % {elapsed} (left: {eta})"
    } else {
        "{spinner} {msg} {elapsed}"
    };
    // A wrong template would only change the look of the bar.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// Progress of one long piece of work; see [`Ui::progress`].
pub struct Progress {
    bar: ProgressBar,
    reveal: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Sets the steps done so far.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Shows the present step.
    pub fn message(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// Hides the bar while `say` prints: a line written into the bar would be torn.
    pub fn aside(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, thread)) = self.reveal.take() {
            // The thread is stopped before the bar is cleared, or it could draw it again.
            drop(done);
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
