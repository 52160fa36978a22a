//! Reports findings at their place in the file: path, line, column, source line, caret and help.

use crate::config::findings::advice::Advice;
use crate::config::findings::finding::{help_text, Finding, Severity};
use crate::tools::input;
use anstyle::{AnsiColor, Style};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// Size of a configuration or a sweep file at most; the largest that makes sense has some KiB.
const MOST_BYTES: u64 = 1 << 20;
/// Text of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::config) struct Text {
    /// Path as the user gave it.
    pub path: String,
    /// The whole file.
    pub text: String,
}

/// One problem at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Name of the rule, which stays the same from version to version.
    pub rule: &'static str,
    /// Path of the key; empty for a problem of the file.
    pub key: String,
    /// Error or warning.
    pub severity: Severity,
    /// Line and column, both from 1, the column in characters; none for a problem without a line.
    pub place: Option<(usize, usize)>,
    /// The key, its value and the rule, in one sentence.
    pub message: String,
    /// Suggestion.
    pub help: String,
    /// The same for programs: ways out, the best first.
    pub advice: Vec<Advice>,
    /// The suggestion without its ways.
    reason: String,
    /// The source line and the characters to underline.
    source: Option<(String, usize, usize)>,
}

/// A warning that the file accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedProblem {
    /// The warning.
    pub problem: Problem,
    /// Reason that the file gives.
    pub reason: String,
}

/// All problems of one file in the order of their places. Displays without colour; `{:#}` adds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Path as the user gave it.
    pub path: String,
    /// The problems.
    pub problems: Vec<Problem>,
    /// Warnings that the file accepts, which are not shown.
    pub accepted: Vec<AcceptedProblem>,
}

impl std::error::Error for Report {}

impl Report {
    /// A report on a file that could not be read at all.
    pub(in crate::config) fn unreadable(path: &str, message: String, help: &str) -> Report {
        let problem = Problem {
            rule: "file-can-be-read",
            key: String::new(),
            severity: Severity::Error,
            place: None,
            message,
            help: help.to_owned(),
            advice: Vec::new(),
            reason: help.to_owned(),
            source: None,
        };
        Report { path: path.to_owned(), problems: vec![problem], accepted: Vec::new() }
    }

    /// Sorts `problems` by place; those without a place come last.
    pub(in crate::config) fn new(path: &str, mut problems: Vec<Problem>) -> Report {
        problems.sort_by_key(|p| (p.place.is_none(), p.place));
        Report { path: path.to_owned(), problems, accepted: Vec::new() }
    }

    /// The first problems, as many as fit on a screen of so many rows and columns, and how many others there
    /// are. One always fits.
    pub fn on_a_screen(&self, rows: usize, columns: usize) -> (Report, usize) {
        let mut shown = Report { problems: Vec::new(), ..self.clone() };
        for problem in &self.problems {
            shown.problems.push(problem.clone());
            let rows_of = |line: &str| line.chars().count().div_ceil(columns).max(1);
            let taken: usize = shown.to_string().lines().map(rows_of).sum();
            if taken > rows && shown.problems.len() > 1 {
                shown.problems.pop();
                break;
            }
        }
        let others = self.problems.len() - shown.problems.len();
        (shown, others)
    }

    /// True if there is no problem.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// True if there is an error.
    pub fn has_errors(&self) -> bool {
        self.problems.iter().any(|p| p.severity == Severity::Error)
    }
}

