//! Round-robin arbiters.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};

pub(in crate::emit::rtl) fn arbiter2() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_arbiter2",
        &[
            "Round-robin arbiter of two requests.",
            "",
            "At most one grant; exactly one whenever there is a request.",
        ],
    )
    .clocked()
    .input("used", 1, "The grant is used, so the next request is preferred from now on.")
    .input("request", 2, "")
    .output("grant", 2, "")
    .build()
}

pub(in crate::emit::rtl) fn arbiter4() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_arbiter4",
        &[
            "Round-robin arbiter of four requests.",
            "",
            "The preferred request is stored in binary, so that each grant is a function of six bits: one",
            "look-up table. At most one grant; exactly one whenever there is a request.",
        ],
    )
    .clocked()
    .input("used", 1, "The grant is used, so the next request is preferred from now on.")
    .input("request", 4, "")
    .output("grant", 4, "")
    .build()
}
