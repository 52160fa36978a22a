//! The emitted reduce root equals the model in every bit of its merges and outputs, under Icarus.

use crate::support::icarus::{lint, sources, Bench};
use meshkv::config::{Config, KvScales, LayerGroup};
use meshkv::design::Design;
use meshkv::design::{finish_cycles, index_bits, packet_cycles};
use meshkv::emit::{emit_block, SourceFile};
use meshkv::model::datapath::numbers::fixed;
use meshkv::model::datapath::Sink;
use meshkv::model::{Datapath, DatapathShape, Packet, Root, State};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;

/// A small generator of pseudo-random numbers: xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// An FP32 from `low` to `high` as powers of two.
    fn fp32(&mut self, low: i64, high: i64) -> u32 {
        let exponent = (127 + low + self.below((high - low) as u64) as i64) as u32;
        // Few bits now and then: so sums and quotients meet ties.
        let fraction = self.next() as u32 & [0x7f_ffff, 0x7f_8000, 0x70_0000, 0][self.below(4) as usize];
        exponent << 23 | fraction
    }
}

/// The parameters of a root and its input.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    /// Numbers of o that it merges a cycle, and elements of a flit.
    pub(super) root_lanes: u32,
    pub(super) lanes: u32,
    pub(super) head_dim: u32,
    pub(super) sum_width: u32,
    pub(super) sources: u32,
    pub(super) depth: u32,
    pub(super) streams: u32,
    pub(super) heads: u32,
    pub(super) partials: u32,
    /// Streams that return partial results, a bit each.
    pub(super) asked: u32,
    pub(super) rounds: u32,
    /// Outputs have scales.
    pub(super) scaled: bool,
    /// Sums begin with sinks; only where outputs have scales.
    pub(super) sunk: bool,
}

impl Case {
    /// Numbers of a finished head that leave a cycle.
    fn finish_lanes(&self) -> u32 {
        self.root_lanes.min(4)
    }

    /// Fewest cycles between two heads that are finished.
    pub(super) fn finish_cycles(&self) -> u64 {
        finish_cycles(self.head_dim, self.finish_lanes())
    }
}

/// A packet that is sent.
struct Sent {
    stream: u32,
    layer: u32,
    head: u32,
    /// Partials of its head besides this one.
    others: u32,
    flits: Vec<Vec<u16>>,
}

/// A packet of numbers that tiles send, or that no tile would send, within the width of the sums.
fn packet(random: &mut Random, case: &Case, kind: u64) -> Packet {
    // The model bounds |o| by 2^17 T; each partial has its share of it.
    let most = i64::from(case.sum_width) - 38 - i64::from(case.partials.ilog2() + 1);
    let max = match random.below(12) {
        0 => i32::MIN,
        1 => i32::MAX,
        2 => random.next() as i32,
        3 if random.below(2) == 0 => (1 << 24) - 2 + random.below(4) as i32,
        4 if random.below(2) == 0 => -(1 << 24) - 2 + random.below(4) as i32,
        3 => random.below(200) as i32 - 100,
        _ => random.below(16) as i32 - 8,
    };
    // m of a partial without a token has no meaning.
    let empty = |dim: u32| Packet { max, sums: vec![0; dim as usize + 1] };
    let special = |word: u32, dim: u32| Packet { max, sums: vec![word; dim as usize + 1] };
    match kind {
        0 => return empty(case.head_dim),
        1 => return special(fixed::FP32_NAN, case.head_dim),
        2 => {
            return special([0x7f80_0000, 0xff80_0000, 0x7fff_ffff][random.below(3) as usize], case.head_dim)
        }
        4 | 5 => return near_a_tie(random, case, kind == 4),
        _ => {}
    }
    let low = [-60, -20, -4][random.below(3) as usize];
    let mut sums: Vec<u32> = (0..case.head_dim)
        .map(|_| {
            let sign = (random.below(2) as u32) << 31;
            match random.below(20) {
                0 => sign,
                1 => sign | random.below(1 << 23) as u32,
                2 => sign | (127 - random.below(40) as u32) << 23,
                _ => sign | random.fp32(low, most),
            }
        })
        .collect();
    sums.push(match random.below(30) {
        0 => 0x8000_0000,
        1 => random.fp32(-60, -30),
        2 => 0x8000_0000 | random.fp32(0, 1),
        3..6 => random.fp32(-12, 0),
        6..12 => 0x3f80_0000,
        _ => random.fp32(0, most.min(12)),
    });
    Packet { max, sums }
}

