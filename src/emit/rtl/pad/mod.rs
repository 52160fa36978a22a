//! The systolic array of a tile; `docs/pad.md` gives the reasons.

mod contexts;
pub(super) mod row;
pub(super) mod values;

use crate::emit::rtl::spec::template::{templates, Template};

/// Templates of its modules.
pub(super) const TEMPLATES: &[Template] = templates!(Pad,
    "pad":
        "meshkv_align", "meshkv_dot", "meshkv_dsp", "meshkv_job_contexts",
        "meshkv_odd_contexts", "meshkv_pad", "meshkv_pad_array", "meshkv_pad_row",
        "meshkv_preadd_dsp", "meshkv_query_lanes", "meshkv_scratchpad", "meshkv_sums",
        "meshkv_weight", "meshkv_weight_loader";
);
