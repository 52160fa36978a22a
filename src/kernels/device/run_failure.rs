//! Priority of failures: the first of seventeen causes ends a run or refuses it.
//!
//! Invariant: at most one of `fails`, `refused` and `accepts` is set. A run fails only while it is
//! under way or is being reset, it is refused or accepted only where it would begin, and what
//! ends any run comes before what ends its beginning.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::kernel::Kernel;
use rust_hdl::prelude::*;

/// Events by priority, each with the place to report.
#[derive(LogicBlock)]
pub struct RunFailure {
    /// A run is under way.
    pub works: Signal<In, Bit>,
    /// The arguments have been read and the queue is idle: a run may begin in this cycle.
    pub ready: Signal<In, Bit>,
    /// The core could not be reset for a run that had not failed before.
    pub unreset: Signal<In, Bit>,
    /// The host writes a soft reset.
    pub ended: Signal<In, Bit>,
    /// PaD was reset on its own.
    pub pe_down: Signal<In, Bit>,
    /// Memory returned an error to a tile.
    pub tile_bad: Signal<In, Bit>,
    /// Memory did not answer a tile.
    pub tile_late: Signal<In, Bit>,
    /// A read of queries or new tokens returned an error.
    pub read_bad: Signal<In, Bit>,
    /// A write of outputs returned an error.
    pub write_bad: Signal<In, Bit>,
    /// A write of a new token returned an error.
    pub port_bad: Signal<In, Bit>,
    /// Memory did not take or answer a write of a new token.
    pub port_late: Signal<In, Bit>,
    /// A word had a wrong parity at the examined tile.
    pub tile_flawed: Signal<In, Bit>,
    /// A read of the list returned an error.
    pub list_fault: Signal<In, Bit>,
    /// Memory of queries, outputs or the list did not answer.
    pub io_late: Signal<In, Bit>,
    /// Nothing has moved for too long.
    pub stuck: Signal<In, Bit>,
    /// A descriptor of the list was refused.
    pub unlisted: Signal<In, Bit>,
    /// There is a descriptor, or a list that has not been read.
    pub given: Signal<In, Bit>,
    /// A stream attends and no descriptor closes it.
    pub unclosed: Signal<In, Bit>,
    /// Queries of more streams are loaded than there can be.
    pub many: Signal<In, Bit>,
    /// A stream attends whose queries the core does not have.
    pub unloaded: Signal<In, Bit>,
    /// A cache appends whose new token is not loaded.
    pub untold: Signal<In, Bit>,
    /// A base address is not aligned.
    pub skewed: Signal<In, Bit>,
    /// Memory may still owe answers of an earlier use of the epoch.
    pub dirty: Signal<In, Bit>,
    /// Number of the tile.
    pub tile_place: Signal<In, Bits<16>>,
    /// Number of the tile, and the place there.
    pub flaw_place: Signal<In, Bits<16>>,
    /// Place of a read's error: 0 queries, 1 new tokens.
    pub read_place: Signal<In, Bits<16>>,
    /// Number of the memory port.
    pub port_place: Signal<In, Bits<16>>,
    /// Place of an I/O time-out: 0 queries, 1 outputs, 2 the list, 3 new tokens.
    pub io_place: Signal<In, Bits<16>>,
    /// Number of the descriptor in the list.
    pub list_place: Signal<In, Bits<16>>,
    /// The state of the run.
    pub state_place: Signal<In, Bits<16>>,
    /// Mask of the streams that are not closed.
    pub unclosed_place: Signal<In, Bits<16>>,
    /// Number of streams whose queries are loaded.
    pub many_place: Signal<In, Bits<16>>,
    /// The highest stream that attends.
    pub unloaded_place: Signal<In, Bits<16>>,
    /// Caches whose new tokens are loaded.
    pub untold_place: Signal<In, Bits<16>>,
    /// Number of the argument.
    pub skewed_place: Signal<In, Bits<16>>,
    /// Some cause ends any run.
    pub fatal: Signal<Out, Bit>,
    /// Some cause keeps a run from beginning.
    pub barred: Signal<Out, Bit>,
    /// The run ends by an error.
    pub fails: Signal<Out, Bit>,
    /// The run is refused.
    pub refused: Signal<Out, Bit>,
    /// The run begins.
    pub accepts: Signal<Out, Bit>,
    /// The cause.
    pub cause: Signal<Out, Bits<5>>,
    /// The place.
    pub place: Signal<Out, Bits<16>>,
    cause_reset: Constant<Bits<5>>,
    cause_memory: Constant<Bits<5>>,
    cause_memory_timeout: Constant<Bits<5>>,
    cause_query_read: Constant<Bits<5>>,
    cause_output_write: Constant<Bits<5>>,
    cause_io_timeout: Constant<Bits<5>>,
    cause_watchdog: Constant<Bits<5>>,
    cause_empty: Constant<Bits<5>>,
    cause_open: Constant<Bits<5>>,
    cause_queries: Constant<Bits<5>>,
    cause_unloaded: Constant<Bits<5>>,
    cause_argument: Constant<Bits<5>>,
    cause_list_read: Constant<Bits<5>>,
    cause_list: Constant<Bits<5>>,
    cause_tokens: Constant<Bits<5>>,
    cause_token_write: Constant<Bits<5>>,
    cause_token_timeout: Constant<Bits<5>>,
    cause_parity: Constant<Bits<5>>,
    place_dirty: Constant<Bits<16>>,
    place_pe: Constant<Bits<16>>,
}

