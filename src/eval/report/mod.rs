//! Reports: rows of sweeps as tables, pictures and one page.
//!
//! ```text
//! Rows --- choose --> Choice --+--> groups (one a series and x, over its seeds) --> charts --> page
//!          (--x --y --by)      +----------------------------------------------------> table
//! ```
//!
//! Nothing here touches the disk or knows the source of the rows.

mod choose;
mod figure;
mod group;
mod page;
pub(super) mod picture;
mod rows;
mod run_page;

pub use choose::{choose, ChoiceError, Chosen, Wanted};
pub use figure::{figures, Figure};
pub use group::{groups, Group};
pub use page::{page, Page};
pub use picture::pareto::{pareto_figures, tradeoffs, Candidate, Tradeoff};
pub use rows::Rows;
pub use run_page::{run_page, RunPage, RunTable};
