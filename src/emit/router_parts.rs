//! The modules a router is built of: purpose, parameters, ports. Their bodies are templates.
//!
//! Parameters that repeat from module to module are described once, here.

use super::block::Block;
use super::module::{ModuleBuilder, ModuleSpec};
use super::ring::Ring;
use crate::design::{index_bits, Design, STARVE_LIMIT};

/// Letters of all five ports, in index order.
pub(super) const PORTS: [&str; 5] = ["n", "s", "e", "w", "l"];

/// Parameter values that several modules share.
pub(super) struct Widths {
    pub(super) cols: u32,
    pub(super) rows: u32,
    pub(super) vn0_vcs: u32,
    pub(super) vcs: u32,
    pub(super) vc_depth: u32,
    pub(super) dest: u32,
    pub(super) column_dest: u32,
    pub(super) head: u32,
    pub(super) flit: u32,
    pub(super) crossings: u32,
}

impl Widths {
    pub(super) fn of(design: &Design) -> Widths {
        Widths {
            cols: design.mesh.cols(),
            rows: design.mesh.rows(),
            vn0_vcs: design.router.vn0_vcs,
            vcs: design.router.vcs(),
            vc_depth: design.router.vc_depth,
            dest: design.flit.dest_width,
            column_dest: design.flit.column_dest_width,
            head: design.flit.head_width,
            flit: design.flit.data_width,
            crossings: design.crossings(),
        }
    }
}

/// Parameters that repeat from module to module, each described once.
impl ModuleBuilder {
    pub(super) fn mesh_params(self, w: &Widths) -> Self {
        self.param("COLS", w.cols, "Tiles from west to east.").param(
            "ROWS",
            w.rows,
            "Tiles from south to north.",
        )
    }
    pub(super) fn crossings(self, w: &Widths) -> Self {
        let doc = "Bit y: what leads from row y to row y + 1, and back, passes a register between two SLRs.";
        self.bits_param("CROSSINGS", "[15:0]", format!("16'b{:016b}", w.crossings), doc)
    }
    pub(super) fn x_width(self, w: &Widths) -> Self {
        self.param("X_WIDTH", index_bits(w.cols), "Width of a column number in bits.")
    }
    pub(super) fn y_width(self, w: &Widths) -> Self {
        self.param("Y_WIDTH", index_bits(w.rows), "Width of a row number in bits.")
    }
    pub(super) fn vn0_vcs(self, w: &Widths) -> Self {
        self.param("VN0_VCS", w.vn0_vcs, "Virtual channels of VN0: numbers 0 to VN0_VCS - 1, for PART.")
    }
    pub(super) fn vcs(self, w: &Widths) -> Self {
        self.param("VCS", w.vcs, "Virtual channels of a port; VN0_VCS is KV_FETCH, those above KV_DATA.")
    }
    /// What there is to say of a buffer's depth: the ring is as long as the buffer is deep.
    pub(super) fn slots(self, w: &Widths) -> Self {
        let ring = Ring::of(w.vc_depth);
        self.param("PTR_WIDTH", ring.width(), "Width of a slot number in bits, at least 2.").bits_param(
            "RING",
            "[(1<<PTR_WIDTH)-1:0]",
            ring.literal(),
            "Order of a buffer's slots, from 1 on: bit s is shifted in behind slot s.",
        )
    }
    fn outputs(self) -> Self {
        let doc = "Outputs that its flits may take: bits local, west, east, south, north.";
        self.bits_param("OUTPUTS", "[4:0]", "5'b11111".to_owned(), doc)
    }
    pub(super) fn dest_width(self, w: &Widths) -> Self {
        self.param("DEST_WIDTH", w.dest, "Width of a destination on row links and at the tile, in bits.")
    }
    pub(super) fn column_dest_width(self, w: &Widths) -> Self {
        self.param("COLUMN_DEST_WIDTH", w.column_dest, "Width of a destination on column links in bits.")
    }
    pub(super) fn head_width(self, w: &Widths) -> Self {
        self.param("HEAD_WIDTH", w.head, "Width of a flit's header fields in bits.")
    }
    pub(super) fn flit_width(self, w: &Widths) -> Self {
        self.param("FLIT_WIDTH", w.flit, "Width of a flit's payload in bits.")
    }
    pub(super) fn meta_width(self, value: u32) -> Self {
        self.param("META_WIDTH", value, "Width of what travels beside the payload, in bits.")
    }
    pub(super) fn starve_limit(self) -> Self {
        self.param(
            "STARVE_LIMIT",
            STARVE_LIMIT,
            "Cycles a head that could leave may be passed over by its port.",
        )
    }
}

