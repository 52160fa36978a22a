//! The verdict of ABC, read from what it prints.

use serde::{Deserialize, Serialize};

/// Verdict on all assertions of a proof.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// They hold in every state that can be reached.
    Proved {
        /// Clauses of the inductive invariant that ABC found; none where the assertions are one themselves.
        clauses: u32,
    },
    /// One falls.
    Refuted {
        /// Steps from the beginning to the fall.
        frame: u32,
    },
    /// Neither was found within the limit.
    Open,
}

/// How a verdict was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Method {
    /// Induction over some steps: all assertions together are an invariant.
    Induction,
    /// Property-directed reachability.
    Reachability,
    /// Satisfiability of one step: what is left of the graph has no state.
    Sat,
    /// A search through runs of limited length.
    Bounded,
}

impl Method {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Method::Induction => "induction",
            Method::Reachability => "pdr",
            Method::Sat => "sat",
            Method::Bounded => "bmc",
        }
    }
}

/// True if nothing of the graph was left that has a state: then `sat` decides.
pub(super) fn is_combinational(log: &str) -> bool {
    log.contains("Does not work for combinational networks") || log.contains("network is combinational")
}

/// Reads what `pdr`, `bmc3` or `sat` printed; `None` if it is none of a verdict.
pub(super) fn read(log: &str) -> Option<Verdict> {
    let after = |line: &str, words: &str| -> Option<u32> {
        let (_, rest) = line.split_once(words)?;
        rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    let asserted = log.lines().find_map(|line| after(line, "was asserted in frame"));
    if let Some(frame) = asserted {
        return Some(Verdict::Refuted { frame });
    }
    if log.lines().any(|line| line.contains("Property proved") || line.starts_with("UNSATISFIABLE")) {
        let invariant = log.lines().filter(|line| line.starts_with("Invariant F["));
        let clauses = invariant.filter_map(|line| after(line, "] :")).next_back().unwrap_or(0);
        return Some(Verdict::Proved { clauses });
    }
    let open = [
        "UNDECIDED",
        "No output asserted",
        "No output failed",
        "Reached timeout",
        "undecided",
        "Runtime limit",
    ];
    log.lines().any(|line| open.iter().any(|words| line.contains(words))).then_some(Verdict::Open)
}

/// Reads what `bmc3` and then `ind` printed: proved if each step follows from those before it, and so many first ones hold.
pub(super) fn of_induction(log: &str, frames: u32) -> Verdict {
    let follows = log.lines().any(|line| line.contains("Networks are equivalent"));
    let holds = log.lines().any(|line| line.contains(&format!("No output asserted in {frames} frames")));
    if follows && holds {
        Verdict::Proved { clauses: 0 }
    } else {
        Verdict::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_of_abc_is_told_from_the_others() {
        let proved = "Invariant F[13] : 496 clauses with 26 flops (out of 26) (cex = 0, ave = 13.61)\n\
                      Verification of invariant with 496 clauses was successful.  Time =     0.04 sec\n\
                      Property proved.  Time =     2.06 sec\n";
        assert_eq!(read(proved), Some(Verdict::Proved { clauses: 496 }));
        let refuted = "Output 0 of miter \"f\" was asserted in frame 8.  Time =     0.11 sec\n";
        assert_eq!(read(refuted), Some(Verdict::Refuted { frame: 8 }));
        assert_eq!(
            read("Reached timeout (2 seconds).\nProperty UNDECIDED.  Time = 2.00 sec\n"),
            Some(Verdict::Open)
        );
        assert_eq!(read("Empty network.\n"), None);
        let follows = "Completed 3 iterations.\nNetworks are equivalent.  Time =     0.15 sec\n";
        let holds =
            "No output asserted in 7 frames. Resource limit reached (bound frames 7). Time =  0.1 sec\n";
        assert_eq!(of_induction(&[holds, follows].concat(), 7), Verdict::Proved { clauses: 0 });
        assert_eq!(of_induction(holds, 7), Verdict::Open);
        assert_eq!(of_induction(follows, 7), Verdict::Open);
        assert_eq!(of_induction(&[holds, follows].concat(), 17), Verdict::Open);
    }
}
