//! Column controller: turns descriptors into words of the column bus (`meshkv_column_controller`).

mod held;
mod lookup;
mod pipeline;
mod state;
mod words;

pub(in crate::model::cycle) use pipeline::Pieces;
pub(in crate::model::cycle) use state::ColumnController;

use super::bus_word::{BusWord, Kind, Query, TokenGroup};
use super::swap_unit::Placed;
use crate::design::depths::{ASK_DEPTH, DESC_DEPTH, FILL_DEPTH};
use crate::design::{index_bits, Descriptor, Design, Mapping, Sharing};
use crate::kernels::cells::credit_counter;
use crate::kernels::takv::descriptor_state::{self, Events, State};
use crate::model::cycle::common::{Fifo, Rare, Reached};
use crate::model::cycle::mare::low_bits;
use held::Held;
use lookup::Lookup;
use pipeline::{home, At, Item};
use state::{Tokens, STAGES};

/// Inputs that all controllers share.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::model::cycle) struct Common {
    /// Descriptor that all controllers take.
    pub(in crate::model::cycle) descriptor: Option<Descriptor>,
    /// Words of new tokens.
    pub(in crate::model::cycle) token: Option<TokenGroup>,
    /// All homes are at their places.
    pub(in crate::model::cycle) ready: bool,
    /// Queries wait for a bus.
    pub(in crate::model::cycle) hold: bool,
    /// Queries are expected.
    pub(in crate::model::cycle) loading: bool,
    /// New tokens are expected.
    pub(in crate::model::cycle) more_tokens: bool,
    /// Entry of the table of pages, and its page.
    pub(in crate::model::cycle) page: Option<(u32, u32)>,
    /// The next step may begin.
    pub(in crate::model::cycle) go: bool,
    /// New place of a home.
    pub(in crate::model::cycle) placed: Option<Placed>,
}

impl ColumnController {
    pub(in crate::model::cycle) fn new(design: &Design, x: u32) -> ColumnController {
        let places = || vec![0; design.mesh.tiles()].into_boxed_slice();
        ColumnController {
            x,
            descriptors: Fifo::new(DESC_DEPTH),
            state: State::Idle,
            stream: 0,
            spread: 0,
            scattered: vec![false; design.model.max_streams as usize].into_boxed_slice(),
            gathers: false,
            group: 0,
            turn: 0,
            at: At::default(),
            ends: false,
            closing: 0,
            stages: [Item::default(); STAGES],
            askers: 0,
            places: design.swaps().then(places),
            word: None,
            tokens: design.append.as_ref().map(Tokens::new),
            pages: design.pages.as_ref().map(Lookup::new),
            credits: design.bus_depth(),
            rotation: design.placement.rotation(),
            lap: design.placement.lap(),
            held: Held::new(design),
            barred: false,
            grown: 0,
            cols: design.mesh.cols() as usize,
            said: vec![0; design.mesh.rows() as usize].into(),
            full: false,
        }
    }

    /// The controller can take a descriptor.
    pub(in crate::model::cycle) fn has_room(&self) -> bool {
        self.descriptors.has_room()
    }

    /// All descriptors are done.
    pub(in crate::model::cycle) fn is_idle(&self) -> bool {
        self.state == State::Idle && self.descriptors.is_empty() && self.word.is_none()
    }

    /// Counts rare states; `all`: every column has come to the end of the step.
    pub(in crate::model::cycle) fn note(&self, all: bool, reached: &mut Reached) {
        reached.count_if(!self.has_room(), Rare::DescriptorsFull);
        reached.count_if(self.word.is_some() && self.credits == 0, Rare::BusFull);
        reached.count_if(self.full, Rare::RowsFull);
        reached.count_if(self.has_arrived() && !all, Rare::BarrierWaits);
    }

    /// The controller waits at the end of a step.
    pub(in crate::model::cycle) fn has_arrived(&self) -> bool {
        self.state == State::Barrier
    }

    /// Word to the stop of row 0 in this period.
    pub(in crate::model::cycle) fn bus(&self) -> Option<&BusWord> {
        self.word.as_ref().filter(|_| self.credits > 0)
    }

