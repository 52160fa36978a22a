//! Diagnostics as data: problems of files one by one, in JSON and SARIF, and results of checks, in JUnit's XML.

pub mod junit;
pub mod sarif;

use crate::config::{Advice, Problem, Report, Severity};
use schemars::JsonSchema;
use serde::Serialize;

/// One problem of a file, or one message of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnostic {
    /// The file.
    pub file: String,
    /// Line of the file, from 1; null if no line is about it.
    pub line: Option<usize>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// Path of the key; null if no key is about it.
    pub key: Option<String>,
    /// Name of the rule, which stays the same from version to version.
    pub rule: String,
    /// Severity.
    pub severity: Severity,
    /// The key, its value and the rule.
    pub message: String,
    /// Suggestion in words; null if there is none.
    pub help: Option<String>,
    /// Ways out, the best first: the settings of one, made together, end the problem.
    pub advice: Vec<Advice>,
    /// Reason why the file accepts it; null if it does not.
    pub accepted: Option<String>,
}

/// Something that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// What is wrong; none if nothing is.
    pub failure: Option<String>,
}

impl Diagnostic {
    fn of(file: &str, problem: &Problem, accepted: Option<&str>) -> Diagnostic {
        let (line, column) = problem.place.unzip();
        Diagnostic {
            file: file.to_owned(),
            line,
            column,
            key: Some(problem.key.clone()).filter(|key| !key.is_empty()),
            rule: problem.rule.to_owned(),
            severity: problem.severity,
            message: problem.message.clone(),
            help: Some(problem.help.clone()),
            advice: problem.advice.clone(),
            accepted: accepted.map(str::to_owned),
        }
    }
}

/// The problems of a file, and those that it accepts.
pub fn of_report(report: &Report) -> Vec<Diagnostic> {
    let problems = report.problems.iter().map(|problem| Diagnostic::of(&report.path, problem, None));
    let accepted = report.accepted.iter();
    let accepted = accepted.map(|of| Diagnostic::of(&report.path, &of.problem, Some(&of.reason)));
    problems.chain(accepted).collect()
}
