//! The interface to the host: registers, runs, queries, outputs; `docs/device.md` gives the reasons.

mod register_reads;
pub(super) mod values;

use crate::emit::rtl::spec::template::{templates, Template};

/// Templates of its modules.
pub(super) const TEMPLATES: &[Template] = templates!(Device,
    "device":
        "meshkv_base_table", "meshkv_control_registers", "meshkv_counter_choice", "meshkv_counter_view",
        "meshkv_descriptor_queue", "meshkv_front", "meshkv_list_reader", "meshkv_output_writer",
        "meshkv_pad_view", "meshkv_quantise_lane", "meshkv_query_reader", "meshkv_read_credits", "meshkv_read_guard",
        "meshkv_read_slices", "meshkv_reset", "meshkv_reset_row", "meshkv_reset_stage",
        "meshkv_row_choice", "meshkv_row_scale", "meshkv_run_control", "meshkv_token_reader",
        "meshkv_token_writer", "meshkv_top";
);
