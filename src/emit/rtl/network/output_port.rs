//! An output of a router and its choice of virtual channel.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::network::params::NetworkParams;

pub(in crate::emit::rtl) fn output_port(w: &NetworkParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Network,
        "meshkv_output_port",
        &[
            "One output of a router: multiplexer and output register.",
            "",
            "The register drives the link: no combinational path leaves the router.",
        ],
    )
    .vcs(w)
    .meta_width(w.head + w.dest + 1)
    .flit_width(w)
    .clocked()
    .group("From the switch.");
    b = if w.staged {
        b.input(
            "go_vc",
            "VCS",
            "One-hot: the virtual channel of the flit that enters the register, granted in the cycle before or express.",
        )
        .input("load", 1, "A flit may enter the register.")
    } else {
        b.input(
            "send_vc",
            "VCS",
            "One-hot: the virtual channel of the departing flit; none: nothing is sent.",
        )
    };
    b = b.input("select", 2, "The selected input: a, b, c, d.");
    for i in ["a", "b", "c", "d"] {
        b = b.input(format!("meta_{i}"), "META_WIDTH", "");
    }
    for i in ["a", "b", "c", "d"] {
        b = b.input(format!("data_{i}"), "FLIT_WIDTH", "");
    }
    b.group("To the neighbour.")
        .output("tx_valid", "VCS", "")
        .output("tx_meta", "META_WIDTH", "")
        .output("tx_data", "FLIT_WIDTH", "")
        .build()
}

pub(in crate::emit::rtl) fn output_credits(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_output_credits",
        &[
            "What an output of a router may send: credits of the neighbour's buffer and locks of packets.",
            "",
            "It is apart from the multiplexer, so that a synthesiser may mix it with the grants.",
        ],
    )
    .vn0_vcs(w)
    .vcs(w)
    .slots(w)
    .clocked()
    .group("From the switch.")
    .input("send_vc", "VCS", "One-hot: the virtual channel of the departing flit; none: nothing is sent.")
    .input("send_last", 1, "Last flit of its packet.")
    .group("From the neighbour.")
    .input("tx_credit", "VCS", "One pulse a slot freed.")
    .group("Availability, for the inputs.")
    .output("avail", "VCS", "A credit waits.")
    .output("free", "VN0_VCS", "A credit waits and no packet holds the virtual channel.")
    .output("pick", "VN0_VCS", "One-hot: the free virtual channel for the next packet.")
    .instances(&["meshkv_credit_counter"])
    .build()
}

pub(in crate::emit::rtl) fn grant_vc(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_grant_vc",
        &[
            "Virtual channel of the flit that an output is granted, from the grants of its inputs.",
            "",
            "What each input would send is known before the grants, which pass two gates here.",
        ],
    )
    .param("INPUTS", 4, "Inputs that may use the output.")
    .vn0_vcs(w)
    .vcs(w)
    .group("By input, the first one lowest.")
    .input("kind", "3*INPUTS", "Grants: {KV_DATA, KV_FETCH, PART}.")
    .input(
        "lost_single",
        "INPUTS",
        "The input sends north or south instead, unless both are copies of KV_DATA.",
    )
    .input("lost_copy", "INPUTS", "It sends a flit with one destination there, so no copies.")
    .input("slot", "INPUTS*VCS", "One-hot: channel of KV_DATA.")
    .input("part_out", "INPUTS*VN0_VCS", "One-hot: the channel beyond of the flit of PART.")
    .input("part_last", "INPUTS", "The flit of PART is its packet's last.")
    .group("To the output.")
    .output("send_vc", "VCS", "")
    .output("send_last", 1, "")
    .build()
}

pub(in crate::emit::rtl) fn send_vc(w: &NetworkParams) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Network,
        "meshkv_send_vc",
        &[
            "Virtual channel of an output's flit, from the selected input.",
            "",
            "A packet's first flit takes the virtual channel that the output picked.",
        ],
    )
    .vn0_vcs(w)
    .vcs(w)
    .input("send", 1, "A flit is sent.")
    .input("select", 2, "The selected input: a, b, c, d.")
    .input("pick", "VN0_VCS", "One-hot: the free virtual channel for the next packet.")
    .group("The inputs' flits; one-hot, none for a first flit.");
    for i in ["a", "b", "c", "d"] {
        b = b.input(format!("vc_{i}"), "VCS", "");
    }
    b.input("first", 4, "First flit of its packet; bit 0 is a.")
        .input("last", 4, "Last flit of its packet.")
        .group("To the output.")
        .output("send_vc", "VCS", "")
        .output("send_last", 1, "")
        .build()
}
