//! The emitted array of PaD, with one row, equals the model of its numbers in every bit, under Verilator.

use super::bench;
use super::schedule::{Numbers, Schedule};
use crate::support::sources::is_source;
use meshkv::config::{Config, KvFormat, KvScales, Narrow};
use meshkv::design::Design;

/// A design in FP16 whose rows have these sizes.
pub(super) fn design(flit_width: u32, head_dim: u32, segment_tokens: u32) -> Design {
    formatted(KvFormat::Fp16, flit_width, head_dim, segment_tokens)
}

/// A design whose rows have these sizes, and keys and values of a format.
pub(super) fn formatted(format: KvFormat, flit_width: u32, head_dim: u32, segment_tokens: u32) -> Design {
    let mut config = Config::default();
    let scales = if format == KvFormat::Int8 { KvScales::Head } else { KvScales::None };
    (config.kv.format, config.kv.scales) = (format, scales);
    (config.noc.flit_width, config.pe.head_dim) = (flit_width, head_dim);
    config.kv.uram_per_tile = 16;
    config.pe.array_rows = 1;
    config.kv.segment_tokens = segment_tokens;
    config.model.max_tokens = 32 * segment_tokens;
    Design::from_config("row", &config).expect("a legal configuration")
}

/// The same with scales of logits that a host gives.
pub(super) fn scaled(design: &Design) -> Design {
    let mut config = design.configuration().clone();
    config.kv.scales = KvScales::Head;
    Design::from_config("row", &config).expect("a legal configuration")
}

/// The same with packed numbers of these widths.
fn narrowed(design: &Design, narrow: Narrow) -> Design {
    let mut config = design.configuration().clone();
    config.pe.narrow = narrow;
    Design::from_config("row", &config).expect("a legal configuration")
}

/// Contexts of all kinds of numbers.
fn schedule(design: &Design, slots: u32, rounds: usize) -> Schedule {
    let mut schedule = Schedule::new(design, slots, 11);
    Numbers::ALL.iter().cycle().take(rounds).for_each(|&numbers| schedule.round(numbers));
    schedule
}

/// Runs contexts through a row and compares all outputs.
fn agrees(lanes: u32, head_dim: u32, segment_tokens: u32, slots: u32, rounds: usize) {
    agree(&design(16 * lanes, head_dim, segment_tokens), slots, rounds);
}

fn agree(design: &Design, slots: u32, rounds: usize) {
    let row = bench::build(design, slots, |_| {});
    let schedule = schedule(design, slots, rounds);
    schedule.compare(&row.run(&schedule.cycles)).unwrap();
}

#[test]
fn four_lanes_and_eight_flits_a_token() {
    agrees(4, 32, 8, 3, 24);
}

#[test]
fn the_reference_row() {
    agrees(32, 128, 64, 4, 12);
}

#[test]
fn a_token_a_flit() {
    agrees(32, 32, 64, 4, 18);
}

#[test]
fn two_tokens_a_flit() {
    agrees(64, 32, 64, 2, 12);
}

#[test]
fn segments_that_are_no_whole_number_of_blocks() {
    agrees(16, 64, 40, 1, 18);
    agrees(8, 32, 3, 5, 18);
}

/// Shapes of all kinds: several flits a token, one, several tokens a flit, blocks that are not full.
#[test]
fn rows_of_eight_bit_elements() {
    for format in [KvFormat::Fp8E4m3, KvFormat::Fp8E5m2, KvFormat::Int8] {
        for (flit, head_dim, tokens, slots) in
            [(512, 128, 64, 4), (64, 32, 8, 3), (256, 32, 40, 1), (512, 32, 64, 2)]
        {
            agree(&formatted(format, flit, head_dim, tokens), slots, 16);
        }
    }
}

#[test]
fn rows_with_scales() {
    for format in [KvFormat::Fp16, KvFormat::Fp8E4m3, KvFormat::Fp8E5m2, KvFormat::Int8] {
        for (flit, head_dim, tokens, slots) in [(512, 128, 64, 4), (64, 32, 8, 3)] {
            agree(&scaled(&formatted(format, flit, head_dim, tokens)), slots, 16);
        }
    }
}

/// Two rows share their multipliers: a row alone, with numbers of either width.
#[test]
fn rows_of_packed_numbers() {
    for (narrow, (flit, head_dim, tokens, slots)) in [
        (Narrow::None, (512, 128, 64, 4)),
        (Narrow::Both, (512, 128, 64, 4)),
        (Narrow::Values, (64, 32, 8, 3)),
        (Narrow::Keys, (1024, 64, 40, 2)),
        (Narrow::Values, (256, 32, 40, 1)),
        (Narrow::Both, (128, 32, 13, 5)),
    ] {
        agree(&narrowed(&formatted(KvFormat::Int8, flit, head_dim, tokens), narrow), slots, 16);
    }
}

