//! The switch allocator of a router, and its priorities.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::network::params::{NetworkParams, PORTS};

/// What the allocator of a router of three stages does.
const STAGED: &[&str] = &[
    "Matches the inputs of a router to its outputs, once a cycle; grants are used a cycle later.",
    "",
    "All outputs are decided side by side. An input that holds flits for two outputs asks for one of",
    "them, in turns. North and south have most contenders: an input without a rival there asks for",
    "nothing else, and one that wins there against a rival loses what it has won elsewhere.",
    "An output first chooses a class, then an input of that class by the tiles behind it.",
];

/// Its parts.
const STAGED_PARTS: &[&str] = &[
    "meshkv_vc_request",
    "meshkv_side_choice",
    "meshkv_output_open",
    "meshkv_column_output",
    "meshkv_row_output",
    "meshkv_tile_output",
    "meshkv_grant_vc",
];

pub(in crate::emit::rtl) fn switch_allocator(w: &NetworkParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Network,
        "meshkv_switch_allocator",
        if w.staged {
            STAGED
        } else {
            &[
            "Matches the inputs of a router to its outputs, once a cycle.",
            "",
            "Outputs are decided one after the other and granted inputs drop out. So the matching is",
            "maximal but for the side choices, unlike that of single-pass separable allocators. North and",
            "south, which have the most contenders, go first, then east and west, then the tile.",
            "An output first chooses a class, then an input of that class by the tiles behind it.",
        ]
        },
    )
    .x_width(w)
    .y_width(w)
    .vn0_vcs(w)
    .vcs(w)
    .patience()
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
            .input(format!("last_{p}"), "VCS", "")
            .input(format!("freed_{p}"), "VCS", "");
        if p != "l" {
            b = b.input(format!("full_{p}"), "VCS", "");
        }
        b = b
            .input(format!("rx_valid_{p}"), "VCS", "")
            .input(format!("rx_last_{p}"), 1, "")
            .output(format!("grant_{p}"), 5, "")
            .output(format!("express_{p}"), 5, "")
            .output(format!("rd_vc_{p}"), "VCS", "")
            .output(format!("send_vc_{p}"), "VCS", "")
            .output(format!("send_last_{p}"), 1, "");
        if w.staged {
            b = b.output(format!("go_vc_{p}"), "VCS", "").output(format!("load_{p}"), 1, "");
        }
        b = b.output(format!("select_{p}"), 2, "");
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
        .instances(if w.staged {
            STAGED_PARTS
        } else {
            &[
                "meshkv_vc_request",
                "meshkv_pair_choice",
                "meshkv_output_open",
                "meshkv_column_output",
                "meshkv_row_output",
                "meshkv_tile_output",
                "meshkv_send_vc",
            ]
        })
        .build()
}

pub(in crate::emit::rtl) fn pair_choice(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_pair_choice",
        &[
            "Restricts an input that requests two outputs to one of them, or to copies of one flit.",
            "",
            "The two outputs are decided independently in the same cycle, and an input",
            "can feed both only with copies of one flit. The output granted last yields.",
        ],
    )
    .clocked()
    .group(w.kind_names())
    .input("want_a", w.kinds, "")
    .input("want_b", w.kinds, "")
    .input("copying", 1, "Copies go before flits with one destination.")
    .input("grant_a", 1, "")
    .input("grant_b", 1, "")
    .output("ask_a", w.kinds, "")
    .output("ask_b", w.kinds, "")
    .build()
}

pub(in crate::emit::rtl) fn side_choice(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_side_choice",
        &[
            "Restricts an input that holds flits for two outputs to one of them, or to copies of one flit.",
            "",
            "The outputs are decided independently in the same cycle, and an input can feed both only with",
            "copies of one flit. They are preferred in turns while flits are held for both, whatever leaves. The turns",
            "slip at random, as they could lock to the rhythm of returning credits. A",
            "head that claims and could have left in the cycle before is preferred without it.",
        ],
    )
    .clocked()
    .input("slips", 1, "The turn stays.")
    .input("insists_a", 1, "The head that claims could leave there.")
    .input("insists_b", 1, "")
    .input("yield", 1, "Neither is asked for.")
    .group("Flits that wait for the output, whether or not they could leave.")
    .input("single_a", 1, "With one destination.")
    .input("copy_a", 1, "KV_DATA.")
    .input("single_b", 1, "")
    .input("copy_b", 1, "")
    .group(w.kind_names())
    .input("want_a", w.kinds, "")
    .input("want_b", w.kinds, "")
    .output("ask_a", w.kinds, "")
    .output("ask_b", w.kinds, "")
    .build()
}

pub(in crate::emit::rtl) fn output_open(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_output_open",
        &[
            "Lets an input ask for an output after it has won others in the same cycle.",
            "",
            "Outputs are decided one after the other, and an input feeds several of them only with copies of",
            "one flit. So an input that has won is open only to copies, and only if it has won with one.",
        ],
    )
    .input("want", w.kinds, w.kind_names())
    .input("won_single", 1, "It has won an output with a flit that has one destination.")
    .input("won_copy", 1, "It has won an output with a copy of KV_DATA.")
    .output("ask", w.kinds, "Requests that stand.")
    .build()
}
