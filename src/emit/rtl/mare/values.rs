//! Values of requesters and homes.

use crate::design::depths::{CHECKED_DEPTH, EXTRA_MISSES};
use crate::design::mare::hash::BLOOM_SEEDS;
use crate::design::{index_bits, Array, Design, TILE_EVENTS};
use crate::emit::rtl::mare::h3_hash::matrix_literal;
use crate::emit::rtl::spec::values::Values;

/// Events of a tile that happen outside of the transport.
const OUTSIDE_EVENTS: u32 = 3;

/// Sets the values of requesters and homes.
pub(in crate::emit::rtl) fn set(values: &mut Values, design: &Design) {
    let (mesh, flit, mare) = (design.mesh, &design.flit, &design.mare);
    let tiles = mesh.tiles() as u32;
    let (tag, key, index, mask) = (flit.tag_width(), flit.key_width(), flit.index_width(), flit.mask_width());
    let place = index_bits(mare.fifo_depth);
    // One hash addresses half a bank.
    let hash = (mare.bloom_bits / 2).ilog2();
    values.numbers(&[
        ("tag_width", tag),
        ("key_width", key),
        ("gen_width", key - tag),
        ("index_width", index),
        ("mask_width", mask),
        // The key of a look-up: that of a slice, and the first flit of a chunk.
        ("lookup_key_width", key + index),
        ("fetch_width", 1 + 2 * index + index_bits(mesh.rows()) + index_bits(mesh.cols()) + mask + key),
        ("slice_flits", mare.slice_flits),
        ("half_flits", mare.half_flits),
        ("key_base", mare.key_base),
        ("scale_flits", mare.scale_flits),
        ("token_scale_log", (design.pe.head_dim / 4).max(1).ilog2()),
        ("chunk_flits", mare.chunk_flits),
        ("burst_flits", design.memory.burst_flits),
        ("staging_slots", mare.staging_slots),
        ("staging_depth", mare.staging_depth),
        ("request_entries", mare.request_entries),
        ("tag_entries", mare.tag_entries),
        ("bloom_bits", mare.bloom_bits),
        ("bloom_refresh", mare.bloom_refresh),
        ("hash_width", hash),
        ("fetch_slots", mare.fetch_slots),
        ("fetch_history", mare.fetch_history),
        ("retry_ticks", mare.retry_ticks),
        ("miss_depth", tiles + EXTRA_MISSES),
        ("checked_depth", CHECKED_DEPTH),
        ("fifo_depth", mare.fifo_depth),
        ("fifo_ptr_width", place),
        ("fifo_gray_width", place + 1),
        ("tree_cycles", mare.tree_cycles),
        ("request_cycles", mare.coalesce_window + mare.tree_cycles),
        ("closing_cycle", mare.tree_cycles + 1),
        // Virtual channels of VN0, and the root's own tile.
        ("sources", design.router.vn0_vcs + 1),
        ("tile_events", TILE_EVENTS.len() as u32),
        ("outside_events", OUTSIDE_EVENTS),
    ]);
    values.widths(&[
        ("staging_slot_width", mare.staging_slots),
        ("staging_addr_width", mare.staging_depth),
        ("fifo_room_width", mare.fifo_depth + 1),
        ("expected_width", tiles + 1),
        ("window_count_width", mare.coalesce_window + mare.tree_cycles + 2),
    ]);
    values.flags(&[
        ("dedup", mare.dedup),
        ("token_scales", design.pe.has_token_scales()),
        ("coalesce", mare.coalesce_window > 0),
        ("waits", mare.coalesce_window + mare.tree_cycles > 0),
    ]);
    let [rows_a, rows_b] = BLOOM_SEEDS.map(|seed| matrix_literal(seed, hash, key + index));
    let style = if Array::fifo_in_block(design) { "block" } else { "distributed" };
    values.texts([("bloom_rows_a", rows_a), ("bloom_rows_b", rows_b), ("fifo_style", style.to_owned())]);
}
