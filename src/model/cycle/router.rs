//! One router: `meshkv_router`, a cycle at a time.
//!
//! All decisions of a cycle are taken from the registers as they stand, then the registers change: heads
//! leave, flits from the links fly through or are stored, turns move on.

use super::allocator::{Allocator, E, L, N, S, W};
use super::input::{Ask, Held, Input};
use super::lanes::{any, bits, lane};
use super::output::Outputs;
use super::shape::Shape;
use super::store::Target;
use super::wires::World;
use crate::design::{Mesh, NodeId, Port, TURNS};

/// Outputs that each input may take.
const OUTPUTS: [u8; 5] = [
    TURNS.mask(Port::North),
    TURNS.mask(Port::South),
    TURNS.mask(Port::East),
    TURNS.mask(Port::West),
    TURNS.mask(Port::Local),
];

/// Registers of one router.
#[derive(Debug, Clone)]
pub(super) struct Router {
    x: u8,
    y: u8,
    /// Inputs that hold a flit.
    holding: u8,
    /// By port, the tile behind it.
    pub(super) neighbours: [u8; 5],
    inputs: [Input; 5],
    pub(super) outputs: Outputs,
    pub(super) allocator: Allocator,
}

/// Ports of row `y` that lead into another SLR. Bit y of `crossings`: the links between rows y and y + 1 do.
fn crossing(crossings: u32, y: u32) -> u8 {
    let between = crossings << 1 >> y;
    ((between & 1) << S | (between >> 1 & 1) << N) as u8
}

/// A flit on the link of an input.
#[derive(Clone, Copy, Default)]
struct Arrival {
    flit: u32,
    vc: u8,
    route: u8,
    /// Outputs that it takes at once.
    flies: u8,
}

impl Router {
    pub(super) fn new(mesh: Mesh, node: NodeId, shape: &Shape) -> Router {
        let (x, y) = mesh.coords(node);
        let beyond = [mesh.rows() - 1 - y, y, mesh.cols() - 1 - x, x].map(|tiles| tiles as u8);
        let behind = |port| mesh.neighbour(node, port).map_or(u8::MAX, |next| next.index() as u8);
        Router {
            x: x as u8,
            y: y as u8,
            holding: 0,
            neighbours: Port::ALL.map(behind),
            inputs: [Input::new(shape); 5],
            outputs: Outputs::new(shape, crossing(u32::from(shape.crossings), y)),
            allocator: Allocator::new(beyond),
        }
    }

    /// Virtual channels of an input that hold a flit.
    pub(super) fn occupied(&self, port: usize) -> u8 {
        self.inputs[port].occupied
    }

    /// Whether any input holds a flit.
    pub(super) fn holds(&self) -> bool {
        self.holding != 0
    }

    /// Runs one cycle. True if a flit is held at its end.
    pub(super) fn step(&mut self, tile: u8, world: &mut World) -> bool {
        let (held, arrived) = (self.holding, world.links.take(tile));
        // Most routers that have something to do have one flit to look at.
        if arrived == 0 && held.is_power_of_two() {
            self.serve_one(held.trailing_zeros() as usize, tile, world);
        } else if held == 0 && arrived.is_power_of_two() {
            self.pass_one(arrived.trailing_zeros() as usize, tile, world);
        } else {
            self.serve_all(held, arrived, tile, world);
        }
        self.holding != 0
    }

    /// Runs a cycle in which one input holds flits and none arrives.
    #[inline(always)]
    fn serve_one(&mut self, p: usize, tile: u8, world: &mut World) {
        let starts = self.outputs.starts(&world.shape);
        let ask = self.inputs[p].ask(&self.outputs, starts, world.phase, &world.shape);
        let (wants, copies) = (u64::from(ask.wants) << (8 * p), u64::from(ask.copies) << (8 * p));
        let granted = if wants == 0 { 0 } else { self.allocator.grant(wants, copies, ask.wants) };
        let blocked = any(self.inputs[p].owed) & !ask.wants;
        if blocked != 0 {
            bits(blocked).for_each(|output| world.counters.blocked(tile, output));
        }
        self.leave(p, &ask, lane(granted, p), tile, world);
    }

