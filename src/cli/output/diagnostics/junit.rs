//! Checks and their results as JUnit's XML, which CI servers show as tests.

use crate::cli::output::diagnostics::Check;
use crate::cli::output::ui::Ui;
use crate::tools::whole_file;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// Runs `work`, and writes what it has checked if a file is named, which is none of the `inputs`. A check that failed is a failure; an end without a
/// result is an error.
///
/// # Errors
/// Those of `work`; or when the file cannot be written.
pub fn recorded(
    file: Option<&Path>,
    inputs: &[(&str, &Path)],
    command: &str,
    ui: &Ui,
    work: impl FnOnce() -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let Some(path) = file else { return work() };
    whole_file::spares(path, inputs)?;
    whole_file::check(path)?;
    let ended = work();
    let mut checks = ui.checks();
    let error = ended.as_ref().err().map(|error| format!("{error:#}"));
    // A check that failed in words of its own has no name yet.
    let failed = ended.as_ref().is_ok_and(|code| *code != ExitCode::SUCCESS);
    if failed && checks.iter().all(|check| check.failure.is_none()) {
        let said = ui.errors().join("\n");
        let why = if said.is_empty() { "a check failed; see the result".to_owned() } else { said };
        checks.push(Check { name: "the run succeeds".to_owned(), failure: Some(why) });
    } else if checks.is_empty() && error.is_none() {
        checks.push(Check { name: "the run succeeds".to_owned(), failure: None });
    }
    let suite = Suite { name: ui.subject(command), checks: &checks, error, seconds: ui.seconds() };
    whole_file::write(path, suite.xml().as_bytes(), true)?;
    ended
}

/// One run of a subcommand.
struct Suite<'a> {
    name: String,
    checks: &'a [Check],
    /// The reason why there is no result.
    error: Option<String>,
    seconds: f64,
}

impl Suite<'_> {
    fn xml(&self) -> String {
        let tests = self.checks.len() + usize::from(self.error.is_some());
        let failures = self.checks.iter().filter(|check| check.failure.is_some()).count();
        let errors = usize::from(self.error.is_some());
        let counts = format!(
            "name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{:.3}\"",
            escaped(&self.name),
            self.seconds
        );
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite {counts}>\n"
        );
        for check in self.checks {
            self.case(&mut text, &check.name, check.failure.as_deref().map(|why| ("failure", why)));
        }
        if let Some(error) = &self.error {
            self.case(&mut text, "the run has a result", Some(("error", error)));
        }
        text + "  </testsuite>\n</testsuites>\n"
    }

    fn case(&self, text: &mut String, name: &str, wrong: Option<(&str, &str)>) {
        let head = format!("    <testcase classname=\"{}\" name=\"{}\"", escaped(&self.name), escaped(name));
        // Writing to a String cannot fail.
        let _ = match wrong {
            None => writeln!(text, "{head}/>"),
            Some((what, why)) => {
                let first = why.lines().next().unwrap_or_default();
                writeln!(
                    text,
                    "{head}>\n      <{what} message=\"{}\">{}</{what}>\n    </testcase>",
                    escaped(first),
                    escaped(why)
                )
            }
        };
    }
}

/// Text that may stand in an attribute or an element. XML has no control characters but three.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::cli::output::diagnostics::junit::*;

    #[test]
    fn failures_and_errors_are_counted_and_escaped() {
        let checks = [
            Check { name: "a < b".into(), failure: None },
            Check { name: "c".into(), failure: Some("x & \"y\"\nmore\u{1b}".into()) },
        ];
        let error = Some("no tool".to_owned());
        let xml = Suite { name: "meshkv run tiny".into(), checks: &checks, error, seconds: 1.5 }.xml();
        assert_eq!(
            xml.matches("name=\"meshkv run tiny\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"1.500\"")
                .count(),
            2
        );
        assert!(xml.contains("name=\"a &lt; b\"/>"), "{xml}");
        assert!(
            xml.contains("<failure message=\"x &amp; &quot;y&quot;\">x &amp; &quot;y&quot;\nmore?</failure>")
        );
        assert!(xml.contains("<error message=\"no tool\">no tool</error>"), "{xml}");
        let count = |what: &str| xml.matches(what).count();
        assert_eq!(count("<testcase"), 3);
        assert_eq!(count("</testcase>"), 2);
    }
}
