//! The filler beside a memory that answers beat by beat, in any order of its bursts, or falls silent.

use super::*;
use crate::config::Config;
use crate::design::Design;
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;
use std::ops::RangeInclusive;

/// Filler beside a memory that answers beat by beat, in any order of its bursts.
struct Bench {
    filler: Filler,
    rng: Pcg64,
    memory: Vec<(Burst, u32)>,
    answer: Option<Answer>,
    /// By address, whether the flit of a present slice is written.
    written: Vec<bool>,
    /// By slot: the flits that its slice needs, and how often it was published and complete.
    slots: Vec<Option<(Fill, [u32; 2])>>,
    slice_flits: u32,
    half_flits: u32,
    burst_flits: u32,
    block: u32,
}

impl Bench {
    fn new(seed: u64) -> Bench {
        let params = MareParams::of(&Design::from_config("filler", &Config::default()).unwrap());
        Bench {
            filler: Filler::new(&params),
            rng: Pcg64::new(seed.into(), 1),
            memory: Vec::new(),
            answer: None,
            written: vec![false; params.mare.staging_depth as usize],
            slots: vec![None; params.mare.staging_slots as usize],
            slice_flits: params.mare.slice_flits,
            half_flits: params.mare.half_flits,
            burst_flits: params.burst_flits,
            block: params.head_dim - 1,
        }
    }

    /// Flits that a slice needs: of K, and the blocks of V.
    fn needed(&self, fill: &Fill) -> [RangeInclusive<u32>; 2] {
        let ((first, last), half) = (fill.flits, self.half_flits);
        [first..=last, (first & !self.block) + half..=(last | self.block) + half]
    }

    /// A number below `most`, at random.
    fn below(&mut self, most: u32) -> u32 {
        (self.rng.next_u64() >> 32) as u32 % most
    }

    fn is_written(&self, slot: u32, mut flits: impl Iterator<Item = u32>) -> bool {
        flits.all(|flit| self.written[(slot * self.slice_flits + flit) as usize])
    }

    /// A burst may be read exactly if all of it was written before this period.
    fn check_bursts(&self, slot: u32, fill: &Fill) {
        for range in self.needed(fill) {
            let unit = self.burst_flits;
            for burst in range.start() / unit..=range.end() / unit {
                let flits = (burst * unit).max(*range.start())..=(burst * unit + unit - 1).min(*range.end());
                let first = *flits.start();
                let pending = self.filler.staged(None, Some((slot, first))).pending;
                assert_eq!(pending, !self.is_written(slot, flits), "slot {slot}, flit {first}");
            }
        }
    }

    /// A period. Returns the slot that is complete.
    fn step(&mut self, fill: Option<Fill>, freed: Option<u32>) -> Option<u32> {
        for (slot, taken) in (0..).zip(&self.slots) {
            if let Some((fill, _)) = taken {
                self.check_bursts(slot, fill);
            }
        }
        let staged = self.filler.staged(None, None);
        if let Some((address, _)) = staged.fill {
            let slot = (address / self.slice_flits) as usize;
            let first = self.slots[slot].as_ref().is_some_and(|(_, told)| told[0] == 0);
            assert_eq!(staged.publish, first.then_some(slot as u32), "published with the first flit");
            self.written[address as usize] = true;
        }
        for (which, slot) in [staged.publish, staged.complete].into_iter().enumerate() {
            if let Some((_, told)) = slot.and_then(|slot| self.slots[slot as usize].as_mut()) {
                told[which] += 1;
            }
        }
        if let Some(claim) = &staged.claim {
            let from = (claim.slot * self.slice_flits) as usize;
            self.written[from..from + self.slice_flits as usize].fill(false);
            let fill = *self.filler.fills.front().expect("it is of the front");
            self.slots[claim.slot as usize] = Some((fill, [0, 0]));
        }
        let request = self.filler.request().copied();
        let given = (fill, &staged, freed, false);
        self.filler.step(given, self.answer, false, request.is_some(), &mut Events::default());
        self.memory.extend(request.map(|burst| (burst, 0)));
        self.answer = self.beat();
        staged.complete
    }

    /// A beat of any burst, or none.
    fn beat(&mut self) -> Option<Answer> {
        if self.memory.is_empty() || self.below(10) == 0 {
            return None;
        }
        let at = self.below(self.memory.len() as u32) as usize;
        let (burst, sent) = &mut self.memory[at];
        let answer = Answer { id: burst.id, last: *sent == burst.len, bad: false, data: 0 };
        *sent += 1;
        if answer.last {
            self.memory.swap_remove(at);
        }
        Some(answer)
    }
}

#[test]
fn a_burst_may_be_read_exactly_when_all_of_it_is_written_in_whatever_order_bursts_come() {
    for seed in 0..4 {
        let mut bench = Bench::new(seed);
        let (mut given, mut complete, mut freed) = (0_u64, 0, None);
        for _ in 0..40_000 {
            let more = given < 24 && bench.filler.has_room();
            let first = bench.below(4) * 16;
            let last = first + bench.below(bench.half_flits - first);
            let fill = Fill { tag: given, flits: (first, last), expected: 1, ..Fill::default() };
            given += u64::from(more);
            let whole = bench.step(more.then_some(fill), freed.take());
            // A slot is freed at once, so the next slice gets one in which the last one's flits are.
            if let Some(slot) = whole {
                let (fill, told) = bench.slots[slot as usize].take().expect("it was claimed");
                assert_eq!(told, [1, 1], "published once and complete once");
                let all = bench.needed(&fill).into_iter().flatten();
                assert!(bench.is_written(slot, all), "complete before it is");
                (complete, freed) = (complete + 1, Some(slot));
            }
        }
        assert_eq!(complete, 24, "seed {seed}");
    }
}

#[test]
fn after_a_time_out_every_slot_is_published_and_complete_and_nothing_is_waited_for() {
    let mut bench = Bench::new(9);
    for tag in 0..12 {
        let fill = Fill { tag, flits: (0, 40), expected: 1, ..Fill::default() };
        bench.step(Some(fill), None);
    }
    // In the middle of the first slices memory falls silent.
    for _ in 0..100 {
        bench.step(None, None);
    }
    bench.memory.clear();
    bench.answer = None;
    let mut shown = bench.filler.shown;
    let (mut told, mut slots) = (bench.filler.shown & !bench.filler.filling, 0);
    for _ in 0..low_bits(TIMEOUT_WIDTH) + 200 {
        let staged = bench.filler.staged(None, Some((0, 0)));
        assert!(!bench.filler.broken || !staged.pending, "it waits for memory that is given up");
        for (slot, of) in [(staged.publish, &mut shown), (staged.complete, &mut told)] {
            let bit = slot.map_or(0, |slot| 1 << slot);
            assert_eq!(*of & bit, 0, "a slot is told of twice");
            *of |= bit;
        }
        slots |= bench.filler.filling;
        bench.filler.step((None, &staged, None, false), None, false, false, &mut Events::default());
    }
    assert!(bench.filler.broken && slots != 0);
    assert_eq!((bench.filler.filling, shown & slots, told & slots), (0, slots, slots));
}
