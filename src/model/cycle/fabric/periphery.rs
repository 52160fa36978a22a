//! Periphery of the tiles (`meshkv_periphery`): column controllers, ports to external memory, swaps of homes.

use crate::design::{Descriptor, Design};
use crate::model::cycle::common::Reached;
use crate::model::cycle::takv::{
    Answer, Burst, BusWord, ColumnController, Common, MemoryIn, MemoryPort, Pieces, QueryGroup, QueryWords,
    Read, SwapShown, SwapUnit, TokenGroup, WritePort,
};

/// Outputs of the periphery in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlShown {
    /// The descriptor is taken.
    pub descriptor_ready: bool,
    /// The query is taken.
    pub query_ready: bool,
    /// All descriptors are done.
    pub idle: bool,
    /// Occupancies, and homes that are exchanged.
    pub swap: SwapShown,
}

/// Inputs of the periphery from the tiles in a period.
pub trait Tiles {
    /// Burst requested by a tile.
    fn request(&self, tile: usize) -> Option<&Burst>;
    /// Word of a new token that a tile passes on.
    fn new_word(&self, tile: usize) -> Option<u64>;
    /// A word has left the stop in row 0 of this column.
    fn bus_credit(&self, column: usize) -> bool;
    /// Occupancy out of row 0 of this column.
    fn occupancy(&self, column: usize) -> Option<u64>;
}

/// What a host gives in a period.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked {
    /// Descriptor.
    pub descriptor: Option<Descriptor>,
    /// Words of a query that come together.
    pub query: Option<QueryGroup>,
    /// Words of new tokens that come together.
    pub token: Option<TokenGroup>,
    /// Entry of the table of pages, and its page.
    pub page: Option<(u32, u32)>,
}

/// Column controllers, memory ports, and the swap unit.
#[derive(Debug, Clone)]
pub struct Periphery {
    pieces: Pieces,
    controllers: Box<[ColumnController]>,
    /// Queries that wait for the bus of each column.
    queries: Box<[QueryWords]>,
    /// Some queries waited in the last period, and no others were expected: no descriptor begins.
    hold: bool,
    /// Queries and new tokens are expected.
    loading: bool,
    more_tokens: bool,
    swap: Option<SwapUnit>,
    ports: Box<[MemoryPort]>,
    /// By memory port, if the cache can be appended to.
    writes: Box<[WritePort]>,
    /// Tiles of each port, from the west.
    tiles_of: Box<[Vec<usize>]>,
    /// Port of each tile, and its place at the port.
    port_of: Box<[(usize, usize)]>,
    reached: Reached,
}

impl Periphery {
    /// Creates the periphery of a fabric in its reset state.
    pub fn new(design: &Design) -> Periphery {
        let mesh = design.mesh;
        let port_of: Box<[_]> = mesh.nodes().map(|tile| port_of(design, mesh.coords(tile))).collect();
        let mut tiles_of = vec![Vec::new(); design.memory.ports as usize];
        for (tile, &(port, _)) in port_of.iter().enumerate() {
            tiles_of[port].push(tile);
        }
        Periphery {
            pieces: Pieces::new(design),
            controllers: (0..mesh.cols()).map(|x| ColumnController::new(design, x)).collect(),
            queries: (0..mesh.cols()).map(|_| QueryWords::new(design)).collect(),
            hold: false,
            loading: false,
            more_tokens: false,
            swap: design.swaps().then(|| SwapUnit::new(design)),
            ports: tiles_of.iter().map(|tiles| MemoryPort::new(design, tiles.len())).collect(),
            writes: (design.append.iter())
                .flat_map(|append| tiles_of.iter().map(|tiles| WritePort::new(append, tiles.len())))
                .collect(),
            tiles_of: tiles_of.into_boxed_slice(),
            port_of,
            reached: Reached::default(),
        }
    }

    /// Rare states that its blocks have reached.
    pub fn reached(&self) -> &Reached {
        &self.reached
    }

    /// Word to row 0 of a column in this period.
    pub fn bus(&self, column: usize) -> Option<&BusWord> {
        self.controllers[column].bus()
    }

