//! Violations: errors of a network in carrying flits.

use schemars::JsonSchema;
use serde::Serialize;

/// Violations whose message is kept; all are counted.
const KEPT: usize = 16;

/// Kind of a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ViolationKind {
    /// Head or payload differ from the sent flit, or no such flit was ever sent.
    Corrupt,
    /// A flit came a second time.
    Duplicate,
    /// A flit came out at a tile outside its set.
    WrongTile,
    /// A flit came out on a virtual channel of another class.
    WrongVc,
    /// A flit overtook one that it must follow.
    OutOfOrder,
    /// A flit of another packet came inside a PART packet.
    Interleaved,
    /// A flit came after the longest wait that any may have.
    Overdue,
    /// A flit never came.
    Lost,
    /// At the end a virtual channel still holds a flit.
    Stuck,
    /// At the end a sender does not have all its credits.
    Credits,
    /// Links carried more or fewer flits than the trees of all sent flits have links.
    Links,
    /// A master broke the rules of AXI4 at a memory port.
    Protocol,
}

/// One violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Violation {
    /// Its kind.
    pub kind: ViolationKind,
    /// Place, time and flit.
    pub message: String,
}

/// The number of violations, and the first with their messages.
#[derive(Debug, Default)]
pub(in crate::cosim) struct Violations {
    /// Number of violations.
    pub count: u64,
    /// The first violations.
    pub first: Vec<Violation>,
}

impl Violations {
    /// Counts one. The message is made only for those that are kept: a broken network has millions.
    pub fn add(&mut self, kind: ViolationKind, message: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(Violation { kind, message: message() });
        }
    }
}
