//! Parameter values of the reduction, and the parameters that repeat from module to module.

use crate::design::{index_bits, Design};
use crate::emit::rtl::module::ModuleBuilder;
use crate::emit::rtl::takv::params::TakvParams;

/// Bits of a sum below the point, as in the model.
const FRACTION: u32 = 36;

/// Parameter values of the reduction, for one design.
pub(in crate::emit::rtl) struct ReduceParams {
    pub(in crate::emit::rtl) flit: u32,
    pub(in crate::emit::rtl) sum: u32,
    pub(in crate::emit::rtl) id: u32,
    pub(in crate::emit::rtl) stream: u32,
    pub(in crate::emit::rtl) layer: u32,
    pub(in crate::emit::rtl) head: u32,
    pub(in crate::emit::rtl) streams: u32,
    pub(in crate::emit::rtl) heads: u32,
    pub(in crate::emit::rtl) head_dim: u32,
    pub(in crate::emit::rtl) rows: u32,
    pub(in crate::emit::rtl) sources: u32,
    pub(in crate::emit::rtl) vc_depth: u32,
}

impl ReduceParams {
    pub(in crate::emit::rtl) fn of(design: &Design) -> ReduceParams {
        let (noc, model) = (&design.config.noc, &design.config.model);
        let part = |name| design.flit.part.iter().find(|f| f.name == name).map_or(0, |f| f.width);
        let (stream, layer, head) = (part("stream"), part("layer"), part("head"));
        ReduceParams {
            flit: noc.flit_width,
            sum: 54 + index_bits(model.max_tokens),
            id: stream + layer + head,
            stream,
            layer,
            head,
            streams: model.max_streams,
            heads: design.heads.most(),
            head_dim: design.config.pe.head_dim,
            rows: design.config.mesh.rows,
            sources: noc.vn0_vcs + 1,
            vc_depth: noc.vc_depth,
        }
    }

    /// Flits of the output of a head.
    pub(in crate::emit::rtl) fn out_flits(&self) -> u32 {
        (16 * self.head_dim).div_ceil(self.flit)
    }
}

impl ModuleBuilder {
    /// Ports on which a root shows what it rounds.
    pub(in crate::emit::rtl) fn sum_report(self) -> Self {
        self.group(
            "A number of the head that was merged last, before division and rounding. For observation only.",
        )
        .output("merge_sum_valid", 1, "One pulse a number: l, o[0], o[1], ...")
        .output("merge_sum_first", 1, "It is l.")
        .output("merge_sum_max", 32, "m; stable while it is l.")
        .output("merge_sum_data", "SUM_WIDTH", "The number in fixed point, times 2^m.")
    }

    pub(in crate::emit::rtl) fn reduce_sum_width(self, w: &ReduceParams) -> Self {
        self.param(
            "SUM_WIDTH",
            w.sum,
            "Width of a sum in bits: 54 plus those of a number of tokens; at most 72.",
        )
    }
    pub(in crate::emit::rtl) fn reduce_flit_width(self, w: &ReduceParams) -> Self {
        self.param("FLIT_WIDTH", w.flit, "Width of one flit's data in bits.")
    }
    pub(in crate::emit::rtl) fn fraction(self) -> Self {
        self.param("FRACTION", FRACTION, "Bits of a sum below the point.")
    }
    pub(in crate::emit::rtl) fn reduce_id_width(self, w: &ReduceParams) -> Self {
        self.param("ID_WIDTH", w.id, "Width of head, layer and stream in bits.")
    }
    pub(in crate::emit::rtl) fn inlet_params(self, w: &ReduceParams) -> Self {
        self.reduce_flit_width(w)
            .reduce_id_width(w)
            .param("SOURCES", w.sources, "Sources of flits, at least 2: VCs of VN0, and the tile's own.")
            .param("DEPTH", w.vc_depth, "Flits that a source may send without a credit returned, at least 2.")
            .param("HEAD_DIM", w.head_dim, "Elements of a head, a power of two from 32.")
    }
    pub(in crate::emit::rtl) fn inlet_ports(self) -> Self {
        self.group("Flits of PART packets: whole packets a source, sources mixed, one flit a cycle.")
            .input("root_valid", "SOURCES", "One-hot: its source.")
            .input("root_first", 1, "")
            .input("root_last", 1, "")
            .input("root_alone", 1, "The only partial of its head; with the first flit.")
            .input("root_id", "ID_WIDTH", "Head, layer, stream, from the top; with the first flit.")
            .input("root_data", "FLIT_WIDTH", "")
            .output("root_credit", "SOURCES", "One pulse a flit that left its place.")
    }
    /// Parameters of a reduce root.
    pub(in crate::emit::rtl) fn root_params(self, c: &TakvParams) -> Self {
        self.control(
            c,
            &[
                "ROWS",
                "X_WIDTH",
                "Y_WIDTH",
                "FLIT_WIDTH",
                "STREAM_WIDTH",
                "LAYER_WIDTH",
                "HEADS",
                "HEAD_PLACE_WIDTH",
            ],
        )
        .sources(&c.tile)
        .vc_depth(&c.tile)
        .param("STREAMS_NUM", c.streams, "Streams that can be decoded at once.")
        .param("DIMS", c.head_dim, "Elements of a head.")
    }
}
