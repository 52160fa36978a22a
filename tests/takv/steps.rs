//! Every flit of every slice reaches the tiles that need it, once, on the verilated fabric: under every
//! configuration, mapping and sharing, and whatever part of the cache is attended to.

use crate::support::decode::{
    plan, run_alone, run_clean, run_on, sized, small, whole_library, LOAD, MAPPINGS, SHARINGS,
};
use crate::support::sources::source_mut;
use crate::support::verilated::library_of;
use meshkv::config::{Config, PlacementKind};
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::workloads::decode::{Pace, Workload};
use meshkv::design::{Class, Design, Mapping, Sharing};
use meshkv::emit::emit;

/// The difference of one configuration from another.
type Change = fn(&mut Config);

/// The configurations of the specification's section 10, on the small mesh.
const CONFIGURATIONS: [(&str, Change); 5] = [
    ("cent", |c| (c.takv.placement, c.mare.enable) = (PlacementKind::Hub, false)),
    ("shared", |c| (c.takv.placement, c.mare.enable) = (PlacementKind::RoundRobin, false)),
    ("takv", |c| c.mare.enable = false),
    ("meshkv", |_| {}),
    ("meshkv with a column stride", |c| c.takv.column_stride = 1),
];

/// Two layers and two streams that share three segments, the last of which ends in mid-row.
fn mixed(mapping: Mapping, sharing: Sharing) -> Workload {
    Workload { tokens: 53, batch: 2, prefix: 24, layers: 2, mapping, sharing, ..LOAD }
}

/// PART packets: one a stream, layer and head from each tile that may work on it.
fn packets(design: &Design, load: &Workload, tiles_of_head: u64) -> u64 {
    u64::from(design.model.heads) * u64::from(load.batch * load.layers) * tiles_of_head
}

#[test]
fn every_configuration_serves_every_mapping_and_sharing() {
    for (name, change) in CONFIGURATIONS {
        let design = small(change);
        let library = whole_library(&design);
        for (at, mapping) in MAPPINGS.into_iter().enumerate() {
            // All of the first configuration, of others each mapping and each sharing.
            let every = name == CONFIGURATIONS[0].0;
            let sharings = SHARINGS.into_iter().enumerate().filter(|(i, _)| every || (i + at) % 2 == 0);
            for (_, sharing) in sharings {
                let load = mixed(mapping, sharing);
                let what = format!("{name} {mapping:?} {sharing:?}");
                let done = run_clean(&library, &design, &plan(&design, &load), &what);
                assert_eq!(done.event("flits_taken"), done.taken.iter().sum::<u64>(), "{what}");
                // Each slice comes from memory once a descriptor that names it.
                assert_eq!(done.event("flits_filled"), done.ports.iter().map(|p| p.beats).sum::<u64>());
                // All tiles of a column, unless heads have tiles of their own.
                let of_head = if mapping == Mapping::HeadTile { 1 } else { 2 };
                assert_eq!(done.packets, packets(&design, &load, of_head), "{what}");
            }
        }
    }
}

#[test]
fn descriptors_of_a_stream_may_have_different_mappings() {
    let design = small(|_| {});
    let library = whole_library(&design);
    for (at, of_prefix) in MAPPINGS.into_iter().enumerate() {
        for of_streams in MAPPINGS {
            let mut plan = plan(&design, &mixed(of_streams, SHARINGS[at % 2]));
            // A stream that was closed is no longer scattered: the next step begins anew.
            plan.steps = 2;
            plan.descriptors.iter_mut().filter(|d| d.streams == 2).for_each(|d| d.mapping = of_prefix);
            assert!(plan.descriptors.iter().any(|d| d.close && d.mapping == of_streams));
            let done = run_clean(&library, &design, &plan, &format!("{of_prefix:?}, then {of_streams:?}"));
            let of_head =
                if (of_prefix, of_streams) == (Mapping::HeadTile, Mapping::HeadTile) { 1 } else { 2 };
            assert_eq!(done.packets, 2 * packets(&design, &mixed(of_streams, SHARINGS[0]), of_head));
        }
    }
}

