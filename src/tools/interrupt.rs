//! Ctrl-C: the first requests that the work ends and cleans up, the second ends the process and its children at once.
//!
//! The only place that handles signals. Work below gets [`Interrupt::requested`] as a plain function, and the
//! error that ends it becomes [`Interrupted`] and exit code 130.

use crate::tools::child;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Exit code of a program that Ctrl-C ended, as shells report it.
pub const EXIT_CODE: u8 = 130;

/// Signals within this time are one request: `timeout` signals its child, and then the group that the child is in.
const ONE_REQUEST: Duration = Duration::from_millis(200);

/// Flag that an end of this process was requested.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// Work that ended on request, with its state.
#[derive(Debug, thiserror::Error)]
#[error("interrupted {0}")]
pub struct Interrupted(pub String);

impl Interrupt {
    /// Listens for SIGINT and SIGTERM. Before this call they end the process, so a subcommand that first
    /// reads its input need not clean up or poll while a pipe blocks it.
    ///
    /// # Errors
    /// When the system rejects the handlers, or the thread that waits for signals.
    pub fn listen() -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let requested = interrupt.0.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            let mut first: Option<Instant> = None;
            for _ in signals.forever() {
                requested.store(true, Ordering::Relaxed);
                if first.get_or_insert_with(Instant::now).elapsed() >= ONE_REQUEST {
                    child::kill_all();
                    low_level::exit(EXIT_CODE.into());
                }
            }
        })?;
        Ok(interrupt)
    }

    /// True once an end was requested.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if an end was requested; `what` describes the state of the work.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn check(&self, what: &str) -> Result<(), Interrupted> {
        if self.requested() {
            return Err(Interrupted(what.to_owned()));
        }
        Ok(())
    }

    /// Treats an error after the request as its consequence: Ctrl-C on a terminal also reaches the tools that
    /// are being asked for their versions.
    ///
    /// # Errors
    /// The error of `result`, or [`Interrupted`] with `what`, unless the error itself describes the state of
    /// the work.
    pub fn explain<T>(&self, result: anyhow::Result<T>, what: &str) -> anyhow::Result<T> {
        match result {
            Err(error) if self.requested() && !error.is::<Interrupted>() => {
                Err(Interrupted(what.to_owned()).into())
            }
            result => result,
        }
    }
}
