//! Requests of a trace, decoded with continuous batching over a pool of pages.
//!
//! ```text
//! trace -- Request --> Batching -- streams of a step --> runs --> seconds
//!                         ^  |                                       |
//!                         |  +---- pages --> Pool                    |
//!                         +------------- over: tokens grow ----------+
//! ```
//!
//! * [`Request`]: when it comes, its prompt, its output, the prefix that it has in common with others.
//! * [`Drawn`]: traces that are drawn from a seed.
//! * [`Pool`]: which pages are free, and how many hold each.
//! * [`Batching`]: which requests run in a step, and in which pages. It knows no fabric: a step takes the seconds that it is
//!   told.
//! * [`OneRun`]: the streams of a step that a fabric decodes at once, as a schedule of one step.

mod batching;
mod drawn;
mod one_run;
mod pool;
mod request;

pub use batching::{Batching, Counts, Rules, Stream};
pub use drawn::Drawn;
pub use one_run::{kv_bytes, runs, OneRun};
pub use pool::Pool;
pub use request::{read, Prefix, Request, RequestError};
