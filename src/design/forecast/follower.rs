//! Follows the slices of a step in the order of the column controllers.
//!
//! A slice takes a slot of its home, time on the home's memory port, then on the home's injection, on the links
//! to its tiles and in their arrays. A home has so many slots, a tile fetches one slice after the other. Flits
//! are not followed: nothing waits for a buffer.

use super::cycles::Forecast;
use super::server::Server;
use crate::design::array::Array;
use crate::design::bounds::Bounds;
use crate::design::descriptor::Descriptor;
use crate::design::design::Design;
use crate::design::mapping::{Mapping, Piece};
use crate::design::mesh::{NodeId, Port};
use crate::design::pieces::rounds;
use crate::design::root::root_cycles;
use crate::design::row_flits::flits_of_rows;
use crate::design::slice::flit_elements;

/// Most slices of a descriptor that are followed, but for the last round over the homes. The rest takes as long
/// as they do.
const MOST_SLICES: u32 = 1 << 9;

/// Periods of a server in the time of a slice.
const PERIODS: f64 = 4.0;

/// Cycles of a flit of PART from the arrays' clock to the network's. A packet holds its channel of VN0 for so long a
/// flit.
const CROSSING: f64 = 7.0;

/// Flits of a chunk from which on more fetches meet than in shorter ones.
const MEETING: f64 = 32.0;

/// Cycles by which the fetches of two tiles may differ and still meet at the home.
const NEAR: f64 = 64.0;

/// Servers of a kind, and the work of each.
#[derive(Debug, Clone)]
struct Servers {
    servers: Vec<Server>,
    work: Vec<f64>,
}

impl Servers {
    fn new(count: usize, period: f64) -> Servers {
        Servers { servers: vec![Server::new(period); count], work: vec![0.0; count] }
    }

    /// Serves a slice that needs `cycles` at least and takes `expected`.
    fn serve(&mut self, at: usize, start: f64, (cycles, expected): (f64, f64), weight: f64) -> f64 {
        self.work[at] += cycles * weight;
        self.servers[at].serve(start, expected)
    }

    /// Work of the busiest.
    fn most(&self) -> f64 {
        self.work.iter().copied().fold(0.0, f64::max)
    }
}

/// A tile that fetches a slice: the time from which it can, and its passes a flit.
#[derive(Debug, Clone, Copy)]
struct Asks {
    from: f64,
    tile: NodeId,
    passes: u32,
}

/// Work for a slice, in flits and cycles.
#[derive(Debug, Clone, Copy)]
struct Work {
    flits: f64,
    /// Flits of KV_FETCH of a tile.
    fetches: f64,
    /// Cycles of the memory port.
    memory: f64,
    /// Cycles of an array in one pass.
    pass: f64,
    /// Slices for which this one stands.
    weight: f64,
}

/// The forecast of a step of these descriptors, in layers one after the other, all under `mapping`. The first layer
/// stands for each.
///
/// # Panics
/// If there is no descriptor.
pub(super) fn forecast(design: &Design, descriptors: &[Descriptor], mapping: Mapping) -> Forecast {
    let of_layer = descriptors.iter().take_while(|d| d.layer == descriptors[0].layer).count();
    let mut follower = Follower::new(design);
    for d in &descriptors[..of_layer] {
        follower.descriptor(&Descriptor { mapping, ..*d });
    }
    follower.forecast(descriptors.len() as f64 / of_layer as f64)
}

/// The state of a step.
#[derive(Debug)]
struct Follower<'a> {
    design: &'a Design,
    /// One flit can serve several tiles.
    multicast: bool,
    memory: Servers,
    homes: Servers,
    links: Servers,
    ejection: Servers,
    arrays: Servers,
    roots: Servers,
    /// For each home the times at which its slots become free, and the next slot.
    slots: Vec<(Vec<f64>, usize)>,
    /// Time from which each tile can fetch its next slice.
    ready: Vec<f64>,
    /// Number of the slice, and of the last one that each link carried.
    slice: u64,
    carried: Vec<u64>,
    /// Tiles of the present request behind each link; the links with any.
    behind: Vec<u32>,
    way: Vec<usize>,
    /// End of the last output so far.
    end: f64,
    /// Cycles in which queries go in.
    queries: f64,
}

