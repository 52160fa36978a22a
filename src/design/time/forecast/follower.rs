//! Follows the chunks of a layer from event to event.
//!
//! A tile asks for chunk after chunk, as its FIFO has room, and for the second of a slice when the first has come. A
//! home fills slices in order, merges fetches as its windows let it, and streams a chunk at a time. Flits are not
//! followed: a chunk takes the first free time of each link on its way.

use crate::design::design::Design;
use crate::design::network::mesh::NodeId;
use crate::design::pad::array::Array;
use crate::design::takv::descriptor::Descriptor;
use crate::design::takv::mapping::Mapping;
use crate::design::time::forecast::cycles::Forecast;
use crate::design::time::forecast::links::walk;
use crate::design::time::forecast::noted::{whole, Noted};
use crate::design::time::forecast::parts::{Due, Home, Job, Request, Slice, Tile};
use crate::design::time::forecast::server::Server;
use crate::design::time::forecast::work::Passes;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

/// Parts of a cycle in the time of an event.
const TICKS: f64 = 16.0;

/// Cycles from the last query to the first burst: the controllers' pipeline, the bus, the filler.
const START: f64 = 20.0;

/// Cycles of a fetch in its requester: command, comparison, answer, output.
const ASKING: f64 = 4.0;

/// Cycles from one fetch of a tile to the next: the output register is empty in between.
const BETWEEN: f64 = 2.0;

/// Cycles of a fetch at its home besides window and tree: four to be placed, choice, look-up and reading.
const HOME: f64 = 13.0;

/// Closed requests, besides the one that streams, with which a home lets other windows stay open.
const CLOSED: usize = 2;

/// Cycles from the router of a tile to its array.
const ARRIVAL: f64 = 3.0;

/// Cycles from the last flit in the array until the requester sees the room.
const ROOM: f64 = 5.0;

/// Cycles from the last chunk of a slice until its slot is found free.
const FREE: f64 = 16.0;

/// Cycles until the last sums of a slice are written.
const SETTLE: f64 = 8.0;

/// Cycles from the last sum of a result to the finishing of its head, without its way: part former, crossing, root.
const RESULT: f64 = 73.0;

/// An event; of several at one time the first of this list goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The first flit of a slice is in the staging memory.
    Publish(usize),
    /// A fetch is at the home: tile, slice, chunk.
    Fetch(usize, usize, u32),
    /// The window of a request may close.
    Look(usize),
    /// A slot of a home is free.
    Fill(usize),
}

/// The state of a layer.
#[derive(Debug)]
struct Follower<'a> {
    design: &'a Design,
    nodes: Vec<NodeId>,
    /// One flit can serve several tiles.
    multicast: bool,
    noted: Noted<'a>,
    memory: Vec<Server>,
    links: Vec<Server>,
    ejection: Vec<Server>,
    arrays: Vec<Server>,
    roots: Vec<Server>,
    /// Cycles until the weights of the first pass are loaded, and of each further one.
    loading: [f64; 2],
    /// Flits of a burst.
    burst: f64,
    tiles: Vec<Tile>,
    at_home: Vec<Home>,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    /// Number of the present chunk or slice; for each link, of the last that it carried, and until when.
    number: u64,
    carried: Vec<(u64, f64)>,
    /// Times of the first flit of KV and of the last, and of the last output.
    kv: Range<f64>,
    end: f64,
}

/// The forecast of a step of these descriptors, in layers one after the other, all under `mapping`. The first layer
/// stands for each.
///
/// # Panics
/// If there is no descriptor.
pub(super) fn forecast(design: &Design, descriptors: &[Descriptor], mapping: Mapping) -> Forecast {
    let of_layer = descriptors.iter().take_while(|d| d.layer == descriptors[0].layer).count();
    let mut noted = Noted::new(design);
    for (number, d) in (0..).zip(&descriptors[..of_layer]) {
        noted.descriptor(number, &Descriptor { mapping, ..*d }, of_layer as u32);
    }
    let layers = descriptors.len() as f64 / of_layer as f64;
    let (bounds, queries, share) = (noted.bounds(layers), noted.queries, noted.share());
    let mut follower = Follower::new(design, noted);
    if let Some((port, cycles)) = follower.noted.io {
        // Only a share of the slices is followed. Queries and outputs take the time of the channel from them.
        follower.memory[port].serve(START, cycles / share);
    }
    let (kv, end) = follower.run();
    // The first slices are waited for once.
    let rest = (kv.end - kv.start) * (share - 1.0);
    let cycles = whole((end + rest + queries) * layers);
    Forecast { cycles: cycles.max(bounds.tightest().1), bounds }
}

