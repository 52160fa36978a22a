//! Parameter values of the reduction, and the parameters that repeat from module to module.

use crate::design::{finish_lanes, index_bits, root_lanes, ultra_blocks, Design};
use crate::emit::rtl::module::ModuleBuilder;
use crate::emit::rtl::takv::params::TakvParams;
use std::collections::BTreeMap;

/// Bits of a sum below the point, as in the model.
const FRACTION: u32 = 36;

/// Words of the deepest memory that costs half a look-up table a bit.
const LUT_WORDS: u32 = 32;

/// Words of a block RAM of 72 bits.
const BLOCK_WORDS: u32 = 512;

/// Parameter values of the reduction, for one design.
pub(in crate::emit::rtl) struct ReduceParams {
    pub(in crate::emit::rtl) flit: u32,
    pub(in crate::emit::rtl) lanes: u32,
    pub(in crate::emit::rtl) finish_lanes: u32,
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
            lanes: root_lanes(&design.config),
            finish_lanes: finish_lanes(&design.config),
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

    /// Words of the memory of sums.
    fn words(&self) -> u32 {
        self.streams * self.heads * self.head_dim / self.lanes
    }

    /// UltraRAMs of a root.
    pub(in crate::emit::rtl) fn ultra_rams(&self) -> u32 {
        if self.words() > BLOCK_WORDS {
            ultra_blocks(self.lanes * self.sum, self.words())
        } else {
            0
        }
    }

    /// Values for the templates: the type of the memory of sums.
    ///
    /// All sums of a word are read at once, so the words decide. A look-up table holds two bits of 32 words, a block RAM
    /// 512 words of 72 bits, an UltraRAM 4096: one replaces two block RAMs or more.
    pub(in crate::emit::rtl) fn values(&self) -> BTreeMap<String, tera::Value> {
        let words = self.words();
        let style = if words <= LUT_WORDS {
            "distributed"
        } else if words <= BLOCK_WORDS {
            "block"
        } else {
            "ultra"
        };
        BTreeMap::from([("root_style".to_owned(), style.into())])
    }

    /// Flits of the partial result of a head, which has more than its output: l and m, then o in FP32.
    pub(in crate::emit::rtl) fn out_flits(&self) -> u32 {
        1 + 32 * self.head_dim / self.flit
    }
}

impl ModuleBuilder {
    /// Ports on which a root shows what it rounds.
    pub(in crate::emit::rtl) fn sum_report(self) -> Self {
        self.group(
            "Numbers of the head that was merged last, before division and rounding. For observation only.",
        )
        .output(
            "merge_sum_valid",
            1,
            "l alone in the first lane; then FINISH_LANES of o a pulse: o[0], o[1], ...",
        )
        .output("merge_sum_first", 1, "It is l.")
        .output("merge_sum_max", 32, "m; stable while it is l.")
        .output(
            "merge_sum_data",
            "FINISH_LANES*SUM_WIDTH",
            "The numbers in fixed point, times 2^m, the first lowest.",
        )
    }

    /// Ports on which a root returns a head.
    pub(in crate::emit::rtl) fn root_output(self) -> Self {
        self.group(
            "A head's output in FP16, or its partial result in FP32: a flit with l and m, then those of o.",
        )
        .output("out_valid", 1, "")
        .input("out_ready", 1, "")
        .output("out_stream", "STREAM_WIDTH", "")
        .output("out_layer", "LAYER_WIDTH", "")
        .output("out_head", "PART_HEAD_WIDTH", "")
        .output("out_index", "OUT_INDEX_WIDTH", "Number of the flit.")
        .output("out_last", 1, "Last flit of the head.")
        .output("out_saturated", 1, "A logit of the head was beyond the range: the output is void.")
        .output("out_partial", 1, "It is a partial result.")
        .output("out_data", "FLIT_WIDTH", "")
    }
    /// Widths of the parts of an id, and of the number of an output flit.
    pub(in crate::emit::rtl) fn root_ids(self, w: &ReduceParams) -> Self {
        self.param("STREAM_WIDTH", w.stream, "Width of a stream in bits.")
            .param("LAYER_WIDTH", w.layer, "Width of a layer in bits.")
            .param("PART_HEAD_WIDTH", w.head, "Width of a head of this column in bits.")
            .param(
                "OUT_INDEX_WIDTH",
                index_bits(w.out_flits()),
                "Width of a number of an output flit in bits.",
            )
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
    pub(in crate::emit::rtl) fn root_lanes(self, name: &'static str, lanes: u32) -> Self {
        self.param(
            name,
            lanes,
            "Numbers of o that a root merges a cycle, a power of two up to 16 and to those of a flit.",
        )
    }
    pub(in crate::emit::rtl) fn finish_lanes(self, w: &ReduceParams) -> Self {
        self.param(
            "FINISH_LANES",
            w.finish_lanes,
            "Numbers of a complete head that leave a cycle, a power of two up to LANES.",
        )
    }
    pub(in crate::emit::rtl) fn beat_width(self, w: &ReduceParams) -> Self {
        let beats = w.head_dim / w.lanes;
        self.param(
            "BEAT_WIDTH",
            index_bits(beats),
            "Width of a position in o in bits: log2(HEAD_DIM / LANES).",
        )
    }
    pub(in crate::emit::rtl) fn inlet_params(self, w: &ReduceParams) -> Self {
        self.reduce_flit_width(w)
            .root_lanes("LANES", w.lanes)
            .reduce_id_width(w)
            .param("SOURCES", w.sources, "Sources of flits, at least 2: VCs of VN0, and the tile's own.")
            .param("DEPTH", w.vc_depth, "Flits that a source may send without a credit returned, at least 2.")
            .param("HEAD_DIM", w.head_dim, "Elements of a head, a power of two from 32.")
            .param(
                "OTHERS_WIDTH",
                index_bits(w.rows),
                "Width of the number of a head's other partials in bits.",
            )
    }
    pub(in crate::emit::rtl) fn inlet_ports(self) -> Self {
        self.group("Flits of PART packets: whole packets a source, sources mixed, one flit a cycle.")
            .input("root_valid", "SOURCES", "One-hot: its source.")
            .input("root_first", 1, "")
            .input("root_last", 1, "")
            .input(
                "root_others",
                "OTHERS_WIDTH",
                "Partial results of its head besides this one; with the first flit.",
            )
            .input("root_id", "ID_WIDTH", "Head, layer, stream, from the top; with the first flit.")
            .input("root_data", "FLIT_WIDTH", "")
            .output("root_credit", "SOURCES", "One pulse a flit that left its place.")
    }
    /// Parameters of a reduce root.
    pub(in crate::emit::rtl) fn root_params(self, c: &TakvParams) -> Self {
        self.control(
            c,
            &["X_WIDTH", "Y_WIDTH", "FLIT_WIDTH", "STREAM_WIDTH", "LAYER_WIDTH", "HEADS", "HEAD_PLACE_WIDTH"],
        )
        .sources(&c.tile)
        .vc_depth(&c.tile)
        .param("STREAMS_NUM", c.streams, "Streams that can be decoded at once.")
        .param("DIMS", c.head_dim, "Elements of a head.")
    }
}