/// Partials of a head whose quotients are ties but for the last bits of o: one holds the tie, the others the rest.
fn near_a_tie(random: &mut Random, case: &Case, first: bool) -> Packet {
    let one = 127 << 23;
    let mut word = || match (first, random.below(3)) {
        (true, _) => (random.next() as u32 & 0x7f_e000) | 0x1000 | (127 + random.below(14) as u32) << 23,
        (false, 0) => random.fp32(-36, -20) | (random.below(2) as u32) << 31,
        (false, _) => 0,
    };
    Packet { max: 3, sums: (0..case.head_dim).map(|_| word()).chain([one]).collect() }
}

/// The packets of each round, in queues of the sources.
fn rounds(random: &mut Random, case: &Case) -> Vec<Vec<VecDeque<Sent>>> {
    let of_round = |layer: u32| {
        let mut packets = Vec::new();
        for stream in 0..case.streams {
            for head in 0..case.heads {
                // A head's partials: all of a kind now and then, and some heads have one partial only.
                let all = match random.below(6) {
                    0 => Some(0),
                    1 => Some(3),
                    2 => Some(4),
                    _ => None,
                };
                let partials = match random.below(4) {
                    0 => 1,
                    1 => 1 + random.below(u64::from(case.partials)) as u32,
                    _ => case.partials,
                };
                for partial in 0..partials {
                    let kind = match all {
                        Some(4) => 4 + u64::from(partial > 0),
                        Some(kind) => kind,
                        None => [0, 1, 2, 3]
                            .get(random.below(u64::from(8 * case.partials.max(2))) as usize)
                            .copied()
                            .unwrap_or(3),
                    };
                    let flits = packet(random, case, kind).to_flits(case.lanes);
                    packets.push(Sent { stream, layer, head, others: partials - 1, flits });
                }
            }
        }
        let mut queues: Vec<VecDeque<Sent>> = (0..case.sources).map(|_| VecDeque::new()).collect();
        while !packets.is_empty() {
            let packet = packets.swap_remove(random.below(packets.len() as u64) as usize);
            queues[random.below(u64::from(case.sources)) as usize].push_back(packet);
        }
        queues
    };
    (0..case.rounds).map(of_round).collect()
}

/// The state of a head as the root returns it: a flit with l and m, then o.
fn halves(state: &State, lanes: u32) -> Vec<u16> {
    State::in_flits(&state.halves(), lanes as usize)
}

/// Fewest cycles of a root, over all runs of a case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// From packet to packet, of another head and of the same.
    other: u64,
    same: u64,
    /// From head to head that is finished.
    pub(super) finish: u64,
    /// Cycles in which a head's last packet waited for a place, in all.
    full: u64,
}

fn agrees(case: Case, paces: &[(u32, u32)]) -> Pace {
    if !case.scaled {
        return agrees_as(&sources("meshkv_reduce_root"), case, paces);
    }
    agrees_as(&scaled_sources(case.sunk), case, paces)
}

/// The sources of a root whose outputs have scales, and perhaps sinks, for the bench that gives them.
pub(super) fn scaled_sources(sunk: bool) -> Vec<SourceFile> {
    let mut config = Config::default();
    config.kv.scales = KvScales::Head;
    config.model.groups = sunk.then(|| vec![LayerGroup { sinks: true, ..LayerGroup::default() }]);
    let design = Design::from_config("test", &config).expect("it is legal");
    let mut files = emit_block(&design, "meshkv_reduce_root").expect("it is emitted");
    files[0].text.insert_str(0, if sunk { "`define SCALED\n`define SUNK\n" } else { "`define SCALED\n" });
    files
}

/// Sink of a head, as the bench has it.
fn sink(case: &Case, head: u32) -> Option<Sink> {
    let high = if head >> 2 & 1 == 1 { -8 } else { 0 };
    let max = high | ((head & 7) ^ 5) as i32;
    let fraction = head.wrapping_mul(0x1357_9bdf) >> 8 & 0x7f_ffff;
    (case.sunk && head & 3 != 3).then_some(Sink { max, fraction })
}

/// Scale of a head's output, as the bench has it.
fn scale(case: &Case, head: u32) -> f32 {
    f32::from_bits(if case.scaled { 0x3d80_0000 + head * 0x00b5_04f3 } else { 0x3f80_0000 })
}

