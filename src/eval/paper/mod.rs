//! The paper's evaluation, measured on this fabric: every number of it beside ours.
//!
//! ```text
//! plan (Case, Run: what must run) --> rows of runs --> Measured --+--> claims: paper, ours, verdict, why
//!                                                                 +--> tables, figures --> page
//! ```
//!
//! The rows are those of a sweep of decode steps. Nothing here runs a fabric, touches the disk, or knows where rows
//! are kept. `claims.toml` has the paper's numbers, each once.

mod accuracy;
mod case;
mod claim;
mod claims;
mod fabric;
mod measured;
mod plan;
mod result;

pub use accuracy::{Draw, Errors};
pub use case::{Case, Model};
pub use claim::{Claim, View};
pub use claims::{claims, Resources};
pub use fabric::fabric;
pub use measured::{Found, Measured};
pub use plan::{fabrics, plan, Extent, Plan, Section};
pub use result::figures::{figures, Drawn};
pub use result::markdown::markdown;
pub use result::page::{page, Head};
pub use result::tables::{tables, Table};
pub use result::verdict::Verdict;
