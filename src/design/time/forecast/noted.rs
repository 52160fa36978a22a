//! Slices that a layer's descriptors name, in the order of the controllers, and the least work of each part for them.

use crate::design::design::Design;
use crate::design::network::mesh::NodeId;
use crate::design::pad::array::Array;
use crate::design::takv::descriptor::Descriptor;
use crate::design::takv::mapping::{Mapping, Piece};
use crate::design::takv::pieces::rounds;
use crate::design::time::bounds::Bounds;
use crate::design::time::forecast::links::walk;
use crate::design::time::forecast::parts::{Close, Job, Slice};
use crate::design::time::forecast::work::{passes, Passes, Work};
use std::collections::VecDeque;

/// Slices of a layer that are followed, about. The rest takes as long as they do.
const MOST_SLICES: u32 = 1 << 10;

/// Cycles of a flit of PART from the arrays' clock to the network's. A packet holds its channel of VN0 for so long a
/// flit, or for as long as its sums are read.
const CROSSING: f64 = 7.0;

/// Least cycles of each part.
#[derive(Debug)]
struct Least {
    bytes: f64,
    memory: Vec<f64>,
    homes: Vec<f64>,
    links: Vec<f64>,
    ejection: Vec<f64>,
    arrays: Vec<f64>,
    roots: Vec<f64>,
}

/// Least cycles of each part for descriptors of one layer, each under its own mapping; as of a forecast, and sooner.
pub fn least_cycles(design: &Design, descriptors: &[Descriptor]) -> Bounds {
    let mut noted = Noted::new(design);
    (0..).zip(descriptors).for_each(|(number, d)| noted.descriptor(number, d, descriptors.len() as u32));
    noted.bounds(1.0)
}

/// The work of a layer.
#[derive(Debug)]
pub(super) struct Noted<'a> {
    design: &'a Design,
    nodes: Vec<NodeId>,
    /// One flit can serve several tiles.
    multicast: bool,
    pub(super) slices: Vec<Slice>,
    pub(super) closes: Vec<Close>,
    /// Jobs of each tile, and the slices that each home fills, in order.
    pub(super) jobs: Vec<VecDeque<Job>>,
    pub(super) fills: Vec<VecDeque<usize>>,
    /// Cycles in which queries go in.
    pub(super) queries: f64,
    /// The memory port in whose channel queries and outputs lie, and the cycles that the channel is busy with them.
    pub(super) io: Option<(usize, f64)>,
    least: Least,
    /// Number of the present slice, and of the last one that each link carried.
    number: u64,
    carried: Vec<u64>,
    /// Slices of the layer, and those that are followed.
    all: f64,
    followed: f64,
}

