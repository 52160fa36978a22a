//! The schedule of a sequencer, with the model beside it: contexts in all slots, segments, blocks, READ.

use super::bench::{Inputs, Output};
use meshkv::config::Narrow;
use meshkv::design::{Array, Design, SECOND_SUM};
use meshkv::model::datapath::numbers::element::{bytes_of, nearest};
use meshkv::model::{Datapath, DatapathShape, Partial, Scale};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::ops::Range;

/// Cycles from an op to the answer of a READ, beyond those of the dot.
const READ_CYCLES: usize = 4;
/// Cycles from an op to k_done, beyond those of the dot.
const DONE_CYCLES: usize = 18;
/// Cycles between two ops of one sum.
const AGAIN: usize = 8;

const KEY: u32 = 0;
const VALUE: u32 = 1;
const ONES: u32 = 2;
const READ: u32 = 3;

/// The distribution of q, K and V.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Exponents of usual activations.
    Usual,
    /// Any finite number at all.
    Any,
    /// The largest and the smallest there are, zeros between.
    Extreme,
    /// Each token has exponents of its own, so that m jumps.
    Jumping,
    /// All alike: every product has the largest exponent, and every sum its largest magnitude.
    Full,
    /// Queries without a normal number, and large keys.
    Subnormal,
    /// Large queries and small keys: of all logits only those of masked tokens, which are any bits, can saturate.
    Large,
    /// Infinities and NaN in one slot, which must not disturb the others.
    Special,
}

impl Numbers {
    pub const ALL: [Numbers; 8] = [
        Numbers::Usual,
        Numbers::Any,
        Numbers::Jumping,
        Numbers::Extreme,
        Numbers::Full,
        Numbers::Subnormal,
        Numbers::Large,
        Numbers::Special,
    ];

    /// An element of a query.
    fn query(self, random: &mut impl Rng, slot: usize) -> u16 {
        match self {
            Numbers::Subnormal => random.random::<u16>() & 0x83ff,
            Numbers::Large => random.random::<u16>() & 0x83ff | 30 << 10,
            _ => self.draw(random, slot, 0),
        }
    }

    /// An element of K or V.
    fn draw(self, random: &mut impl Rng, slot: usize, token: usize) -> u16 {
        let bits: u16 = random.random();
        let with = |exponent: u16| bits & 0x83ff | exponent << 10;
        match self {
            Numbers::Usual => with(10 + random.random_range(0..7)),
            Numbers::Any => with(random.random_range(0..31)),
            Numbers::Jumping => with((token as u16 * 7 % 13 + random.random_range(0..6)).min(20)),
            Numbers::Extreme => [0x7bff, 0xfbff, 0x0001, 0x8001, 0, 0x8000, 0x3c00, 0x03ff, with(15)]
                [random.random_range(0..9usize)],
            Numbers::Full => 0x7bff,
            Numbers::Large => with(random.random_range(0..10)),
            Numbers::Subnormal => with(25 + random.random_range(0..6)),
            Numbers::Special if slot == 0 => bits | 0x7c00,
            Numbers::Special => with(12 + random.random_range(0..5)),
        }
    }
}

/// One READ and what it must give.
struct Expected {
    cycle: usize,
    sum: i128,
    /// That of the next dim, of an even one; l again, of l.
    next: Option<i128>,
    max: i32,
    /// A logit of a token that counts is beyond the range.
    saturated: bool,
    /// The slot's numbers are not to be compared.
    special: bool,
}

pub struct Schedule {
    datapath: Datapath,
    lanes: usize,
    head_dim: usize,
    tokens: usize,
    slots: usize,
    sum_bits: u32,
    /// Cycles from an op to its dot.
    dot_cycles: usize,
    load_cycles: usize,
    fresh_cycles: usize,
    free_cycles: usize,
    random: Pcg32,
    /// Scales of logits that a host gives: that of even slots and that of odd ones, so that they alternate.
    scales: Option<[Scale; 2]>,
    /// Widths of stationary numbers, where two rows share their multipliers.
    narrow: Option<Narrow>,
    /// Inputs of a cycle in which nothing happens.
    blank: Inputs,
    /// Inputs from the first cycle after reset on.
    pub cycles: Vec<Inputs>,
    /// The cycle of the next op.
    now: usize,
    /// The first cycle in which a word of a query may be written.
    words_from: usize,
    expected: Vec<Expected>,
    done: Vec<Output>,
}

