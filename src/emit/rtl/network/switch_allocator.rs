//! The switch allocator of a router, and its priorities.

use crate::design::index_bits;
use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::network::params::{NetworkParams, PORTS};

pub(in crate::emit::rtl) fn switch_allocator(w: &NetworkParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Network, "meshkv_switch_allocator",
        &[
            "Matches the inputs of a router to its outputs, once a cycle.",
            "",
            "Outputs are decided one after the other and granted inputs drop out. So the matching is",
            "maximal but for the side choices, unlike that of single-pass separable allocators. North and",
            "south, which have the most contenders, go first, then east and west, then the tile.",
            "An output rotates over its inputs, weighted for straight flits; an input chooses virtual channels by its guard.",
        ],
    )
    .x_width(w)
    .y_width(w)
    .vn0_vcs(w)
    .vcs(w)
    .starve_limit()
    .clocked();
    for p in PORTS {
        b = b
            .group(match p {
                "n" => "Input n: heads, link, grants; output n: the departing flit.",
                "s" => "Input and output s.",
                "e" => "Input and output e.",
                "w" => "Input and output w.",
                _ => "Input and output l, the tile.",
            })
            .input(format!("pending_{p}"), "5*VCS", "")
            .input(format!("occupied_{p}"), "VCS", "")
            .input(format!("last_{p}"), "VN0_VCS", "")
            .input(format!("freed_{p}"), "VCS", "")
            .input(format!("rx_valid_{p}"), "VCS", "")
            .input(format!("rx_last_{p}"), 1, "")
            .output(format!("grant_{p}"), 5, "")
            .output(format!("express_{p}"), 5, "")
            .output(format!("rd_vc_{p}"), "VCS", "")
            .output(format!("send_vc_{p}"), "VCS", "")
            .output(format!("send_last_{p}"), 1, "")
            .output(format!("select_{p}"), 2, "");
    }
    b.group("Tiles beyond this one in each direction.")
        .input("tiles_n", "Y_WIDTH", "")
        .input("tiles_s", "Y_WIDTH", "")
        .input("tiles_e", "X_WIDTH", "")
        .input("tiles_w", "X_WIDTH", "")
        .group("The flit on the link continues along the row: input, output.")
        .input("wants_w_e", 1, "")
        .input("wants_e_w", 1, "")
        .input("wants_l_e", 1, "")
        .input("wants_l_w", 1, "")
        .group("State of the outputs.")
        .input("avail", "5*VCS", "")
        .input("free", "5*VN0_VCS", "")
        .input("pick", "5*VN0_VCS", "")
        .output("blocked", 5, "Heads owe this output a copy and lack its credits.")
        .instances(&[
            "meshkv_vc_request",
            "meshkv_pair_choice",
            "meshkv_through_priority",
            "meshkv_output_open",
            "meshkv_arbiter4",
            "meshkv_arbiter2",
            "meshkv_send_vc",
        ])
        .build()
}

pub(in crate::emit::rtl) fn pair_choice() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_pair_choice",
        &[
            "Restricts an input that requests two outputs to one of them.",
            "",
            "The two outputs are decided independently in the same cycle, and an input",
            "can feed both only with copies of one flit. The output granted last yields.",
        ],
    )
    .clocked()
    .input("request_a", 1, "")
    .input("request_b", 1, "")
    .input("compatible", 1, "Both outputs would get copies of one flit.")
    .input("grant_a", 1, "")
    .input("grant_b", 1, "")
    .output("ask_a", 1, "")
    .output("ask_b", 1, "")
    .build()
}

pub(in crate::emit::rtl) fn output_open() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_output_open",
        &[
            "Lets an input ask for an output after it has won others in the same cycle.",
            "",
            "Outputs are decided one after the other, and an input feeds several of them only with copies of",
            "one flit. So an input that has won is open only where this output and all that it has won get copies.",
        ],
    )
    .param("BEFORE", 3, "Outputs that are decided before and that the input may win.")
    .input("request", 1, "The input asks for this output.")
    .input("copy", 1, "It offers this output a copy.")
    .input("won", "BEFORE", "Outputs that it has won.")
    .input("copies", "BEFORE", "Outputs that it offers a copy.")
    .output("ask", 1, "The request stands.")
    .build()
}

pub(in crate::emit::rtl) fn through_priority(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(Block::Network, "meshkv_through_priority",
        &[
            "Shares an output between straight flits and flits that join there.",
            "",
            "Straight flits represent all tiles behind them, so they have priority for several flits before the",
            "others have a turn: a quarter as many as there are such tiles, for KV_DATA twice as many.",
            "Flits are counted, not cycles, so that the period of returning credits cannot starve an input.",
        ],
    )
    .param("WIDTH", index_bits(w.rows.max(w.cols)), "Width of a number of tiles in bits.")
    .clocked()
    .input("behind", "WIDTH", "Tiles behind the straight flits.")
    .input("copy", 1, "The straight flit is KV_DATA.")
    .input("passed", 1, "A straight flit is granted.")
    .input("turned", 1, "Another flit is granted.")
    .output("through", 1, "Straight flits have priority; otherwise round robin.")
    .build()
}