impl RunFailure {
    /// Returns a block whose causes are numbered from 1 by priority. The shell's causes are bits of ERROR.
    pub fn new() -> Self {
        let cause = |number: u64| Constant::new(number.into());
        RunFailure {
            works: Default::default(),
            ready: Default::default(),
            unreset: Default::default(),
            ended: Default::default(),
            pe_down: Default::default(),
            tile_bad: Default::default(),
            tile_late: Default::default(),
            tile_flawed: Default::default(),
            read_bad: Default::default(),
            write_bad: Default::default(),
            port_bad: Default::default(),
            port_late: Default::default(),
            list_fault: Default::default(),
            io_late: Default::default(),
            stuck: Default::default(),
            unlisted: Default::default(),
            given: Default::default(),
            unclosed: Default::default(),
            many: Default::default(),
            unloaded: Default::default(),
            untold: Default::default(),
            skewed: Default::default(),
            dirty: Default::default(),
            tile_place: Default::default(),
            flaw_place: Default::default(),
            read_place: Default::default(),
            port_place: Default::default(),
            io_place: Default::default(),
            list_place: Default::default(),
            state_place: Default::default(),
            unclosed_place: Default::default(),
            many_place: Default::default(),
            unloaded_place: Default::default(),
            untold_place: Default::default(),
            skewed_place: Default::default(),
            fatal: Default::default(),
            barred: Default::default(),
            fails: Default::default(),
            refused: Default::default(),
            accepts: Default::default(),
            cause: Default::default(),
            place: Default::default(),
            cause_reset: cause(1),
            cause_memory: cause(2),
            cause_memory_timeout: cause(3),
            cause_query_read: cause(4),
            cause_output_write: cause(5),
            cause_io_timeout: cause(6),
            cause_watchdog: cause(7),
            cause_empty: cause(8),
            cause_open: cause(9),
            cause_queries: cause(10),
            cause_unloaded: cause(11),
            cause_argument: cause(12),
            cause_list_read: cause(13),
            cause_list: cause(14),
            cause_tokens: cause(15),
            cause_token_write: cause(16),
            cause_token_timeout: cause(17),
            cause_parity: cause(18),
            place_dirty: Constant::new(1.into()),
            place_pe: Constant::new(2.into()),
        }
    }
}

