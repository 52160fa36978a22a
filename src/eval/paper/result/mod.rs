//! Output of the evaluation: page, Markdown, tables, figures.

pub(super) mod figures;
pub(super) mod intervals;
pub(super) mod markdown;
pub(super) mod page;
pub(super) mod tables;
pub(super) mod verdict;
