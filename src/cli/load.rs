//! Reads configurations for subcommands.

use crate::cli::output::ui::Ui;
use crate::config::Report;
use crate::design::Design;
use std::path::Path;

/// Reads a configuration, prints its warnings and names it in results.
///
/// # Errors
/// All problems of the configuration as one [`Report`].
pub fn load(path: &Path, ui: &Ui) -> Result<(Design, Report), Report> {
    told(Design::load(path)?, ui)
}

/// The same for a design whose files are for the card.
///
/// # Errors
/// As [`load`].
pub fn load_for_the_card(path: &Path, ui: &Ui) -> Result<(Design, Report), Report> {
    told(Design::load_for_the_card(path)?, ui)
}

fn told((design, warnings): (Design, Report), ui: &Ui) -> Result<(Design, Report), Report> {
    if !warnings.is_empty() {
        ui.stderr(format_args!("{warnings:#}"));
    }
    if !warnings.accepted.is_empty() {
        let count = warnings.accepted.len();
        let plural = if count == 1 { "" } else { "s" };
        ui.note(format_args!("{}: {count} warning{plural} accepted", warnings.path));
    }
    ui.made_from(&design.name, design.config_sha256());
    Ok((design, warnings))
}
