//! An input of a router: its buffers and its requests.

use crate::emit::rtl::block::Block;
use crate::emit::rtl::module::{ModuleBuilder, ModuleSpec};
use crate::emit::rtl::network::params::NetworkParams;

pub(in crate::emit::rtl) fn input_port(w: &NetworkParams, multicast: bool) -> ModuleSpec {
    let b = ModuleBuilder::new(
        Block::Network,
        "meshkv_input_port",
        &[
            "Buffers of one input of a router: all virtual channels in one memory bank.",
            "",
            "A flit is written in the cycle of its arrival and can leave in the next. The head of every",
            "virtual channel stores the set of outputs it still owes a copy. Each copy leaves when its",
            "output is granted (asynchronous replication); the last one frees the slot and returns its",
            "credit. A virtual channel is empty when its head owes nothing.",
        ],
    );
    // Only multicast distinguishes virtual channels whose flits have several destinations.
    let b = if multicast { b.vn0_vcs(w) } else { b };
    b.outputs()
        .vcs(w)
        .slots(w)
        .half_slot(w)
        .meta_width(w.head + w.dest + w.column_dest + 2)
        .flit_width(w)
        .clocked()
        .group("From the link.")
        .input("rx_valid", "VCS", "One-hot: the virtual channel of the flit.")
        .input("rx_route", 5, "Outputs owed a copy, without those served by an express path.")
        .input("rx_last", 1, "Last flit of its packet.")
        .input("rx_meta", "META_WIDTH", "")
        .input("rx_data", "FLIT_WIDTH", "")
        .output("rx_credit", "VCS", "One pulse a slot freed.")
        .group("To the switch: the head of the virtual channel that rd_vc names.")
        .input(
            "grant",
            5,
            if w.staged {
                "Outputs that are granted a copy of its KV_DATA."
            } else {
                "Outputs that take a copy of it in this cycle."
            },
        )
        .input("rd_vc", "VCS", "One-hot, or none.")
        .output("rd_meta", "META_WIDTH", "")
        .output("rd_data", "FLIT_WIDTH", "")
        .group("The heads.")
        .output("pending", "5*VCS", "Owes a copy to that output; bit output * VCS + v.")
        .output("occupied", "VCS", "There is a head.")
        .output(
            "last",
            "VCS",
            "Bit 0 of the head's header: last flit of a PART packet, KV_DATA with several destinations.",
        )
        .output("full", "VCS", "At least half of the slots hold a flit.")
        .output("freed", "VCS", "The head leaves for good in this cycle.")
        .build()
}

pub(in crate::emit::rtl) fn vc_request(w: &NetworkParams) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_vc_request",
        &[
            "Requests of one input to the five outputs, and its choice of virtual channel.",
            "",
            "A virtual channel requests only with a credit, so every grant moves a flit. The departing one",
            "follows from the kind of flit that has won. A favoured head that has waited too long claims the",
            "next credits of its class, and its rivals stand back from them, until it has left or its time is over.",
        ],
    )
    .outputs()
    .vn0_vcs(w)
    .vcs(w)
    .patience()
    .clocked()
    .group("Heads of the buffers.")
    .input("pending", "5*VCS", "Owes a copy to that output; bit output * VCS + v.")
    .input("occupied", "VCS", "")
    .input("last", "VCS", "Last flit of a PART packet; KV_DATA with several destinations.")
    .input("freed", "VCS", "The head leaves for good in this cycle.")
    .group("The flit on the link.")
    .input("rx_valid", "VCS", "")
    .input("rx_last", 1, "")
    .group("The outputs, bit output * VCS + v.")
    .input("avail", "5*VCS", "A credit waits.")
    .input("free", "5*VN0_VCS", "A credit waits and no packet holds the virtual channel.")
    .input("pick", "5*VN0_VCS", "One-hot: the free virtual channel for the next packet.")
    .group("Claims of the next credits, by class: {KV_DATA, KV_FETCH, PART}.")
    .input("closed", 3, "An input claims them.")
    .input("holds", 1, "It is this input.")
    .input("closed_outputs", 5, "At these outputs.")
    .input("tick", 1, "A period of 32 cycles ends.")
    .input("slips", 1, "The turn among channels of KV_DATA stays.")
    .output("claim", 3, "This input would claim them.")
    .output("claim_outputs", 5, "At these outputs.")
    .group(if w.staged {
        "Requests, by output: {KV_DATA, KV_FETCH, PART}."
    } else {
        "Requests, by output: {KV_DATA, KV_FETCH, PART inside a packet, first flit of a PART packet}."
    })
    .output("wants", 5 * w.kinds, "")
    .when(
        w.staged,
        |b| {
            b.output("held_single", 5, "Outputs for which flits with one destination wait, with a credit or without.")
                .output("held_copy", 5, "Outputs for which the KV_DATA head waits whose turn it is.")
                .output("insists", 5, "Outputs to which the head that claims could leave.")
        },
        |b| b.output("copying", 1, "Copies of a KV_DATA flit go before flits with one destination."),
    )
    .output("several", 1, "The KV_DATA head whose turn it is has several destinations.")
    .output("express_ok", 5, "The flit on the link has an empty buffer and a credit at that output.")
    .group("Grants.")
    .input("won", 5 * w.kinds, "Requests that are granted.")
    .when(
        w.staged,
        |b| {
            b.input("lost_single", 1, "What of it has one destination and is at east, west or the tile is not.")
                .input("lost_copy", 1, "The same for KV_DATA.")
                .output("yield", 1, "North and south stand back for flits to the other outputs.")
        },
        |b| b,
    )
    .output("grant", 5, if w.staged { "Outputs that take a copy of the departing flit." } else { "Outputs that take the departing flit." })
    .input("express", 5, "Outputs that take the flit on the link.")
    .output("rd_vc", "VCS", "One-hot: the virtual channel to read.")
    .when(
        w.staged,
        |b| {
            b.group("What would depart, by output and kind.")
                .output("out_slot", "VCS", "One-hot: channel of KV_DATA.")
                .output("part_out", "5*VN0_VCS", "One-hot: the channel beyond of the flit of PART.")
                .output("part_last", 5, "The flit of PART is its packet's last.")
                .group("The flit on the link: its virtual channel beyond the output, one-hot; none for a first flit.")
                .output("express_vc", "VCS", "")
        },
        |b| {
            b.group("The departing flit: its virtual channel beyond the output, one-hot; none for a first flit.")
                .output("out_vc", "VCS", "")
                .output("out_first", 1, "First flit of its packet: it takes the output's pick.")
                .output("out_last", 1, "Last flit of its packet.")
                .output("express_vc", "VCS", "The same for the flit on the link.")
        },
    )
    .output("express_first", 1, "")
    .build()
}