    /// Runs a cycle in which one flit arrives and none is held.
    #[inline(always)]
    fn pass_one(&mut self, p: usize, tile: u8, world: &mut World) {
        let mut arrival = self.look(p, tile, world);
        if p >= E {
            let starts = self.outputs.starts(&world.shape);
            // No flit comes back along the row it came, and the tile's may leave on both sides.
            for output in [E, W] {
                if arrival.route >> output & 1 == 1 && self.flies(p, output, arrival.vc, starts, &world.shape)
                {
                    arrival.flies |= 1 << output;
                }
            }
        }
        self.arrive(p, &arrival, tile, world);
    }

    /// Runs any cycle.
    fn serve_all(&mut self, held: u8, arrived: u8, tile: u8, world: &mut World) {
        let mut arrivals = [Arrival::default(); 5];
        for p in bits(arrived) {
            arrivals[p] = self.look(p, tile, world);
        }
        let starts = self.outputs.starts(&world.shape);
        if held == 0 {
            self.express(arrived, &mut arrivals, 0, starts, &world.shape);
        } else {
            self.serve(held, arrived, &mut arrivals, starts, tile, world);
        }
        for p in bits(arrived) {
            self.arrive(p, &arrivals[p], tile, world);
        }
    }

    /// The flit on the link of an input.
    #[inline(always)]
    fn look(&self, p: usize, tile: u8, world: &World) -> Arrival {
        let (flit, vc) = world.links.flit(tile, p);
        Arrival { flit, vc, route: self.route(p, world.flits.target(flit)), flies: 0 }
    }

    /// Inputs that hold flits ask, some are granted, and their heads leave.
    #[inline(always)]
    fn serve(
        &mut self,
        held: u8,
        arrived: u8,
        arrivals: &mut [Arrival; 5],
        starts: u64,
        tile: u8,
        world: &mut World,
    ) {
        let mut asks = [Ask::default(); 5];
        let (mut wants, mut copies, mut owed, mut requested) = (0, 0, 0, 0);
        for p in bits(held) {
            let ask = self.inputs[p].ask(&self.outputs, starts, world.phase, &world.shape);
            wants |= u64::from(ask.wants) << (8 * p);
            copies |= u64::from(ask.copies) << (8 * p);
            owed |= self.inputs[p].owed;
            requested |= ask.wants;
            asks[p] = ask;
        }
        let granted = if requested == 0 { 0 } else { self.allocator.grant(wants, copies, requested) };
        // Only inputs of the row and the tile ask for these two, and what passes straight through is of the other side.
        self.express(arrived, arrivals, requested, starts, &world.shape);
        let blocked = any(owed) & !requested;
        if blocked != 0 {
            let flies = bits(arrived).fold(0, |all, p| all | arrivals[p].flies);
            bits(blocked & !flies).for_each(|output| world.counters.blocked(tile, output));
        }
        for p in bits(held) {
            self.leave(p, &asks[p], lane(granted, p), tile, world);
        }
    }

    /// What an input was granted leaves, and its turns go on.
    #[inline(always)]
    fn leave(&mut self, p: usize, ask: &Ask, granted: u8, tile: u8, world: &mut World) {
        let occupied = self.inputs[p].occupied;
        let (left, freed) = self.depart(p, ask, granted, tile, world);
        self.holding &= !(u8::from(self.inputs[p].occupied == 0) << p);
        self.inputs[p].turn(ask, occupied, left, freed, &world.shape);
    }

    /// Outputs that a flit from input `p` takes here: `meshkv_route_row` and `meshkv_route_column`.
    #[inline(always)]
    fn route(&self, p: usize, target: &Target) -> u8 {
        let east = u8::from(u32::from(target.cols) >> (self.x + 1) != 0);
        let west = u8::from(target.cols & ((1 << self.x) - 1) != 0);
        let rows = target.rows(self.x);
        let north = u8::from(u32::from(rows) >> (self.y + 1) != 0);
        let south = u8::from(rows & ((1 << self.y) - 1) != 0);
        let here = (rows >> self.y & 1) as u8;
        (north << N | south << S | east << E | west << W | here << L) & OUTPUTS[p]
    }