    /// A query is taken in this period, if there is one.
    pub(in crate::model::cycle) fn takes_query(&self, design: &Design, common: &Common) -> bool {
        self.has_spare(design, common) && !self.marks(common)
    }

    /// Tiles are to be told that queries come, or that all have come.
    fn marks(&self, common: &Common) -> bool {
        self.barred != common.loading
    }

    /// A word of no descriptor can go.
    fn has_spare(&self, design: &Design, common: &Common) -> bool {
        let may = self.is_paused(design, common) || !self.says(design);
        self.is_free() && !self.tells(design, common) && may
    }

    /// Tiles have as many slices as they can keep, or a slice waits for its new token.
    fn is_paused(&self, design: &Design, common: &Common) -> bool {
        self.full || (self.keeps_tokens(common) && self.grows(design))
    }

    fn keeps_tokens(&self, common: &Common) -> bool {
        self.has_grown() || common.more_tokens && !self.tokens.as_ref().is_some_and(|tokens| tokens.ready)
    }

    /// Tiles keep jobs, and the home of the last stage's slice has got a new token since. It takes no other before it
    /// fills slices.
    fn has_grown(&self) -> bool {
        self.barred && self.grown >> self.row() & 1 == 1
    }

    /// Row of the home of the last stage's slice.
    fn row(&self) -> usize {
        self.stages[STAGES - 1].home / self.cols
    }

    fn advances(&self, design: &Design, common: &Common) -> bool {
        self.is_free() && !self.tells(design, common) && !self.is_paused(design, common)
    }

    fn is_free(&self) -> bool {
        self.word.is_none() || self.credits > 0
    }

    /// Words of a new token go before the slice of this period.
    fn tells(&self, design: &Design, common: &Common) -> bool {
        let more = self.tokens.as_ref().is_some_and(|tokens| tokens.told <= tokens.words);
        more && !self.keeps_tokens(common) && self.grows(design)
    }

    /// The slice of this period has a new token.
    fn grows(&self, design: &Design) -> bool {
        let item = &self.stages[STAGES - 1];
        let appends = |d: &Descriptor| self.appends(item, d, design);
        self.tokens.is_some() && item.valid && self.descriptors.front().is_some_and(appends)
    }

    fn swaps(&self) -> bool {
        self.places.is_some()
    }

    /// The descriptor produces a word in this period. A slice that no tile requests and no home fills has no
    /// word, nor has a round without a head of this column.
    fn says(&self, design: &Design) -> bool {
        let item = &self.stages[STAGES - 1];
        let says_slice = item.valid && (self.ask(item) != 0 || self.fills(item, design));
        let closes = self.state == State::Close && self.closing != 0;
        says_slice || closes || (self.state == State::Sample && self.swaps())
    }

    /// Advances one clock period; `query` only if it is taken.
    pub(in crate::model::cycle) fn step(
        &mut self,
        design: &Design,
        pieces: &Pieces,
        common: &Common,
        query: Option<Query>,
        credit: bool,
    ) {
        if let (Some(places), Some(placed)) = (&mut self.places, common.placed) {
            places[placed.home] = placed.place;
        }
        // The pipeline holds nothing valid, and nothing enters.
        let rests = self.is_idle() && query.is_none() && !self.marks(common) && !self.barred;
        if !rests {
            self.work(design, pieces, common, query, credit);
        }
        self.credits += u32::from(credit && rests);
        if let Some(tokens) = &mut self.tokens {
            tokens.hear(common.token.as_ref(), common.more_tokens);
        }
        if let (Some(pages), Some((entry, page))) = (&mut self.pages, common.page) {
            pages.write(entry, page);
        }
        if let Some(descriptor) = &common.descriptor {
            self.descriptors.push(*descriptor);
        }
    }