impl Default for RunFailure {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for RunFailure {
    #[hdl_gen]
    fn update(&mut self) {
        // The outputs are sums of the causes, not ends of the chain below: their paths are short.
        self.fatal.next = self.ended.val()
            | self.pe_down.val()
            | self.tile_bad.val()
            | self.tile_late.val()
            | self.tile_flawed.val()
            | self.read_bad.val()
            | self.write_bad.val()
            | self.port_bad.val()
            | self.port_late.val()
            | self.list_fault.val()
            | self.io_late.val()
            | self.stuck.val();
        self.barred.next = self.unlisted.val()
            | !self.given.val()
            | self.unclosed.val()
            | self.many.val()
            | self.unloaded.val()
            | self.untold.val()
            | self.skewed.val()
            | self.dirty.val();
        // A core that cannot be reset ends the run all the same. No run begins in that state.
        self.fails.next = (self.fatal.val() & self.works.val()) | self.unreset.val();
        self.refused.next = self.ready.val() & !self.fatal.val() & self.barred.val();
        self.accepts.next = self.ready.val() & !self.fatal.val() & !self.barred.val();
        self.cause.next = 0.into();
        self.place.next = 0.into();
        if self.ended.val() {
            self.cause.next = self.cause_reset.val();
        } else if self.pe_down.val() {
            self.cause.next = self.cause_reset.val();
            self.place.next = self.place_pe.val();
        } else if self.tile_bad.val() {
            self.cause.next = self.cause_memory.val();
            self.place.next = self.tile_place.val();
        } else if self.tile_late.val() {
            self.cause.next = self.cause_memory_timeout.val();
            self.place.next = self.tile_place.val();
        } else if self.tile_flawed.val() {
            self.cause.next = self.cause_parity.val();
            self.place.next = self.flaw_place.val();
        } else if self.read_bad.val() {
            self.cause.next = self.cause_query_read.val();
            self.place.next = self.read_place.val();
        } else if self.write_bad.val() {
            self.cause.next = self.cause_output_write.val();
        } else if self.port_bad.val() {
            self.cause.next = self.cause_token_write.val();
            self.place.next = self.port_place.val();
        } else if self.port_late.val() {
            self.cause.next = self.cause_token_timeout.val();
            self.place.next = self.port_place.val();
        } else if self.list_fault.val() {
            self.cause.next = self.cause_list_read.val();
        } else if self.io_late.val() {
            self.cause.next = self.cause_io_timeout.val();
            self.place.next = self.io_place.val();
        } else if self.stuck.val() | self.unreset.val() {
            self.cause.next = self.cause_watchdog.val();
            self.place.next = self.state_place.val();
        } else if self.unlisted.val() {
            self.cause.next = self.cause_list.val();
            self.place.next = self.list_place.val();
        } else if !self.given.val() {
            self.cause.next = self.cause_empty.val();
        } else if self.unclosed.val() {
            self.cause.next = self.cause_open.val();
            self.place.next = self.unclosed_place.val();
        } else if self.many.val() {
            self.cause.next = self.cause_queries.val();
            self.place.next = self.many_place.val();
        } else if self.unloaded.val() {
            self.cause.next = self.cause_unloaded.val();
            self.place.next = self.unloaded_place.val();
        } else if self.untold.val() {
            self.cause.next = self.cause_tokens.val();
            self.place.next = self.untold_place.val();
        } else if self.skewed.val() {
            self.cause.next = self.cause_argument.val();
            self.place.next = self.skewed_place.val();
        } else if self.dirty.val() {
            self.cause.next = self.cause_reset.val();
            self.place.next = self.place_dirty.val();
        }
    }
}

/// Where a run is, and the causes that hold, each list by priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Causes {
    /// A run is under way.
    pub works: bool,
    /// A run may begin in this cycle.
    pub ready: bool,
    /// The core could not be reset for a run that had not failed before.
    pub unreset: bool,
    /// Events that end any run, from the host's reset to the watchdog.
    pub ends: [bool; 12],
    /// Events that refuse a run, from the list to answers that memory owes.
    pub refuses: [bool; 8],
}

/// Outcome of a cycle for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The run ends by an error.
    pub fails: bool,
    /// It is refused.
    pub refused: bool,
    /// It begins.
    pub accepts: bool,
    /// The first cause, counted through both lists.
    pub cause: Option<usize>,
}