impl Schedule {
    pub fn new(design: &Design, slots: u32, seed: u64) -> Schedule {
        let shape = DatapathShape::of(design);
        let (lanes, array) = (shape.flit_elements as usize, Array::of(design));
        let datapath = Datapath::new(shape);
        let given = |value: f64| Scale::given(value, shape.format).expect("a scale of the range");
        let scales = design.pe.is_scaled().then(|| [given(0.031), given(0.2499)]);
        let mut blank = Inputs::new();
        for (name, scale) in ["even_scale", "odd_scale"].into_iter().zip(scales.into_iter().flatten()) {
            blank.insert(name, vec![scale.word()]);
        }
        let narrow = array.is_packed().then_some(design.pe.narrow);
        if let Some(narrow) = narrow {
            blank.insert("load_wide", vec![u32::from(!narrow.values())]);
        }
        Schedule {
            dot_cycles: (array.align_cycles() + array.dot_cycles()) as usize,
            datapath,
            scales,
            narrow,
            blank,
            lanes,
            head_dim: shape.head_dim as usize,
            tokens: design.placement.segment_tokens as usize,
            slots: slots as usize,
            sum_bits: 54 + design.model.max_tokens.next_power_of_two().ilog2(),
            load_cycles: array.load_cycles() as usize,
            fresh_cycles: array.fresh_cycles(shape.head_dim) as usize,
            free_cycles: array.free_cycles() as usize,
            random: Pcg32::seed_from_u64(seed),
            cycles: Vec::new(),
            now: 0,
            words_from: 0,
            expected: Vec::new(),
            done: Vec::new(),
        }
    }

    fn at(&mut self, cycle: usize) -> &mut Inputs {
        if self.cycles.len() <= cycle {
            self.cycles.resize(cycle + 1, self.blank.clone());
        }
        &mut self.cycles[cycle]
    }