pub(super) fn arbiter2() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_arbiter2",
        &[
            "Round-robin arbiter of two requests.",
            "",
            "At most one grant, and one whenever anything is requested.",
        ],
    )
    .clocked()
    .input("through", 1, "Request 0 goes first whoever's turn it is.")
    .input("request", 2, "")
    .output("grant", 2, "")
    .build()
}

pub(super) fn arbiter4() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Common,
        "meshkv_arbiter4",
        &[
            "Round-robin arbiter of four requests.",
            "",
            "The preferred request is kept in binary, so that each grant is a function of six bits: one",
            "look-up table. At most one grant, and one whenever anything is requested.",
        ],
    )
    .clocked()
    .input("through", 1, "Request 0 goes first whoever's turn it is.")
    .input("request", 4, "")
    .output("grant", 4, "")
    .build()
}

pub(super) fn pair_choice() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_pair_choice",
        &[
            "Lets an input that wants two outputs ask for one of them.",
            "",
            "The two outputs are decided in the same cycle without knowing of each other, and an input",
            "can feed both only with copies of one flit. The output that was granted last yields.",
        ],
    )
    .clocked()
    .input("request_a", 1, "")
    .input("request_b", 1, "")
    .input("compatible", 1, "Both would be copies of the same flit.")
    .input("grant_a", 1, "")
    .input("grant_b", 1, "")
    .output("ask_a", 1, "")
    .output("ask_b", 1, "")
    .build()
}

pub(super) fn through_turn(w: &Widths) -> ModuleSpec {
    ModuleBuilder::new(Block::Network, "meshkv_through_turn",
        &[
            "Shares an output between what passes straight through and what joins there.",
            "",
            "What passes through stands for the tiles behind it, so it goes first several times before the",
            "others have a turn: a quarter as often as there are such tiles, KV_DATA twice as often as there are.",
            "Flits are counted, not cycles, so that no rhythm of credits can take anybody's turn away.",
        ],
    )
    .param("WIDTH", index_bits(w.rows.max(w.cols)), "Width of a number of tiles in bits.")
    .clocked()
    .input("behind", "WIDTH", "Tiles behind what passes through.")
    .input("copy", 1, "What would pass through is a KV_DATA flit.")
    .input("passed", 1, "A flit that passes through is granted.")
    .input("turned", 1, "Another flit is granted.")
    .output("through", 1, "What passes through goes first; else all take turns.")
    .build()
}

pub(super) fn credit_counter(w: &Widths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_credit_counter",
        &[
            "Credits of one virtual channel of one link.",
            "",
            "Holds one credit for each slot of the receiver's buffer, so a flit is only sent when the",
            "receiver has room for it and no ready wire crosses the link.",
        ],
    )
    .slots(w)
    .clocked()
    .input("send", 1, "A flit leaves.")
    .input("credit", 1, "The receiver has freed a slot.")
    .output("available", 1, "At least one credit is left; straight from a register.")
    .build()
}

pub(super) fn route_row(w: &Widths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_route_row",
        &[
            "Route of a flit that came along the row or from the tile: XYM, row first, then column.",
            "",
            "All directions in which a destination lies. The router uses those its input may take.",
        ],
    )
    .mesh_params(w)
    .x_width(w)
    .y_width(w)
    .dest_width(w)
    .column_dest_width(w)
    .input("dest", "DEST_WIDTH", "")
    .group("Where this tile stands, as numbers and as masks over columns and rows.")
    .input("x", "X_WIDTH", "")
    .input("y", "Y_WIDTH", "")
    .input("cols_east", "COLS", "Columns beyond x.")
    .input("cols_west", "COLS", "Columns before x.")
    .input("cols_east_ahead", "COLS", "Columns beyond x + 1.")
    .input("cols_west_ahead", "COLS", "Columns before x - 1.")
    .input("rows_north", "ROWS", "Rows above y.")
    .input("rows_south", "ROWS", "Rows below y.")
    .group("A destination lies there.")
    .output("north", 1, "In this column, above.")
    .output("south", 1, "In this column, below.")
    .output("east", 1, "")
    .output("west", 1, "")
    .output("here", 1, "This tile.")
    .output("east_ahead", 1, "Beyond the eastern neighbour.")
    .output("west_ahead", 1, "Beyond the western neighbour.")
    .output("column_dest", "COLUMN_DEST_WIDTH", "This column's part of the destination.")
    .build()
}

