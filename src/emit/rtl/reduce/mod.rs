//! From the sums of a tile to an output; `docs/reduce.md` gives the reasons.

pub(super) mod root;
pub(super) mod values;

use crate::emit::rtl::spec::template::{templates, Template};

/// Templates of its modules.
pub(super) const TEMPLATES: &[Template] = templates!(Reduce,
    "reduce":
        "meshkv_column_root", "meshkv_element_packer", "meshkv_finish_lane", "meshkv_leading_bits",
        "meshkv_part_former", "meshkv_quotient", "meshkv_reciprocal", "meshkv_reduce_adder",
        "meshkv_reduce_finisher", "meshkv_reduce_inlet", "meshkv_reduce_root";
);
