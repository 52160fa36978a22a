//! FIFO and register between two clocks, under Icarus: jittering clocks of any ratio, any depth, stalls on both sides.

use crate::support::icarus::{lint, sources, Bench};

/// Periods of writer and reader, the reader's phase, and how far an edge may be late.
const CLOCKS: [[u32; 4]; 9] = [
    [1000, 1000, 0, 0],
    [1000, 1000, 370, 0],
    [1000, 1000, 500, 120],
    [1001, 1000, 3, 0],
    [900, 600, 10, 70],
    [600, 900, 10, 70],
    [400, 1400, 0, 50],
    [1400, 400, 0, 50],
    [200, 2000, 77, 30],
];

#[test]
fn words_come_in_order_and_every_place_is_used_whatever_the_clocks() {
    for depth in [0, 2, 3, 5, 16, 47, 48] {
        let module = if depth == 0 { "meshkv_async_register" } else { "meshkv_async_fifo" };
        let bench = Bench::of(&sources(module), "common/async_fifo_tb", &[("DEPTH", depth)]);
        for (seed, [s_period, m_period, phase, jitter]) in (1..).zip(CLOCKS) {
            let words = 2000;
            let clocks =
                [("s_period", s_period), ("m_period", m_period), ("phase", phase), ("jitter", jitter)];
            let said = bench.run("", &[&clocks[..], &[("seed", seed), ("words", words)]].concat());
            let expected = format!("{words} words, at most {}\n", depth + 1);
            assert_eq!(said, expected, "depth {depth}, periods {s_period} and {m_period}, seed {seed}");
        }
    }
}

#[test]
fn every_reader_of_verilog_is_content() {
    for depth in [2, 3, 48] {
        assert_eq!(lint("meshkv_async_fifo", &[("DEPTH", depth)]), [""; 0]);
    }
    assert_eq!(lint("meshkv_async_register", &[("WIDTH", 24)]), [""; 0]);
}
