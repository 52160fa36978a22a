//! Filler of a home's staging memory (`meshkv_filler`).

use crate::design::depths::{FILL_DEPTH, REQ_DEPTH, TIMEOUT_WIDTH};
use crate::kernels::cells::credit_counter;
use crate::kernels::takv::k_then_v::{self, Progress, Region};
use crate::model::cycle::common::{bits, lowest_free, Fifo, Rare};
use crate::model::cycle::mare::{low_bits, up_to, Claim, Event, Events, MareParams, Staged};
use crate::model::cycle::takv::memory::burst::{Answer, Burst};
use crate::model::cycle::takv::memory::new_token::{NewToken, PartName, Wanted};
use crate::model::cycle::takv::memory::patch::Patch;
use crate::model::cycle::takv::ranges::Ranges;

/// Slice to be filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fill {
    /// Tag.
    pub tag: u64,
    /// First and last flit of K that are needed.
    pub flits: (u32, u32),
    /// Number in external memory.
    pub number: u64,
    /// Tiles that will request it.
    pub expected: u32,
    /// Its last token is new.
    pub append: bool,
}

/// Burst in flight, and its slot of the staging memory.
#[derive(Debug, Clone, Copy, Default)]
struct UnderWay {
    slot: u32,
    /// Address of its next flit.
    place: u32,
}

/// Slices to be filled, and their bursts.
#[derive(Debug, Clone)]
pub struct Filler {
    fills: Fifo<Fill>,
    /// Slots that are free, that are being filled, that are published, and whose bursts are all requested.
    free: u64,
    filling: u64,
    shown: u64,
    issued: u64,
    /// Bursts in flight, by slot.
    left: Box<[u32]>,
    /// Slot of the slice at the front.
    slot: Option<u32>,
    /// The front slice waited for a slot in the last period, and whether another of its tag had one.
    known: Option<bool>,
    /// The range that is requested.
    region: Region,
    /// Next flit, once part of this range is requested.
    next: Option<u32>,
    used: u64,
    bursts: Box<[UnderWay]>,
    credits: u32,
    request: Option<Burst>,
    answer: Option<Answer>,
    patience: u64,
    bad: bool,
    broken: bool,
    /// New token of a slice, if the cache can be appended to.
    patch: Option<Patch>,
    burst_flits: u32,
    ranges: Ranges,
    slice_flits: u32,
}

impl Filler {
    /// Creates a filler with all slots free.
    pub fn new(params: &MareParams) -> Filler {
        let slots = params.mare.staging_slots;
        let ranges = Ranges::new(&params.mare, params.head_dim);
        Filler {
            fills: Fifo::new(FILL_DEPTH),
            free: low_bits(slots),
            filling: 0,
            shown: 0,
            issued: 0,
            left: vec![0; slots as usize].into_boxed_slice(),
            slot: None,
            known: None,
            region: ranges.first(),
            next: None,
            used: 0,
            bursts: vec![UnderWay::default(); params.bursts as usize].into_boxed_slice(),
            credits: REQ_DEPTH,
            request: None,
            answer: None,
            patience: 0,
            bad: false,
            broken: false,
            patch: params.append.then(|| Patch::new(params)),
            burst_flits: params.burst_flits,
            ranges,
            slice_flits: params.mare.slice_flits,
        }
    }

    /// There is room for another slice.
    pub fn has_room(&self) -> bool {
        self.fills.has_room()
    }

    /// Burst to the memory port: a register.
    pub fn request(&self) -> Option<&Burst> {
        self.request.as_ref()
    }

    /// The memory reported an error.
    pub fn error_memory(&self) -> bool {
        self.bad
    }

    /// The memory did not answer in time.
    pub fn error_timeout(&self) -> bool {
        self.broken
    }

    /// Tag of the slice that waits for a slot. It waits while another slice of that tag has one.
    pub fn waits_for_slot(&self) -> Option<u64> {
        self.fills.front().filter(|_| self.slot.is_none()).map(|fill| fill.tag)
    }

    /// Returns the updates for the home in this period; `token` is the new token at this home. `reads`: slot and first
    /// flit of the burst that the home reads next.
    pub fn staged(&self, token: Option<&NewToken>, reads: Option<(u32, u32)>) -> Staged {
        let fill = self.comes().map(|answer| (self.bursts[answer.id as usize].place, answer.data));
        let part = token.and_then(NewToken::part);
        let part = self.patch.as_ref().zip(part).map(|(patch, part)| patch.place(part));
        let next = token.map(NewToken::next).unwrap_or_default();
        let pending = reads.is_some_and(|(slot, flit)| self.is_pending(slot, flit, next));
        Staged {
            fill,
            part,
            claim: self.claim(),
            publish: self.publish(),
            complete: self.complete(),
            pending,
        }
    }

