//! Parameter values of the network, and the parameters that repeat from module to module.

use crate::design::{index_bits, Design, CLAIM_LIMIT, CLAIM_PERIODS, STARVE_LIMIT};
use crate::emit::rtl::module::ModuleBuilder;
use crate::emit::rtl::network::debruijn_ring::Ring;

/// Letters of all five ports, in index order.
pub(in crate::emit::rtl) const PORTS: [&str; 5] = ["n", "s", "e", "w", "l"];

/// Parameter values that several modules share.
pub(in crate::emit::rtl) struct NetworkParams {
    pub(in crate::emit::rtl) cols: u32,
    pub(in crate::emit::rtl) rows: u32,
    pub(in crate::emit::rtl) vn0_vcs: u32,
    pub(in crate::emit::rtl) vcs: u32,
    pub(in crate::emit::rtl) vc_depth: u32,
    pub(in crate::emit::rtl) dest: u32,
    pub(in crate::emit::rtl) column_dest: u32,
    pub(in crate::emit::rtl) head: u32,
    pub(in crate::emit::rtl) flit: u32,
    pub(in crate::emit::rtl) crossings: u32,
    /// Grants are registered: routers of three stages.
    pub(in crate::emit::rtl) staged: bool,
    /// Kinds of requests, as [`NetworkParams::kind_names`] lists them.
    pub(in crate::emit::rtl) kinds: u32,
}

impl NetworkParams {
    pub(in crate::emit::rtl) fn of(design: &Design) -> NetworkParams {
        NetworkParams {
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
            staged: design.router.staged(),
            kinds: if design.router.staged() { 3 } else { 4 },
        }
    }

    /// What the bits of a request say, the highest first.
    pub(in crate::emit::rtl) fn kind_names(&self) -> &'static str {
        if self.staged {
            "{KV_DATA, KV_FETCH, PART}"
        } else {
            "{KV_DATA, KV_FETCH, PART inside a packet, first flit of a PART packet}"
        }
    }
}

/// Parameters that repeat from module to module, each described once.
impl ModuleBuilder {
    pub(in crate::emit::rtl) fn mesh_params(self, w: &NetworkParams) -> Self {
        self.param("COLS", w.cols, "Tiles from west to east.").param(
            "ROWS",
            w.rows,
            "Tiles from south to north.",
        )
    }
    pub(in crate::emit::rtl) fn crossings(self, w: &NetworkParams) -> Self {
        let doc = "Bit y: wires between rows y and y + 1 pass a register between two SLRs.";
        self.bits_param("CROSSINGS", "[15:0]", format!("16'b{:016b}", w.crossings), doc)
    }
    pub(in crate::emit::rtl) fn x_width(self, w: &NetworkParams) -> Self {
        self.param("X_WIDTH", index_bits(w.cols), "Width of a column number in bits.")
    }
    pub(in crate::emit::rtl) fn y_width(self, w: &NetworkParams) -> Self {
        self.param("Y_WIDTH", index_bits(w.rows), "Width of a row number in bits.")
    }
    pub(in crate::emit::rtl) fn vn0_vcs(self, w: &NetworkParams) -> Self {
        self.param("VN0_VCS", w.vn0_vcs, "Virtual channels of VN0: numbers 0 to VN0_VCS - 1, for PART.")
    }
    pub(in crate::emit::rtl) fn vcs(self, w: &NetworkParams) -> Self {
        self.param("VCS", w.vcs, "Virtual channels of a port; VN0_VCS is KV_FETCH, those above KV_DATA.")
    }
    /// Parameters of a buffer's depth: the ring is as long as the buffer is deep.
    pub(in crate::emit::rtl) fn slots(self, w: &NetworkParams) -> Self {
        let ring = Ring::of(w.vc_depth);
        self.param("PTR_WIDTH", ring.width(), "Width of a slot number in bits, at least 2.").bits_param(
            "RING",
            "[(1<<PTR_WIDTH)-1:0]",
            ring.literal(),
            "Order of a buffer's slots, starting at 1: bit s is shifted in behind slot s.",
        )
    }
    pub(in crate::emit::rtl) fn outputs(self) -> Self {
        let doc = "Permitted outputs: bits local, west, east, south, north.";
        self.bits_param("OUTPUTS", "[4:0]", "5'b11111".to_owned(), doc)
    }
    pub(in crate::emit::rtl) fn dest_width(self, w: &NetworkParams) -> Self {
        self.param("DEST_WIDTH", w.dest, "Width of a destination on row links and at the tile, in bits.")
    }
    pub(in crate::emit::rtl) fn column_dest_width(self, w: &NetworkParams) -> Self {
        self.param("COLUMN_DEST_WIDTH", w.column_dest, "Width of a destination on column links in bits.")
    }
    pub(in crate::emit::rtl) fn head_width(self, w: &NetworkParams) -> Self {
        self.param("HEAD_WIDTH", w.head, "Width of a flit's header fields in bits.")
    }
    pub(in crate::emit::rtl) fn flit_width(self, w: &NetworkParams) -> Self {
        self.param("FLIT_WIDTH", w.flit, "Width of a flit's payload in bits.")
    }
    pub(in crate::emit::rtl) fn meta_width(self, value: u32) -> Self {
        self.param("META_WIDTH", value, "Width of the fields next to the payload, in bits.")
    }
    /// Where a pointer starts that follows the write pointer half a buffer behind.
    pub(in crate::emit::rtl) fn half_slot(self, w: &NetworkParams) -> Self {
        let slot = Ring::of(w.vc_depth).before_first(w.vc_depth / 2);
        self.bits_param(
            "HALF_SLOT",
            "[PTR_WIDTH-1:0]",
            slot,
            "Slot from which half a buffer leads to slot 1.",
        )
    }
    /// Limits of waiting.
    pub(in crate::emit::rtl) fn patience(self) -> Self {
        self.param(
            "STARVE_LIMIT",
            STARVE_LIMIT,
            "Times that others of its port may go before a head that could leave.",
        )
        .param(
            "CLAIM_PERIODS",
            CLAIM_PERIODS,
            "Periods of 32 cycles after which a head that waits claims the credits that it needs.",
        )
        .param(
            "CLAIM_LIMIT",
            CLAIM_LIMIT,
            "Periods after which another head of its port has the turn to claim.",
        )
    }
}
