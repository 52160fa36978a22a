//! Errors of a run on the device.

use crate::cosim::dut::DutError;

/// Reason why a host gave up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The design stopped.
    #[error(transparent)]
    Dut(#[from] DutError),
    /// A register access is not answered.
    #[error("cycle {at}: the access of register {offset:#05x} has not been answered for {waited} cycles")]
    Silent {
        /// Cycle.
        at: u64,
        /// Byte address.
        offset: u32,
        /// Cycles.
        waited: u64,
    },
    /// A run does not end.
    #[error("cycle {at}: the run has not ended for {waited} cycles; STATUS is {status:#010x}, ERROR {error:#010x}{why}")]
    Hung {
        /// Cycle.
        at: u64,
        /// Cycles.
        waited: u64,
        /// The register.
        status: u32,
        /// The register.
        error: u32,
        /// The bound of the run and what still moves, after a line break; empty of a wait without a bound.
        why: String,
    },
    /// The device is not of the host's design.
    #[error("register {register} reads as {read:#010x}, and this design has {wanted:#010x}")]
    Identity {
        /// Name of the register.
        register: &'static str,
        /// Its value.
        read: u32,
        /// The expected value.
        wanted: u32,
    },
    /// Two descriptors of a run name the same slices.
    #[error("segment {segment} of cache {prefix} is named by two descriptors of one run")]
    NamedTwice {
        /// Stream or shared prefix of the cache.
        prefix: u32,
        /// Segment.
        segment: u32,
    },
    /// A run ended with errors.
    #[error("the run ended with {0}")]
    Failed(String),
    /// The caller gave up waiting.
    #[error("the run was stopped")]
    Stopped,
}