    fn work(
        &mut self,
        design: &Design,
        pieces: &Pieces,
        common: &Common,
        query: Option<Query>,
        credit: bool,
    ) {
        let (_, credits) = credit_counter::rule(self.credits, self.word.is_some(), credit);
        let (advances, free, tells) =
            (self.advances(design, common), self.is_free(), self.tells(design, common));
        let marked = self.marks(common) && self.has_spare(design, common);
        let front = self.descriptors.front().copied();
        let descriptor = front.unwrap_or_default();
        let slices = design.model.kv_heads;
        let word = self.says(design).then(|| self.word_of(design, pieces, &descriptor));
        let token = (tells && free).then(|| self.token_of(design, &descriptor)).flatten();
        let query = query.map(|query| BusWord { kind: Kind::Query, query, ..BusWord::default() });
        let mark = BusWord { kind: Kind::Mark, barred: common.loading, ..BusWord::default() };
        let spare = if marked { Some(mark) } else { query };
        let grows = self.grows(design);
        let waits = (grows && !self.has_grown())
            .then(|| descriptor.token_of(design) * slices + self.stages[STAGES - 1].slice);
        let empty = self.stages.iter().all(|item| !item.valid) && self.pages.iter().all(Lookup::is_empty);
        let entering = self.entering(pieces, &descriptor);
        let done = self.go_on(design, pieces, front.as_ref(), common, (advances, empty));
        self.grown |= u32::from(advances && grows) << self.row();
        if !self.barred {
            self.grown = 0;
        }
        if advances {
            self.shift(design, &descriptor, entering);
            self.word = word.or(spare);
        } else if free {
            self.word = token.or(spare);
        }
        self.count(word.as_ref().filter(|word| advances && word.kind != Kind::Call), marked);
        if marked {
            self.barred = common.loading;
        }
        if let Some(tokens) = &mut self.tokens {
            tokens.go_on((advances, tells, token.is_some()), waits);
        }
        if done {
            self.descriptors.pop();
        }
        self.credits = credits;
    }

    /// Counts the words that each row has to keep.
    fn count(&mut self, word: Option<&BusWord>, marked: bool) {
        let most = ASK_DEPTH.min(FILL_DEPTH) - 2;
        self.full = self.barred && !marked && self.said.iter().any(|&said| said >= most);
        for (row, said) in self.said.iter_mut().enumerate() {
            let concerns =
                |word: &&BusWord| word.ask >> row & 1 == 1 || word.fill && word.home_y == row as u32;
            *said = if self.barred { *said + u32::from(word.filter(concerns).is_some()) } else { 0 };
        }
    }

    /// Returns the entry to the pipeline.
    fn entering(&self, pieces: &Pieces, descriptor: &Descriptor) -> Item {
        let item = pieces.get(&self.at, descriptor.sharing, self.x);
        Item { valid: self.state == State::Run, turn: self.turn, group: self.group, ..item }
    }

    /// Advances the state of the descriptor. Returns true if it is done.
    fn go_on(
        &mut self,
        design: &Design,
        pieces: &Pieces,
        front: Option<&Descriptor>,
        common: &Common,
        (advances, empty): (bool, bool),
    ) -> bool {
        let state = self.state;
        let over = advances && empty;
        let Some(descriptor) = front else { return false };
        let streams = descriptor.stream..descriptor.stream + descriptor.streams;
        let (mut found, mut issued) = (false, false);
        match state {
            State::Idle => {
                (self.stream, self.spread, self.gathers, self.closing) = (0, 0, false, 0);
                self.held.iter_mut().for_each(Held::begin);
            }
            State::Spread => found = self.find_rows(design, descriptor),
            State::Run if advances => issued = self.run(pieces, descriptor),
            State::Drain if over => {
                if let Some(held) = &mut self.held {
                    held.find(streams.clone());
                    held.keep(streams);
                }
            }
            State::Close if advances => {
                self.closing = 0;
                if self.ends {
                    self.held.iter_mut().for_each(|held| held.close(streams.clone()));
                }
            }
            _ => {}
        }
        let events = Events {
            start: common.ready && !self.marks(common) && (common.loading || !common.hold),
            found,
            issued,
            over,
            advance: advances,
            closes: descriptor.close,
            ends_all: self.ends,
            ends_step: descriptor.step,
            go: common.go,
        };
        self.state = descriptor_state::rule(state, &events, self.swaps());
        self.state == State::Idle && state != State::Idle
    }

