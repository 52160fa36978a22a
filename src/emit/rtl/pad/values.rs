//! Values of PaD at a tile.

use crate::design::{index_bits, Array, Design, JOB_DEPTH, PAD_EVENTS, SECOND_SUM};
use crate::emit::rtl::pad::contexts;
use crate::emit::rtl::spec::values::Values;

/// Sets the values of PaD; those of a row are apart.
pub(in crate::emit::rtl) fn set(values: &mut Values, design: &Design) {
    let array = Array::of(design);
    let (head_dim, tokens) = (design.pe.head_dim, design.placement.segment_tokens);
    let (lane_log, dim_log) = (array.lanes.ilog2(), head_dim.ilog2());
    // A flit has a part of a token, or some tokens.
    let (parts_log, subs_log) = (dim_log.saturating_sub(lane_log), lane_log.saturating_sub(dim_log));
    let load_cycles = array.load_cycles();
    values.numbers(&[
        ("lane_log", lane_log),
        ("dim_log", dim_log),
        ("parts_log", parts_log),
        ("subs_log", subs_log),
        ("sub_width", subs_log.max(1)),
        ("job_depth", JOB_DEPTH),
        ("second_sum", SECOND_SUM),
        ("load_cycles", load_cycles),
        ("load_gap", array.load_gap()),
        ("free_cycles", array.free_cycles()),
        ("fresh_cycles", array.fresh_cycles(head_dim)),
        ("read_cycles", array.read_cycles()),
        ("rest_cycles", array.rest_cycles()),
        ("pad_events", PAD_EVENTS.len() as u32 + array.rows),
    ]);
    values.widths(&[
        ("load_count_width", array.lanes.max(load_cycles) + 1),
        ("rest_width", array.rest_cycles() + array.rows + 1),
    ]);
    values.flags(&[
        ("several", tokens > array.lanes),
        ("token_of_flits", parts_log > 0),
        ("flit_of_tokens", subs_log > 0),
    ]);
    // TOKEN_WIDTH is at least ROW_WIDTH, the width of a valid token's position.
    let more = index_bits(tokens.next_multiple_of(array.lanes)) - index_bits(tokens);
    let row_pad = match more {
        0 => [String::new(), String::new()],
        more => [format!("{{ {more}'d0, "), "}".to_owned()],
    };
    values.set("row_pad", row_pad.to_vec());
    values.set("places", contexts::wanted(&array));
    values.set("place_of", contexts::places(design, &array));
    values.set("kv_heads_of", contexts::kv_heads(&array, index_bits(design.model.kv_heads)));
}