    /// Which flits on the links find an empty buffer and a free output along the row, of those that no head has
    /// `requested`.
    #[inline(always)]
    fn express(&self, arrived: u8, arrivals: &mut [Arrival; 5], requested: u8, starts: u64, shape: &Shape) {
        if arrived & (1 << E | 1 << W | 1 << L) == 0 {
            return;
        }
        for (straight, output) in [(W, E), (E, W)] {
            if requested >> output & 1 == 1 {
                continue;
            }
            // Through traffic comes before what the tile injects, even if it cannot leave.
            let through = arrived >> straight & 1 == 1 && arrivals[straight].route >> output & 1 == 1;
            let p = if through { straight } else { L };
            if arrived >> p & 1 == 0 || arrivals[p].route >> output & 1 == 0 {
                continue;
            }
            if self.flies(p, output, arrivals[p].vc, starts, shape) {
                arrivals[p].flies |= 1 << output;
            }
        }
    }

    /// Whether a flit that arrives finds an empty buffer, and room at an output.
    #[inline(always)]
    fn flies(&self, p: usize, output: usize, vc: u8, starts: u64, shape: &Shape) -> bool {
        let input = &self.inputs[p];
        let room = match input.output_vc(vc, shape) {
            Some(on) => self.outputs.has(output, on),
            None => starts >> (8 * output) & 0xff != 0,
        };
        room && input.occupied >> vc & 1 == 0
    }

    /// The head of an input leaves for the outputs that were granted. Gives its virtual channel as a mask, and the same if
    /// its slot is free again.
    #[inline(always)]
    fn depart(&mut self, p: usize, ask: &Ask, granted: u8, tile: u8, world: &mut World) -> (u8, u8) {
        if granted == 0 {
            return (0, 0);
        }
        let vc = ask.chosen(granted.trailing_zeros() as usize, &world.shape);
        let head = self.inputs[p].head(vc);
        self.send(p, vc, head.flit(), head.last(), granted, tile, world);
        let done = self.inputs[p].serve(vc, granted, &world.shape);
        if done {
            let depth = world.shape.depth;
            self.inputs[p].pop(vc, world.buffer(tile, p, vc), depth);
            world.credits.freed(self.neighbours[p], tile, p, vc);
        }
        world.flits.copies(head.flit(), granted.count_ones(), u32::from(done));
        (1 << vc, u8::from(done) << vc)
    }

    /// A flit from the link flies through, is stored, or both.
    #[inline(always)]
    fn arrive(&mut self, p: usize, arrival: &Arrival, tile: u8, world: &mut World) {
        let Arrival { flit, vc, route, flies } = *arrival;
        let last = world.flits.target(flit).last;
        if flies != 0 {
            self.send(p, vc, flit, last, flies, tile, world);
        }
        let left = route & !flies;
        if left != 0 {
            let held = Held::new(flit, last, left);
            self.inputs[p].push(vc, held, world.buffer(tile, p, vc));
            self.holding |= 1 << p;
        } else {
            world.credits.freed(self.neighbours[p], tile, p, vc);
        }
        world.flits.copies(flit, flies.count_ones() + u32::from(left != 0), 1);
    }

    /// Puts copies of a flit into output registers.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn send(&mut self, p: usize, vc: u8, flit: u32, last: bool, outputs: u8, tile: u8, world: &mut World) {
        let mut given = vc;
        for output in bits(outputs) {
            let on = self.inputs[p].output_vc(vc, &world.shape);
            let on = on.unwrap_or_else(|| self.outputs.pick(output, &world.shape));
            self.outputs.send(output, on, last, &world.shape);
            world.counters.sent(tile, output, world.shape.class(on));
            if output == L {
                world.links.show(tile, on, flit);
            } else {
                world.links.put(self.neighbours[output], output, on, flit, self.outputs.crosses(output));
            }
            given = on;
        }
        self.inputs[p].follow(vc, given, last, &world.shape);
    }
}
