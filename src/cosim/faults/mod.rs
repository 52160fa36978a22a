//! Faults that a run injects on request, and what must be reported of each.
//!
//! ```text
//! KIND@PLACE:N -- Injected --> memory, resets, clocks, list, state --> run --> Seen -- judge --> Judged
//!                    |                                                                ^
//!                    +------------------------ Expected --------------------------------+
//! ```
//!
//! * [`Injected`]: a fault as the command line names it; the only reader of that text.
//! * [`Expected`]: the report that must follow, by the depth of the run: device, core or fabric.
//! * [`Seen`]: the report that came; [`judge()`] compares both.
//!
//! It knows the memory and the design, not the runs: each run in [`workloads`](super::workloads) injects what it has
//! and fills in [`Seen`].

mod expected;
mod injected;
mod judge;
mod seen;

pub use expected::{Depth, Expected};
pub use injected::{Injected, MemoryPlace, Reset, What, KINDS, TIMEOUT};
pub use judge::{judge, Judged};
pub use seen::{Outputs, Seen};