impl Text {
    /// Reads a file; `help` is the suggestion if there is none.
    ///
    /// # Errors
    /// A report with the reason why it cannot be read.
    pub fn load(path: &Path, help: &str) -> Result<Text, Report> {
        let shown = input::clipped(&path.display().to_string());
        let bytes = input::read(path, MOST_BYTES)
            .map_err(|e| Report::unreadable(&shown, format!("cannot be read: {e}"), help))?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
            let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
            let help = "save the file as UTF-8, which TOML asks for";
            Report::unreadable(&shown, format!("line {line} is not UTF-8 text"), help)
        })?;
        Ok(Text { path: shown, text })
    }

    /// Places a finding at the bytes it is about.
    pub fn locate(&self, finding: &Finding, span: Option<Range<usize>>, by_default: bool) -> Problem {
        let mut problem = Problem {
            rule: finding.rule,
            key: finding.key.clone(),
            severity: finding.severity,
            place: None,
            message: finding.sentence(by_default),
            help: finding.help_text(),
            advice: finding.advice.clone(),
            reason: finding.help.clone(),
            source: None,
        };
        let Some(span) = span else { return problem };
        let behind = span.start >= self.text.len() && by_default;
        let (line, column, shown, width) = self.place(span);
        problem.place = Some((line, column));
        // Behind the last line there is nothing to show.
        if !behind {
            let (shown, at) = input::excerpt(&shown, column - 1);
            let width = width.min(shown.chars().count().saturating_sub(at)).max(1);
            problem.source = Some((shown, at, width));
        }
        problem
    }

    /// Place where a key would stand that the file leaves out: its table, or the end of the file.
    pub fn home(&self, key: &str, homes: &BTreeMap<String, Range<usize>>) -> Range<usize> {
        let table = key.split_once('.').map_or("", |(table, _)| table);
        let end = self.text.len();
        homes.get(table).cloned().unwrap_or(end..end)
    }

    /// Line, column, source line and underlined characters of a range of bytes.
    fn place(&self, span: Range<usize>) -> (usize, usize, String, usize) {
        let start = self.boundary(span.start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let rest = &self.text[line_start..];
        let line = rest.lines().next().unwrap_or_default();
        let column = self.text[line_start..start].chars().count();
        // A value of several lines is underlined to the end of its first.
        let end = self.boundary(span.end).clamp(start, line_start + line.len().max(start - line_start));
        let width = self.text[start..end].chars().count().max(1);
        // A control character in a file must not control the terminal.
        let shown = line.chars().map(|c| if c.is_control() && c != '\t' { '?' } else { c }).collect();
        (before.matches('\n').count() + 1, column + 1, shown, width)
    }

    /// The start of the character that byte `at` belongs to.
    fn boundary(&self, at: usize) -> usize {
        (0..=at.min(self.text.len())).rev().find(|&i| self.text.is_char_boundary(i)).unwrap_or(0)
    }
}

/// Styles of a report; all plain unless colour is on.
#[derive(Default)]
struct Palette {
    place: Style,
    error: Style,
    warning: Style,
    help: Style,
}

const COLOURS: Palette = Palette {
    place: Style::new().bold(),
    error: AnsiColor::Red.on_default().bold(),
    warning: AnsiColor::Yellow.on_default().bold(),
    help: AnsiColor::Cyan.on_default(),
};

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let palette = if f.alternate() { COLOURS } else { Palette::default() };
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            problem.write(f, &self.path, &palette)?;
        }
        Ok(())
    }
}

impl Problem {
    /// Gives the problem other ways out.
    pub(in crate::config) fn readvise(&mut self, advice: Vec<Advice>) {
        self.help = help_text(self.rule, &self.reason, &advice, &self.key);
        self.advice = advice;
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, path: &str, palette: &Palette) -> fmt::Result {
        let Palette { place, error, warning, help } = palette;
        write!(f, "{place}{path}")?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ":{place:#} ")?;
        let mark = if self.severity == Severity::Error { error } else { warning };
        if self.severity == Severity::Warning {
            write!(f, "{mark}warning[{}]:{mark:#} ", self.rule)?;
        }
        write!(f, "{}", input::clipped(&self.message))?;
        if let Some((line, skipped, width)) = &self.source {
            // Tabs are kept, so that the caret is below the value on the terminal.
            let padding = line.chars().map(|c| if c == '\t' { '\t' } else { ' ' });
            let padding: String = padding.chain(std::iter::repeat(' ')).take(*skipped).collect();
            write!(f, "\n  {line}\n  {padding}{mark}{}{mark:#}", "^".repeat(*width))?;
        }
        write!(f, "\n  {help}help:{help:#} {}", input::clipped(&self.help))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::findings::report::*;

    fn place(text: &str, span: Range<usize>) -> (usize, usize, String, usize) {
        Text { path: "x.toml".to_owned(), text: text.to_owned() }.place(span)
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        assert_eq!(place("a = 1\nß = \"é\"", 10..14), (2, 4, "ß = \"é\"".to_owned(), 3));
    }

    #[test]
    fn a_value_of_many_lines_is_underlined_on_its_first() {
        assert_eq!(place("a = [\n 1,\n]\n", 4..11), (1, 5, "a = [".to_owned(), 1));
    }

    #[test]
    fn a_place_at_the_end_of_the_file_still_has_a_caret() {
        assert_eq!(place("a = ", 4..4), (1, 5, "a = ".to_owned(), 1));
        assert_eq!(place("a =\n", 4..4), (2, 1, String::new(), 1));
    }

    #[test]
    fn carriage_returns_and_control_characters_are_not_shown() {
        assert_eq!(place("a = \u{1b}\r\nb", 4..5), (1, 5, "a = ?".to_owned(), 1));
    }

    #[test]
    fn a_range_inside_a_character_does_not_panic() {
        assert_eq!(place("é", 1..9), (1, 1, "é".to_owned(), 1));
    }
}
