//! The credit counter of a virtual channel.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::network::params::NetworkParams;

pub(in crate::emit::rtl) fn credit_counter(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_credit_counter",
        &[
            "Credits of one virtual channel of one link.",
            "",
            "It holds one credit for each slot of the receiver's buffer. So a flit is only sent when the",
            "receiver has room for it, and no ready wire crosses the link.",
        ],
    )
    .slots(w)
    .clocked()
    .input("send", 1, "A flit leaves.")
    .input("credit", 1, "The receiver has freed a slot.")
    .output("available", 1, "At least one credit is left; from a register.")
    .output("one_left", 1, "A flit sent now uses the last credit.")
    .build()
}