    /// Read request at a port.
    pub fn read(&self, port: usize) -> Option<&Read> {
        self.ports[port].read()
    }

    /// Word of a new token to a port's writer, and whether any wait.
    pub fn write(&self, port: usize) -> (Option<u64>, bool) {
        self.writes.get(port).map_or((None, false), |port| (port.word(), port.is_busy()))
    }

    /// A word of a new token of a tile has left its port's queue.
    pub fn new_credit(&self, tile: usize) -> bool {
        let (port, place) = self.port_of[tile];
        self.writes.get(port).is_some_and(|port| port.credit(place))
    }

    /// A burst of a tile has left its port's queue.
    pub fn burst_credit(&self, tile: usize) -> bool {
        let (port, place) = self.port_of[tile];
        self.ports[port].credit(place)
    }

    /// Flit read for a tile.
    pub fn answer(&self, tile: usize) -> Option<Answer> {
        let (port, place) = self.port_of[tile];
        self.ports[port].answer(place)
    }

    /// Advances one clock period.
    pub fn step(
        &mut self,
        design: &Design,
        asked: Asked,
        (more_queries, more_tokens): (bool, bool),
        memory: &[MemoryIn],
        tiles: &impl Tiles,
    ) -> ControlShown {
        let Asked { descriptor, query, token, page } = asked;
        let descriptor_ready = self.controllers.iter().all(ColumnController::has_room);
        let of_column = |x: u32| query.filter(|query| design.heads.of_column(x).contains(&query.head));
        let mut shown = ControlShown {
            descriptor_ready,
            idle: self.controllers.iter().all(ColumnController::is_idle),
            swap: self.swap.as_ref().map(SwapUnit::shown).unwrap_or_default(),
            ..ControlShown::default()
        };
        let arrived = self.controllers.iter().all(ColumnController::has_arrived);
        self.controllers.iter().for_each(|controller| controller.note(arrived, &mut self.reached));
        let common = Common {
            descriptor: descriptor.filter(|_| descriptor_ready),
            token,
            ready: self.swap.as_ref().is_none_or(SwapUnit::is_ready),
            hold: self.hold,
            loading: self.loading,
            more_tokens: self.more_tokens,
            page,
            go: self.swap.as_ref().is_some_and(SwapUnit::goes),
            placed: self.swap.as_ref().and_then(SwapUnit::placed),
        };
        self.hold = self.queries.iter().any(|queries| queries.word().is_some());
        self.loading = more_queries || (self.loading && self.hold);
        self.more_tokens = more_tokens;
        for (x, controller) in self.controllers.iter_mut().enumerate() {
            let first = design.heads.of_column(x as u32).start;
            let queries = &mut self.queries[x];
            let group = of_column(x as u32).filter(|_| queries.has_room());
            shown.query_ready |= group.is_some();
            let group = group.map(|group| QueryGroup { head: group.head - first, ..group });
            let query = queries.word().filter(|_| controller.takes_query(design, &common));
            controller.step(design, &self.pieces, &common, query, tiles.bus_credit(x));
            queries.step(query.is_some(), group);
        }
        if let Some(swap) = &mut self.swap {
            swap.step((0..self.controllers.len()).map(|x| tiles.occupancy(x)), arrived, &mut self.reached);
        }
        for ((port, of_port), memory) in self.ports.iter_mut().zip(&self.tiles_of).zip(memory) {
            port.step(of_port.iter().map(|&tile| tiles.request(tile)), memory, &mut self.reached);
        }
        for ((port, of_port), memory) in self.writes.iter_mut().zip(&self.tiles_of).zip(memory) {
            port.step(of_port.iter().map(|&tile| tiles.new_word(tile)), memory.write_credit);
        }
        shown
    }
}

/// Returns the port of a tile, and its place at the port.
fn port_of(design: &Design, (x, y): (u32, u32)) -> (usize, usize) {
    (design.memory.port(x, y) as usize, design.memory.place(x) as usize)
}
