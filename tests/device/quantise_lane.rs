//! A lane of the quantiser of new tokens rounds as the model does, under Icarus.

use crate::support::icarus::{change, Bench};
use meshkv::config::{Config, KvFormat};
use meshkv::design::Design;
use meshkv::emit::{emit_block, SourceFile};
use meshkv::model::datapath::numbers::element::{bytes_of, quantised};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::fmt::Write;

fn sources(format: KvFormat) -> Vec<SourceFile> {
    let mut config = Config::default();
    config.kv.format = format;
    let design = Design::from_config("test", &config).expect("it is legal");
    emit_block(&design, "meshkv_quantise_lane").expect("it is emitted")
}

/// Numbers and factors: all numbers with a factor of 1, ties and what is next to them, subnormals, any at all.
fn cases() -> Vec<(u16, f32)> {
    let mut random = Pcg32::seed_from_u64(7);
    let mut all: Vec<(u16, f32)> = (0..=u16::MAX).step_by(3).map(|bits| (bits, 1.0)).collect();
    for _ in 0..20_000 {
        let factor = f32::from_bits(random.random_range(1u32 << 23..0x7f80_0000));
        let near = f32::from_bits(random.random_range(0x3700_0000u32..0x4700_0000));
        // Few bits: products are ties.
        let round = f32::from_bits(near.to_bits() & 0xfff0_0000);
        let bits: u16 = random.random();
        all.extend([(bits, factor), (bits, near), (bits & 0xffc0, round), (bits & 0x83ff, near)]);
    }
    all
}

fn codes(files: &[SourceFile], cases: &[(u16, f32)]) -> Vec<u8> {
    let mut input = String::new();
    cases.iter().for_each(|(bits, factor)| writeln!(input, "{:08x}{bits:04x}", factor.to_bits()).unwrap());
    let bench = Bench::of(files, "device/quantise_lane_tb", &[("LINES", cases.len() as u32)]);
    bench.run(&input, &[]).lines().map(|line| u8::from_str_radix(line, 16).unwrap_or(0x55)).collect()
}

fn expected(format: KvFormat, cases: &[(u16, f32)]) -> Vec<u8> {
    let code = |&(bits, factor): &(u16, f32)| bytes_of(format, &[quantised(format, bits, factor)])[0];
    cases.iter().map(code).collect()
}

#[test]
fn a_lane_rounds_as_the_model_does() {
    let cases = cases();
    for format in [KvFormat::Fp8E4m3, KvFormat::Fp8E5m2, KvFormat::Int8] {
        let found = codes(&sources(format), &cases);
        let wanted = expected(format, &cases);
        assert_eq!(found.len(), wanted.len());
        let wrong = (0..cases.len()).find(|&at| found[at] != wanted[at]);
        if let Some(at) = wrong {
            let (bits, factor) = cases[at];
            panic!(
                "{format:?}: {bits:04x} x {factor:e} ({:08x}) is {:02x}, not {:02x}",
                factor.to_bits(),
                found[at],
                wanted[at]
            );
        }
    }
}

#[test]
fn slips_of_a_lane_are_found() {
    let cases = cases();
    for (format, from, to) in [
        (KvFormat::Fp8E4m3, "(rest_s6_q | bits_s6_q[0])", "1'b1"),
        (KvFormat::Fp8E4m3, "rest_s5_q | (|wide[7:0])", "rest_s5_q"),
        (KvFormat::Fp8E4m3, "| high & product[29]", ""),
        (KvFormat::Fp8E4m3, "large_s6_q | ", ""),
        (KvFormat::Fp8E5m2, "|below[8:3] ? 3'd7 : ", ""),
        (KvFormat::Fp8E5m2, "normal ? {1'b1, s_element[9:0]} : of_subnormal", "{normal, s_element[9:0]}"),
        (KvFormat::Fp8E5m2, "if (zero_s5_q)", "if (1'b0)"),
        (KvFormat::Int8, "|below[8:4] ? 4'd15 : ", ""),
        (KvFormat::Int8, "large_s6_q <= below[9]", "large_s6_q <= 1'b0"),
        (KvFormat::Int8, "+ {7'd0, sign_s6_q}", ""),
        (KvFormat::Int8, "special_s6_q ? 8'h80 : ", ""),
    ] {
        let mut files = sources(format);
        change(&mut files, "meshkv_quantise_lane", from, to);
        assert_ne!(codes(&files, &cases), expected(format, &cases), "nothing shows {to} for {from}");
    }
}
