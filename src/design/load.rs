//! Reads and checks a configuration, then decides its [`Design`].

use super::check::{check, check_for_the_card, CARD_WARNINGS, WARNINGS};
use super::design::Design;
use crate::config::{self, Config, Finding, Report, Severity, Warnings, OWN_WARNINGS};
use std::fmt;
use std::path::Path;

/// The reasons why a configuration cannot be built, without warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Illegal(pub Vec<Finding>);

impl std::error::Error for Illegal {}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> =
            self.0.iter().map(|f| format!("{}; {}", f.sentence(false), f.help_text())).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl Design {
    /// Reads a configuration file and decides everything; the design is named after the file. The [`Report`]
    /// holds the warnings.
    ///
    /// # Errors
    /// All problems of the file at once, each with its line, a caret and a remedy.
    pub fn load(path: &Path) -> Result<(Design, Report), Report> {
        Design::load_checked(path, check, &[&WARNINGS, &OWN_WARNINGS])
    }

    /// As [`Design::load`], with warnings also of what the card cannot hold.
    ///
    /// # Errors
    /// As [`Design::load`].
    pub fn load_for_the_card(path: &Path) -> Result<(Design, Report), Report> {
        Design::load_checked(path, check_for_the_card, &[&WARNINGS, &CARD_WARNINGS, &OWN_WARNINGS])
    }

    fn load_checked(
        path: &Path,
        check: impl Fn(&str, &Config) -> Vec<Finding>,
        judged: &[&[&str]],
    ) -> Result<(Design, Report), Report> {
        let known: [&[&str]; 3] = [&WARNINGS, &CARD_WARNINGS, &OWN_WARNINGS];
        let loaded =
            config::load(path, check, Warnings { known: &known.concat(), judged: &judged.concat() })?;
        Ok((Design::decide(&loaded.name, &loaded.config), loaded.warnings))
    }

    /// Decides everything from a configuration that is named `name`.
    ///
    /// # Errors
    /// When the configuration cannot be built, with every reason.
    pub fn from_config(name: &str, config: &Config) -> Result<Design, Illegal> {
        let errors: Vec<_> =
            check(name, config).into_iter().filter(|f| f.severity == Severity::Error).collect();
        if errors.is_empty() {
            Ok(Design::decide(name, config))
        } else {
            Err(Illegal(errors))
        }
    }
}