pub(super) fn agrees_as(files: &[SourceFile], case: Case, paces: &[(u32, u32)]) -> Pace {
    let mut all = Pace { other: u64::MAX, same: u64::MAX, finish: u64::MAX, full: 0 };
    let datapath = Datapath::new(DatapathShape::whole(case.head_dim, case.lanes));
    let widths = [index_bits(case.streams), 5, index_bits(case.heads)];
    let out_flits = case.head_dim.div_ceil(case.lanes);
    let state_flits = 1 + 2 * case.head_dim / case.lanes;
    let others_width = index_bits(case.partials);
    let parameters = [
        ("FLIT_WIDTH", 16 * case.lanes),
        ("LANES", case.root_lanes),
        ("FINISH_LANES", case.finish_lanes()),
        ("SOURCES", case.sources),
        ("DEPTH", case.depth),
        ("HEAD_DIM", case.head_dim),
        ("SUM_WIDTH", case.sum_width),
        ("STREAMS", case.streams),
        ("HEADS", case.heads),
        ("OTHERS_WIDTH", others_width),
        ("STREAM_WIDTH", widths[0]),
        ("LAYER_WIDTH", widths[1]),
        ("PART_HEAD_WIDTH", widths[2]),
        ("OUT_INDEX_WIDTH", index_bits(state_flits)),
    ];
    for (seed, (s_share, m_share)) in (1..).zip(paces) {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(case.head_dim * 64 + case.lanes + seed));
        let mut rounds = rounds(&mut random, &case);
        let mut input = String::new();
        for queues in &rounds {
            for queue in queues {
                writeln!(input, "{:x}", queue.iter().map(|sent| sent.flits.len()).sum::<usize>()).unwrap();
            }
            for sent in queues.iter().flatten() {
                let id = sent.head << (widths[0] + widths[1]) | sent.layer << widths[0] | sent.stream;
                for (at, flit) in sent.flits.iter().enumerate() {
                    let (first, last) = (u32::from(at == 0), u32::from(at + 1 == sent.flits.len()));
                    // Above the data, whose width is a multiple of four bits.
                    let head = ((first << 1 | last) << others_width | sent.others)
                        << widths.iter().sum::<u32>()
                        | id;
                    let data: String = flit.iter().rev().map(|half| format!("{half:04x}")).collect();
                    writeln!(input, "{head:x}{data}").unwrap();
                }
            }
        }
        let parameters = [&parameters[..], &[("LINES", input.lines().count() as u32)]].concat();
        let bench = Bench::of(files, "reduce/reduce_root_tb", &parameters);
        let arguments = [
            ("seed", seed),
            ("s_share", *s_share),
            ("m_share", *m_share),
            ("rounds", case.rounds),
            ("partials", case.asked),
        ];
        let said = bench.run(&input, &arguments);

        // The order in which it takes packets is its own; what comes of it is not.
        let mut roots: BTreeMap<(u32, u32), (u32, Root<'_>)> = BTreeMap::new();
        let mut expected: VecDeque<String> = VecDeque::new();
        let mut round = 0;
        for line in said.lines() {
            if let Some(source) = line.strip_prefix("p ") {
                if rounds[round].iter().all(VecDeque::is_empty) {
                    round += 1;
                }
                let queue = &mut rounds[round][source.parse::<usize>().unwrap()];
                let sent = queue.pop_front().expect("a packet of this source is left");
                let key = (sent.stream, sent.head);
                let of_output = case.asked >> sent.stream & 1 == 0;
                let begun = || {
                    let sink = sink(&case, sent.head).filter(|_| of_output);
                    (0, datapath.root().scaled(scale(&case, sent.head)).sunk(sink))
                };
                let (count, root) = roots.entry(key).or_insert_with(begun);
                root.merge(&sent.flits);
                *count += 1;
                if *count == sent.others + 1 {
                    let (_, root) = roots.remove(&key).unwrap();
                    let asked = case.asked >> sent.stream & 1;
                    let (output, void, out_flits) = match asked {
                        1 => (halves(&root.state(), case.lanes), root.state_is_void(), state_flits),
                        _ => {
                            let mut output = root.output();
                            output.resize((out_flits * case.lanes) as usize, 0);
                            (output, root.saturated(), out_flits)
                        }
                    };
                    let saturated = u32::from(void);
                    for (index, flit) in output.chunks(case.lanes as usize).enumerate() {
                        let data: String = flit.iter().rev().map(|half| format!("{half:04x}")).collect();
                        let last = u32::from(index as u32 + 1 == out_flits);
                        let (stream, layer, head) = (sent.stream, sent.layer, sent.head);
                        let place = format!("{stream} {layer} {head} {index} {last}");
                        expected.push_back(format!("o {place} {saturated} {asked} {data}"));
                    }
                }
            } else if let Some(pace) = line.strip_prefix("pace ") {
                let counts: Vec<u64> = pace.split(' ').map(|count| count.parse().unwrap()).collect();
                (all.other, all.same) = (all.other.min(counts[0]), all.same.min(counts[1]));
                (all.finish, all.full) = (all.finish.min(counts[2]), all.full + counts[3]);
            } else if line != "end" {
                assert_eq!(Some(line), expected.pop_front().as_deref(), "{case:?}, seed {seed}");
            }
        }
        assert!(said.ends_with("end\n"), "{case:?}: {}", said.lines().last().unwrap_or_default());
        assert!(roots.is_empty() && expected.is_empty(), "{case:?}: something did not come");
        assert!(rounds.iter().flatten().all(VecDeque::is_empty), "{case:?}: not all was merged");
    }
    let least = packet_cycles(case.head_dim, case.root_lanes);
    assert!(all.other.min(all.same) >= least, "{case:?}: {all:?} is faster than {least}");
    assert!(all.finish >= case.finish_cycles(), "{case:?}: {all:?}");
    all
}