/// Calls `visit` with each link from one place to another: along the row first.
fn walk(cols: u32, from: (u32, u32), to: (u32, u32), mut visit: impl FnMut(usize)) {
    let (mut x, mut y) = from;
    let link = |x: u32, y: u32, port: Port| (y * cols + x) as usize * 4 + port.index();
    while x != to.0 {
        visit(link(x, y, if to.0 > x { Port::East } else { Port::West }));
        x = if to.0 > x { x + 1 } else { x - 1 };
    }
    while y != to.1 {
        visit(link(x, y, if to.1 > y { Port::North } else { Port::South }));
        y = if to.1 > y { y + 1 } else { y - 1 };
    }
}

/// Passes a flit of a piece's slice in each row of the column, by the contexts of the fullest row of the array; 0
/// where no tile fetches it.
fn passes(design: &Design, d: &Descriptor, piece: &Piece, home_row: u32) -> Vec<u32> {
    let (heads, rows) = (&design.heads, design.mesh.rows());
    let group = design.config.model.heads / design.config.model.kv_heads;
    let array_rows = design.config.pe.array_rows;
    let mut contexts = vec![vec![0; array_rows as usize]; rows as usize];
    let mut passes = vec![0; rows as usize];
    for head in heads.of_column(piece.column) {
        let index = heads.index(head);
        if piece.mask >> index & 1 == 0 {
            continue;
        }
        for stream in d.stream..d.stream + d.streams {
            let row = match d.mapping {
                Mapping::HeadTile => heads.fixed_row(index, stream),
                Mapping::RowAligned => home_row,
                Mapping::StreamStriped => (stream + home_row) % rows,
            } as usize;
            // A slice passes once where nobody attends with its KV head.
            passes[row] = passes[row].max(1);
            if head / group == piece.kv_head {
                let count = &mut contexts[row][((stream + index) % array_rows) as usize];
                *count += 1;
                passes[row] = passes[row].max(*count);
            }
        }
    }
    passes
}

