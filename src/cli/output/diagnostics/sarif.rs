//! Diagnostics as SARIF 2.1.0, which code hosts and editors read.

use crate::cli::output::diagnostics::Diagnostic;
use crate::config::Severity;
use crate::tools::whole_file;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Writes a file; an existing one is replaced.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, found: &[Diagnostic]) -> anyhow::Result<()> {
    whole_file::write(path, format!("{:#}\n", log(found)).as_bytes(), true)
}

fn log(found: &[Diagnostic]) -> Value {
    let mut rules: BTreeMap<&str, usize> = BTreeMap::new();
    for one in found {
        rules.entry(&one.rule).or_default();
    }
    rules.values_mut().enumerate().for_each(|(at, index)| *index = at);
    let results: Vec<_> = found.iter().map(|one| result(one, rules[one.rule.as_str()])).collect();
    let described: Vec<_> = rules.keys().map(|id| json!({ "id": id })).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": described,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(of: &Diagnostic, rule: usize) -> Value {
    let level = match of.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let text = match &of.help {
        Some(help) => format!("{}\nhelp: {help}", of.message),
        None => of.message.clone(),
    };
    let mut place = json!({ "artifactLocation": { "uri": uri(&of.file) } });
    if let Some(line) = of.line {
        place["region"] = match of.column {
            Some(column) => json!({ "startLine": line, "startColumn": column }),
            None => json!({ "startLine": line }),
        };
    }
    let mut result = json!({
        "ruleId": of.rule,
        "ruleIndex": rule,
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": place }],
        "properties": { "key": of.key, "advice": of.advice },
    });
    if let Some(reason) = &of.accepted {
        result["suppressions"] = json!([{ "kind": "inSource", "justification": reason }]);
    }
    result
}

/// A path as a URI reference: what has a meaning there is escaped.
fn uri(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/".contains(&b);
    let escaped: String = path
        .bytes()
        .map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect();
    if escaped.starts_with('/') {
        format!("file://{escaped}")
    } else {
        escaped
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::output::diagnostics::sarif::*;
    use crate::config::Advice;

    #[test]
    fn a_log_has_rules_places_and_suppressions() {
        let one = Diagnostic {
            file: "my configs/a.toml".into(),
            line: Some(2),
            column: Some(5),
            key: Some("pad.fifo_depth".into()),
            rule: "fifo-covers-round-trip".into(),
            severity: Severity::Warning,
            message: "too short".into(),
            help: Some("try 52".into()),
            advice: vec![Advice::set("pad.fifo_depth", 52)],
            accepted: Some("measured".into()),
        };
        let other = Diagnostic {
            rule: "a-rule".into(),
            severity: Severity::Error,
            line: None,
            accepted: None,
            file: "/b.toml".into(),
            ..one.clone()
        };
        let log = log(&[one, other]);
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"][1]["id"], "fifo-covers-round-trip");
        let first = &run["results"][0];
        assert_eq!((&first["ruleIndex"], &first["level"]), (&json!(1), &json!("warning")));
        let place = &first["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "my%20configs/a.toml");
        assert_eq!(place["region"], json!({ "startLine": 2, "startColumn": 5 }));
        assert_eq!(first["suppressions"][0]["justification"], "measured");
        assert_eq!(first["properties"]["advice"][0]["set"][0]["value"], 52);
        let second = &run["results"][1];
        assert_eq!(second["level"], "error");
        assert!(second["suppressions"].is_null());
        let place = &second["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "file:///b.toml");
        assert!(place["region"].is_null());
    }
}