    /// The burst with this flit is under way, or not requested yet, or gets part of a new token, of which `next` is the
    /// next part.
    fn is_pending(&self, slot: u32, flit: u32, next: PartName) -> bool {
        let burst = |address: u32| address / self.burst_flits;
        let read = burst(slot * self.slice_flits + flit);
        let under_way = bits(self.used).any(|id| burst(self.bursts[id].place) == read);
        let ahead = || {
            self.slot == Some(slot) && self.next_range().is_some_and(|(from, _)| burst(from) <= burst(flit))
        };
        let unpatched = || self.patch.as_ref().is_some_and(|patch| patch.is_pending(slot, flit, next));
        !self.broken && (under_way || ahead() || unpatched())
    }

    fn claim(&self) -> Option<Claim> {
        let may = self.slot.is_none() && self.free != 0 && self.known == Some(false);
        let busy = self.patch.as_ref().is_some_and(|patch| patch.active);
        let fill = self.fills.front().filter(|fill| may && !(fill.append && busy))?;
        let (_, last) = self.ranges.of(Region::Values, fill.flits);
        Some(Claim { slot: self.free.trailing_zeros(), tag: fill.tag, last, expected: fill.expected })
    }

    /// Answer to be written; none after a time-out.
    fn comes(&self) -> Option<&Answer> {
        self.answer.as_ref().filter(|_| !self.broken)
    }

    /// A slice is published with its first flit.
    fn publish(&self) -> Option<u32> {
        let given = self.given().filter(|slot| self.shown >> slot & 1 == 0);
        given.or_else(|| self.opened())
    }

    /// A slice is complete when all its bursts are requested and none is in flight, and it has its new token.
    fn complete(&self) -> Option<u32> {
        let ends = || {
            let slot = self.comes().filter(|answer| answer.last).map(|a| self.bursts[a.id as usize].slot)?;
            let whole = self.issued >> slot & 1 == 1 && self.left[slot as usize] == 1;
            let asks = self.slot == Some(slot) && self.sends().is_some();
            (whole && !asks && !self.awaits_token(slot)).then_some(slot)
        };
        self.given().or_else(|| self.patched()).or_else(ends)
    }

    /// After a time-out nothing more arrives: assigned slots are published and complete as they are.
    fn given(&self) -> Option<u32> {
        (self.broken && self.slot.is_none() && self.filling != 0).then(|| self.filling.trailing_zeros())
    }

    /// Slot of a slice whose first flit is written in this period.
    fn opened(&self) -> Option<u32> {
        let slot = self.comes().map(|answer| self.bursts[answer.id as usize].slot)?;
        (self.shown >> slot & 1 == 0).then_some(slot)
    }

    /// The slice in a slot is to take a new token, and is not complete before.
    fn awaits_token(&self, slot: u32) -> bool {
        self.patch.as_ref().is_some_and(|patch| patch.active && patch.slot == slot)
    }

    /// Slot of a slice that has its new token, while no other can be complete.
    fn patched(&self) -> Option<u32> {
        let last = self.answer.as_ref().is_some_and(|answer| answer.last);
        let over = self.patch.as_ref().filter(|patch| patch.is_over())?;
        (!self.broken && !last).then_some(over.slot)
    }

    /// ID of the burst requested in this period.
    fn sends(&self) -> Option<u32> {
        let may = self.slot.is_some() && self.credits > 0 && !self.broken;
        lowest_free(self.used, self.bursts.len() as u32).filter(|_| may)
    }

    /// Wishes for the new token in this period.
    pub fn wanted(&self, token: Option<&NewToken>) -> Wanted {
        let next = token.map(NewToken::next).unwrap_or_default();
        let wants = self.patch.as_ref().is_some_and(|patch| patch.wants_token(next));
        Wanted { token: wants, drop: self.broken }
    }