pub(super) fn route_column(w: &Widths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_route_column",
        &["Route of a flit that came along the column: on, to this tile, or both."],
    )
    .param("ROWS", w.rows, "Tiles from south to north.")
    .y_width(w)
    .column_dest_width(w)
    .input("dest", "COLUMN_DEST_WIDTH", "")
    .group("Where this tile stands, as a number and as masks over rows.")
    .input("y", "Y_WIDTH", "")
    .input("rows_north", "ROWS", "Rows above y.")
    .input("rows_south", "ROWS", "Rows below y.")
    .group("A destination lies there.")
    .output("north", 1, "")
    .output("south", 1, "")
    .output("here", 1, "This tile.")
    .build()
}

pub(super) fn input_port(w: &Widths, multicast: bool) -> ModuleSpec {
    let b = ModuleBuilder::new(
        Block::Network,
        "meshkv_input_port",
        &[
            "Buffers of one input of a router: all virtual channels in one memory bank.",
            "",
            "A flit is written in the cycle it arrives and can leave in the next. The head of every",
            "virtual channel keeps the set of outputs it still owes a copy; each copy leaves when its",
            "output is granted (asynchronous replication), and the slot is freed, and its credit sent",
            "back, with the last one. A virtual channel is empty when its head owes nothing.",
        ],
    );
    // Only where flits may have several destinations does it matter which they are.
    let b = if multicast { b.vn0_vcs(w) } else { b };
    b.outputs()
        .vcs(w)
        .slots(w)
        .meta_width(w.head + w.dest + w.column_dest + 2)
        .flit_width(w)
        .clocked()
        .group("From the link.")
        .input("rx_valid", "VCS", "One-hot: the virtual channel of the flit.")
        .input("rx_route", 5, "Outputs owed a copy, those served by an express path taken out.")
        .input("rx_last", 1, "Last flit of its packet.")
        .input("rx_meta", "META_WIDTH", "")
        .input("rx_data", "FLIT_WIDTH", "")
        .output("rx_credit", "VCS", "One pulse a slot freed.")
        .group("To the switch: the head of the virtual channel that rd_vc names.")
        .input("grant", 5, "Outputs that take a copy of it in this cycle.")
        .input("rd_vc", "VCS", "One-hot, or none.")
        .output("rd_meta", "META_WIDTH", "")
        .output("rd_data", "FLIT_WIDTH", "")
        .group("The heads.")
        .output("pending", "5*VCS", "Owes a copy to that output; bit output * VCS + v.")
        .output("occupied", "VCS", "There is a head.")
        .output("last", "VCS", "The head is the last flit of its packet.")
        .output("freed", "VCS", "The head leaves for good in this cycle.")
        .build()
}

pub(super) fn vc_request(w: &Widths) -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_vc_request",
        &[
            "What one input of a router asks of the five outputs, and with which virtual channel.",
            "",
            "A virtual channel only asks where a credit waits, so every grant moves a flit. Which one leaves",
            "is chosen after the grant, the favoured first if it can: one choice an input, not one a pair.",
            "Only whether it is a copy of a KV_DATA flit, which several outputs may take, is said before.",
        ],
    )
    .outputs()
    .vn0_vcs(w)
    .vcs(w)
    .starve_limit()
    .clocked()
    .group("Heads of the buffers.")
    .input("pending", "5*VCS", "Owes a copy to that output; bit output * VCS + v.")
    .input("occupied", "VCS", "")
    .input("last", "VN0_VCS", "")
    .input("freed", "VCS", "The head leaves for good in this cycle.")
    .group("The flit on the link.")
    .input("rx_valid", "VCS", "")
    .input("rx_last", 1, "")
    .group("The outputs, bit output * VCS + v.")
    .input("avail", "5*VCS", "A credit waits.")
    .input("free", "5*VN0_VCS", "A credit waits and no packet holds the virtual channel.")
    .input("pick", "5*VN0_VCS", "One-hot: the free virtual channel for the next packet.")
    .group("What is asked, by output.")
    .output("request", 5, "")
    .output("replicates", 5, "It would be a KV_DATA flit, which several outputs may take at once.")
    .output("express_ok", 5, "The flit on the link finds its buffer empty and a credit at that output.")
    .group("What was decided.")
    .input("grant", 5, "Outputs that take the chosen flit.")
    .input("express", 5, "Outputs that take the flit on the link.")
    .output("rd_vc", "VCS", "One-hot: the virtual channel to read.")
    .group("What leaves: one-hot the virtual channel it has beyond the output, none for a first flit.")
    .output("out_vc", "VCS", "")
    .output("out_first", 1, "First flit of its packet: it gets what the output picked.")
    .output("out_last", 1, "Last flit of its packet.")
    .output("express_vc", "VCS", "The same for the flit on the link.")
    .output("express_first", 1, "")
    .build()
}