    fn set(&mut self, cycle: usize, inputs: &[(&'static str, u32)]) {
        for &(name, value) in inputs {
            let before = self.at(cycle).insert(name, vec![value]);
            assert_eq!(before, None, "{name} is given twice");
        }
    }

    /// Issues an op in the next cycle or some cycles later. `lanes` are those that count.
    fn op(&mut self, inputs: &[(&'static str, u32)], flit: &[u16], lanes: Range<usize>) -> usize {
        if self.random.random_range(0..12) == 0 {
            // What stands at the other inputs of a cycle without an op does not matter.
            let kind = self.random.random_range(0..4);
            self.set(self.now, &[("op_kind", kind), ("op_ends", 1), ("op_clear", 1), ("op_counts", 1)]);
            self.now += 1;
        }
        let cycle = self.now;
        self.set(cycle, &[("op_valid", 1)]);
        self.set(cycle, inputs);
        self.set(cycle, &[("op_first", lanes.start as u32), ("op_last", lanes.end as u32 - 1)]);
        let bytes = bytes_of(self.datapath.shape.format, flit);
        let data =
            bytes.chunks(4).map(|four| four.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)));
        let data = data.collect();
        self.at(cycle).insert("op_data", data);
        self.now += 1;
        cycle
    }

    /// A context in each slot, from its query to its sums.
    pub fn round(&mut self, numbers: Numbers) {
        let datapath = self.datapath.clone();
        let mut partials = Vec::new();
        let mut written = 0;
        for slot in 0..self.slots {
            let query: Vec<_> = (0..self.head_dim).map(|_| numbers.query(&mut self.random, slot)).collect();
            let partial = datapath.partial(&query);
            let partial = partial.narrowed(self.narrow.unwrap_or_default());
            partials.push(match self.scales {
                Some(scales) => partial.scaled(scales[slot % 2]),
                None => partial,
            });
            for (word, four) in query.chunks(4).enumerate() {
                let cycle = self.words_from.max(written) + usize::from(self.random.random_range(0..8) == 0);
                written = cycle + 1;
                self.set(cycle, &[("q_rows", 1), ("q_slot", slot as u32), ("q_word", word as u32)]);
                let pair = |i: usize| u32::from(four[i]) | u32::from(four[i + 1]) << 16;
                self.at(cycle).insert("q_data", vec![pair(0), pair(2)]);
            }
        }
        self.now = self.now.max(written + self.fresh_cycles);
        // Without a segment a context has no token, and sums of the one before it lie in its places.
        let empty = self.random.random_range(0..8) == 0;
        for segment in 0..if empty { 0 } else { self.random.random_range(1..4) } {
            let rows = self.rows(segment);
            self.segment(numbers, rows, &mut partials);
        }
        self.read(&partials, numbers);
    }

    /// Tokens of a segment that count.
    fn rows(&mut self, segment: u32) -> Range<usize> {
        let (first, end) =
            (self.random.random_range(0..self.tokens), self.random.random_range(0..=self.tokens));
        match self.random.random_range(0..3) {
            _ if first >= end => 0..self.tokens,
            0 => 0..end,
            1 => first..self.tokens,
            _ if segment == 0 => 0..self.tokens,
            _ => first..end,
        }
    }

    fn segment(&mut self, numbers: Numbers, rows: Range<usize>, partials: &mut [Partial<'_>]) {
        partials.iter_mut().for_each(|partial| partial.begin_segment(rows.clone()));
        let sent = self.keys(numbers, &rows, partials);
        let blocks = self.tokens.div_ceil(self.lanes);
        let mut free = vec![[self.now; 2]; self.slots];
        let mut load = self.now;
        let mut buffer = 0;
        let free_cycles = self.free_cycles;
        for block in 0..blocks {
            let tokens = block * self.lanes..(block + 1) * self.lanes;
            let v: Vec<Vec<Vec<u16>>> = (0..self.slots)
                .map(|slot| (0..self.head_dim).map(|_| self.value(numbers, slot, &tokens, &rows)).collect())
                .collect();
            for (partial, flits) in partials.iter_mut().zip(&v) {
                flits.iter().for_each(|flit| partial.v_flit(flit));
            }
            if tokens.start >= rows.end || tokens.end <= rows.start {
                continue;
            }
            let first = sent.start.max(tokens.start) - tokens.start;
            let last = sent.end.min(tokens.end) - tokens.start - 1;
            let counting =
                rows.start.max(tokens.start) - tokens.start..rows.end.min(tokens.end) - tokens.start;
            for (slot, free) in free.iter().enumerate() {
                load = load.max(free[buffer]);
                self.set(
                    load,
                    &[
                        ("load_valid", 1),
                        ("load_slot", slot as u32),
                        ("load_block", block as u32),
                        ("load_buffer", buffer as u32),
                        ("load_first", first as u32),
                        ("load_last", last as u32),
                    ],
                );
                load += self.lanes;
            }
            self.now = self.now.max(load - self.lanes + self.load_cycles);
            for dim in 0..=self.head_dim {
                let begun = self.now;
                for (slot, flits) in v.iter().enumerate() {
                    let kind = if dim == self.head_dim { ONES } else { VALUE };
                    let mut inputs = vec![
                        ("op_kind", kind),
                        ("op_slot", slot as u32),
                        ("op_dim", dim as u32),
                        ("op_buffer", buffer as u32),
                    ];
                    inputs.extend(self.narrow.map(|narrow| ("op_wide", u32::from(!narrow.values()))));
                    let garbage = vec![0xffff; self.lanes];
                    let flit = flits.get(dim).unwrap_or(&garbage);
                    free[slot][buffer] = self.op(&inputs, flit, counting.clone()) + free_cycles;
                }
                // What READ and the next block touch first lies far enough back.
                if dim == self.head_dim {
                    self.now = self.now.max(begun + AGAIN);
                }
            }
            buffer = 1 - buffer;
        }
        self.now = self.now.max(load);
    }

    /// K flits that hold a token which counts, to all slots in turn; the tokens of these flits.
    fn keys(&mut self, numbers: Numbers, rows: &Range<usize>, partials: &mut [Partial<'_>]) -> Range<usize> {
        let places = (self.lanes / self.head_dim).max(1);
        let parts = (self.head_dim / self.lanes).max(1);
        let padded = self.tokens.next_multiple_of(places);
        let mut last = (0, 0);
        for token in (0..padded).step_by(places) {
            let mut flits = vec![Vec::new(); self.slots];
            for (slot, partial) in partials.iter_mut().enumerate() {
                let mut elements = Vec::new();
                for token in token..token + places {
                    elements.extend((0..self.head_dim).map(|_| self.element(numbers, slot, token, rows)));
                }
                flits[slot] = elements.chunks(self.lanes).map(<[u16]>::to_vec).collect::<Vec<_>>();
                flits[slot].iter().for_each(|flit| partial.k_flit(flit));
            }
            if token + places <= rows.start || token >= rows.end {
                continue;
            }
            for part in 0..parts {
                for place in 0..places {
                    let token = token + place;
                    for (slot, flits) in flits.iter().enumerate() {
                        let mut inputs = vec![
                            ("op_kind", KEY),
                            ("op_slot", slot as u32),
                            ("op_part", part as u32),
                            ("op_begins", u32::from(part == 0)),
                            ("op_ends", u32::from(part + 1 == parts)),
                            ("op_token", token as u32),
                            ("op_counts", u32::from(rows.contains(&token))),
                        ];
                        inputs.extend(self.scales.map(|_| ("op_odd", slot as u32 % 2)));
                        inputs.extend(self.narrow.map(|narrow| ("op_wide", u32::from(!narrow.keys()))));
                        let width = self.lanes / places;
                        let lanes = place * width..(place + 1) * width;
                        last = (self.op(&inputs, &flits[part], lanes), token as u32);
                    }
                }
            }
        }
        // The tail goes by itself half the time.
        let (cycle, token) = if self.random.random() {
            last
        } else {
            self.set(last.0 + 1, &[("op_token", 1)]);
            (last.0 + 1, 1)
        };
        self.set(cycle, &[("op_tail", 1)]);
        let done = cycle + self.dot_cycles + DONE_CYCLES;
        self.done.push(Output::Done { cycle: done - 1, token });
        self.now = done;
        let sent = rows.start / places * places..rows.end.next_multiple_of(places);
        sent.start..sent.end
    }

    /// A V flit.
    fn value(
        &mut self,
        numbers: Numbers,
        slot: usize,
        tokens: &Range<usize>,
        rows: &Range<usize>,
    ) -> Vec<u16> {
        tokens.clone().map(|token| self.element(numbers, slot, token, rows)).collect()
    }

    /// An element of K or V: any bits at all where the token does not count.
    fn element(&mut self, numbers: Numbers, slot: usize, token: usize, rows: &Range<usize>) -> u16 {
        let bits = if rows.contains(&token) {
            numbers.draw(&mut self.random, slot, token)
        } else {
            self.random.random()
        };
        nearest(self.datapath.shape.format, bits)
    }

    /// All sums of all slots.
    fn read(&mut self, partials: &[Partial<'_>], numbers: Numbers) {
        for (slot, partial) in partials.iter().enumerate() {
            // l first, as PART has it.
            for entry in (0..=self.head_dim).rev() {
                let clear = u32::from(entry == 0);
                let inputs = [
                    ("op_kind", READ),
                    ("op_slot", slot as u32),
                    ("op_dim", entry as u32),
                    ("op_clear", clear),
                ];
                let cycle = self.op(&inputs, &vec![0x3c00; self.lanes], 0..self.lanes)
                    + self.dot_cycles
                    + READ_CYCLES;
                self.expected.push(Expected {
                    cycle: cycle - 1,
                    sum: partial.sums()[entry],
                    next: (entry % 2 == 0).then(|| partial.sums()[(entry + 1).min(self.head_dim)]),
                    max: partial.max().unwrap_or(0),
                    saturated: partial.has_saturated(),
                    special: numbers == Numbers::Special && slot == 0,
                });
            }
        }
        let quiet = self.now + self.dot_cycles + READ_CYCLES + SECOND_SUM as usize;
        self.at(quiet);
        // Queries of the next contexts may come while these are still read: no weights are loaded then.
        self.words_from = self.now;
        if self.random.random() {
            self.now = quiet;
        }
    }

    /// A sum in two's complement from its words.
    fn sum(&self, words: &[u32]) -> i128 {
        let low = words.iter().rev().fold(0u128, |value, &word| value << 32 | u128::from(word));
        (low << (128 - self.sum_bits)) as i128 >> (128 - self.sum_bits)
    }

    /// Compares the outputs with the expected ones; the first difference is the error.
    pub fn compare(&self, outputs: &[Output]) -> Result<(), String> {
        let done: Vec<_> = outputs.iter().filter(|o| matches!(o, Output::Done { .. })).cloned().collect();
        let sums: Vec<_> = outputs.iter().filter(|o| !matches!(o, Output::Done { .. })).collect();
        assert!(!self.done.is_empty() && !self.expected.is_empty());
        if done != self.done {
            return Err(format!("k_done came {done:?} and not {:?}", self.done));
        }
        if sums.len() != self.expected.len() {
            return Err(format!("{} sums instead of {}", sums.len(), self.expected.len()));
        }
        for (i, (output, expected)) in sums.iter().zip(&self.expected).enumerate() {
            let Output::Sum { cycle, words, next, max, saturated } = output else { unreachable!() };
            let next = expected.next.map(|_| self.sum(next));
            let is = (*max, self.sum(words), next, *saturated);
            let should = (expected.max, expected.sum, expected.next, expected.saturated);
            let agrees = expected.special || is == should;
            if *cycle != expected.cycle || !agrees {
                let entry = self.head_dim - i % (self.head_dim + 1);
                let wanted = expected.cycle;
                return Err(format!("READ {i}, entry {entry}: {cycle} {is:?} and not {wanted} {should:?}"));
            }
        }
        Ok(())
    }
}
