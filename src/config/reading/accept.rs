//! Sorts the warnings that a file accepts from those that it does not.

use crate::config::findings::finding::{Finding, Severity};
use crate::config::reading::file_keys::Accepted;
use crate::config::reading::spelling;
use std::ops::Range;

/// Rules that can give a warning.
#[derive(Debug, Clone, Copy)]
pub struct Warnings<'a> {
    /// All of them, by name.
    pub known: &'a [&'a str],
    /// Names of the rules that were checked.
    pub judged: &'a [&'a str],
}

/// Name of the warning about an acceptance that nothing needs.
const UNUSED: &str = "accept-is-used";

/// Findings after those that are accepted were taken out.
pub(in crate::config) struct Sorted {
    pub kept: Vec<Finding>,
    /// Accepted ones, each with the reason.
    pub accepted: Vec<(Finding, String)>,
    /// Findings about the acceptances themselves, with their places.
    pub wrong: Vec<(Finding, Range<usize>)>,
}

/// Sorts findings. Acceptances that nothing needs are only told if `complete`: then every warning was looked for.
pub(in crate::config) fn sort(
    accepts: &[Accepted],
    found: Vec<Finding>,
    warnings: Warnings<'_>,
    complete: bool,
) -> Sorted {
    let mut sorted = Sorted { kept: Vec::new(), accepted: Vec::new(), wrong: Vec::new() };
    let mut used = vec![false; accepts.len()];
    for finding in found {
        let of = |accept: &Accepted| {
            accept.warning == finding.rule && accept.key.as_ref().is_none_or(|key| *key == finding.key)
        };
        let accepting = accepts.iter().position(of).filter(|_| finding.severity == Severity::Warning);
        match accepting {
            Some(at) => {
                used[at] = true;
                sorted.accepted.push((finding, accepts[at].reason.clone()));
            }
            None => sorted.kept.push(finding),
        }
    }
    for (accept, used) in accepts.iter().zip(used) {
        let judged = complete && warnings.judged.contains(&accept.warning.as_str());
        if !warnings.known.contains(&accept.warning.as_str()) {
            sorted.wrong.push((unknown(accept, warnings.known), accept.span.clone()));
        } else if judged && !used {
            sorted.wrong.push((unused(accept), accept.span.clone()));
        }
    }
    sorted
}

fn unknown(accept: &Accepted, known: &[&str]) -> Finding {
    let near = spelling::nearest(&accept.warning, known.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    let help = format!("{hint}a message has the name of its warning in brackets: {}", known.join(", "));
    Finding::value("accept.warning", format!("{:?}", accept.warning), "is no warning of meshkv", help)
        .of("accept-names-warning")
}

fn unused(accept: &Accepted) -> Finding {
    let of = accept.key.as_ref().map_or_else(String::new, |key| format!(" about {key}"));
    let fault = format!("does not arise{of}");
    let help = "remove this [[accept]], or its next cause goes unseen";
    Finding::value("accept.warning", format!("{:?}", accept.warning), fault, help).of(UNUSED).as_warning()
}