impl<'a> Follower<'a> {
    fn new(design: &'a Design) -> Follower<'a> {
        let tiles = design.mesh.tiles();
        let period = f64::from(design.mare.slice_flits) / PERIODS;
        let servers = |count: usize| Servers::new(count, period);
        Follower {
            design,
            multicast: design.config.mare.enable && design.config.mare.multicast,
            memory: servers(design.memory.ports as usize),
            homes: servers(tiles),
            links: servers(4 * tiles),
            ejection: servers(tiles),
            arrays: servers(tiles),
            roots: servers(design.mesh.cols() as usize),
            slots: vec![(vec![0.0; design.mare.staging_slots as usize], 0); tiles],
            ready: vec![0.0; tiles],
            slice: 0,
            carried: vec![0; 4 * tiles],
            behind: vec![0; 4 * tiles],
            way: Vec::new(),
            end: 0.0,
            queries: 0.0,
        }
    }

    /// Time at which all tiles have their slices.
    fn kv_end(&self) -> f64 {
        self.ready.iter().copied().fold(0.0, f64::max)
    }

    /// Follows a descriptor.
    fn descriptor(&mut self, d: &Descriptor) {
        let design = self.design;
        let (pieces, rotation) = (design.pieces(d.sharing), design.placement.rotation());
        let groups = (MOST_SLICES / design.config.model.kv_heads / rotation).max(1);
        let count = d.count.min(groups.saturating_mul(rotation));
        let weight = f64::from(d.count) / f64::from(count);
        let (before, last_lap) = (self.kv_end(), rotation - design.placement.lap());
        let all: Vec<_> = rounds(&pieces, d.mapping).collect();
        for lap in design.placement.laps() {
            for (number, round) in (1..).zip(&all) {
                self.round(d, round, lap, (count, weight));
                if lap == last_lap && number == all.len() {
                    self.stand(before, weight);
                }
                if lap == last_lap && d.close {
                    self.close(d, round);
                }
            }
        }
        if d.close {
            self.queries += f64::from(d.streams * design.query_cycles());
        }
    }

    /// Follows the slices of a round in a lap: `count` segments, each of which stands for `weight`.
    fn round(&mut self, d: &Descriptor, pieces: &[Piece], lap: u32, (count, weight): (u32, f64)) {
        let (design, rotation) = (self.design, self.design.placement.rotation());
        let of_rows = |piece: &Piece| {
            (0..design.mesh.rows()).map(|row| passes(design, d, piece, row)).collect::<Vec<_>>()
        };
        let passes: Vec<_> = pieces.iter().map(of_rows).collect();
        for (group, turn) in design.placement.visits(lap, count) {
            let mut at = 0;
            while at < pieces.len() {
                let end = at + pieces[at..].iter().take_while(|piece| !piece.last).count() + 1;
                let index = group * rotation + (pieces[at].rho + turn) % rotation;
                if index < count {
                    self.slice(d, index, &pieces[at..end], &passes[at..end], weight);
                }
                at = end;
            }
        }
    }

    /// Slices since `before` stand for `weight` as many: all that follows is so much later.
    fn stand(&mut self, before: f64, weight: f64) {
        let rest = (self.kv_end() - before) * (weight - 1.0);
        self.ready.iter_mut().for_each(|time| *time += rest);
        self.slots.iter_mut().flat_map(|(ring, _)| ring).for_each(|time| *time += rest);
    }

    fn work(&self, d: &Descriptor, index: u32, weight: f64) -> Work {
        let (design, config) = (self.design, &self.design.config);
        let rows = d.rows(index, config.kv.segment_tokens);
        let [k, v] = flits_of_rows(design, rows).map(|range| range.count() as f64);
        let (chunk, head_dim) = (f64::from(design.mare.chunk_flits), f64::from(config.pe.head_dim));
        // A flit of several tokens of K passes once for each, and a flit of ones follows each block of V.
        let tokens = f64::from((flit_elements(config) / config.pe.head_dim).max(1));
        let pass = k * tokens + v + v / head_dim;
        let flit_bytes = f64::from(design.flit.data_width / 8);
        Work {
            flits: k + v,
            fetches: (k / chunk).ceil() + (v / chunk).ceil(),
            memory: (k + v) * (flit_bytes / design.memory.bytes_per_cycle()).max(1.0),
            pass: pass * config.clock.noc_mhz / config.clock.pe_mhz,
            weight,
        }
    }

    /// Follows a slice: its pieces, and the passes of each by the rows of the home and the tile.
    fn slice(&mut self, d: &Descriptor, index: u32, pieces: &[Piece], passes: &[Vec<Vec<u32>>], weight: f64) {
        let design = self.design;
        let home = design.placement.home(d.layer, d.first + index * d.stride);
        let (x, y) = design.mesh.coords(home);
        let work = self.work(d, index, weight);
        self.slice += 1;
        let (ring, slot) = &self.slots[home.index()];
        let (begin, slot) = (ring[*slot], *slot);
        let port = design.memory.port(x, y) as usize;
        let filled = self.memory.serve(port, begin, (work.memory, work.memory), weight);

        let mut asks = Vec::new();
        for (piece, passes) in pieces.iter().zip(passes) {
            for (row, &passes) in (0..).zip(&passes[y as usize]).filter(|(_, passes)| **passes > 0) {
                let tile = design.mesh.node(piece.column, row).expect("a column and a row of the mesh");
                asks.push(Asks { from: self.ready[tile.index()].max(filled), tile, passes });
            }
        }
        asks.sort_by(|a, b| a.from.total_cmp(&b.from));
        let (mut done, mut left) = (filled, asks.as_slice());
        while let Some(ask) = left.first() {
            let near = left.iter().take_while(|other| other.from - ask.from <= NEAR).count();
            let (request, rest) = left.split_at(if self.multicast { near } else { 1 });
            let again = self.multicast && request.len() + rest.len() < asks.len();
            done = done.max(self.request(home, request, &work, again));
            left = rest;
        }
        let (ring, next) = &mut self.slots[home.index()];
        ring[slot] = done;
        *next = (slot + 1) % ring.len();
    }

    /// Serves tiles whose fetches can meet at the home; returns the time at which all have the slice. `again`: other
    /// tiles had it before, with which they could have met.
    fn request(&mut self, home: NodeId, asks: &[Asks], work: &Work, again: bool) -> f64 {
        let (cols, at_home) = (self.design.mesh.cols(), self.design.mesh.coords(home));
        let start = asks.last().map_or(0.0, |ask| ask.from);
        let copies = self.copies(home, asks.len() as f64, start);
        let (flits, weight) = (work.flits, work.weight);
        let least = if again { 0.0 } else { flits };
        let mut end = self.homes.serve(home.index(), start, (least, flits * copies), weight);
        for ask in asks {
            let (behind, way) = (&mut self.behind, &mut self.way);
            let at = self.design.mesh.coords(ask.tile);
            walk(cols, at_home, at, |link| {
                if behind[link] == 0 {
                    way.push(link);
                }
                behind[link] += 1;
            });
            let links = &mut self.links;
            walk(cols, at, at_home, |link| {
                links.serve(link, start, (work.fetches, work.fetches), weight);
            });
            let tile = ask.tile.index();
            // A home passes its own flits on without the router.
            if ask.tile != home {
                end = end.max(self.ejection.serve(tile, start, (flits, flits), weight));
            }
            let array = work.pass * f64::from(ask.passes);
            end = end.max(self.arrays.serve(tile, start, (array, array), weight));
        }
        for link in std::mem::take(&mut self.way) {
            let tiles = f64::from(std::mem::take(&mut self.behind[link]));
            let carried = std::mem::replace(&mut self.carried[link], self.slice) == self.slice;
            let least = if self.multicast && carried { 0.0 } else { flits };
            end = end.max(self.links.serve(link, start, (least, flits * copies.min(tiles)), weight));
        }
        asks.iter().for_each(|ask| self.ready[ask.tile.index()] = end);
        end
    }

    /// Times that a home streams a slice for so many tiles. Tiles drift apart, and the more of them share a flit the
    /// less often all fetches meet; in a longer chunk more of them do. A home with other slices under way serves each
    /// later and merges more.
    fn copies(&self, home: NodeId, tiles: f64, start: f64) -> f64 {
        let apart = (MEETING / f64::from(self.design.mare.chunk_flits)).min(1.0);
        let under_way = self.slots[home.index()].0.iter().filter(|end| **end > start + NEAR).count();
        ((1.0 + apart * tiles.log2()) / (1.0 + under_way as f64)).clamp(1.0, tiles)
    }

    /// Closes the heads of a round: their tiles read the results, and roots merge those of each tile as it has them.
    fn close(&mut self, d: &Descriptor, round: &[Piece]) {
        let (design, config) = (self.design, &self.design.config);
        let rows = design.mesh.rows();
        let senders = if d.mapping == Mapping::HeadTile { 1 } else { rows };
        for x in 0..design.mesh.cols() {
            let here = round.iter().filter(|piece| piece.column == x);
            let heads = here.fold(0, |mask, piece| mask | piece.mask).count_ones() * d.streams;
            let packets = heads * senders;
            // The next result is read when the last sum of the one before has come.
            let read = config.pe.head_dim + Array::of(design).read_cycles();
            let read = f64::from(packets) / f64::from(rows) * f64::from(read) * config.clock.noc_mhz
                / config.clock.pe_mhz;
            let merged = root_cycles(config, packets.into(), heads.into()) as f64;
            let flits = 1 + (config.pe.head_dim * 32).div_ceil(config.noc.flit_width);
            let carried = f64::from(packets * flits) * CROSSING / f64::from(config.noc.vn0_vcs);
            let of_tile = merged.max(carried) / f64::from(rows);
            let tiles = (0..rows).filter_map(|y| design.mesh.node(x, y));
            let mut ready: Vec<_> = tiles.clone().map(|tile| self.ready[tile.index()]).collect();
            tiles.for_each(|tile| self.ready[tile.index()] += read);
            ready.sort_by(f64::total_cmp);
            for from in ready {
                self.end = self.end.max(self.roots.serve(x as usize, from, (of_tile, of_tile), 1.0));
            }
        }
    }

    /// The forecast of so many such layers.
    fn forecast(&self, layers: f64) -> Forecast {
        // What floating point adds to a whole number is no cycle.
        let whole = |cycles: f64| (cycles * layers - 1e-6).ceil() as u64;
        let bounds = Bounds {
            memory: whole(self.memory.most()),
            injection: whole(self.homes.most()),
            links: whole(self.links.most()),
            ejection: whole(self.ejection.most()),
            array: whole(self.arrays.most()),
            root: whole(self.roots.most()),
        };
        Forecast { cycles: whole(self.end.max(self.kv_end()) + self.queries), bounds }
    }
}
