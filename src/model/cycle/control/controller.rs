//! Makes words of descriptors (`meshkv_column_controller`).

mod words;

use super::super::decisions::credit_gauge;
use super::super::parts::Fifo;
use super::super::tile_shape::low_bits;
use super::pipeline::{home, At, Item, Pieces};
use super::swap::Placed;
use super::{Descriptor, Kind, Query, Word};
use crate::design::depths::DESC_DEPTH;
use crate::design::{index_bits, Design};

/// Stages of the pipeline.
const STAGES: usize = 6;

/// What the controller does with the descriptor at the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// The rows of its streams are found.
    Spread,
    /// Its slices enter the pipeline.
    Run,
    Drain,
    Close,
    Sample,
    Barrier,
}

/// What all controllers are told.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Common {
    /// A descriptor that all take.
    pub(super) descriptor: Option<Descriptor>,
    /// Homes are where they belong.
    pub(super) ready: bool,
    /// The next step may begin.
    pub(super) go: bool,
    /// A home has a place.
    pub(super) placed: Option<Placed>,
}

/// A column's controller.
#[derive(Debug, Clone)]
pub(super) struct Controller {
    x: u32,
    descriptors: Fifo<Descriptor>,
    state: State,
    /// Stream whose row is looked for, and rows found.
    stream: u32,
    spread: u32,
    group: u32,
    turn: u32,
    at: At,
    /// Stage 1 first.
    stages: [Item; STAGES],
    /// Tiles that ask for the slice of stage 6, as far as its pieces are through.
    askers: u32,
    /// Where each logical home is, if homes can swap.
    places: Option<Box<[usize]>>,
    word: Option<Word>,
    credits: u32,
    rotation: u32,
}

impl Controller {
    pub(super) fn new(design: &Design, x: u32) -> Controller {
        let places = || vec![0; design.mesh.tiles()].into_boxed_slice();
        Controller {
            x,
            descriptors: Fifo::new(DESC_DEPTH),
            state: State::Idle,
            stream: 0,
            spread: 0,
            group: 0,
            turn: 0,
            at: At::default(),
            stages: [Item::default(); STAGES],
            askers: 0,
            places: design.swaps().then(places),
            word: None,
            credits: design.bus_depth(),
            rotation: design.placement.rotation(),
        }
    }

    /// It can take a descriptor.
    pub(super) fn has_room(&self) -> bool {
        self.descriptors.has_room()
    }

