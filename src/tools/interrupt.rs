//! Ctrl-C: the first requests that the work ends and cleans up, the second ends the process at once.
//!
//! The only place that handles signals. Work below gets [`Interrupt::requested`] as a plain function, and the
//! error that ends it becomes [`Interrupted`] and exit code 130.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Exit code of a program that Ctrl-C ended, as shells report it.
pub const EXIT_CODE: u8 = 130;

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
    /// When the system rejects the handlers.
    pub fn listen() -> io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal must not find the flag that it sets itself.
            flag::register_conditional_shutdown(signal, EXIT_CODE.into(), interrupt.0.clone())?;
            flag::register(signal, interrupt.0.clone())?;
        }
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
