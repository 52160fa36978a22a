//! Output of a subcommand: results, notes, progress, pictures.

pub(super) mod bounds;
pub(super) mod breakdown;
pub(super) mod choice;
pub(super) mod described;
pub(super) mod diagnostics;
pub(super) mod pictures;
pub(super) mod progress;
pub(super) mod provenance;
pub mod table;
pub mod ui;
pub(super) mod views;
