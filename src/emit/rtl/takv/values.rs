//! Values of controllers, bus, prefetchers, fillers, and memory ports.

use crate::design::depths::{ASK_DEPTH, DESC_DEPTH, FILL_DEPTH, REQ_DEPTH, TIMEOUT_WIDTH, VALUE_WIDTH};
use crate::design::{index_bits, word_elements, Design, Pages, Piece, PlacementKind, Sharing};
use crate::emit::rtl::spec::values::Values;
use crate::emit::rtl::takv::heads;
use crate::emit::rtl::takv::tables::{bits, last_first, of_slices};

/// Sets the values of the block.
pub(in crate::emit::rtl) fn set(values: &mut Values, design: &Design) {
    set_attention(values, design);
    set_placement(values, design);
    set_memory(values, design);
    set_append(values, design);
    values.texts(heads::tables(design));
    let pieces = design.controller_pieces();
    let count = pieces.len() as u32;
    values.set("piece_count", count);
    values.set("piece_count_width", index_bits(count));
    values.set("pieces", piece_literals(design, &pieces));
}

/// Streams, layers and tokens, the bus, and its queues.
fn set_attention(values: &mut Values, design: &Design) {
    let (model, bus) = (&design.model, &design.bus);
    let tokens = design.placement.segment_tokens;
    values.numbers(&[
        ("max_streams", model.max_streams),
        ("streams_width", index_bits(model.max_streams) + 1),
        ("tokens", tokens),
        ("head_dim", design.pe.head_dim),
        ("column_heads", design.heads.most()),
        ("row_step", design.heads.row_step()),
        ("row_flits_log", design.row_flits().ilog2()),
        ("flit_rows_log", design.flit_rows().ilog2()),
        ("bus_width", bus.word),
        ("bus_depth", design.bus_depth()),
        ("block_width", bus.block),
        ("number_width", bus.number),
        ("slice_word", bus.slice),
        ("query_word_width", bus.query_word),
        ("query_group", bus.query_group_words),
        ("query_group_width", bus.query_group),
        ("query_depth", bus.query_depth),
        ("element_bits", 8 * design.pe.format.bytes()),
        ("word_elements", word_elements(design.pe.format)),
        ("word_log", word_elements(design.pe.format).ilog2()),
        ("scale_heads", bus.scale_heads.unwrap_or(0)),
        ("ask_depth", ASK_DEPTH),
        ("fill_depth", FILL_DEPTH),
        ("desc_depth", DESC_DEPTH),
        ("req_depth", REQ_DEPTH),
        ("timeout_width", TIMEOUT_WIDTH),
    ]);
    values.widths(&[
        ("stream_width", model.max_streams),
        ("layer_width", model.layers),
        ("slice_width", model.kv_heads),
        ("row_width", tokens),
        ("head_id_width", design.heads.heads()),
        ("head_place_width", design.heads.most()),
        ("credit_width", REQ_DEPTH + 1),
    ]);
    values.set("kv_heads_wide", wide(model.kv_heads.into()));
    values.set("overlap", design.pe.overlap);
}

/// Homes and their swaps, and the order in which segments are visited.
fn set_placement(values: &mut Values, design: &Design) {
    let (p, router) = (&design.placement, &design.router);
    let segment = index_bits(p.segments);
    let ahead = index_bits(p.numbered_caches(design.model.max_streams) + p.rows);
    let hub = p.hub.index() as u32;
    // Slots of routers that flits of a home can occupy.
    let used = router.vc_depth * (router.vcs() - router.vn0_vcs - 1);
    values.numbers(&[
        ("numbered_places", p.places),
        ("place_number_width", index_bits(p.places)),
        ("segment_width", segment),
        ("segment_count_width", segment + 1),
        ("layer_stride", p.a),
        ("column_stride", p.column_stride),
        ("rounds", p.places.div_ceil(p.rows)),
        ("ahead_width", ahead),
        ("column_slices", p.block_slices()),
        ("hub_x", hub % p.cols),
        ("hub_y", hub / p.cols),
        ("place_width", place(design, ahead)),
        ("rotation", p.rotation()),
        ("rotation_width", p.rotation().ilog2()),
        ("lap", p.lap()),
        ("index_count_width", (segment + 1).max(p.rotation().ilog2()) + 1),
        ("value_width", VALUE_WIDTH),
        ("swap_epoch", design.swap_epoch),
    ]);
    values.widths(&[("used_width", used + 1), ("swap_epoch_width", design.swap_epoch)]);
    let named = |of_pages, of_segments| if p.pages { of_pages } else { of_segments };
    values.texts([
        ("of_place", named("PAGE_WIDTH", "SEGMENT_WIDTH").to_owned()),
        ("of_cache", named("CACHE_WIDTH", "STREAM_WIDTH").to_owned()),
        ("token_of", named("stream", "prefix").to_owned()),
    ]);
    let of = |value: fn(&Pages) -> u32| design.pages.as_ref().map_or(0, value);
    values.numbers(&[
        ("num_caches", design.pages.as_ref().map_or(design.model.max_streams, |pages| pages.caches)),
        ("num_pages", of(|pages| pages.count)),
        ("cache_width", of(Pages::cache_width)),
        ("entry_width", of(Pages::entry_width)),
        ("page_width", of(Pages::page_width)),
        ("page_lanes", of(Pages::lanes)),
        ("page_lane_width", of(Pages::lane_width)),
    ]);
    values
        .flags(&[("pages", p.pages), ("pages_in_ultra", design.pages.as_ref().is_some_and(Pages::in_ultra))]);
    values.set("home_blocks", wide(p.blocks_of_home().into()));
    values.flags(&[
        ("swaps", design.swaps()),
        ("by_slice", p.by_slice()),
        ("placement_takv", p.kind == PlacementKind::Takv),
        ("placement_round_robin", p.kind == PlacementKind::RoundRobin),
        ("placement_hub", p.kind == PlacementKind::Hub),
    ]);
    values.texts(of_slices(p, ahead));
    let shared = design.pieces(Sharing::Segment);
    let by_column = |of: &dyn Fn(&Piece) -> u64, width| {
        let piece = |x| shared.iter().find(|p| p.column == x);
        last_first(design.mesh.cols(), |x| bits(piece(x).map_or(0, of), width))
    };
    values.texts([
        ("column_masks", by_column(&|p| p.mask, design.flit.mask_width())),
        ("column_rows", by_column(&|p| p.rows, design.mesh.rows())),
    ]);
}