impl<'a> Noted<'a> {
    pub(super) fn new(design: &'a Design) -> Noted<'a> {
        let tiles = design.mesh.tiles();
        let none = |count: usize| vec![0.0; count];
        Noted {
            design,
            nodes: design.mesh.nodes().collect(),
            multicast: design.router.multicast,
            slices: Vec::new(),
            closes: Vec::new(),
            jobs: vec![VecDeque::new(); tiles],
            fills: vec![VecDeque::new(); tiles],
            queries: 0.0,
            io: design.io_port().map(|port| (port as usize, 0.0)),
            least: Least {
                bytes: 0.0,
                memory: none(design.memory.ports as usize),
                homes: none(tiles),
                links: none(4 * tiles),
                ejection: none(tiles),
                arrays: none(tiles),
                roots: none(design.mesh.cols() as usize),
            },
            number: 0,
            carried: vec![0; 4 * tiles],
            all: 0.0,
            followed: 0.0,
        }
    }

    /// Slices of the layer for each that is followed.
    pub(super) fn share(&self) -> f64 {
        self.all / self.followed
    }

    /// The least cycles of so many such layers.
    pub(super) fn bounds(&self, layers: f64) -> Bounds {
        let most = |work: &[f64]| whole(work.iter().copied().fold(0.0, f64::max) * layers);
        let Least { bytes, memory, homes, links, ejection, arrays, roots } = &self.least;
        Bounds {
            bytes: most(&[*bytes]),
            memory: most(memory),
            injection: most(homes),
            links: most(links),
            ejection: most(ejection),
            array: most(arrays),
            root: most(roots),
        }
    }

    /// Notes the work of a descriptor, the `number`-th of the layer. Of many streams the last ones are only counted.
    pub(super) fn descriptor(&mut self, number: u32, d: &Descriptor, of_layer: u32) {
        let design = self.design;
        let (pieces, rotation) = (design.pieces(d.sharing), design.placement.rotation());
        // Of fewer segments than a round has, some homes of a slice would never be met.
        let round = if design.placement.by_slice() {
            design.placement.round().next_multiple_of(rotation)
        } else {
            rotation
        };
        let of_round = design.model.kv_heads * round;
        let groups = (MOST_SLICES / of_layer / of_round).max(1);
        let count = d.count.min(groups.saturating_mul(round));
        let weight = f64::from(d.count) / f64::from(count);
        // Rows take turns with streams, so that each has had as many.
        let follows = number < (MOST_SLICES / of_round).max(2).next_multiple_of(design.mesh.rows());
        self.all += f64::from(d.count);
        self.followed += if follows { f64::from(count) } else { 0.0 };
        let last_lap = rotation - design.placement.lap();
        let all: Vec<_> = rounds(&pieces, d.mapping).collect();
        for lap in design.placement.laps() {
            for round in &all {
                self.round(d, round, lap, (count, weight, follows));
                if lap == last_lap && d.close {
                    self.close(d, round, follows);
                }
            }
        }
        if d.close {
            self.queries += f64::from(d.streams * design.query_cycles());
            self.queries_and_outputs(d.streams);
        }
    }

    /// Counts queries and outputs of so many streams on the channel of HBM in which they lie, if they lie in one of homes.
    fn queries_and_outputs(&mut self, streams: u32) {
        let Some((port, busy)) = &mut self.io else { return };
        let (memory, flits) = (&self.design.memory, f64::from(self.design.io_flits(streams)));
        let flit = f64::from(self.design.flit.data_width / 8) / memory.bytes_per_cycle();
        *busy += flits * flit.max(1.0);
        self.least.memory[*port] += flits * flit.max(1.0);
        self.least.bytes += flits * flit / f64::from(self.design.fpga().hbm_channels);
    }

    /// Notes the slices of a round in a lap: `count` segments, each of which stands for `weight`.
    fn round(
        &mut self,
        d: &Descriptor,
        pieces: &[Piece],
        lap: u32,
        (count, weight, follows): (u32, f64, bool),
    ) {
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
                    let home = {
                        let segment = d.first + index * d.stride;
                        design.home_of(d.prefix, d.layer, segment, pieces[at].kv_head)
                    };
                    let asks = self.asks(home, &pieces[at..end], &passes[at..end]);
                    self.slice(home, &asks, Work::new(design, d, index, weight), follows);
                }
                at = end;
            }
        }
    }

    /// Tiles that fetch a slice, and the passes of its flits, by the rows of the home and the tile.
    fn asks(&self, home: NodeId, pieces: &[Piece], passes: &[Vec<Vec<Passes>>]) -> Vec<(usize, Passes)> {
        let (mesh, (_, y)) = (self.design.mesh, self.design.mesh.coords(home));
        let of_piece = |(piece, passes): (&Piece, &Vec<Vec<Passes>>)| {
            let rows = (0..).zip(&passes[y as usize]).filter(|(_, passes)| passes[0] > 0);
            let column = piece.column;
            let of_row = |(row, passes): (u32, &Passes)| Some((mesh.node(column, row)?.index(), *passes));
            rows.filter_map(of_row).collect::<Vec<_>>()
        };
        pieces.iter().zip(passes).flat_map(of_piece).collect()
    }

    /// Notes a slice.
    fn slice(&mut self, home: NodeId, asks: &[(usize, Passes)], work: Work, follows: bool) {
        self.count(home, asks, &work);
        if !follows {
            return;
        }
        let slice = self.slices.len();
        for &(tile, passes) in asks {
            self.jobs[tile].push_back(Job::Slice(slice, passes));
        }
        let left = asks.len() as u32 * work.chunks[1];
        self.slices.push(Slice { home, work, resident: false, filled: 0.0..0.0, parked: Vec::new(), left });
        self.fills[home.index()].push_back(slice);
    }

    /// Counts the least work of each part for a slice.
    fn count(&mut self, home: NodeId, asks: &[(usize, Passes)], work: &Work) {
        let (mesh, (x, y)) = (self.design.mesh, self.design.mesh.coords(home));
        let (flits, weight) = (work.flits(), work.weight);
        let copies = if self.multicast { 1.0 } else { asks.len() as f64 };
        self.least.bytes += work.bytes * weight;
        self.least.memory[self.design.memory.port(x, y) as usize] += work.memory[0] * weight;
        self.least.homes[home.index()] += flits * weight * copies;
        self.number += 1;
        let (number, multicast) = (self.number, self.multicast);
        for &(tile, passes) in asks {
            let at = mesh.coords(self.nodes[tile]);
            let (links, carried) = (&mut self.least.links, &mut self.carried);
            walk(mesh.cols(), (x, y), at, |link| {
                let again = std::mem::replace(&mut carried[link], number) == number;
                links[link] += if again && multicast { 0.0 } else { flits * weight };
            });
            walk(mesh.cols(), at, (x, y), |link| links[link] += f64::from(work.chunks[1]) * weight);
            // A home passes its own flits on without the router.
            if tile != home.index() {
                self.least.ejection[tile] += flits * weight;
            }
            self.least.arrays[tile] += work.array(passes) * weight;
        }
    }

    /// Notes the close of a round's heads: their tiles read the results, and roots merge those of each.
    fn close(&mut self, d: &Descriptor, round: &[Piece], follows: bool) {
        let design = self.design;
        let rows = f64::from(design.mesh.rows());
        let (head_dim, ratio) = (design.pe.head_dim, design.clock.noc_mhz / design.clock.pe_mhz);
        let senders = match d.mapping {
            Mapping::HeadTile => 1,
            // Rows without a segment have no result. Other descriptors of the streams may add some.
            Mapping::RowAligned if design.placement.by_slice() => design.mesh.rows().min(d.count),
            _ => design.mesh.rows(),
        };
        let flits = f64::from(design.part_flits());
        let sums = f64::from(Array::reads(head_dim)) * ratio;
        // The next result is read when the last sum of the one before has come.
        let one = f64::from(Array::reads(head_dim) + Array::of(design).read_cycles()) * ratio;
        for x in 0..design.mesh.cols() {
            let here = round.iter().filter(|piece| piece.column == x);
            let heads = here.fold(0, |mask, piece| mask | piece.mask).count_ones() * d.streams;
            let packets = heads * senders;
            let merged = design.pe.root_cycles(packets.into(), heads.into()) as f64 / rows;
            self.least.roots[x as usize] += merged * rows;
            if !follows || heads == 0 {
                continue;
            }
            let results = f64::from(packets) / rows;
            // The root's own tile needs no channel.
            let carried = results * (flits * CROSSING).max(sums) / f64::from(design.router.vn0_vcs)
                * (rows - 1.0)
                / rows;
            let (reading, merging) = ([sums, one], [merged, merged.max(carried)]);
            let close = self.closes.len();
            self.closes.push(Close { column: x as usize, results, reading, merging, ready: Vec::new() });
            let tiles = (0..design.mesh.rows()).filter_map(|y| design.mesh.node(x, y));
            tiles.for_each(|tile| self.jobs[tile.index()].push_back(Job::Close(close)));
        }
    }
}

/// Whole cycles: what floating point adds to a whole number is none.
pub(super) fn whole(cycles: f64) -> u64 {
    (cycles - 1e-6).ceil() as u64
}
