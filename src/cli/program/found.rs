//! Finds a tool of a command, and warns its user of slow and broken tools on the way.

use crate::cli::output::ui::Ui;
use crate::tools::{self, Caller, Notice, Tool, ToolError, Wanted};

/// Finds a tool; a slow one is waited for with a word until `stop` returns true, and a broken one is named.
///
/// # Errors
/// When there is none that works.
pub(in crate::cli) fn find(
    wanted: &'static Wanted,
    stop: &dyn Fn() -> bool,
    ui: &Ui,
) -> Result<Tool, ToolError> {
    tools::find_for(wanted, &Caller { hear: &|notice| say(notice, ui), stop })
}

/// Says a piece of news, once: several tools may be the same program.
pub(in crate::cli) fn say(notice: &Notice, ui: &Ui) {
    match notice {
        Notice::Waiting(_) => ui.note(notice),
        Notice::FellBack { .. } => ui.warn_once(notice),
    }
}