#[test]
fn heads_are_dealt_to_columns_evenly_or_not() {
    // Columns, rows, heads, KV heads: GQA groups that lie in several columns, fewer heads than columns,
    // more KV heads than fit evenly, many heads a tile.
    for (cols, rows, heads, kv_heads) in [(2, 2, 4, 1), (4, 2, 3, 3), (3, 3, 7, 7), (2, 3, 16, 4)] {
        let design = sized(cols, rows, |c| (c.model.heads, c.model.kv_heads) = (heads, kv_heads));
        let library = whole_library(&design);
        for (mapping, sharing) in MAPPINGS.into_iter().zip(SHARINGS.into_iter().cycle()) {
            let load = Workload { tokens: 43, batch: 2, prefix: 16, mapping, sharing, ..LOAD };
            let what = format!("{cols} x {rows}, {heads} heads of {kv_heads} {mapping:?} {sharing:?}");
            run_clean(&library, &design, &plan(&design, &load), &what);
        }
    }
}

#[test]
fn memory_ports_serve_one_tile_or_more() {
    // Columns and tiles a port: none shared, the last port of a row with one tile, all of a row behind one port.
    for (cols, tiles) in [(3, 1), (3, 2), (5, 4), (4, 4)] {
        let design = sized(cols, 2, |c| c.memory.tiles_per_port = Some(tiles));
        let library = whole_library(&design);
        for mapping in MAPPINGS {
            let load = mixed(mapping, Sharing::KvHead);
            let what = format!("{cols} columns, {tiles} tiles a port, {mapping:?}");
            let done = run_clean(&library, &design, &plan(&design, &load), &what);
            assert_eq!(done.ports.len() as u32, 2 * cols.div_ceil(tiles), "{what}");
            assert_eq!(
                done.event("flits_filled"),
                done.ports.iter().map(|port| port.beats).sum::<u64>(),
                "{what}"
            );
        }
    }
}

#[test]
fn only_rows_that_are_wanted_come() {
    let design = small(|c| c.model.sliding_window = Some(21));
    let library = whole_library(&design);
    assert_eq!(design.mare.chunk_flits, 4);
    for tokens in 1..40u32 {
        let load = Workload { tokens, mapping: Mapping::RowAligned, ..LOAD };
        let done = run_clean(&library, &design, &plan(&design, &load), &format!("{tokens} tokens"));
        // Of each of 3 KV heads: 8 flits a row of K, which begin with a chunk; V in blocks of four rows, 32 flits each.
        let first = tokens.saturating_sub(21);
        let flits = 3 * (8 * (tokens - first) + 32 * (tokens.div_ceil(4) - first / 4));
        assert_eq!(done.taken.iter().sum::<u64>(), u64::from(flits), "{tokens} tokens");
    }
}

#[test]
fn shapes_of_slices_are_served() {
    let shapes: [(&str, Change); 6] = [
        ("one token a segment", |c| (c.kv.segment_tokens, c.model.max_tokens) = (1, 32)),
        ("seven tokens a segment", |c| c.kv.segment_tokens = 7),
        ("two rows a flit", |c| (c.noc.flit_width, c.kv.uram_per_tile) = (1024, 15)),
        ("a row a flit", |c| (c.noc.flit_width, c.kv.uram_per_tile) = (512, 8)),
        ("long rows", |c| c.pe.head_dim = 128),
        ("long chunks", |c| c.pad.fifo_depth = Some(200)),
    ];
    for (name, change) in shapes {
        let design = small(change);
        let library = whole_library(&design);
        for tokens in [1, 9, 27] {
            let prefix = tokens.min(8);
            let load = Workload { tokens, batch: 2, prefix, mapping: Mapping::StreamStriped, ..LOAD };
            run_clean(&library, &design, &plan(&design, &load), &format!("{name}, {tokens} tokens"));
        }
    }
}

#[test]
fn slow_tiles_lose_nothing_over_many_steps() {
    let design = small(|_| {});
    let library = whole_library(&design);
    for (flit_cycles, stall) in [(1, 120), (3, 0), (2, 100)] {
        for mapping in MAPPINGS {
            let mut plan = plan(&design, &mixed(mapping, Sharing::KvHead));
            (plan.pace, plan.steps) = (Pace { flit_cycles, stall }, 3);
            let done = run_clean(&library, &design, &plan, &format!("{flit_cycles} {stall}"));
            assert_eq!(done.steps.len(), 3);
            assert!(done.steps.windows(2).all(|s| Some(s[0].end) < s[1].start), "{:?}", done.steps);
        }
    }
}

