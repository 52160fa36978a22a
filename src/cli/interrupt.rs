//! Ctrl-C: the first asks the work to end and clean up, the second ends the process at once.
//!
//! The only place that knows of signals. Work below is handed [`Interrupt::requested`] as a plain
//! question, and the error it ends with becomes [`Interrupted`] and exit code 130.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// What a shell reports of a program that Ctrl-C ended.
pub const EXIT_CODE: u8 = 130;

/// Whether somebody wants this process to end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// Work that was ended on request; says what became of it.
#[derive(Debug, thiserror::Error)]
#[error("interrupted {0}")]
pub struct Interrupted(pub String);

impl Interrupt {
    /// Listens for SIGINT and SIGTERM. Before this call they end the process, so a subcommand that reads its input
    /// first need not clean up, nor ask while a pipe keeps it waiting.
    ///
    /// # Errors
    /// When the system refuses the handlers.
    pub fn listen() -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal must not find the flag that it sets itself.
            flag::register_conditional_shutdown(signal, EXIT_CODE.into(), interrupt.0.clone())?;
            flag::register(signal, interrupt.0.clone())?;
        }
        Ok(interrupt)
    }

    /// Whether to end now.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Ends the caller if that is wanted; `what` says what became of the work.
    ///
    /// # Errors
    /// [`Interrupted`].
    pub fn check(&self, what: &str) -> Result<(), Interrupted> {
        if self.requested() {
            return Err(Interrupted(what.to_owned()));
        }
        Ok(())
    }

    /// Takes an error that comes after the request for its consequence: Ctrl-C on a terminal reaches the tools
    /// that are being asked for their versions, too.
    ///
    /// # Errors
    /// That of `result`, or [`Interrupted`], with `what` unless the error itself says what became of the work.
    pub fn explain<T>(&self, result: anyhow::Result<T>, what: &str) -> anyhow::Result<T> {
        match result {
            Err(error) if self.requested() && !error.is::<Interrupted>() => {
                Err(Interrupted(what.to_owned()).into())
            }
            result => result,
        }
    }
}
