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
mod figures;
mod intervals;
mod markdown;
mod measured;
mod page;
mod plan;
mod tables;
mod verdict;

pub use accuracy::{Draw, Errors};
pub use case::{Case, Model};
pub use claim::{Claim, View};
pub use claims::{claims, Resources};
pub use fabric::fabric;
pub use figures::{figures, Drawn};
pub use markdown::markdown;
pub use measured::{Found, Measured};
pub use page::{page, Head};
pub use plan::{fabrics, plan, Extent, Plan, Section};
pub use tables::{tables, Table};
pub use verdict::Verdict;