    /// Collects the rows of the streams, one stream a cycle, and whether any stream is scattered. True at the last one.
    fn find_rows(&mut self, design: &Design, descriptor: &Descriptor) -> bool {
        if self.stream >= descriptor.stream {
            self.spread |= 1 << (self.stream % design.mesh.rows());
            let scattered = &mut self.scattered[self.stream as usize];
            *scattered |= descriptor.mapping != Mapping::HeadTile;
            self.gathers |= *scattered;
            *scattered &= !descriptor.close;
        }
        self.stream += 1;
        (self.group, self.turn, self.at) = (0, 0, At::default());
        self.stream >= descriptor.stream + descriptor.streams
    }

    /// Moves to the next piece: all of a turn, then the next turn of the lap, then the next group, then the next round,
    /// then the next lap. True after the last piece that is issued before the pipeline runs empty.
    fn run(&mut self, pieces: &Pieces, descriptor: &Descriptor) -> bool {
        let (sharing, together) = (descriptor.sharing, descriptor.mapping == Mapping::HeadTile);
        let ends_turn = pieces.ends_turn(&self.at, sharing, together);
        // Where slices have homes of their own, segments are visited as they follow each other.
        let ends_all = self.held.is_some() && self.group * self.rotation + self.turn + 1 >= descriptor.count;
        let ends_lap = ends_all || (self.turn + 1).is_multiple_of(self.lap);
        let last_group = (self.group + 1) * self.rotation >= descriptor.count;
        let ends_round = ends_turn && ends_lap && last_group;
        let last_lap = self.held.is_some() || self.turn >= self.rotation - self.lap;
        self.ends = sharing == Sharing::Segment || together || pieces.ends_all(&self.at);
        let piece = pieces.get(&self.at, sharing, self.x);
        if piece.column == self.x {
            self.closing |= piece.mask;
            self.held.iter_mut().for_each(|held| held.enters(piece.slice));
        }
        pieces.advance(&mut self.at, sharing, ends_turn, ends_round);
        if ends_turn {
            let back = if ends_lap && !(last_group && self.ends) { self.lap } else { 0 };
            self.turn =
                if self.held.is_some() && ends_lap { 0 } else { (self.turn + 1 - back) % self.rotation };
        }
        if ends_turn && ends_lap {
            self.group = if last_group { 0 } else { self.group + 1 };
        }
        let issued = ends_round && last_lap && (descriptor.close || self.ends);
        if ends_round && !issued {
            self.closing = 0;
        }
        issued
    }

    /// Advances all stages.
    fn shift(&mut self, design: &Design, descriptor: &Descriptor, entering: Item) {
        let [first, second, third, fourth, fifth, sixth] = self.stages;
        let asked = self.asked(design, descriptor, &fifth);
        if let Some(held) = self.held.as_mut().filter(|_| sixth.valid && sixth.column == self.x) {
            let row = (sixth.home / design.mesh.cols() as usize) as u32;
            let (mapping, sharing) = (descriptor.mapping, descriptor.sharing);
            held.passes(&sixth, row, mapping == Mapping::RowAligned && sharing == Sharing::KvHead);
        }
        if fifth.valid {
            let before = if sixth.valid && !sixth.last { self.askers } else { 0 };
            self.askers = before + asked.count_ones();
        }
        let index = first.index(self.rotation);
        let segment = descriptor.first.wrapping_add(index.wrapping_mul(descriptor.stride));
        // Without a piece, home and number are those of the first segment.
        let segment = if first.valid { segment } else { 0 };
        let of_segment = Item {
            valid: first.valid && index < descriptor.count,
            begins: index == 0,
            ends: index + 1 == descriptor.count,
            place: segment & low_bits(index_bits(design.placement.segments)) as u32,
            ..first
        };
        let second = match &mut self.pages {
            Some(pages) => pages.step(descriptor.prefix, second),
            None => second,
        };
        let logical = if second.valid { home(design, descriptor, &second) } else { 0 };
        let place = self.places.as_ref().map_or(fourth.home, |places| places[fourth.home]);
        self.stages = [
            entering,
            of_segment,
            Item { home: logical, ..second },
            third,
            Item { home: place, ..fourth },
            Item { asked, ..fifth },
        ];
    }
}