impl<'a> Follower<'a> {
    fn new(design: &'a Design, mut noted: Noted<'a>) -> Follower<'a> {
        let (tiles, array) = (design.mesh.tiles(), Array::of(design));
        let servers = |count: usize| vec![Server::new(f64::from(design.mare.chunk_flits)); count];
        let rooms = VecDeque::from(vec![0.0; design.mare.fetch_slots as usize]);
        let tile = |jobs| Tile { jobs, rooms: rooms.clone(), ..Tile::default() };
        let home = |fills| Home { fills, ..Home::default() };
        let dot = array.align_cycles() + array.dot_cycles();
        let first = dot + array.weight_cycles() + array.stages() + array.load_cycles();
        let ratio = design.clock.noc_mhz / design.clock.pe_mhz;
        Follower {
            design,
            nodes: design.mesh.nodes().collect(),
            multicast: design.router.multicast,
            tiles: std::mem::take(&mut noted.jobs).into_iter().map(tile).collect(),
            at_home: std::mem::take(&mut noted.fills).into_iter().map(home).collect(),
            noted,
            memory: servers(design.memory.ports as usize),
            links: servers(4 * tiles),
            ejection: servers(tiles),
            arrays: servers(tiles),
            roots: servers(design.mesh.cols() as usize),
            loading: [f64::from(first) * ratio, f64::from(array.lanes) * ratio],
            burst: f64::from(design.memory.burst_flits),
            events: BinaryHeap::new(),
            number: 0,
            carried: vec![(0, 0.0); 4 * tiles],
            kv: f64::MAX..0.0,
            end: 0.0,
        }
    }

    /// Follows all that is noted. Returns the times of KV, and of the last output.
    fn run(mut self) -> (Range<f64>, f64) {
        for home in 0..self.at_home.len() {
            for _ in 0..self.design.mare.staging_slots {
                self.later(START, Event::Fill(home));
            }
        }
        (0..self.tiles.len()).for_each(|tile| self.ask(tile));
        while let Some(Reverse((time, event))) = self.events.pop() {
            let now = time as f64 / TICKS;
            match event {
                Event::Fill(home) => self.fill(home, now),
                Event::Publish(slice) => self.publish(slice, now),
                Event::Fetch(tile, slice, _) if !self.noted.slices[slice].resident => {
                    self.noted.slices[slice].parked.push(tile);
                }
                Event::Fetch(tile, slice, chunk) => self.fetch(tile, slice, chunk, now),
                Event::Look(home) => self.look(home, now),
            }
        }
        let end = self.end.max(self.kv.end);
        (self.kv, end)
    }

    fn later(&mut self, time: f64, event: Event) {
        self.events.push(Reverse(((time * TICKS) as u64, event)));
    }

    /// Begins to fill the next slice of a home.
    fn fill(&mut self, home: usize, now: f64) {
        let Some(slice) = self.at_home[home].fills.pop_front() else { return };
        let (x, y) = self.design.mesh.coords(self.nodes[home]);
        let port = self.design.memory.port(x, y) as usize;
        let cycles = self.noted.slices[slice].work.memory[1];
        let end = self.memory[port].serve(now, cycles) + f64::from(self.design.memory.latency_cycles);
        self.noted.slices[slice].filled = end - cycles..end;
        self.later(end - cycles, Event::Publish(slice));
    }

    fn publish(&mut self, slice: usize, now: f64) {
        self.noted.slices[slice].resident = true;
        for tile in std::mem::take(&mut self.noted.slices[slice].parked) {
            self.fetch(tile, slice, 0, now);
        }
    }

    /// Places a fetch: it joins a request or opens one. A full table holds it back, and all behind it.
    fn fetch(&mut self, tile: usize, slice: usize, chunk: u32, now: f64) {
        let home = self.noted.slices[slice].home.index();
        let at = &mut self.at_home[home];
        let most = (self.design.mare.request_entries as usize).max(CLOSED + 1) - CLOSED;
        let same = |open: &&mut Request| open.slice == slice && open.chunk == chunk;
        let full = at.requests.len() >= most;
        let open = at.requests.iter_mut().find(same).filter(|_| self.multicast);
        match open {
            _ if !at.waiting.is_empty() => at.waiting.push_back((tile, slice, chunk)),
            Some(open) => open.tiles.push(tile),
            None if full => at.waiting.push_back((tile, slice, chunk)),
            None => {
                at.requests.push_back(Request { slice, chunk, opens: now, tiles: vec![tile] });
                self.look(home, now);
            }
        }
    }

    /// Closes the windows for which a home has time, and streams.
    fn look(&mut self, home: usize, now: f64) {
        let mare = &self.design.mare;
        let (window, tree) = (f64::from(mare.coalesce_window), f64::from(mare.tree_cycles));
        let ahead = CLOSED as f64 * f64::from(mare.chunk_flits) + HOME + tree;
        while let Some(first) = self.at_home[home].requests.front() {
            let at = &self.at_home[home];
            let closes = (first.opens + window).max(at.free - ahead);
            if closes > now + 1.0 / TICKS {
                if at.next <= now + 1.0 / TICKS || closes < at.next {
                    self.at_home[home].next = closes;
                    self.later(closes, Event::Look(home));
                }
                return;
            }
            self.stream(home, (now + tree + HOME).max(at.free));
            for (tile, slice, chunk) in std::mem::take(&mut self.at_home[home].waiting) {
                self.fetch(tile, slice, chunk, now);
            }
        }
    }

    /// Streams the first request of a home.
    fn stream(&mut self, home: usize, begin: f64) {
        let Some(request) = self.at_home[home].requests.pop_front() else { return };
        let size = f64::from(self.design.mare.chunk_flits);
        let Slice { work, filled, .. } = &self.noted.slices[request.slice];
        let flits = work.chunk_flits(request.chunk, size);
        // It is read no further than it is filled.
        let before = work.flits_before(request.chunk, size) + flits;
        let here = filled.start + (filled.end - filled.start) * before / work.flits();
        let end = (begin + flits).max(here + flits.min(self.burst));
        self.at_home[home].free = end;
        let slice = &mut self.noted.slices[request.slice];
        slice.left -= request.tiles.len() as u32;
        if slice.left == 0 {
            self.later(end + FREE, Event::Fill(home));
        }
        self.number += 1;
        for &tile in &request.tiles {
            let arrives = self.carry((home, tile), request.opens, (end, flits));
            self.arrive(tile, &request, arrives - flits, arrives);
        }
    }

    /// Cycles of a way without load.
    fn way(&self, from: (u32, u32), to: (u32, u32)) -> f64 {
        let hops = from.0.abs_diff(to.0) + from.1.abs_diff(to.1);
        let routers = if hops == 0 { 0 } else { hops + 1 };
        f64::from(routers * self.design.router.stages + self.design.crossed(from.1, to.1))
    }

    /// Carries a chunk whose last flit leaves its home at `end`. Returns when that is at the array.
    fn carry(&mut self, (home, tile): (usize, usize), asked: f64, (end, flits): (f64, f64)) -> f64 {
        let mesh = self.design.mesh;
        let (from, to) = (mesh.coords(self.nodes[home]), mesh.coords(self.nodes[tile]));
        let (links, carried, number) = (&mut self.links, &mut self.carried, self.number);
        let mut arrives = end;
        walk(mesh.cols(), from, to, |link| {
            if carried[link].0 != number {
                carried[link] = (number, links[link].serve(arrives - flits, flits));
            }
            arrives = arrives.max(carried[link].1);
        });
        walk(mesh.cols(), to, from, |link| {
            links[link].serve(asked, 1.0);
        });
        if tile != home {
            arrives = arrives.max(self.ejection[tile].serve(arrives - flits, flits));
        }
        arrives + self.way(from, to) + ARRIVAL
    }

    /// A chunk arrives at a tile.
    fn arrive(&mut self, tile: usize, request: &Request, first: f64, last: f64) {
        let of = &mut self.tiles[tile];
        for due in &mut of.due {
            if let Due::Chunk { slice, chunk, arrives, .. } = due {
                if (*slice, *chunk) == (request.slice, request.chunk) {
                    *arrives = Some(last);
                }
            }
        }
        if request.chunk == 0 {
            of.opened = Some(first + 1.0);
        }
        self.take(tile);
        self.ask(tile);
    }

    /// The array of a tile takes what has arrived, in order.
    fn take(&mut self, tile: usize) {
        while let Some(due) = self.tiles[tile].due.front().copied() {
            match due {
                Due::Chunk { arrives: None, .. } => return,
                Due::Chunk { slice, chunk, passes, arrives: Some(arrives) } => {
                    let taken = self.pass(tile, (slice, chunk), passes, arrives);
                    self.tiles[tile].taken = taken;
                    self.tiles[tile].rooms.push_back(taken + ROOM);
                    self.kv = self.kv.start.min(arrives)..self.kv.end.max(taken);
                }
                Due::Close(close) => self.results(tile, close),
            }
            self.tiles[tile].due.pop_front();
        }
    }

    /// A chunk passes the array. Returns the time at which all of it has.
    fn pass(&mut self, tile: usize, (slice, chunk): (usize, u32), passes: Passes, arrives: f64) -> f64 {
        let work = &self.noted.slices[slice].work;
        let flits = work.chunk_flits(chunk, f64::from(self.design.mare.chunk_flits));
        let mut from = self.tiles[tile].taken;
        let [of_k, of_v] = passes;
        let of_chunk = if chunk < work.chunks[0] { of_k } else { of_v };
        if chunk == work.chunks[0] {
            // V waits for the weights of its first block, which are loaded while K of the others passes.
            let loads = self.loading[0] + f64::from(of_v - 1) * self.loading[1];
            let of_k = work.array([of_k, 0]);
            from += (loads - of_k * (1.0 - 1.0 / work.blocks)).max(0.0);
        }
        let cycles = work.pass * f64::from(of_chunk) * flits / work.flits();
        self.arrays[tile].serve(from.max(arrives - flits), cycles).max(arrives)
    }

    /// A tile asks for all that it has room for.
    fn ask(&mut self, tile: usize) {
        while let Some(job) = self.tiles[tile].jobs.front().copied() {
            match job {
                Job::Close(close) => {
                    self.tiles[tile].jobs.pop_front();
                    self.tiles[tile].due.push_back(Due::Close(close));
                    self.take(tile);
                }
                Job::Slice(slice, passes) => {
                    let of = &mut self.tiles[tile];
                    if of.asked > 0 && of.opened.is_none() {
                        return;
                    }
                    let Some(room) = of.rooms.pop_front() else { return };
                    of.last = (of.last + BETWEEN).max(room).max(of.opened.unwrap_or(0.0));
                    of.due.push_back(Due::Chunk { slice, chunk: of.asked, passes, arrives: None });
                    self.send(tile, slice);
                }
            }
        }
    }

    /// Sends the next fetch of a tile's first slice.
    fn send(&mut self, tile: usize, slice: usize) {
        let (mesh, home) = (self.design.mesh, self.noted.slices[slice].home);
        let of = &mut self.tiles[tile];
        let (chunk, time) = (of.asked, of.last);
        of.asked += 1;
        if of.asked == self.noted.slices[slice].work.chunks[1] {
            of.jobs.pop_front();
            (of.asked, of.opened) = (0, None);
        }
        // It takes a cycle of the port at which this tile streams as a home.
        if home.index() != tile && self.at_home[tile].free > time {
            self.at_home[tile].free += 1.0;
        }
        let way = self.way(mesh.coords(self.nodes[tile]), mesh.coords(home));
        self.later(time + ASKING + way, Event::Fetch(tile, slice, chunk));
    }

    /// A tile reads its results, between flits. The root merges those of the column when all have theirs.
    fn results(&mut self, tile: usize, close: usize) {
        let (_, row) = self.design.mesh.coords(self.nodes[tile]);
        let way = self.way((0, 0), (0, row));
        let (of, close) = (&mut self.tiles[tile], &mut self.noted.closes[close]);
        let begin = of.taken.max(of.read) + SETTLE;
        let [sums, one] = close.reading;
        of.read = begin + one * close.results;
        close.ready.push((begin + one - sums + way, of.read + RESULT + way));
        self.arrays[tile].serve(begin, sums * close.results);
        if close.ready.len() < self.design.mesh.rows() as usize {
            return;
        }
        close.ready.sort_by(|a, b| a.0.total_cmp(&b.0));
        let finish = self.design.pe.last_head_cycles() as f64;
        for (first, last) in std::mem::take(&mut close.ready) {
            let merged = self.roots[close.column].serve(first, close.merging[1]);
            self.end = self.end.max(merged.max(last) + finish);
        }
    }
}