    /// All descriptors have been worked off.
    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Idle && self.descriptors.is_empty() && self.word.is_none()
    }

    /// It waits at the end of a step.
    pub(super) fn has_arrived(&self) -> bool {
        self.state == State::Barrier
    }

    /// The word that goes to the stop of row 0 in this period.
    pub(super) fn bus(&self) -> Option<&Word> {
        self.word.as_ref().filter(|_| self.credits > 0)
    }

    /// A query is taken in this period, if there is one.
    pub(super) fn takes_query(&self, design: &Design) -> bool {
        self.advances() && !self.says(design)
    }

    fn advances(&self) -> bool {
        self.word.is_none() || self.credits > 0
    }

    fn swaps(&self) -> bool {
        self.places.is_some()
    }

    /// A word of a descriptor is made in this period. What is asked of no tile and fills none is not said.
    fn says(&self, design: &Design) -> bool {
        let item = &self.stages[STAGES - 1];
        let says_slice = item.valid && (self.ask(item) != 0 || self.fills(item, design));
        says_slice || self.state == State::Close || (self.state == State::Sample && self.swaps())
    }

    /// Rows of this column that ask for a slice.
    fn ask(&self, item: &Item) -> u32 {
        if item.column == self.x {
            item.asked
        } else {
            0
        }
    }

    /// The home of a slice is in this column, and is to fill it.
    fn fills(&self, item: &Item, design: &Design) -> bool {
        let column = (item.home % design.mesh.cols() as usize) as u32;
        item.last && column == self.x && self.askers != 0
    }

    /// Passes a period; `query` only if it is taken.
    pub(super) fn step(
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
        // Nothing that is valid is on its way, and nothing begins.
        let rests = self.is_idle() && query.is_none();
        if !rests {
            self.work(design, pieces, common, query, credit);
        }
        self.credits += u32::from(credit && rests);
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
        let (_, credits) = credit_gauge(self.credits, self.word.is_some(), credit);
        let advances = self.advances();
        let front = self.descriptors.front().copied();
        let descriptor = front.unwrap_or_default();
        let word = self.says(design).then(|| self.word_of(design, pieces, &descriptor));
        let query = query.map(|query| Word { kind: Kind::Query, query, ..Word::default() });
        let empty = self.stages.iter().all(|item| !item.valid);
        let entering = self.entering(pieces, &descriptor);
        let done = self.go_on(design, pieces, front.as_ref(), common, (advances, empty));
        if advances {
            self.shift(design, &descriptor, entering);
            self.word = word.or(query);
        }
        if done {
            self.descriptors.pop();
        }
        self.credits = credits;
    }

    /// What enters the pipeline.
    fn entering(&self, pieces: &Pieces, descriptor: &Descriptor) -> Item {
        let item = pieces.get(&self.at, descriptor.share);
        Item { valid: self.state == State::Run, turn: self.turn, group: self.group, ..item }
    }

    /// What happens with the descriptor; true if it is done with.
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
        let after_close = if descriptor.step { State::Sample } else { State::Idle };
        self.state = match state {
            State::Idle => {
                (self.stream, self.spread) = (0, 0);
                if common.ready {
                    State::Spread
                } else {
                    State::Idle
                }
            }
            State::Spread => self.find_rows(design, descriptor),
            State::Run if advances => self.run(pieces, descriptor),
            State::Drain if over => {
                if descriptor.close {
                    State::Close
                } else {
                    after_close
                }
            }
            State::Close if advances => after_close,
            State::Sample if advances && self.swaps() => State::Barrier,
            State::Sample if advances => State::Idle,
            State::Barrier if common.go => State::Idle,
            _ => state,
        };
        self.state == State::Idle && state != State::Idle
    }

    /// Rows of the streams, one stream after the other.
    fn find_rows(&mut self, design: &Design, descriptor: &Descriptor) -> State {
        if self.stream >= descriptor.stream {
            self.spread |= 1 << (self.stream % design.mesh.rows());
        }
        self.stream += 1;
        (self.group, self.turn, self.at) = (0, 0, At::default());
        if self.stream >= descriptor.stream + descriptor.streams {
            State::Run
        } else {
            State::Spread
        }
    }

    /// The next piece: all of a turn, then the next turn of the group, then the next group.
    fn run(&mut self, pieces: &Pieces, descriptor: &Descriptor) -> State {
        if !pieces.advance(&mut self.at, descriptor.share) {
            return State::Run;
        }
        self.turn += 1;
        if self.turn < self.rotation {
            return State::Run;
        }
        self.turn = 0;
        self.group += 1;
        if self.group * self.rotation >= descriptor.count {
            State::Drain
        } else {
            State::Run
        }
    }

    /// All stages move on.
    fn shift(&mut self, design: &Design, descriptor: &Descriptor, entering: Item) {
        let [first, second, third, fourth, fifth, sixth] = self.stages;
        let asked = self.asked(design, descriptor, &fifth);
        if fifth.valid {
            let before = if sixth.valid && !sixth.last { self.askers } else { 0 };
            self.askers = before + asked.count_ones();
        }
        let index = first.index(self.rotation);
        let segment = descriptor.first.wrapping_add(index.wrapping_mul(descriptor.stride));
        let of_segment = Item {
            valid: first.valid && index < descriptor.count,
            begins: index == 0,
            ends: index + 1 == descriptor.count,
            segment: segment & low_bits(index_bits(design.placement.segments)) as u32,
            ..first
        };
        let logical = if second.valid { home(design, descriptor.layer, second.segment) } else { 0 };
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
