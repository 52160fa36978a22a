//! What a network can do wrong with a flit.

use serde::Serialize;

/// Violations that are kept with their message; all are counted.
const KEPT: usize = 16;

/// What a network did wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ViolationKind {
    /// Head or payload differ from what was sent, or no such flit was ever sent.
    Corrupt,
    /// A flit came a second time.
    Duplicate,
    /// A flit came out at a tile outside its set.
    WrongTile,
    /// A flit came out on a virtual channel of another class.
    WrongVc,
    /// A flit overtook one that it must follow.
    OutOfOrder,
    /// A flit of another packet stands inside a PART packet.
    Interleaved,
    /// A flit never came.
    Lost,
    /// At the end a virtual channel still holds a flit.
    Stuck,
    /// At the end a sender has not all its credits back.
    Credits,
    /// Links carried more or fewer flits than the trees of what was sent have.
    Links,
    /// A master broke the rules of AXI4 at a memory port.
    Protocol,
}

/// One thing that a network did wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// What it is.
    pub kind: ViolationKind,
    /// Where, when and which flit.
    pub message: String,
}

/// All violations, counted, and the first with their messages.
#[derive(Debug, Default)]
pub(in crate::cosim) struct Violations {
    /// How many there were.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Violation>,
}

impl Violations {
    /// Counts one. The message is made only for those that are kept: a broken network gives millions.
    pub fn add(&mut self, kind: ViolationKind, message: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(Violation { kind, message: message() });
        }
    }
}
