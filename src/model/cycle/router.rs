//! One router: `meshkv_router`, a cycle at a time.
//!
//! All decisions of a cycle are taken from the registers as they stand, then the registers change: heads
//! leave, flits from the links fly through or are stored, turns move on.

use super::allocator::{Allocator, E, L, N, S, W};
use super::input::{Ask, Held, Input};
use super::lanes::{any, bits};
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
    pub(super) neighbours: [u16; 5],
    inputs: [Input; 5],
    pub(super) outputs: Outputs,
    pub(super) allocator: Allocator,
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
        let behind = |port| mesh.neighbour(node, port).map_or(u16::MAX, |next| next.index() as u16);
        Router {
            x: x as u8,
            y: y as u8,
            holding: 0,
            neighbours: Port::ALL.map(behind),
            inputs: [Input::new(shape); 5],
            outputs: Outputs::new(shape),
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
    pub(super) fn step(&mut self, tile: usize, world: &mut World) -> bool {
        let held = self.holding;
        let mut occupied = [0_u8; 5];
        let mut asks = [Ask::default(); 5];
        let mut granted = [0_u8; 5];
        let starts = self.outputs.starts(&world.shape);
        let mut requested = 0;
        if held != 0 {
            for p in bits(held) {
                asks[p] = self.inputs[p].ask(&self.outputs, starts, &world.shape);
                occupied[p] = self.inputs[p].occupied;
                requested |= asks[p].wants;
            }
            if requested != 0 {
                granted = self.allocator.grant(asks.map(|ask| ask.wants), asks.map(|ask| ask.copies));
            }
        }
        let (arrived, mut arrivals) = self.arrivals(tile, world);
        if arrived & (1 << E | 1 << W | 1 << L) != 0 {
            let rivals = |a: usize, b: usize| asks[a].wants | asks[b].wants;
            self.express(arrived, &mut arrivals, [rivals(W, L), rivals(E, L)], starts, &world.shape);
        }
        self.count_blocked(held, requested, &granted, &arrivals, tile, world);

        for p in bits(held) {
            let (left, freed) = self.depart(p, &asks[p], granted[p], tile, world);
            self.inputs[p].turn(occupied[p], asks[p].wants, left, freed, &world.shape);
        }
        for p in bits(arrived) {
            self.arrive(p, &arrivals[p], tile, world);
        }
        self.settle(held, world);
        self.holding != 0
    }

    /// What the links show, and which inputs they lead to.
    #[inline(always)]
    fn arrivals(&self, tile: usize, world: &mut World) -> (u8, [Arrival; 5]) {
        let mut arrivals = [Arrival::default(); 5];
        let arrived = world.links.take(tile);
        for p in bits(arrived) {
            let (flit, vc) = world.links.flit(tile, p);
            let route = self.route(p, world.flits.target(flit));
            arrivals[p] = Arrival { flit, vc, route, flies: 0 };
        }
        (arrived, arrivals)
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

    /// Which flits on the links find an empty buffer and a free output along the row. `rivals`: what heads want
    /// that could leave east, and west.
    #[inline(always)]
    fn express(&self, arrived: u8, arrivals: &mut [Arrival; 5], rivals: [u8; 2], starts: u64, shape: &Shape) {
        for (straight, output, rivals) in [(W, E, rivals[0]), (E, W, rivals[1])] {
            if rivals >> output & 1 == 1 {
                continue;
            }
            // Through traffic comes before what the tile injects, even if it cannot leave.
            let through = arrived >> straight & 1 == 1 && arrivals[straight].route >> output & 1 == 1;
            let p = if through { straight } else { L };
            if arrived >> p & 1 == 0 || arrivals[p].route >> output & 1 == 0 {
                continue;
            }
            let (input, vc) = (&self.inputs[p], arrivals[p].vc);
            let room = match input.output_vc(vc, shape) {
                Some(on) => self.outputs.has(output, on),
                None => starts >> (8 * output) & 0xff != 0,
            };
            if room && input.occupied >> vc & 1 == 0 {
                arrivals[p].flies |= 1 << output;
            }
        }
    }

    /// Counts outputs that a head wants and none may have: blocked for credit.
    #[inline(always)]
    fn count_blocked(
        &self,
        held: u8,
        requested: u8,
        granted: &[u8; 5],
        arrivals: &[Arrival; 5],
        tile: usize,
        world: &mut World,
    ) {
        let owed = bits(held).fold(0, |owed, p| owed | self.inputs[p].owed);
        let wanted = any(owed) & !requested;
        if wanted == 0 {
            return;
        }
        let sent = granted.iter().fold(0, |sent, g| sent | g);
        let sent = arrivals.iter().fold(sent, |sent, arrival| sent | arrival.flies);
        for output in bits(wanted & !sent) {
            world.counters.blocked(tile, output);
        }
    }

    /// The head of an input leaves for the outputs that were granted. Gives its virtual channel as a mask, and the same if
    /// its slot is free again.
    #[inline(always)]
    fn depart(&mut self, p: usize, ask: &Ask, granted: u8, tile: usize, world: &mut World) -> (u8, u8) {
        if granted == 0 {
            return (0, 0);
        }
        let vc = self.inputs[p].chosen(ask, granted.trailing_zeros() as usize, &world.shape);
        let at = world.buffer(tile, p, vc);
        let head = world.slots[at + self.inputs[p].head(vc)];
        self.send(p, vc, head.flit(), head.last(), granted, tile, world);
        let done = self.inputs[p].serve(vc, granted, &world.shape);
        if done {
            let depth = usize::from(world.shape.depth);
            self.inputs[p].pop(vc, &world.slots[at..at + depth], &world.shape);
            world.credits.freed(self.neighbours[p], tile, p, vc);
        }
        world.flits.copies(head.flit(), granted.count_ones(), u32::from(done));
        (1 << vc, u8::from(done) << vc)
    }

    /// A flit from the link flies through, is stored, or both.
    #[inline(always)]
    fn arrive(&mut self, p: usize, arrival: &Arrival, tile: usize, world: &mut World) {
        let Arrival { flit, vc, route, flies } = *arrival;
        let last = world.flits.target(flit).last;
        if flies != 0 {
            self.send(p, vc, flit, last, flies, tile, world);
        }
        let left = route & !flies;
        if left != 0 {
            let at = world.buffer(tile, p, vc);
            let depth = usize::from(world.shape.depth);
            let buffer = &mut world.slots[at..at + depth];
            self.inputs[p].push(vc, Held::new(flit, last, left), buffer, &world.shape);
        } else {
            world.credits.freed(self.neighbours[p], tile, p, vc);
        }
        world.flits.copies(flit, flies.count_ones() + u32::from(left != 0), 1);
    }

    /// Puts copies of a flit into output registers.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn send(&mut self, p: usize, vc: u8, flit: u32, last: bool, outputs: u8, tile: usize, world: &mut World) {
        let mut given = vc;
        for output in bits(outputs) {
            let on = self.inputs[p].output_vc(vc, &world.shape);
            let on = on.unwrap_or_else(|| self.outputs.pick(output, &world.shape));
            self.outputs.send(output, on, last, &world.shape);
            world.counters.sent(tile, output, world.shape.class(on));
            if output == L {
                world.links.show(tile, on, flit);
            } else {
                world.links.put(self.neighbours[output], output, on, flit);
            }
            given = on;
        }
        self.inputs[p].follow(vc, given, last, &world.shape);
    }

    /// Ports that have become empty or are so no longer change how they keep their turns.
    #[inline(always)]
    fn settle(&mut self, held: u8, world: &World) {
        let mut holding = 0;
        for (p, input) in self.inputs.iter_mut().enumerate() {
            let now = input.occupied != 0;
            holding |= u8::from(now) << p;
            if now != (held >> p & 1 == 1) {
                if now {
                    input.wake(world.phase, &world.shape);
                } else {
                    input.fall_asleep(world.phase, &world.shape);
                }
            }
        }
        self.holding = holding;
    }
}
