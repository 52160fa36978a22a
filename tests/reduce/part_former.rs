//! PART packets of the emitted part former equal those of the model, under Icarus.

use crate::support::icarus::{lint, sources, Bench};
use meshkv::model::datapath::numbers::fixed;
use meshkv::model::Packet;
use std::fmt::Write;

const ID_WIDTH: u32 = 14;

/// A small generator of pseudo-random numbers: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
}

/// A sum of any magnitude; a third of them lie at a rounding boundary or next to it.
fn sum(random: &mut Random, width: u32) -> i128 {
    let most = 1i128 << (width - 1);
    let wide = i128::from(random.next()) << 32 ^ i128::from(random.next());
    let bits = random.below(u64::from(width)) as u32;
    let magnitude = match random.below(3) {
        0 if bits > 25 => {
            // 24 bits, a half of the last, and perhaps one more or less.
            let kept = (1 << 23 | (wide & ((1 << 23) - 1))) << 1 | 1;
            (kept << (bits - 25)) + i128::from(random.below(3)) - 1
        }
        1 if bits > 25 => ((1 << 25) - 1) << (bits - 25),
        _ => wide & ((1 << bits) - 1),
    };
    let value = if random.below(2) == 1 { -magnitude } else { magnitude };
    match random.below(40) {
        0 => 0,
        1 => -most,
        2 => most - 1,
        3 => 1,
        4 => -1,
        _ => value.clamp(-most, most - 1),
    }
}

fn agrees(width: u32, head_dim: u32, lanes: u32, paces: &[(u32, u32)]) {
    let mut random = Random(u64::from(width * 1000 + head_dim + lanes));
    let (mut input, mut expected) = (String::new(), String::new());
    let mut flits = 0;
    for packet in 0..24_u32 {
        let (special, saturated) = (packet % 5 == 3, packet % 3 == 1);
        let max = if packet % 7 == 2 { 0 } else { random.next() as i32 };
        let id = random.below(1 << ID_WIDTH);
        let mut sums: Vec<i128> =
            (0..=head_dim).map(|_| if packet % 7 == 2 { 0 } else { sum(&mut random, width) }).collect();
        let l = sums.last_mut().unwrap();
        *l = l.abs().min((1 << (width - 1)) - 1);
        let (l, o) = sums.split_last().unwrap();
        for (at, pair) in std::iter::once(&[*l, *l][..]).chain(o.chunks(2)).enumerate() {
            let (first, last) = (u32::from(at == 0), u32::from(at == o.len() / 2));
            let [low, high] = [0, 1].map(|of| pair[of] as u128 & ((1 << width) - 1));
            let flags = [special, saturated].map(u32::from);
            writeln!(input, "{first} {last} {} {} {max:x} {id:x} {high:x} {low:x}", flags[0], flags[1])
                .unwrap();
        }
        let word = |sum: &i128| if special { fixed::FP32_NAN } else { fixed::to_fp32(*sum, 36) };
        let mut packet = Packet { max, sums: sums.iter().map(word).collect() };
        packet.set_saturated(saturated && !special && *l != 0);
        let packet = packet.to_flits(lanes);
        for (at, flit) in packet.iter().enumerate() {
            let (first, last) = (u32::from(at == 0), u32::from(at + 1 == packet.len()));
            let data: String = flit.iter().rev().map(|half| format!("{half:04x}")).collect();
            writeln!(expected, "{first} {last} {id:04x} {data}").unwrap();
        }
        flits += packet.len() as u32;
    }
    let parameters = [("SUM_WIDTH", width), ("FLIT_WIDTH", 16 * lanes), ("ID_WIDTH", ID_WIDTH)];
    let bench = Bench::of(&sources("meshkv_part_former"), "reduce/part_former_tb", &parameters);
    for (seed, (s_share, m_share)) in (1..).zip(paces) {
        let arguments = [("seed", seed), ("s_share", *s_share), ("m_share", *m_share), ("flits", flits)];
        let said = bench.run(&input, &arguments);
        for (line, (is, should)) in said.lines().zip(expected.lines()).enumerate() {
            assert_eq!(is, should, "{width} bits, d_h {head_dim}, {lanes} lanes, seed {seed}, flit {line}");
        }
        assert_eq!(said.lines().count(), expected.lines().count(), "flits");
    }
}

#[test]
fn packets_are_those_of_the_model() {
    for (width, head_dim, lanes) in
        [(69, 128, 32), (72, 32, 4), (64, 256, 64), (54, 64, 16), (72, 32, 128), (65, 128, 8)]
    {
        agrees(width, head_dim, lanes, &[(8, 8), (8, 1), (3, 8), (8, 4)]);
    }
}

#[test]
fn every_reader_of_verilog_is_content() {
    for (width, flit) in [(69, 512), (72, 64), (54, 1024), (64, 2048)] {
        let parameters = [("SUM_WIDTH", width), ("FLIT_WIDTH", flit)];
        assert_eq!(lint("meshkv_part_former", &parameters), [""; 0], "{width} {flit}");
    }
}
