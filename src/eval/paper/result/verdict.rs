//! Verdicts on a claim of the paper.

use serde::{Deserialize, Serialize};

/// Verdict of a measurement on a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Ours is better by more than `TOLERANCE`.
    Exceeded,
    /// Ours is as good, or the same where the claim is about a baseline.
    Holds,
    /// Ours is as good under an assumption that the paper does not state.
    HoldsUnderAssumption,
    /// Ours is worse, or something else.
    DoesNotHold,
    /// A row or a tool is missing.
    NotMeasured,
}

/// Difference that counts as none, as a share of the paper's number.
pub const TOLERANCE: f64 = 0.05;

/// Direction in which a number is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// A lower number.
    Lower,
    /// A higher one.
    Higher,
    /// Neither: the number describes a baseline, or a size.
    Same,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Verdict; 5] = [
        Verdict::Exceeded,
        Verdict::Holds,
        Verdict::HoldsUnderAssumption,
        Verdict::DoesNotHold,
        Verdict::NotMeasured,
    ];

    /// Its name in print.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Exceeded => "exceeded",
            Verdict::Holds => "holds",
            Verdict::HoldsUnderAssumption => "holds under an assumption",
            Verdict::DoesNotHold => "does not hold",
            Verdict::NotMeasured => "not measured",
        }
    }

    /// A sign that tells it without colour.
    pub fn mark(self) -> &'static str {
        match self {
            Verdict::Exceeded => "\u{25b2}",
            Verdict::Holds => "\u{25cf}",
            Verdict::HoldsUnderAssumption => "\u{25d0}",
            Verdict::DoesNotHold => "\u{2715}",
            Verdict::NotMeasured => "\u{2013}",
        }
    }

    /// Judges one number.
    pub(in crate::eval::paper) fn of(better: Better, paper: f64, ours: f64) -> Verdict {
        let over = (ours - paper) / paper.abs().max(1e-12);
        let gain = match better {
            Better::Lower => -over,
            Better::Higher => over,
            Better::Same => -over.abs(),
        };
        match gain {
            gain if gain > TOLERANCE => Verdict::Exceeded,
            gain if gain >= -TOLERANCE => Verdict::Holds,
            _ => Verdict::DoesNotHold,
        }
    }

    /// True if the claim is met.
    pub(in crate::eval::paper) fn met(self) -> bool {
        matches!(self, Verdict::Exceeded | Verdict::Holds)
    }
}

#[cfg(test)]
mod tests {
    use crate::eval::paper::result::verdict::*;

    #[test]
    fn better_than_the_paper_is_exceeded_and_a_baseline_can_only_be_met() {
        let of = Verdict::of;
        assert_eq!(of(Better::Lower, 0.42, 0.30), Verdict::Exceeded);
        assert_eq!(of(Better::Lower, 0.42, 0.43), Verdict::Holds);
        assert_eq!(of(Better::Lower, 0.42, 0.81), Verdict::DoesNotHold);
        assert_eq!(of(Better::Higher, 1.9, 4.0), Verdict::Exceeded);
        assert_eq!(of(Better::Higher, 1.9, 1.0), Verdict::DoesNotHold);
        assert_eq!(of(Better::Same, 19.0, 2.0), Verdict::DoesNotHold);
        assert_eq!(of(Better::Same, 19.0, 19.5), Verdict::Holds);
    }
}
