//! A finding: an error or warning about a key, without its place in the file.

use crate::config::findings::advice::{words, Advice};
use schemars::JsonSchema;
use serde::Serialize;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// An error: nothing is built.
    Error,
    /// A warning: legal but unwise.
    Warning,
}

/// One finding: the value, the rule, the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule, which stays the same from version to version.
    pub rule: &'static str,
    /// Path of the key, `table.name`.
    pub key: String,
    /// The other keys that it depends on.
    pub involves: Vec<&'static str>,
    /// Error or warning.
    pub severity: Severity,
    /// The value as it is printed, if the key has one.
    pub value: Option<String>,
    /// The rule that it breaks, worded to follow "which", or the key when there is no value.
    pub fault: String,
    /// Reason of the rule, or a suggestion in words, without the ways of `advice`.
    pub help: String,
    /// Ways out, the best first. Each ends the finding by itself.
    pub advice: Vec<Advice>,
}

/// Rule of a finding about the form of a file.
const FORM: &str = "file-form";
/// Rule of a finding about a word that is no key.
pub(in crate::config) const UNKNOWN: &str = "key-is-known";

impl Finding {
    /// An error on `key` without a value: `fault` follows the key.
    pub fn error(key: &str, fault: impl Into<String>, help: impl Into<String>) -> Finding {
        Finding {
            rule: FORM,
            key: key.to_owned(),
            involves: Vec::new(),
            severity: Severity::Error,
            value: None,
            fault: fault.into(),
            help: help.into(),
            advice: Vec::new(),
        }
    }

    /// The same, found by the rule of this name.
    pub fn of(self, rule: &'static str) -> Finding {
        Finding { rule, ..self }
    }

    /// The same with ways out for programs.
    pub fn advising(self, advice: impl IntoIterator<Item = Advice>) -> Finding {
        Finding { advice: advice.into_iter().collect(), ..self }
    }

    /// An error about the value of `key`: `key is value, which fault`.
    pub fn value(
        key: &str,
        value: impl ToString,
        fault: impl Into<String>,
        help: impl Into<String>,
    ) -> Finding {
        Finding { value: Some(value.to_string()), ..Finding::error(key, fault, help) }
    }

    /// The same as a warning.
    pub fn as_warning(self) -> Finding {
        Finding { severity: Severity::Warning, ..self }
    }

    /// The same, as a consequence of other keys too. It is dropped when one of them is wrong by
    /// itself, because a default then replaces the intended value.
    pub fn with(self, involves: &[&'static str]) -> Finding {
        Finding { involves: involves.to_vec(), ..self }
    }

    /// Reason and ways out in words. The hint about an unknown key has its ways already.
    pub fn help_text(&self) -> String {
        help_text(self.rule, &self.help, &self.advice, &self.key)
    }

    /// The key, and the others that it depends on.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.key.as_str()).chain(self.involves.iter().copied())
    }

    /// The sentence; `by_default` marks a value that is not in the file.
    pub fn sentence(&self, by_default: bool) -> String {
        let default = if by_default { " by default" } else { "" };
        match &self.value {
            Some(value) => format!("{} is {value}{default}, which {}", self.key, self.fault),
            None => format!("{} {}", self.key, self.fault).trim_start().to_owned(),
        }
    }
}

/// A reason, and ways out in words. The hint about an unknown key has its ways already.
pub(in crate::config) fn help_text(rule: &str, reason: &str, advice: &[Advice], key: &str) -> String {
    if advice.is_empty() || rule == UNKNOWN {
        return reason.to_owned();
    }
    format!("{reason}; {}", words(advice, key))
}