/// Returns the outcome of a cycle.
pub fn rule(causes: &Causes) -> Outcome {
    let Causes { works, ready, unreset, ends, refuses } = *causes;
    let first = |causes: &[bool]| causes.iter().position(|cause| *cause);
    let (event, refusal) = (first(&ends), first(&refuses));
    // A core that cannot be reset ends the run whatever else holds: as a run that is stuck, the last event, if nothing else does.
    let end = event.or(unreset.then_some(ends.len() - 1));
    Outcome {
        fails: event.is_some() && works || unreset,
        refused: ready && event.is_none() && refusal.is_some(),
        accepts: ready && event.is_none() && refusal.is_none(),
        cause: end.or(refusal.map(|refusal| ends.len() + refusal)),
    }
}

/// Prints [`RunFailure`].
pub fn run_failure() -> Result<Kernel, PrintError> {
    Kernel::print(
        "run_failure",
        "The first cause that ends a run, or does not let it begin.",
        &RunFailure::new(),
    )
}

#[cfg(test)]
mod tests {
    use crate::kernels::device::run_failure::*;

    /// Numbers of the causes and places to report, by priority.
    const REPORTS: [(u64, u64); 20] = [
        (1, 0),
        (1, 2),
        (2, 100),
        (3, 100),
        (18, 111),
        (4, 108),
        (5, 0),
        (16, 109),
        (17, 109),
        (13, 0),
        (6, 101),
        (7, 102),
        (14, 107),
        (8, 0),
        (9, 103),
        (10, 104),
        (11, 105),
        (15, 110),
        (12, 106),
        (1, 1),
    ];

    #[test]
    fn the_first_cause_is_reported_in_every_case() {
        let mut uut = RunFailure::new();
        uut.tile_place.next = 100.into();
        uut.io_place.next = 101.into();
        uut.state_place.next = 102.into();
        uut.unclosed_place.next = 103.into();
        uut.many_place.next = 104.into();
        uut.unloaded_place.next = 105.into();
        uut.skewed_place.next = 106.into();
        uut.list_place.next = 107.into();
        uut.read_place.next = 108.into();
        uut.port_place.next = 109.into();
        uut.untold_place.next = 110.into();
        uut.flaw_place.next = 111.into();
        for case in 0..1_u32 << 22 {
            let ends = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map(|i| case >> i & 1 != 0);
            let refuses = [12, 13, 14, 15, 16, 17, 18, 19].map(|i| case >> i & 1 != 0);
            // At rest; under way; about to begin, which is under way as well; not to be reset.
            let [works, ready, unreset] =
                [[false; 3], [true, false, false], [true, true, false], [false, false, true]]
                    [case as usize >> 20];
            [uut.works.next, uut.ready.next, uut.unreset.next] = [works, ready, unreset];
            [
                uut.ended.next,
                uut.pe_down.next,
                uut.tile_bad.next,
                uut.tile_late.next,
                uut.tile_flawed.next,
                uut.read_bad.next,
                uut.write_bad.next,
                uut.port_bad.next,
                uut.port_late.next,
                uut.list_fault.next,
                uut.io_late.next,
                uut.stuck.next,
            ] = ends;
            uut.unlisted.next = refuses[0];
            uut.given.next = !refuses[1];
            [
                uut.unclosed.next,
                uut.many.next,
                uut.unloaded.next,
                uut.untold.next,
                uut.skewed.next,
                uut.dirty.next,
            ] = [refuses[2], refuses[3], refuses[4], refuses[5], refuses[6], refuses[7]];
            assert!(simulate(&mut uut, 4));

            let outcome = rule(&Causes { works, ready, unreset, ends, refuses });
            let found = [uut.fails.val(), uut.refused.val(), uut.accepts.val()];
            assert!(!unreset || found[0], "case {case:022b}: the run ends without a report");
            assert_eq!(found, [outcome.fails, outcome.refused, outcome.accepts], "case {case:022b}");
            let (cause, place) = outcome.cause.map_or((0, 0), |cause| REPORTS[cause]);
            assert_eq!(uut.cause.val(), cause, "case {case:022b}");
            assert_eq!(uut.place.val(), place, "case {case:022b}");
        }
    }
}
