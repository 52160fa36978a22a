//! Swap unit: exchanges homes of heavily and lightly loaded rows, and tracks their places
//! (`meshkv_swap_unit`).

use crate::design::depths::VALUE_WIDTH;
use crate::design::Design;
use crate::kernels::takv::swap_decision::{self, Side};
use crate::kernels::takv::swap_state::{self, Events, State};
use crate::model::cycle::common::{Rare, Reached};

/// Home of a row, with the row's sum.
#[derive(Debug, Clone, Copy, Default)]
struct Choice {
    x: usize,
    y: usize,
    sum: u64,
    value: u64,
}

/// Home and its present tile, both as tile numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Logical home.
    pub home: usize,
    /// Tile.
    pub place: usize,
}

/// Outputs of the unit in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SwapShown {
    /// Occupancy of a tile.
    pub occupancy: Option<(usize, u64)>,
    /// Tiles of two homes that exchange their places.
    pub swap: Option<(usize, usize)>,
}

/// Occupancies of all homes, and the choice among them.
#[derive(Debug, Clone)]
pub struct SwapUnit {
    state: State,
    /// The sum of the last row is compared in this cycle.
    settles: bool,
    x: usize,
    y: usize,
    cols: usize,
    rows: usize,
    /// By tile.
    values: Box<[u64]>,
    who: Box<[usize]>,
    /// Values received from each column.
    come: Box<[usize]>,
    sum: u64,
    heavy: Choice,
    light: Choice,
    /// Homes to exchange.
    homes: (usize, usize),
    step: u32,
    epoch: u32,
    /// Places of the last exchange.
    last: Option<(usize, usize)>,
}

/// Above any sum of occupancies; and the largest occupancy.
const NO_SUM: u64 = u64::MAX;
const MOST: u64 = (1 << VALUE_WIDTH) - 1;

impl SwapUnit {
    /// Creates the unit in its reset state. It begins by placing all homes.
    pub fn new(design: &Design) -> SwapUnit {
        let (cols, rows) = (design.mesh.cols() as usize, design.mesh.rows() as usize);
        SwapUnit {
            state: State::Reset,
            settles: false,
            x: 0,
            y: 0,
            cols,
            rows,
            values: vec![0; cols * rows].into_boxed_slice(),
            who: vec![0; cols * rows].into_boxed_slice(),
            come: vec![0; cols].into_boxed_slice(),
            sum: 0,
            heavy: Choice::default(),
            light: Choice::default(),
            homes: (0, 0),
            step: 0,
            epoch: design.swap_epoch,
            last: None,
        }
    }

    /// All homes are placed: controllers may begin.
    pub fn is_ready(&self) -> bool {
        self.state != State::Reset
    }

    /// Controllers at the end of a step continue.
    pub fn goes(&self) -> bool {
        self.state == State::Go
    }

    /// Returns the place of a home for the controllers in this period.
    pub fn placed(&self) -> Option<Placed> {
        let (heavy, light) = (self.at(&self.heavy), self.at(&self.light));
        match self.state {
            State::Reset => Some(Placed { home: self.here(), place: self.here() }),
            State::First => Some(Placed { home: self.homes.0, place: light }),
            State::Second => Some(Placed { home: self.homes.1, place: heavy }),
            _ => None,
        }
    }

    /// Outputs in this period.
    pub fn shown(&self) -> SwapShown {
        let (heavy, light) = (self.at(&self.heavy), self.at(&self.light));
        SwapShown {
            occupancy: (self.state == State::Row).then(|| (self.here(), self.values[self.here()])),
            swap: (self.state == State::First).then_some((heavy, light)),
        }
    }

    fn here(&self) -> usize {
        self.y * self.cols + self.x
    }

    fn at(&self, choice: &Choice) -> usize {
        choice.y * self.cols + choice.x
    }

    /// Advances one clock period. `come` has an occupancy of each column that sends one. `arrived`: all
    /// controllers wait.
    pub fn step(&mut self, come: impl Iterator<Item = Option<u64>>, arrived: bool, reached: &mut Reached) {
        let whole = self.come.iter().all(|&rows| rows == self.rows);
        if let Some(Placed { home, place }) = self.placed() {
            self.who[place] = home;
        }
        let (row_ends, ends) = (self.x + 1 == self.cols, self.here() + 1 == self.cols * self.rows);
        let (x, y, state) = (self.x, self.y, self.state);
        self.x = if row_ends { 0 } else { x + 1 };
        if row_ends {
            self.y = if ends { 0 } else { y + 1 };
        }
        let events = Events {
            ends,
            all_there: arrived && whole,
            epoch_ends: self.step + 1 == self.epoch,
            settles: self.settles,
            swaps: self.swaps(),
        };
        match state {
            State::Wait => self.begin(),
            State::Row => self.add_up(x, y),
            State::Home if self.settles => (self.x, self.y, self.settles) = (0, 0, false),
            State::Home => self.look_for(x, y),
            State::Decide => {
                self.homes = (self.who[self.at(&self.heavy)], self.who[self.at(&self.light)]);
                self.note(events.swaps, reached);
            }
            State::Go => self.step = if events.epoch_ends { 0 } else { self.step + 1 },
            State::Reset | State::First | State::Second => {}
        }
        self.state = swap_state::rule(state, &events);
        for (c, value) in come.enumerate().filter_map(|(c, value)| Some((c, value?))) {
            self.values[self.come[c] * self.cols + c] = value;
            self.come[c] += 1;
        }
        if state == State::Go {
            self.come.fill(0);
        }
    }

    /// Counts the rare states of a decision.
    fn note(&mut self, swaps: bool, reached: &mut Reached) {
        reached.count_if(!swaps, Rare::NotSwapped);
        if !swaps {
            return;
        }
        let places = (self.at(&self.heavy), self.at(&self.light));
        let last = self.last.replace(places);
        let again = last.is_some_and(|(a, b)| [a, b].contains(&places.0) || [a, b].contains(&places.1));
        reached.count(Rare::Swapped);
        reached.count_if(again, Rare::SwappedAgain);
        reached.count_if(last.is_some_and(|(a, b)| places == (a, b) || places == (b, a)), Rare::SwappedBack);
    }

    fn begin(&mut self) {
        (self.x, self.y, self.sum) = (0, 0, 0);
        self.heavy = Choice::default();
        self.light = Choice { sum: NO_SUM, value: MOST, ..Choice::default() };
    }

    fn add_up(&mut self, x: usize, y: usize) {
        self.settles = true;
        let sum = self.sum + self.values[y * self.cols + x];
        self.sum = sum;
        if x + 1 == self.cols {
            self.sum = 0;
            if sum > self.heavy.sum {
                (self.heavy.sum, self.heavy.y) = (sum, y);
            }
            if sum < self.light.sum {
                (self.light.sum, self.light.y) = (sum, y);
            }
        }
    }

    fn look_for(&mut self, x: usize, y: usize) {
        let value = self.values[y * self.cols + x];
        if y == self.heavy.y && value > self.heavy.value {
            (self.heavy.value, self.heavy.x) = (value, x);
        }
        if y == self.light.y && value < self.light.value {
            (self.light.value, self.light.x) = (value, x);
        }
    }

    /// Two homes exchange their places.
    fn swaps(&self) -> bool {
        let side = |choice: &Choice| Side { sum: choice.sum, value: choice.value };
        swap_decision::rule(side(&self.heavy), side(&self.light))
    }
}
