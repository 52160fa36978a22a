//! Modules that routers and tiles alike are built of and that know neither.

use super::block::Block;
use super::module::{ModuleBuilder, ModuleSpec};

/// The register between two SLRs.
pub(super) const CROSSING: &str = "meshkv_crossing";

pub(super) fn crossing() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        CROSSING,
        &[
            "Register on wires that come from another super logic region (SLR) of the device.",
            "",
            "It stands where they are received, and what drives them is a register too: from flip-flop to",
            "flip-flop, without logic between them. Constraints find it by its name.",
        ],
    )
    .param("WIDTH", 8, "Width of all in bits.")
    .param("CONTROL_WIDTH", 1, "The lowest bits, which are valid bits and credits: none shows out of reset.")
    .clocked()
    .input("d", "WIDTH", "In the other SLR.")
    .output("q", "WIDTH", "Here, a cycle later.")
    .build()
}

pub(super) fn crossing_chain() -> ModuleSpec {
    ModuleBuilder::new(Block::Common, "meshkv_crossing_chain",
        &[
            "A way from one SLR to another: at each boundary a register on either side of it.",
            "",
            "What is on it cannot be stopped, and has no reset: one at its begin outlasts what is on the way. No logic stands between its registers, nor between them and a boundary.",
        ],
    )
    .param("WIDTH", 8, "Width of all in bits.")
    .param("BOUNDARIES", 1, "Boundaries on the way; there may be none.")
    .input("clk", 1, "")
    .input("d", "WIDTH", "Where it begins.")
    .output("q", "WIDTH", "Where it ends, two cycles a boundary later.")
    .instances(&[CROSSING])
    .build()
}

pub(super) fn event_counters() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_event_counters",
        &[
            "Counts events over a whole run.",
            "",
            "Beside each event run the low bits of its total; a scan visits one after the other and keeps",
            "the 32-bit totals in a small memory. So many counters cost one adder. The scan shows each total",
            "as it passes: reading costs no port. Totals wrap after 2^32.",
        ],
    )
    .param("NUM_EVENTS", 25, "Events, at most 31.")
    .clocked()
    .input("happens", "NUM_EVENTS", "What happens in this cycle.")
    .group("The total that the scan has reached.")
    .output("stat_index", 5, "")
    .output("stat_data", 32, "")
    .build()
}

pub(super) fn fifo() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_fifo",
        &["FIFO of any depth in one clock; the oldest word falls through to the output."],
    )
    .param("WIDTH", 64, "Width of a word in bits.")
    .param("DEPTH", 8, "Words, at least 2.")
    .clocked()
    .input("s_valid", 1, "")
    .output("s_ready", 1, "")
    .input("s_data", "WIDTH", "Word in.")
    .output("m_valid", 1, "")
    .input("m_ready", 1, "")
    .output("m_data", "WIDTH", "Word out.")
    .build()
}
