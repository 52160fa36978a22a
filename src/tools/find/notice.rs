//! Notices to the caller of a search while it goes on.

use crate::tools::error::ToolError;
use crate::tools::find::program::Program;
use crate::tools::find::tool::Tool;
use std::fmt;

/// News of a search that takes longer or ends differently than its user expects.
#[derive(Debug)]
pub enum Notice<'n> {
    /// A tool has not printed its version for some seconds.
    Waiting(&'n Program),
    /// A tool does not work, and another one is used.
    FellBack {
        /// Its failure.
        failed: &'n ToolError,
        /// The tool that is used.
        used: &'n Tool,
    },
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Waiting(program) => {
                write!(f, "waiting for the version of {program}: a first start may take minutes")
            }
            Notice::FellBack { failed, used } => {
                write!(f, "{} {} at {} is used instead: {failed}", used.name, used.version, used.program())
            }
        }
    }
}

/// The caller of a search.
pub struct Caller<'c> {
    /// Gets the news.
    pub hear: &'c dyn Fn(&Notice),
    /// True once the caller gives up.
    pub stop: &'c dyn Fn() -> bool,
}