pub(super) const DEFAULT: Case = Case {
    root_lanes: 8,
    lanes: 32,
    head_dim: 128,
    sum_width: 69,
    sources: 3,
    depth: 8,
    streams: 4,
    heads: 4,
    partials: 8,
    asked: 0,
    rounds: 2,
    scaled: false,
    sunk: false,
};

#[test]
fn outputs_are_those_of_the_model() {
    agrees(DEFAULT, &[(8, 8), (8, 1), (2, 8), (6, 4)]);
}

#[test]
fn outputs_with_scales_are_those_of_the_model() {
    let scaled = Case { scaled: true, heads: 16, streams: 2, ..DEFAULT };
    agrees(scaled, &[(8, 8), (8, 1), (6, 4)]);
    // Partial results have none.
    agrees(Case { asked: 0b10, partials: 3, ..scaled }, &[(8, 8), (4, 4)]);
    agrees(Case { root_lanes: 2, lanes: 4, head_dim: 32, ..scaled }, &[(8, 8)]);
}

#[test]
fn sums_that_begin_with_a_sink_are_those_of_the_model() {
    let sunk = Case { scaled: true, sunk: true, heads: 16, streams: 2, ..DEFAULT };
    agrees(sunk, &[(8, 8), (8, 1), (6, 4)]);
    // Partial results are without it.
    agrees(Case { asked: 0b10, partials: 3, ..sunk }, &[(8, 8), (4, 4)]);
    agrees(Case { partials: 1, ..sunk }, &[(8, 8)]);
    agrees(Case { root_lanes: 2, lanes: 4, head_dim: 32, ..sunk }, &[(8, 8)]);
}

#[test]
fn flits_and_heads_of_any_size_are_merged() {
    for (root_lanes, lanes, head_dim, sum_width) in [
        (2, 4, 32, 72),
        (16, 32, 32, 64),
        (16, 64, 32, 72),
        (1, 4, 128, 60),
        (8, 64, 128, 72),
        (4, 32, 256, 72),
        (16, 64, 256, 59),
    ] {
        agrees(Case { root_lanes, lanes, head_dim, sum_width, streams: 2, ..DEFAULT }, &[(8, 8), (8, 2)]);
    }
}

#[test]
fn any_number_of_partials_streams_and_sources_will_do() {
    for (partials, streams, heads, sources, depth) in [
        (1, 3, 3, 2, 2),
        (2, 1, 1, 5, 3),
        (3, 5, 3, 4, 5),
        (16, 2, 3, 3, 16),
        (16, 1, 2, 5, 2),
        (2, 16, 4, 3, 8),
    ] {
        for root_lanes in [1, 4, 8] {
            let shape = Case { head_dim: 32, lanes: 16, rounds: 4, ..DEFAULT };
            let case = Case { root_lanes, partials, streams, heads, sources, depth, ..shape };
            agrees(case, &[(8, 8), (4, 3)]);
        }
    }
}

/// A flit of 16 numbers arrives a cycle and is merged in one to sixteen.
#[test]
fn packets_follow_one_another_at_the_stated_pace() {
    for root_lanes in [1, 2, 4, 8, 16] {
        let case = Case { root_lanes, streams: 2, partials: 4, depth: 16, ..DEFAULT };
        let pace = agrees(case, &[(8, 8)]);
        assert_eq!(pace.other, packet_cycles(128, root_lanes), "{case:?}: {pace:?}");
    }
}