    /// Advances one clock period, in which the home got `staged`. `freed` is a slot that became free. `known`: a
    /// slice of the waiting tag has a slot. `token_done`: the last part of the new token is given.
    pub fn step(
        &mut self,
        (fill, staged, freed, known): (Option<Fill>, &Staged, Option<u32>, bool),
        answer: Option<Answer>,
        token_done: bool,
        credit: bool,
        events: &mut Events,
    ) {
        let (sends, idle) = (self.sends(), self.used == 0);
        let waits = self.waits_for_slot().is_some() && staged.claim.is_none();
        events.count_if(waits, Event::FillWaits);
        events.count_if(self.comes().is_some(), Event::Fill);
        events.count_if(staged.complete.is_some(), Event::Slice);
        self.note(waits, events);
        self.known = self.waits_for_slot().map(|_| known);
        self.request = None;
        let came = self.comes().copied();
        let gone = self.broken && self.slot.is_some();
        let token_ends = self.patched().is_some() || self.broken;
        if let Some(patch) = &mut self.patch {
            let whole = self.issued >> patch.slot & 1 == 1 && self.left[patch.slot as usize] == 0;
            patch.go_on(token_ends, whole, token_done);
        }
        if let Some(answer) = &came {
            self.take(answer);
        }
        let done = sends.is_some_and(|id| self.ask(id)) || gone;
        (_, self.credits) = credit_counter::rule(self.credits, sends.is_some(), credit);
        if done {
            (self.slot, self.region, self.next) = (None, self.ranges.first(), None);
            self.fills.pop();
        }
        self.shown |= staged.publish.map_or(0, |slot| 1 << slot);
        self.filling &= !staged.complete.map_or(0, |slot| 1 << slot);
        self.free |= freed.map_or(0, |slot| 1 << slot);
        if let Some(claim) = &staged.claim {
            self.slot = Some(claim.slot);
            self.filling |= 1 << claim.slot;
            self.free &= !(1 << claim.slot);
            self.shown &= !(1 << claim.slot);
            self.issued &= !(1 << claim.slot);
            let fill = self.fills.front().filter(|fill| fill.append);
            if let (Some(patch), Some(fill)) = (&mut self.patch, fill) {
                patch.begin(claim.slot, fill.flits.1);
            }
        }
        if let Some(fill) = fill {
            self.fills.push(fill);
        }
        self.wait(idle, came.is_some());
        self.answer = answer;
    }

    /// Counts the rare states of a period, before anything of it changes; `waits`: a slice waits for a slot.
    fn note(&self, waits: bool, events: &mut Events) {
        let busy = self.patch.as_ref().is_some_and(|patch| patch.active);
        let appends = self.fills.front().is_some_and(|fill| fill.append);
        let all_used = || lowest_free(self.used, self.bursts.len() as u32).is_none();
        events.reach_if(!self.fills.has_room(), Rare::FillsFull);
        events.reach_if(waits && self.free == 0, Rare::SlotAwaited);
        events.reach_if(waits && self.known == Some(true), Rare::NameAwaited);
        events.reach_if(waits && self.free != 0 && appends && busy, Rare::TokenAwaited);
        events.reach_if(self.slot.is_some() && all_used(), Rare::BurstsUsed);
        events.reach_if(self.slot.is_some() && self.credits == 0, Rare::PortAwaited);
        events.reach_if(self.bad, Rare::MemoryFailed);
        events.reach_if(self.broken, Rare::MemorySilent);
        if let Some(answer) = self.comes().filter(|answer| answer.last) {
            let ended = self.bursts[answer.id as usize];
            let earlier = |id: usize| {
                let of = self.bursts[id];
                id != answer.id as usize && of.slot == ended.slot && of.place < ended.place
            };
            events.reach_if(bits(self.used).any(earlier), Rare::BurstsOvertake);
        }
    }

    /// Writes an arrived flit.
    fn take(&mut self, answer: &Answer) {
        let burst = &mut self.bursts[answer.id as usize];
        burst.place += 1;
        self.bad |= answer.bad;
        if answer.last {
            self.left[burst.slot as usize] -= 1;
            self.used &= !(1 << answer.id);
            if let Some(patch) = &mut self.patch {
                patch.hear(answer.id);
            }
        }
    }

    /// Flits of the front slice's present range that are not requested yet: the first and the last.
    fn next_range(&self) -> Option<(u32, u32)> {
        let (first, last) = self.ranges.of(self.region, self.fills.front()?.flits);
        Some((self.next.unwrap_or(first), last))
    }

    /// Requests the next burst of the front slice with this ID. Returns true if it was the last.
    fn ask(&mut self, id: u32) -> bool {
        let slot = self.slot.expect("it has a slot");
        let (from, bound) = self.next_range().expect("a slice that has a slot stands at the front");
        let number = self.fills.front().map_or(0, |fill| fill.number);
        let (finish, ends) = up_to(from, bound, self.burst_flits);
        self.request = Some(Burst { id, number, first: from, len: finish - from });
        self.bursts[id as usize] = UnderWay { slot, place: slot * self.slice_flits + from };
        self.used |= 1 << id;
        self.left[slot as usize] += 1;
        if let Some(patch) = self.patch.as_mut().filter(|_| ends && self.region != Region::Values) {
            patch.ask(slot, id, self.region == Region::Scales);
        }
        let progress = Progress { begun: self.next.is_some(), region: self.region };
        let asked = k_then_v::rule(self.ranges.first(), progress, Some(ends), true, false);
        self.next = asked.progress.begun.then_some(finish + 1);
        self.issued |= u64::from(asked.last) << slot;
        self.region = asked.progress.region;
        asked.done
    }

    /// Limits the wait for an answer.
    fn wait(&mut self, idle: bool, came: bool) {
        self.broken |= self.patience == low_bits(TIMEOUT_WIDTH);
        self.patience = if idle || came { 0 } else { (self.patience + 1) & low_bits(TIMEOUT_WIDTH) };
    }
}

#[cfg(test)]
mod tests;