/// Ports to external memory.
fn set_memory(values: &mut Values, design: &Design) {
    let memory = &design.memory;
    values.numbers(&[
        ("memory_ports", memory.ports),
        ("row_ports", memory.row_ports),
        ("port_tiles", memory.tiles_per_port),
        ("burst_id_width", memory.slot_width),
        ("axi_id_width", memory.id_width),
        ("len_width", index_bits(memory.burst_flits)),
        ("axi_addr_width", memory.addr_width),
        ("local_width", memory.local_width),
        ("region_width", memory.region_width),
        ("region_number_width", memory.addr_width - memory.region_width),
    ]);
    values.texts([
        ("slice_bytes", wide(memory.slice_bytes)),
        ("flit_bytes_wide", wide(u64::from(design.flit.data_width / 8))),
        ("row_regions", wide(u64::from(memory.row_ports * memory.tiles_per_port))),
    ]);
}

/// New tokens of a cache that can be appended to.
fn set_append(values: &mut Values, design: &Design) {
    let append = design.append;
    let of = |value: fn(&crate::design::Append) -> u32| append.as_ref().map_or(0, value);
    values.numbers(&[
        ("token_words", of(|a| a.words)),
        ("written_words", of(|a| a.words + 1)),
        ("token_groups", of(|a| a.groups)),
        ("token_group_width", of(|a| a.group)),
        ("token_depth", of(|a| a.token_depth)),
        ("write_depth", of(|a| a.write_depth)),
        ("value_burst", of(|a| a.value_burst)),
    ]);
    values.flags(&[
        ("append", append.is_some()),
        ("direct_writes", append.is_some_and(|a| a.direct)),
        ("tokens_in_ultra", append.is_some_and(|a| a.ultra_rams() > 0)),
    ]);
}

/// Bits of the largest dividend of the placement.
fn place(design: &Design, ahead: u32) -> u32 {
    let p = &design.placement;
    let (layers, segments) = (u64::from(p.layers), u64::from(p.places));
    let most = match p.kind {
        _ if p.by_slice() => u64::from(p.a) * layers + segments + (1 << ahead),
        PlacementKind::Takv => {
            let row = u64::from(p.a) * layers + segments;
            row.max(layers + u64::from(p.column_stride) * segments)
        }
        PlacementKind::RoundRobin | PlacementKind::Hub => layers * segments,
    };
    (most.ilog2() + 1).max(index_bits(p.layers).max(index_bits(p.places)) + 1)
}

/// Pieces of all KV heads as they stand between braces, the last first: whether a piece ends its round, whether it is the
/// last of all, its visit, rows, head mask, column and KV head.
fn piece_literals(design: &Design, pieces: &[Piece]) -> Vec<String> {
    let (x, slice) = (index_bits(design.mesh.cols()), index_bits(design.model.kv_heads));
    let rho = design.placement.rotation().ilog2();
    let next = pieces.iter().skip(1).map(Some).chain([None]);
    let literal = |(p, next): (&Piece, Option<&Piece>)| {
        let ends_round = next.is_none_or(|n| n.round != p.round);
        format!(
            "1'b{}, 1'b{}, {rho}'d{}, {}, {}, {x}'d{}, {slice}'d{}",
            u32::from(ends_round),
            u32::from(p.last),
            p.rho,
            bits(p.rows, design.mesh.rows()),
            bits(p.mask, design.flit.mask_width()),
            p.column,
            p.kv_head
        )
    };
    let mut literals: Vec<_> = pieces.iter().zip(next).map(literal).collect();
    literals.reverse();
    literals
}

/// A number of 64 bits.
fn wide(number: u64) -> String {
    format!("64'd{number}")
}
