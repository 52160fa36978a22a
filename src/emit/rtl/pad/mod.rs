//! The systolic array of a tile; `docs/pad.md` gives the reasons.

mod contexts;
pub(super) mod row;
pub(super) mod values;

use crate::emit::rtl::spec::template::{templates, Template};

use crate::config::KvFormat;
use crate::design::{Array, Design};

/// Templates of its modules. Each format of K and V has a folder: a design has one of them.
pub(super) const TEMPLATES: &[Template] = templates!(Pad,
    "pad":
        "meshkv_dot", "meshkv_dsp", "meshkv_job_contexts",
        "meshkv_odd_contexts", "meshkv_pad", "meshkv_pad_array", "meshkv_pad_row",
        "meshkv_preadd_dsp", "meshkv_query_lanes", "meshkv_scratchpad", "meshkv_sums",
        "meshkv_weight", "meshkv_weight_loader";
    "pad/fp16": "meshkv_align";
    "pad/fp8_e4m3": "meshkv_align";
    "pad/int8":
        "meshkv_add_dsp", "meshkv_align", "meshkv_dot_exponent", "meshkv_next_contexts", "meshkv_packed_dsp",
        "meshkv_pair_dot";
    "pad/fp8_e5m2": "meshkv_align";
);

/// Name of the format in which elements of K and V arrive at an array: their templates' folder.
pub(super) fn element(design: &Design) -> &'static str {
    match design.pe.format {
        // It is converted before.
        KvFormat::Bf16 => KvFormat::Fp16.name(),
        format => format.name(),
    }
}

/// Templates of a row with slices of its own.
const OF_ROW: [&str; 2] = ["pad/meshkv_dot", "pad/meshkv_preadd_dsp"];

/// True if a design uses the template of this path: it has one of the aligners, and rows that share slices or do not.
pub(super) fn has(design: &Design, path: &str) -> bool {
    if OF_ROW.contains(&path) {
        return !Array::of(design).is_packed();
    }
    match path.strip_prefix("pad/").and_then(|rest| rest.split_once('/')) {
        Some((format, _)) => format == element(design),
        None => true,
    }
}
