//! A malformed line of a file of traffic, with place, rule and way out.

use crate::tools::input;
use std::ops::Range;
use thiserror::Error;

/// A malformed line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {rule}\n  {text}\n  {caret}\n  help: {help}")]
pub struct LineError {
    /// Name of the file, as given.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
    /// The rule that it breaks.
    pub rule: String,
    /// Text of the line.
    pub text: String,
    /// Marks below the faulty part.
    pub caret: String,
    /// Suggestion.
    pub help: String,
}

/// A problem in one line: its bytes, the rule, the way out.
pub(super) struct Problem(pub(super) Range<usize>, pub(super) String, pub(super) String);

/// The error of a problem in a line of a file.
pub(super) fn located(file: &str, line: usize, text: &str, Problem(at, rule, help): Problem) -> LineError {
    let before = text[..at.start].chars().count();
    let width = text[at.clone()].chars().count();
    let (shown, place) = input::excerpt(text, before);
    let width = width.min(shown.chars().count().saturating_sub(place)).max(1);
    LineError {
        file: file.to_owned(),
        line,
        column: before + 1,
        rule: input::clipped(&rule),
        caret: format!("{}{}", " ".repeat(place), "^".repeat(width)),
        text: shown,
        help,
    }
}