#[test]
fn layers_that_overlap_lose_nothing() {
    let design = small(|_| {});
    let library = whole_library(&design);
    for mapping in MAPPINGS {
        let mut plan = plan(&design, &Workload { layers: 4, ..mixed(mapping, Sharing::KvHead) });
        let apart = run_clean(&library, &design, &plan, "one after the other");
        plan.overlap = true;
        let done = run_clean(&library, &design, &plan, &format!("{mapping:?}"));
        assert_eq!(done.taken, apart.taken);
    }
}

#[test]
fn sparse_attention_visits_every_stride_th_segment() {
    let design = small(|_| {});
    let library = whole_library(&design);
    for stride in [2, 3, 5] {
        let load = Workload { tokens: 250, stride, mapping: Mapping::RowAligned, ..LOAD };
        let made = plan(&design, &load);
        let segments = u64::from(made.descriptors[0].count);
        let done = run_clean(&library, &design, &made, &format!("stride {stride}"));
        // One job a segment and KV head, and a close at each of 6 tiles.
        assert_eq!(done.jobs, 3 * segments + 6, "stride {stride}");
    }
}

#[test]
fn with_both_a_prefix_and_striped_streams_a_slice_is_multicast() {
    // Four streams, two of which stand in each row: alone they fetch the prefix four times.
    let design = small(|_| {});
    let library = whole_library(&design);
    let load = Workload { tokens: 64, batch: 4, mapping: Mapping::StreamStriped, ..LOAD };
    let data = |prefix| {
        let load = Workload { prefix, ..load };
        let done = run_clean(&library, &design, &plan(&design, &load), &format!("prefix {prefix}"));
        (done.event("flits_filled"), done.traversals(design.mesh, Class::KvData))
    };
    let (alone, together) = (data(0), data(64));
    assert_eq!(alone.0, 4 * together.0, "each slice is read once for all");
    assert!(together.1 * 2 <= alone.1, "{alone:?} {together:?}");
}

#[test]
fn stages_that_follow_one_another_come_to_their_end() {
    let design = small(|c| c.pad.enable = false);
    let plan = plan(&design, &Workload { tokens: 16, ..LOAD });
    let alone = run_clean(&whole_library(&design), &design, &plan, "one after the other");
    let overlapping = small(|_| {});
    let both = run_clean(&whole_library(&overlapping), &overlapping, &plan, "overlapping");
    assert_eq!(alone.taken, both.taken);
    assert!(alone.cycles > both.cycles);
}

#[test]
fn a_slice_that_is_named_again_before_it_was_served_stops_the_run() {
    // Steps follow one another at once, each of two segments: some tile has not had them when they are named again.
    let design = small(|_| {});
    let mut plan = plan(&design, &Workload { tokens: 16, ..LOAD });
    (plan.steps, plan.overlap) = (4, true);
    let error = run_on(&whole_library(&design), &design, &plan).unwrap_err().to_string();
    assert!(error.contains("a descriptor names a slice again before it was served"), "{error}");
}

/// A fabric whose directories check a slot only every 64th cycle, so that it is freed long after it was served. No
/// promise limits that delay.
fn freed_late(design: &Design) -> meshkv::cosim::build::Library {
    let mut files = emit(design).unwrap();
    let file = source_mut(&mut files, "meshkv_staging_directory");
    for (from, to) in [
        ("    always @(posedge clk) begin\n        closing_q <=", "    reg [5:0] rest_q;\n    always @(posedge clk) begin\n        rest_q <= rst ? 6'd0 : rest_q + 6'd1;\n        closing_q <="),
        ("if (~stays) scan_q <=", "if (~stays & &rest_q) scan_q <="),
    ] {
        assert_eq!(file.text.matches(from).count(), 1, "{from}");
        file.text = file.text.replace(from, to);
    }
    library_of(BuildForm::FabricPieces, design, &files)
}

#[test]
fn a_slot_that_is_freed_late_is_not_taken_for_the_slice_that_is_named_next() {
    let design = small(|_| {});
    let library = freed_late(&design);
    for mapping in MAPPINGS {
        let mut plan = plan(&design, &Workload { tokens: 16, mapping, ..LOAD });
        plan.steps = 8;
        let done = run_alone(&library, &design, &plan).unwrap_or_else(|e| panic!("{mapping:?}: {e}"));
        assert_eq!(done.violations, 0, "{mapping:?}: {:#?}", done.violation_list);
    }
}