/// Each of these slips must show, or the tests above would check nothing.
#[test]
fn a_row_with_a_slip_is_told_from_a_right_one() {
    let slips = [
        ("meshkv_weight", "octave[z[19:13]]", "octave[{z[19:14], 1'b0}]"),
        ("meshkv_sums", "{placed, placed_e_q[0]}", "{placed, 1'b0}"),
        ("meshkv_sums", "at_e_q[0] | ~single_e_q", "1'b1"),
        ("meshkv_sums", "kind_d_q == READ & max_some;", "kind_d_q == READ;"),
        ("meshkv_sums", " | kind_d_q == READ & ~max_some", ""),
        ("meshkv_scratchpad", "fresh_q[s_slot] | ", ""),
        ("meshkv_scratchpad", "{~old_s3_q[31],", "{1'b0,"),
        ("meshkv_scratchpad", "saturated_q[clear_slot] <= 1'b0;", ""),
        ("meshkv_align", "16'h4000 >>", "16'h8000 >>"),
        ("meshkv_align", "({1'b0, low_q})", "(2'b0)"),
        ("meshkv_align", "if (~counts_q[LANE])", "if (1'b0)"),
        ("meshkv_align", "| ~|counted_q", "& ~|counted_q"),
        ("meshkv_preadd_dsp", ": 48'h4000", ": 48'h0"),
        ("meshkv_dot", "({1'b0, number[17]})", "(2'b0)"),
        (
            "meshkv_query_lanes",
            "wire        adds     = sign_s5_q ^ shifted_s5_q[0];",
            "wire        adds     = sign_s5_q;",
        ),
        (
            "meshkv_query_lanes",
            "largest_s2_q <= {so_far[4:1], so_far[0] | ~|so_far};",
            "largest_s2_q <= so_far;",
        ),
        ("meshkv_query_lanes", "lack_s3_q[4] | lack_s3_q[3]", "lack_s3_q[3]"),
        ("meshkv_scratchpad", "+ {16'b0, shifted_s7_q[0]}", ""),
        ("meshkv_scratchpad", "rise_s3_q[4:0] - 5'd1;", "rise_s3_q[4:0];"),
        ("meshkv_scratchpad", "& near_s4_q", ""),
    ];
    show(&design(64, 32, 8), &slips);
    let of_e4m3 = [
        ("meshkv_align", "exponent = 5'd24", "exponent = 5'd25"),
        ("meshkv_align", "- {3'b0, normal}", ""),
        ("meshkv_align", "{12'b0, normal,", "{12'b0, 1'b1,"),
        ("meshkv_align", "if (~counts_q[LANE])", "if (1'b0)"),
        ("meshkv_dot", "(aligned[(4*g+l)*19+18])", "(1'b0)"),
        ("meshkv_dot", "({1'b0, number[17]})", "(2'b0)"),
    ];
    show(&formatted(KvFormat::Fp8E4m3, 64, 32, 8), &of_e4m3);
    let of_e5m2 = [
        ("meshkv_align", "(~sign_s3_q | |ones_s3_q[1:0])", "1'b1"),
        ("meshkv_align", "sign_s3_q ^ half}", "sign_s3_q}"),
        ("meshkv_align", "{short_s1_q[4:2], 2'b0}", "{1'b0, short_s1_q[3:2], 2'b0}"),
        ("meshkv_align", "| ~|counted_q", "& ~|counted_q"),
        ("meshkv_dot", "({1'b0, number[17]})", "(2'b0)"),
    ];
    show(&formatted(KvFormat::Fp8E5m2, 64, 32, 8), &of_e5m2);
    let of_int8 = [
        ("meshkv_align", "exponent = 5'd21", "exponent = 5'd22"),
        ("meshkv_align", "if (~counts_q[LANE])", "if (1'b0)"),
        ("meshkv_pad_row", "m_number[8:0] == 9'h100", "1'b0"),
        ("meshkv_pad_row", "{8'b0, w_number[8]}", "9'b0"),
        ("meshkv_scratchpad", "&s_significand[15:8]", "1'b0"),
        ("meshkv_query_lanes", "~&element[12:8] & (&element[7:0])", "1'b0"),
        ("meshkv_pair_dot", "& {PAIR_WIDTH{wide_late}}", ""),
        ("meshkv_pair_dot", "SEGMENTS << 19", "0"),
        ("meshkv_packed_dsp", ": 48'h20000;", ": 48'h0;"),
    ];
    show(&narrowed(&formatted(KvFormat::Int8, 64, 32, 8), Narrow::Keys), &of_int8);
    let of_scales = [
        ("meshkv_pad_array", "(kind[1:0] == KEY ? {rise[5], rise} : 7'd0)", "{rise[5], rise}"),
        ("meshkv_pad_array", "odd_late ? odd_scale[25:0] : even_scale[25:0]", "even_scale[25:0]"),
        ("meshkv_dot", "& {6{~sum[7]}}", ""),
        ("meshkv_weight", "({1'b0, scale_s2_q})", "({1'b0, scale_s1_q})"),
    ];
    show(&scaled(&design(64, 32, 8)), &of_scales);
    // A masked token is multiplied where another token of its flit counts.
    show(&design(1024, 32, 8), &[("meshkv_scratchpad", "s_counts & s_saturates", "s_saturates")]);
}

/// Each slip makes outputs of a row with two contexts differ.
fn show(design: &Design, slips: &[(&str, &str, &str)]) {
    let schedule = schedule(design, 2, 80);
    for (module, right, wrong) in slips {
        let row = bench::build(design, 2, |file| {
            if is_source(file, module) {
                assert!(file.text.contains(right), "{module} has no {right}");
                file.text = file.text.replacen(right, wrong, 1);
            }
        });
        let outputs = row.run(&schedule.cycles);
        assert!(schedule.compare(&outputs).is_err(), "{module}: nothing shows {wrong} instead of {right}");
    }
}
