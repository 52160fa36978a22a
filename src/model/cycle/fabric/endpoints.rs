//! Endpoints of the network: all tiles and the periphery, joined.

use super::periphery::{Asked, ControlShown, Periphery, Tiles};
use super::tile::{Shown, Tile, TileIn};
use crate::design::{Descriptor, Design};
use crate::model::cycle::common::{BloomPeriod, Reached};
use crate::model::cycle::mare::{MareParams, Sent};
use crate::model::cycle::pad::ComputeIn;
use crate::model::cycle::takv::{Answer, Burst, BusWord, MemoryIn, QueryGroup, Read, TokenGroup};

/// Inputs of a tile from its router in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LocalIn {
    /// Flit.
    pub rx: Option<Sent>,
    /// Slots freed in the router's local input, one bit a virtual channel.
    pub tx_credit: u32,
}

/// Inputs of the fabric in a period.
#[derive(Debug, Clone, Default)]
pub struct FabricIn {
    /// Descriptor.
    pub descriptor: Option<Descriptor>,
    /// Words of a query that come together.
    pub query: Option<QueryGroup>,
    /// Words of new tokens that come together.
    pub token: Option<TokenGroup>,
    /// Queries come or will.
    pub more_queries: bool,
    /// New tokens come or will.
    pub more_tokens: bool,
    /// Entry of the table of pages, and its page.
    pub page: Option<(u32, u32)>,
    /// By memory port.
    pub memory: Vec<MemoryIn>,
    /// By tile.
    pub computes: Vec<ComputeIn>,
}

/// Outputs of the fabric in a period.
#[derive(Debug, Clone, Default)]
pub struct FabricShown {
    /// Outputs of the periphery.
    pub control: ControlShown,
    /// Reads, by memory port.
    pub reads: Vec<Option<Read>>,
    /// Words of new tokens to the writers and whether any wait, by memory port.
    pub writes: Vec<(Option<u64>, bool)>,
    /// By tile.
    pub tiles: Vec<Shown>,
}

/// Tiles and periphery.
#[derive(Debug, Clone)]
pub struct Endpoints {
    design: Design,
    tiles: Vec<Tile>,
    periphery: Periphery,
    cycle: u64,
    /// Words of the bus to each tile in this period, and the other inputs of each tile.
    words: Vec<Option<BusWord>>,
    others: Vec<FromOthers>,
    /// By tile, signals in transit from another SLR.
    crossing: Vec<Crossing>,
    shown: FabricShown,
}

/// Inputs of a tile from its neighbours and the periphery, without the bus word.
#[derive(Debug, Clone, Copy, Default)]
struct FromOthers {
    word_credit: bool,
    occupancy: Option<u64>,
    answer: Option<Answer>,
    burst_credit: bool,
    new_credit: bool,
}

/// Registers between a tile and the next of its column in another SLR.
#[derive(Debug, Clone, Copy, Default)]
struct Crossing {
    word: Option<BusWord>,
    word_credit: bool,
    occupancy: Option<u64>,
}

/// Tiles as inputs of the periphery.
struct Seen<'a>(&'a [Tile]);

impl Tiles for Seen<'_> {
    fn request(&self, tile: usize) -> Option<&Burst> {
        self.0[tile].request()
    }

    fn new_word(&self, tile: usize) -> Option<u64> {
        self.0[tile].new_word()
    }

    fn bus_credit(&self, column: usize) -> bool {
        self.0[column].bus().credit()
    }

    fn occupancy(&self, column: usize) -> Option<u64> {
        self.0[column].occupancy()
    }
}

impl Endpoints {
    /// Creates the endpoints in their reset state.
    pub fn new(design: &Design) -> Endpoints {
        let (params, mesh) = (MareParams::of(design), design.mesh);
        let tiles: Vec<_> = mesh
            .nodes()
            .map(|node| mesh.coords(node))
            .map(|(x, y)| Tile::new(design, &params, x, y))
            .collect();
        let shown = FabricShown {
            reads: vec![None; design.memory.ports as usize],
            writes: vec![(None, false); design.memory.ports as usize],
            tiles: vec![Shown::default(); tiles.len()],
            ..FabricShown::default()
        };
        Endpoints {
            design: design.clone(),
            words: vec![None; tiles.len()],
            others: vec![FromOthers::default(); tiles.len()],
            crossing: vec![Crossing::default(); tiles.len()],
            tiles,
            periphery: Periphery::new(design),
            cycle: 0,
            shown,
        }
    }

    /// Periods since reset.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// All tiles, whose registers drive the routers.
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// Rare states that tiles and periphery have reached.
    pub fn reached(&self) -> Reached {
        let mut all = *self.periphery.reached();
        self.tiles.iter().for_each(|tile| all.add(tile.reached()));
        all
    }

    /// Clocks the PaD's side of a tile alone.
    pub fn kv_edge(&mut self, tile: usize, takes: bool) {
        self.tiles[tile].kv_edge(takes);
    }

    /// Outputs in the last period.
    pub fn shown(&self) -> &FabricShown {
        &self.shown
    }

    /// Advances one clock period.
    pub fn step(&mut self, input: &FabricIn, routers: &[LocalIn]) {
        self.read();
        let period = BloomPeriod::at(self.cycle, self.design.mare.bloom_refresh);
        let FabricIn { descriptor, query, token, page, .. } = *input;
        let asked = Asked { descriptor, query, token, page };
        let more = (input.more_queries, input.more_tokens);
        for (port, read) in self.shown.reads.iter_mut().enumerate() {
            *read = self.periphery.read(port).copied();
        }
        for (port, write) in self.shown.writes.iter_mut().enumerate() {
            *write = self.periphery.write(port);
        }
        self.shown.control =
            self.periphery.step(&self.design, asked, more, &input.memory, &Seen(&self.tiles));
        for (t, tile) in self.tiles.iter_mut().enumerate() {
            let FromOthers { word_credit, occupancy, answer, burst_credit, new_credit } = self.others[t];
            let LocalIn { rx, tx_credit } = routers[t];
            let word = self.words[t].as_ref();
            let compute = input.computes[t];
            let of_tile = TileIn {
                rx,
                tx_credit,
                word,
                word_credit,
                occupancy,
                answer,
                burst_credit,
                new_credit,
                compute,
            };
            self.shown.tiles[t] = tile.step(period, &of_tile);
        }
        self.cycle += 1;
    }

    /// Reads the inputs of all tiles before any of them advances.
    fn read(&mut self) {
        let cols = self.design.mesh.cols() as usize;
        let crossings = self.design.crossings() << 1;
        for t in 0..self.tiles.len() {
            let word = match t.checked_sub(cols) {
                Some(south) => self.tiles[south].bus().to_north(),
                None => self.periphery.bus(t),
            };
            let mut word = word.copied();
            let north = self.tiles.get(t + cols);
            let mut word_credit = north.is_some_and(|north| north.bus().credit());
            let mut occupancy = north.and_then(Tile::occupancy);
            let (between, register) = (crossings >> (t / cols), &mut self.crossing[t]);
            if between & 1 == 1 {
                std::mem::swap(&mut word, &mut register.word);
            }
            if between & 2 == 2 {
                std::mem::swap(&mut word_credit, &mut register.word_credit);
                std::mem::swap(&mut occupancy, &mut register.occupancy);
            }
            self.words[t] = word;
            self.others[t] = FromOthers {
                word_credit,
                occupancy,
                answer: self.periphery.answer(t),
                burst_credit: self.periphery.burst_credit(t),
                new_credit: self.periphery.new_credit(t),
            };
        }
    }
}
