//! When a run of the fabric is stuck: nothing has moved for longer than anything in it may wait.

pub use crate::cosim::faults::TIMEOUT;
use crate::cosim::memory::Memory;
use crate::design::Design;

/// Cycles without movement that a run may have, for a retry and for memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watchdog {
    /// Without memory only a repeated request makes something move again.
    retry: u64,
    /// A home may wait for memory, and a tile then for its repeated request.
    memory: u64,
}

impl Watchdog {
    /// The waits of a design.
    pub fn of(design: &Design) -> Watchdog {
        let retry = 2 * u64::from(design.mare.retry_cycles().1);
        Watchdog { retry: retry + 4_096, memory: 2 * (retry + TIMEOUT) }
    }

    /// True if nothing can move again after `still` cycles without movement. It is much sooner while
    /// memory owes no answer: a simulation of a large mesh takes a minute for the time-out of a home.
    pub fn is_over(&self, still: u64, memory: &Memory) -> bool {
        still > self.memory || still > self.retry && !memory.owes()
    }
}
