//! What is wrong or unwise about a configuration, before it is known where that was written.

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is built.
    Error,
    /// Legal but unwise.
    Warning,
}

/// One thing that is wrong or unwise: the value, the rule, the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Path of the key it is about, `table.name`.
    pub key: String,
    /// The other keys it follows from.
    pub involves: Vec<&'static str>,
    /// Whether it stops the run.
    pub severity: Severity,
    /// The value as it is told, if the key has one.
    pub value: Option<String>,
    /// The rule it breaks, to be read after "which", or after the key when there is no value.
    pub fault: String,
    /// The way out.
    pub help: String,
}

impl Finding {
    /// A finding on `key` that stops the run and is about no value: `fault` follows the key.
    pub fn error(key: &str, fault: impl Into<String>, help: impl Into<String>) -> Finding {
        Finding {
            key: key.to_owned(),
            involves: Vec::new(),
            severity: Severity::Error,
            value: None,
            fault: fault.into(),
            help: help.into(),
        }
    }

    /// The finding that the value of `key` breaks a rule: `key is value, which fault`.
    pub fn value(
        key: &str,
        value: impl ToString,
        fault: impl Into<String>,
        help: impl Into<String>,
    ) -> Finding {
        Finding { value: Some(value.to_string()), ..Finding::error(key, fault, help) }
    }

    /// The same, but only told.
    pub fn as_warning(self) -> Finding {
        Finding { severity: Severity::Warning, ..self }
    }

    /// The same, as a consequence of other keys too: it is dropped when one of them is wrong
    /// by itself, because a default then stands in for the value that was meant.
    pub fn with(self, involves: &[&'static str]) -> Finding {
        Finding { involves: involves.to_vec(), ..self }
    }

    /// The sentence; `by_default` says that nobody wrote the value.
    pub fn sentence(&self, by_default: bool) -> String {
        let default = if by_default { " by default" } else { "" };
        match &self.value {
            Some(value) => format!("{} is {value}{default}, which {}", self.key, self.fault),
            None => format!("{} {}", self.key, self.fault).trim_start().to_owned(),
        }
    }
}
