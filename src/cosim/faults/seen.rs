//! The report of a run with faults.

use crate::design::Flaw;
use std::fmt;

/// Outputs of a run with faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outputs {
    /// All are the model's in every bit: so many.
    Right(usize),
    /// So many of all are not.
    Wrong(usize, usize),
    /// The run ended without them, or reported that they are void.
    NotTaken,
}

/// Report of a run with faults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Errors that the design reports, by the names of ERROR, each with its place, the first one first.
    pub errors: Vec<(&'static str, u32)>,
    /// Broken rules of AXI4, of either side.
    pub rules: Vec<String>,
    /// Its outputs.
    pub outputs: Outputs,
    /// The reason why it did not end as a run does.
    pub ended: Option<String>,
    /// The registers read as after power-up, and no interrupt stands.
    pub cleared: bool,
}

/// ERROR_INFO of an error in words.
pub(super) fn place(name: &str, info: u32) -> String {
    if name == "PARITY" {
        Flaw::told(info)
    } else {
        info.to_string()
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> =
            self.errors.iter().map(|&(name, info)| format!("{name} at {}", place(name, info))).collect();
        words.extend(self.rules.first().map(|rule| format!("a broken rule: {rule}")));
        words.extend(self.ended.clone());
        if self.cleared {
            words.push("the device is as after power-up, and its run has not ended".to_owned());
        }
        words.push(match self.outputs {
            Outputs::Right(all) => format!("all {all} outputs right"),
            Outputs::Wrong(differing, all) => format!("{differing} of {all} outputs differ"),
            Outputs::NotTaken => "no output was taken".to_owned(),
        });
        f.write_str(&words.join("; "))
    }
}
