//! Slips of the reduce root: each change of its Verilog for the worse is found by the bench of [`super::reduce_root`].

use super::reduce_root::{agrees_as, scaled_sources, Case, DEFAULT};
use crate::support::icarus::{change, sources};
use meshkv::emit::SourceFile;

/// A change of the Verilog for the worse: module, text, what replaces it.
type Slip = (&'static str, &'static str, &'static str);

/// Asserts that the root is right as it is, and with none of the slips.
fn all_are_found(files: &[SourceFile], slips: &[Slip], is_right: impl Fn(&[SourceFile]) -> bool) {
    assert!(is_right(files));
    let missed: Vec<_> = slips
        .iter()
        .filter(|(module, from, to)| {
            let mut slipped = files.to_vec();
            change(&mut slipped, module, from, to);
            is_right(&slipped)
        })
        .collect();
    assert_eq!(missed, [&("", "", ""); 0], "nothing shows these");
}

/// Slips that outputs show.
const SLIPS: &[Slip] = &[
    // The inlet: turns, places, parts of flits, credits.
    ("meshkv_reduce_inlet", "first[2*SOURCES-1:SOURCES] | first[SOURCES-1:0]", "waits & ~(waits - 1'b1)"),
    ("meshkv_reduce_inlet", "root_data[63:0]};", "root_data[31:0], root_data[63:32]};"),
    ("meshkv_reduce_inlet", "{1'b0, l_q[30:0]}", "l_q"),
    ("meshkv_reduce_inlet", "1 + (DEPTH - 1) / FLITS", "1 + (DEPTH - 2) / FLITS"),
    ("meshkv_reduce_inlet", "pop ? {PART_WIDTH{1'b0}} : part_q + 1'b1", "part_q + 1'b1"),
    ("meshkv_reduce_inlet", "pops | (turn_q & {SOURCES{start} })", "pops"),
    ("meshkv_reduce_inlet", "source_q      <= turn_q;", "source_q      <= choice;"),
    ("meshkv_reduce_inlet", "place_q       <= start_place;", ""),
    // The root: look-up, comparison, the way through the lanes.
    ("meshkv_reduce_root", "phase_q == LOOK & ~merging_q", "phase_q == LOOK"),
    (
        "meshkv_reduce_root",
        "if (looks) begin\n                phase_d = COMPARE;",
        "if (1'b1) begin\n                phase_d = COMPARE;",
    ),
    ("meshkv_reduce_root", "& ~near &", "&"),
    ("meshkv_reduce_root", "SUM - BEATS : 0", "SUM - BEATS - 1 : 0"),
    ("meshkv_reduce_root", "& ~busy &", "&"),
    ("meshkv_reduce_root", " & ~(ahead_ends_q & finisher_full)", ""),
    ("meshkv_reduce_root", "had_s2_q  <= had_s1_q", "had_s2_q  <= had_q"),
    ("meshkv_reduce_root", "rise_s2_q <= rise_s1_q", "rise_s2_q <= rise_q"),
    ("meshkv_reduce_root", "l_q[READ] ? l :", "l_q[READ+1] ? l :"),
    ("meshkv_reduce_root", "in_last & ends_q}", "in_last}"),
    ("meshkv_reduce_root", "clears ? ahead_q : context_q", "ahead_q"),
    ("meshkv_reduce_root", "context_q <= ahead_q;", "context_q <= context_q;"),
    ("meshkv_reduce_root", "if (clears | ends_q) state_d", "if (clears) state_d"),
    // A partial beyond the range that others follow, and a head without a token.
    ("meshkv_reduce_root", "saturated | header_l[31]", "header_l[31]"),
    ("meshkv_reduce_finisher", "negative[0] | zero[0]", "negative[0]"),
    ("meshkv_reduce_adder", "rise_s3_q   <= s_rise[6:4]", "rise_s3_q   <= 3'd0"),
    ("meshkv_reduce_adder", "if (~s_some) old_s3_q", "if (1'b0) old_s3_q"),
    // The finisher: places, the divisor, the way to the output.
    ("meshkv_reduce_finisher", "finished[{fill_place_q, s_beat}]", "finished[{drain_place_q, s_beat}]"),
    ("meshkv_reduce_finisher", "finished_l[fill_place_q]", "finished_l[drain_place_q]"),
    ("meshkv_reduce_finisher", "asks_q ? divide_place_q : drain_place_q", "drain_place_q"),
    ("meshkv_reduce_finisher", "drains_q & room_q & ~asks_q", "drains_q & room_q"),
    ("meshkv_reduce_finisher", "drains_q & room_q &", "drains_q &"),
    ("meshkv_reduce_finisher", "divided_q & whole_q[drain_place_q] &", "divided_q &"),
    ("meshkv_reduce_finisher", "head_nothing_q <= next_no_l_q;", "head_nothing_q <= 1'b0;"),
    ("meshkv_reduce_finisher", "nothing_q <= head_nothing_q;", "nothing_q <= next_no_l_q;"),
    ("meshkv_reduce_finisher", "if (load_q[LEAD-1]) begin", "if (load) begin"),
    ("meshkv_reduce_finisher", "if (load_q[LEAD-1]) begin", "if (load_q[LEAD+1]) begin"),
    ("meshkv_reduce_finisher", "if (load_q[ROUND-2]) begin", "if (load) begin"),
    ("meshkv_reduce_finisher", "if (load_q[ROUND-1]) begin", "if (load_q[ROUND-2]) begin"),
    ("meshkv_reduce_finisher", "drawn[SUM_WIDTH*i+:SUM_WIDTH]", "drawn[0+:SUM_WIDTH]"),
    ("meshkv_reduce_finisher", "word[DRAWN_WIDTH*group+:DRAWN_WIDTH]", "word[0+:DRAWN_WIDTH]"),
    ("meshkv_reciprocal", "fits, fits_too}", "fits_too, fits}"),
    ("meshkv_reduce_finisher", "assign s_full = heads_q[1];", "assign s_full = |heads_q;"),
];

/// Shapes that together reach everything: few beats, several beats a flit, one head only, one partial only.
fn is_right(files: &[SourceFile]) -> bool {
    let near = Case { root_lanes: 16, head_dim: 32, streams: 1, heads: 1, partials: 6, rounds: 3, ..DEFAULT };
    let cases = [
        Case { depth: 16, ..near },
        Case { depth: 4, ..near },
        Case { root_lanes: 2, lanes: 16, head_dim: 32, sum_width: 72, streams: 2, rounds: 3, ..DEFAULT },
        Case { root_lanes: 2, lanes: 4, head_dim: 32, partials: 1, depth: 2, ..DEFAULT },
        Case { root_lanes: 2, lanes: 4, head_dim: 32, partials: 1, depth: 16, ..DEFAULT },
        DEFAULT,
    ];
    cases.iter().all(|case| {
        std::panic::catch_unwind(|| {
            let pace = agrees_as(files, *case, &[(8, 8), (3, 2)]);
            // What is right but slow is wrong too. Packets of few places come more slowly than heads are finished.
            let full = case.partials == 1 && case.depth >= 16;
            assert!(!full || pace.finish == case.finish_cycles());
        })
        .is_ok()
    })
}

#[test]
fn slips_of_the_verilog_are_found() {
    all_are_found(&sources("meshkv_reduce_root"), SLIPS, is_right);
}

/// Changes for the worse that only partial results show.
const SLIPS_OF_STATES: &[Slip] = &[
    ("meshkv_reduce_root", "partials[id_q[STREAM_WIDTH-1:0]]", "partials[0]"),
    ("meshkv_reduce_finisher", " & (room_q | ~partial);", ";"),
    ("meshkv_reduce_finisher", "asked_q[drain_place_q]", "asked_q[fill_place_q]"),
    ("meshkv_reduce_finisher", "partial & ALONE : max_next_q & ~draws", "partial & ALONE : 1'b0"),
    ("meshkv_reduce_finisher", "draws & ~max_next_q}", "draws}"),
    ("meshkv_reduce_finisher", "is_max_q[LEAD] & (i", "is_max_q[LEAD+1] & (i"),
    ("meshkv_reduce_finisher", "i <= MAX_LANE || !is_max_q[ROUND]", "1'b1"),
    ("meshkv_reduce_finisher", "head_partial_q <= partial;", "head_partial_q <= asked_q[divide_place_q];"),
    ("meshkv_finish_lane", "(|m_kept[6:0]) | ", ""),
    ("meshkv_finish_lane", " | m_kept[8])", ")"),
    ("meshkv_finish_lane", "s_none & rounded_s4_q[32]", "1'b0"),
    ("meshkv_reduce_finisher", "partial & far & ~next_no_l_q", "partial & far"),
    ("meshkv_reduce_finisher", "partial & far & ~next_no_l_q", "1'b0"),
    ("meshkv_reduce_finisher", " & ~(&done_max[31:24])", ""),
    ("meshkv_reduce_finisher", "& ~(&done_max[31:24])", "& ~done_max[31]"),
    ("meshkv_reduce_finisher", "if (waits & packs) upper_q", "if (waits) upper_q"),
    ("meshkv_reduce_finisher", "(last | head_ends) & ~lower", "last & ~lower"),
];

#[test]
fn slips_of_partial_results_are_found() {
    let right = |files: &[SourceFile]| {
        let small = Case { root_lanes: 16, head_dim: 32, rounds: 3, depth: 16, ..DEFAULT };
        let cases = [
            Case { asked: 0b1010, partials: 4, ..small },
            Case { asked: 0b1111, partials: 1, rounds: 6, ..small },
            Case { asked: 0b0111, root_lanes: 2, lanes: 4, partials: 2, ..small },
            Case { asked: 0b1011, root_lanes: 1, lanes: 4, partials: 1, ..small },
        ];
        cases.iter().all(|case| {
            let run = || agrees_as(files, *case, &[(8, 8), (8, 1)]);
            std::panic::catch_unwind(run).is_ok()
        })
    };
    all_are_found(&sources("meshkv_reduce_root"), SLIPS_OF_STATES, right);
}

/// Changes for the worse that only scales of outputs show.
const SLIPS_OF_SCALES: &[Slip] = &[
    ("meshkv_reduce_finisher", "if (asks_q) scale_q", "if (load) scale_q"),
    ("meshkv_reduce_finisher", "{8'd0, halved}", "9'd0"),
    ("meshkv_reduce_finisher", "- 9'd127", "- 9'd126"),
    (
        "meshkv_reduce_finisher",
        "scales[done_id[ID_WIDTH-1-:PART_HEAD_WIDTH]]",
        "scales[done_id[0+:PART_HEAD_WIDTH]]",
    ),
    ("meshkv_reduce_finisher", "{1'b1, scale_q[22:0], 8'd0} > kept[31:0]", "1'b0"),
    ("meshkv_reciprocal", "{1'b0, s_dividend, 7'd0}", "33'h0_8000_0000"),
];

#[test]
fn slips_of_scales_are_found() {
    let right = |files: &[SourceFile]| {
        let small = Case { root_lanes: 16, head_dim: 32, rounds: 3, depth: 16, scaled: true, ..DEFAULT };
        let run = || agrees_as(files, small, &[(8, 8), (8, 1)]);
        std::panic::catch_unwind(run).is_ok()
    };
    all_are_found(&scaled_sources(false), SLIPS_OF_SCALES, right);
}

/// Changes for the worse that only sinks show.
const SLIPS_OF_SINKS: &[Slip] = &[
    ("meshkv_reduce_root", " & ~partials[header_id[STREAM_WIDTH-1:0]]", ""),
    ("meshkv_reduce_root", "= ~some & sink_q[55]", "= sink_q[55]"),
    ("meshkv_reduce_root", "= ~some & sink_q[55]", "= ~some"),
    ("meshkv_reduce_root", "was_max_held = sinks_q ? sink_q[31:0] : max", "was_max_held = max"),
    ("meshkv_reduce_root", "was_max  = begins ? sink_q[31:0] : max", "was_max  = max"),
    ("meshkv_reduce_root", "had_l_q   <= any;", "had_l_q   <= some;"),
    ("meshkv_reduce_root", "l_q[READ] ? had_l_s2_q : had_s2_q", "had_l_s2_q"),
    (
        "meshkv_reduce_root",
        "sinks[header_id[ID_WIDTH-1-:PART_HEAD_WIDTH]]",
        "sinks[header_id[0+:PART_HEAD_WIDTH]]",
    ),
    ("meshkv_reduce_root", "1'b1, sink_q[54:32]", "1'b0, sink_q[54:32]"),
    ("meshkv_reduce_root", "~any | ~higher ? 7'd0", "~some | ~higher ? 7'd0"),
    ("meshkv_reduce_root", "~any | higher ? 7'd0", "~some | higher ? 7'd0"),
];

#[test]
fn slips_of_sinks_are_found() {
    let right = |files: &[SourceFile]| {
        let small = Case { root_lanes: 16, head_dim: 32, rounds: 3, depth: 16, scaled: true, ..DEFAULT };
        let sunk = Case { sunk: true, heads: 8, streams: 3, asked: 0b010, ..small };
        let run = || agrees_as(files, sunk, &[(8, 8), (8, 1)]);
        std::panic::catch_unwind(run).is_ok()
    };
    all_are_found(&scaled_sources(true), SLIPS_OF_SINKS, right);
}
