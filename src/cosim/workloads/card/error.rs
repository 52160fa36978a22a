//! Errors of a card and of the program before it.

use crate::cosim::workloads::device::DeviceError;
use std::io;

/// Reason why a card does not go on.
#[derive(Debug, thiserror::Error)]
pub enum CardError {
    /// The device stopped or does not answer.
    #[error("the co-simulated card: {0}")]
    Device(#[from] DeviceError),
    /// A host names bytes that are in no buffer.
    #[error("a host names {bytes} bytes from address {address:#x} on, which are in no buffer of the card")]
    Astray {
        /// The first byte.
        address: u64,
        /// Their number.
        bytes: u64,
    },
    /// A host names a memory that the card does not have.
    #[error("a host asks for a buffer in memory {0}, which the card does not have")]
    Memory(u32),
    /// The socket fails, or what comes through it is no request.
    #[error("the socket of the card: {0}")]
    Socket(#[source] io::Error),
    /// The program cannot be run.
    #[error("cannot run {program}: {source}\n  help: write the program and its arguments behind --")]
    Program {
        /// Its name.
        program: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The caller gave up; the program was ended.
    #[error("the program was stopped")]
    Stopped,
}
