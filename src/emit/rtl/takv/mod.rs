//! Placement of slices, the column bus and external memory; `docs/takv.md` gives the reasons.

mod heads;
mod tables;
pub(super) mod values;

use crate::emit::rtl::spec::template::{templates, Template};

/// Templates of its modules.
pub(super) const TEMPLATES: &[Template] = templates!(Takv,
    "takv":
        "meshkv_bus_stop", "meshkv_close_rows", "meshkv_column_controller", "meshkv_divmod",
        "meshkv_filler", "meshkv_memory_port", "meshkv_new_token", "meshkv_occupancy",
        "meshkv_page_table", "meshkv_placement", "meshkv_prefetcher", "meshkv_query_words", "meshkv_slices_said",
        "meshkv_swap_unit", "meshkv_token_words", "meshkv_write_port";
);
