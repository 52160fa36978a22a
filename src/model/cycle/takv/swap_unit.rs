//! Which homes exchange their places, and where each is (`meshkv_swap_unit`).

use crate::design::depths::VALUE_WIDTH;
use crate::design::Design;

/// What the unit is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Homes are put at their own places.
    Reset,
    Wait,
    /// Rows are added up.
    Row,
    /// The heaviest home of the heaviest row is looked for, and the lightest of the lightest.
    Home,
    Decide,
    First,
    Second,
    Go,
}

/// A home of a row, with the row's sum.
#[derive(Debug, Clone, Copy, Default)]
struct Choice {
    x: usize,
    y: usize,
    sum: u64,
    value: u64,
}

/// A home and the tile where it is now, both as tile numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Logical home.
    pub home: usize,
    /// Where it is.
    pub place: usize,
}

/// What is seen of the unit in a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SwapShown {
    /// The occupancy of a tile.
    pub occupancy: Option<(usize, u64)>,
    /// Two homes exchange their places: the tiles.
    pub swap: Option<(usize, usize)>,
}

/// Occupancies of all homes, and the choice among them.
#[derive(Debug, Clone)]
pub struct SwapUnit {
    state: State,
    x: usize,
    y: usize,
    cols: usize,
    rows: usize,
    /// By tile.
    values: Box<[u64]>,
    who: Box<[usize]>,
    /// Values of each column that have come.
    come: Box<[usize]>,
    sum: u64,
    heavy: Choice,
    light: Choice,
    /// Homes that exchange their places.
    homes: (usize, usize),
    step: u32,
    epoch: u32,
}

/// More than any sum of occupancies, and the largest of them.
const NO_SUM: u64 = u64::MAX;
const MOST: u64 = (1 << VALUE_WIDTH) - 1;

impl SwapUnit {
    /// One out of reset, which it begins by putting homes at their places.
    pub fn new(design: &Design) -> SwapUnit {
        let (cols, rows) = (design.mesh.cols() as usize, design.mesh.rows() as usize);
        SwapUnit {
            state: State::Reset,
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
            epoch: design.config.takv.swap_epoch,
        }
    }

    /// Homes are where they belong: controllers may begin.
    pub fn is_ready(&self) -> bool {
        self.state != State::Reset
    }

    /// Controllers that wait at the end of a step go on.
    pub fn goes(&self) -> bool {
        self.state == State::Go
    }

    /// What the controllers are told of a home's place in this period.
    pub fn placed(&self) -> Option<Placed> {
        let (heavy, light) = (self.at(&self.heavy), self.at(&self.light));
        match self.state {
            State::Reset => Some(Placed { home: self.here(), place: self.here() }),
            State::First => Some(Placed { home: self.homes.0, place: light }),
            State::Second => Some(Placed { home: self.homes.1, place: heavy }),
            _ => None,
        }
    }

    /// What is seen of it in this period.
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

    /// Passes a period: an occupancy of each column that comes, and whether all controllers wait.
    pub fn step(&mut self, come: impl Iterator<Item = Option<u64>>, arrived: bool) {
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
        match state {
            State::Reset if ends => self.state = State::Wait,
            State::Wait => self.begin(arrived && whole),
            State::Row => self.add_up(x, y, ends),
            State::Home => self.look_for(x, y, ends),
            State::Decide => self.decide(),
            State::First => self.state = State::Second,
            State::Second => self.state = State::Go,
            State::Go => self.go(),
            State::Reset => {}
        }
        for (c, value) in come.enumerate().filter_map(|(c, value)| Some((c, value?))) {
            self.values[self.come[c] * self.cols + c] = value;
            self.come[c] += 1;
        }
        if state == State::Go {
            self.come.fill(0);
        }
    }

    fn begin(&mut self, all: bool) {
        (self.x, self.y, self.sum) = (0, 0, 0);
        self.heavy = Choice::default();
        self.light = Choice { sum: NO_SUM, value: MOST, ..Choice::default() };
        if all {
            self.state = State::Row;
        }
    }

    fn add_up(&mut self, x: usize, y: usize, ends: bool) {
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
        if ends {
            let epoch_ends = self.step + 1 == self.epoch;
            self.state = if epoch_ends { State::Home } else { State::Go };
        }
    }

    fn look_for(&mut self, x: usize, y: usize, ends: bool) {
        let value = self.values[y * self.cols + x];
        if y == self.heavy.y && value > self.heavy.value {
            (self.heavy.value, self.heavy.x) = (value, x);
        }
        if y == self.light.y && value < self.light.value {
            (self.light.value, self.light.x) = (value, x);
        }
        if ends {
            self.state = State::Decide;
        }
    }

    /// They exchange if that lowers the sum of squares over the rows.
    fn decide(&mut self) {
        let (heavy, light) = (&self.heavy, &self.light);
        self.homes = (self.who[self.at(heavy)], self.who[self.at(light)]);
        let better = heavy.value > light.value
            && heavy.sum > light.sum
            && heavy.value - light.value < heavy.sum - light.sum;
        self.state = if better { State::First } else { State::Go };
    }

    fn go(&mut self) {
        self.state = State::Wait;
        self.step = if self.step + 1 == self.epoch { 0 } else { self.step + 1 };
    }
}
