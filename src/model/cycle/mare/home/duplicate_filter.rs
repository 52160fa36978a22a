//! Duplicate filter: removes tiles that a chunk was already sent to (`meshkv_duplicate_filter`).

use crate::model::cycle::common::{
    bits, lowest_free, meet, some, union, without, BloomPeriod, Rare, TileBits,
};
use crate::model::cycle::mare::events::{Event, Events};
use crate::model::cycle::mare::home::bloom_filter::BloomFilter;
use crate::model::cycle::mare::messages::Due;
use crate::model::cycle::mare::params::MareParams;

/// Exact tags, and the chunk in look-up.
#[derive(Debug, Clone)]
pub(in crate::model::cycle::mare) struct DuplicateFilter {
    bloom: BloomFilter,
    names: Box<[u128]>,
    served: Box<[TileBits]>,
    valid: u64,
    /// Entries made in a period of odd parity.
    odd: u64,
    /// The Bloom filter was read in the last period, and whether it hits.
    seen: Option<bool>,
    /// Result of the look-up in the last period: Bloom filter hit, and the exact entry.
    looked: Option<(bool, u64)>,
    /// The last period removed some or all destinations.
    cut: Option<Event>,
    /// The chunk was taken in the last period.
    taken: bool,
    /// Remaining destinations of the chunk.
    clear: Option<TileBits>,
    chunk_flits: u32,
    key_width: u32,
}

impl DuplicateFilter {
    pub(in crate::model::cycle::mare) fn new(params: &MareParams) -> DuplicateFilter {
        let entries = params.mare.tag_entries as usize;
        DuplicateFilter {
            bloom: BloomFilter::new(params),
            names: vec![0; entries].into_boxed_slice(),
            served: vec![[0; 4]; entries].into_boxed_slice(),
            valid: 0,
            odd: 0,
            seen: None,
            looked: None,
            cut: None,
            taken: false,
            clear: None,
            chunk_flits: params.mare.chunk_flits,
            key_width: params.key_width,
        }
    }

    /// Returns the destinations of the chunk that is due, once known.
    pub(in crate::model::cycle::mare) fn clear(&self) -> Option<&TileBits> {
        self.clear.as_ref()
    }

    /// Advances one clock period with the chunk that is due. `taken`: the chunk is passed on.
    pub(in crate::model::cycle::mare) fn step(
        &mut self,
        due: Option<&Due>,
        taken: bool,
        period: BloomPeriod,
        events: &mut Events,
    ) {
        let expired = if period.tick { self.of_parity(!period.odd) } else { 0 };
        events.reach_if(expired != 0, Rare::TagsExpire);
        if let Some(cut) = self.cut.take() {
            events.count(cut);
        }
        if taken {
            self.clear = None;
        }
        if let Some(due) = due.filter(|_| !self.taken) {
            if let Some(found) = self.looked.take() {
                let left = self.decide(due, found, period.odd, events);
                self.clear = Some(left);
            } else if let Some(seen) = self.seen.take() {
                self.looked = Some((seen, self.exact(due)));
            } else if !taken && self.clear.is_none() {
                self.seen = Some(self.bloom.saw(self.name(due)));
            }
        }
        self.taken = taken;
        self.valid &= !expired;
        if period.tick {
            self.bloom.tick(period.odd);
        }
    }

    /// Returns the exact entry of a chunk.
    fn exact(&self, due: &Due) -> u64 {
        let name = self.name(due);
        let exact = |e: &usize| self.names[*e] == name;
        bits(self.valid).filter(exact).fold(0, |set, e| set | 1 << e)
    }

    /// Entries made in periods of this parity.
    fn of_parity(&self, odd: bool) -> u64 {
        self.valid & if odd { self.odd } else { !self.odd }
    }

    fn name(&self, due: &Due) -> u128 {
        let chunk = due.first & !(self.chunk_flits - 1);
        u128::from(chunk) << self.key_width | u128::from(due.key)
    }

    /// Returns the destinations that have not received the chunk, and marks them.
    fn decide(&mut self, due: &Due, (seen, found): (bool, u64), odd: bool, events: &mut Events) -> TileBits {
        let hit = seen && found != 0;
        // The Bloom filter only saves the comparison: tiles are removed on an exact hit alone.
        let entry = if hit { Some(found.trailing_zeros()) } else { None };
        let served = entry.map_or([0; 4], |e| self.served[e as usize]);
        let left = without(&due.dest, &served);
        events.count(Event::Lookup);
        events.count_if(seen, Event::Bloom);
        events.count_if(seen && found == 0, Event::FalsePositive);
        events.reach_if(seen && found == 0, Rare::FalsePositive);
        events.count_if(hit, Event::Hit);
        self.cut = match some(&left) {
            true => meet(&due.dest, &served).then_some(Event::Trim),
            false => Some(Event::Drop),
        };
        events.reach_if(due.again && self.cut.is_none(), Rare::RepeatPassed);
        match (self.cut, due.again) {
            (Some(Event::Trim), true) => events.reach(Rare::RepeatTrimmed),
            (Some(_), true) => events.reach(Rare::RepeatDropped),
            // A first fetch has a generation that nothing remembers: `generation_rests` of the requester is proved.
            (Some(_), false) | (None, _) => {}
        }
        // A repeated request leaves no mark.
        if !due.again {
            let vacant = lowest_free(self.valid, self.names.len() as u32);
            events.count_if(!hit && vacant.is_none(), Event::TagsFull);
            events.reach_if(!hit && vacant.is_none(), Rare::TagsFull);
            if let Some(e) = entry.or(vacant) {
                self.served[e as usize] = union(&served, &due.dest);
            }
            if let Some(e) = vacant.filter(|_| !hit) {
                self.make(e as usize, self.name(due), odd);
            }
        }
        left
    }

    fn make(&mut self, entry: usize, name: u128, odd: bool) {
        self.names[entry] = name;
        self.valid |= 1 << entry;
        self.odd = self.odd & !(1 << entry) | u64::from(odd) << entry;
        self.bloom.insert(name, odd);
    }
}