pub(super) fn send_vc(w: &Widths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Network,
        "meshkv_send_vc",
        &[
            "Virtual channel on which an output sends, from the input that it takes.",
            "",
            "A packet's first flit goes on the virtual channel that the output picked.",
        ],
    )
    .vn0_vcs(w)
    .vcs(w)
    .input("send", 1, "A flit is sent.")
    .input("select", 2, "The input to take: a, b, c, d.")
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

pub(super) fn switch_allocator(w: &Widths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(Block::Network, "meshkv_switch_allocator",
        &[
            "Matches the inputs of a router to its outputs, once a cycle.",
            "",
            "Outputs are decided one after the other, an input that is spent drops out: the matching is",
            "maximal but for the side choices, which single-pass separable allocators are not. North and",
            "south, which have the most rivals, go first; east and west next; the tile takes what is left.",
            "Among inputs an output takes turns, weighted for what passes through; among virtual channels an input by its guard.",
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
                "n" => "Input n: heads, link, decision; output n: what it sends.",
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
        .group("The flit on the link goes on along the row: input, output.")
        .input("wants_w_e", 1, "")
        .input("wants_e_w", 1, "")
        .input("wants_l_e", 1, "")
        .input("wants_l_w", 1, "")
        .group("State of the outputs.")
        .input("avail", "5*VCS", "")
        .input("free", "5*VN0_VCS", "")
        .input("pick", "5*VN0_VCS", "")
        .output("blocked", 5, "Heads want this output and lack its credits.")
        .instances(&[
            "meshkv_vc_request",
            "meshkv_pair_choice",
            "meshkv_through_turn",
            "meshkv_arbiter4",
            "meshkv_arbiter2",
            "meshkv_send_vc",
        ])
        .build()
}

pub(super) fn output_port(w: &Widths) -> ModuleSpec {
    let mut b = ModuleBuilder::new(
        Block::Network,
        "meshkv_output_port",
        &[
            "One output of a router: multiplexer, output register, credits and packet locks.",
            "",
            "The register is the link: nothing combinational leaves the router.",
        ],
    )
    .vn0_vcs(w)
    .vcs(w)
    .slots(w)
    .meta_width(w.head + w.dest + 1)
    .flit_width(w)
    .clocked()
    .group("From the switch.")
    .input("send_vc", "VCS", "One-hot: the virtual channel the flit leaves on; none: nothing is sent.")
    .input("send_last", 1, "Last flit of its packet.")
    .input("select", 2, "The input to take: a, b, c, d.");
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
        .input("tx_credit", "VCS", "One pulse a slot freed.")
        .group("What the inputs may ask for.")
        .output("avail", "VCS", "A credit waits.")
        .output("free", "VN0_VCS", "A credit waits and no packet holds the virtual channel.")
        .output("pick", "VN0_VCS", "One-hot: the free virtual channel for the next packet.")
        .instances(&["meshkv_credit_counter"])
        .build()
}

pub(super) fn link_counters() -> ModuleSpec {
    ModuleBuilder::new(
        Block::Network,
        "meshkv_link_counters",
        &[
            "Counts events of the five outputs over a whole run.",
            "",
            "Totals of an output, from stat_index = output * 5: PART, KV_FETCH and KV_DATA flits, cycles",
            "blocked for credit, idle cycles.",
        ],
    )
    .clocked()
    .input("events", 20, "An output in four bits: {blocked, KV_DATA, KV_FETCH, PART}.")
    .group("The total that the scan has reached.")
    .output("stat_index", 5, "")
    .output("stat_data", 32, "")
    .instances(&["meshkv_event_counters"])
    .build()
}