/// Every packet is of one head, so each adds to the sums of the one before.
#[test]
fn packets_of_one_head_follow_one_another_as_fast() {
    for (root_lanes, head_dim) in [(16, 32), (16, 128), (8, 128), (2, 32)] {
        let one = Case { streams: 1, heads: 1, partials: 12, rounds: 3, depth: 16, ..DEFAULT };
        let case = Case { root_lanes, head_dim, ..one };
        let pace = agrees(case, &[(8, 8)]);
        assert_eq!(pace.same, packet_cycles(head_dim, root_lanes), "{case:?}: {pace:?}");
    }
}

/// Heads of one partial each end faster than they are finished, and the output is slower still.
#[test]
fn heads_wait_for_a_place_to_be_finished() {
    for (root_lanes, lanes, head_dim) in [(8, 32, 128), (4, 8, 128), (2, 4, 32), (16, 64, 256)] {
        let case = Case { root_lanes, lanes, head_dim, partials: 1, depth: 16, ..DEFAULT };
        let quick = agrees(case, &[(8, 8)]);
        assert!(quick.finish == case.finish_cycles() && quick.full > 0, "{case:?}: {quick:?}");
        let slow = agrees(case, &[(8, 1)]);
        assert!(slow.full > quick.full, "{case:?}: {slow:?}");
    }
}

#[test]
fn partial_results_are_those_of_the_model() {
    agrees(Case { asked: 0b1111, ..DEFAULT }, &[(8, 8), (8, 1), (2, 8), (6, 4)]);
    for (root_lanes, lanes, head_dim, sum_width) in [
        (2, 4, 32, 72),
        (16, 32, 32, 64),
        (16, 64, 32, 72),
        (1, 4, 128, 60),
        (8, 64, 128, 72),
        (4, 32, 256, 72),
        (16, 64, 256, 59),
    ] {
        let case = Case { root_lanes, lanes, head_dim, sum_width, streams: 2, asked: 3, ..DEFAULT };
        agrees(case, &[(8, 8), (8, 2)]);
    }
}

/// Partial results and outputs take turns in the finisher: stages, places and halves of numbers.
#[test]
fn streams_differ_in_what_they_return() {
    for asked in [0b0101, 0b0010, 0b1110] {
        for partials in [1, 4] {
            let case = Case { asked, partials, rounds: 3, depth: 16, ..DEFAULT };
            agrees(case, &[(8, 8), (8, 1), (3, 5)]);
            agrees(Case { root_lanes: 2, lanes: 4, head_dim: 32, ..case }, &[(8, 8), (4, 2)]);
        }
    }
}

/// A draw of a partial result leaves in two cycles.
#[test]
fn partial_results_are_finished_at_the_stated_pace() {
    for (root_lanes, lanes, head_dim) in [(8, 32, 128), (2, 4, 32), (16, 64, 256)] {
        let case =
            Case { root_lanes, lanes, head_dim, partials: 1, depth: 16, asked: 15, rounds: 4, ..DEFAULT };
        let pace = agrees(case, &[(8, 8)]);
        // 32 draws of the heads before may still wait behind the stages.
        let cycles = 2 * (u64::from(head_dim / case.finish_lanes()) + 1);
        assert!((case.finish_cycles()..=cycles).contains(&pace.finish), "{case:?}: {pace:?}");
    }
}

#[test]
fn every_reader_of_verilog_is_content() {
    assert_eq!(lint("meshkv_reduce_root", &[]), [""; 0]);
    let small = [
        ("FLIT_WIDTH", 64),
        ("LANES", 1),
        ("FINISH_LANES", 1),
        ("SUM_WIDTH", 72),
        ("HEAD_DIM", 32),
        ("SOURCES", 2),
        ("DEPTH", 3),
        ("STREAMS", 3),
        ("HEADS", 5),
        ("OTHERS_WIDTH", 3),
        ("STREAM_WIDTH", 2),
        ("PART_HEAD_WIDTH", 3),
        ("ID_WIDTH", 10),
        ("OUT_INDEX_WIDTH", 5),
    ];
    assert_eq!(lint("meshkv_reduce_root", &small), [""; 0]);
    assert_eq!(lint("meshkv_reduce_root", &[("LANES", 16), ("DEPTH", 16), ("HEAD_DIM", 32)]), [""; 0]);
}
