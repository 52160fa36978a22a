//! The timing graph of a flat netlist: nets are its vertices, arcs of cells its edges.
//!
//! Paths start where an output follows a clock and end where an input is sampled by one. A path belongs to a
//! clock if both do. Ports start and end paths as well, in a domain of their own.

use crate::synth::netlist::flat::Netlist;
use crate::synth::netlist::modules::{bit_name, Bit, Cell, Port};
use crate::synth::timing::library::arcs::{net_ns, Driver, End, Pin, Start, Timing, Within};
use crate::synth::timing::library::cells;
use anyhow::{bail, Result};
use std::collections::HashMap;

/// A way from net to net through one cell.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Delay of the net up to the cell.
    pub(super) net_ns: f64,
    /// Delay of the cell.
    pub(super) ns: f64,
    pub(super) levels: u32,
    pub(super) cell: u32,
    pub(super) inside: Option<usize>,
}

/// A start with its cell; `clock` is a domain now.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) at: Start,
    /// The cell, or none for an input port.
    pub(super) cell: Option<u32>,
    pub(super) domain: usize,
}

/// An end with its cell; `net_ns` is the delay of the net up to it.
#[derive(Debug, Clone)]
pub(super) struct Sink {
    pub(super) at: End,
    /// The cell, or none for an output port.
    pub(super) cell: Option<u32>,
    pub(super) domain: usize,
    pub(super) net_ns: f64,
}

/// A timing graph.
pub(super) struct Graph<'a> {
    pub(super) netlist: &'a Netlist,
    pub(super) edges: Vec<Edge>,
    pub(super) sources: Vec<Source>,
    pub(super) sinks: Vec<Sink>,
    /// Paths within one cell, with domain and cell.
    pub(super) within: Vec<(Within, usize, u32)>,
    /// Pins that each net drives.
    pub(super) fanout: Vec<u32>,
    /// Nets in an order in which each comes after those that it depends on.
    pub(super) order: Vec<u32>,
    /// Names of the clocks; the domain of ports is the number of them.
    pub(super) clocks: Vec<String>,
    /// Edges that start at a net: indices of `edges`, from `leaving_from[net]` to `leaving_from[net + 1]`.
    leaving: Vec<u32>,
    leaving_from: Vec<u32>,
    /// Edges that end at a net: `edges` is sorted by them.
    entering_from: Vec<u32>,
}

impl<'a> Graph<'a> {
    /// Builds the graph; `timing_of` gives the timing of each cell.
    ///
    /// # Errors
    /// When a cell has no timing, or on a combinational loop.
    pub(super) fn new(
        netlist: &'a Netlist,
        timing_of: &dyn Fn(&Cell) -> Result<Timing>,
    ) -> Result<Graph<'a>> {
        let timings = netlist.cells.iter().map(timing_of).collect::<Result<Vec<_>>>()?;
        let (fanout, drivers) = loads(netlist, &timings);
        let mut clocks = Clocks::of(netlist);
        let (mut edges, mut sources, mut sinks, mut within) = (vec![], vec![], vec![], vec![]);
        for (number, timing) in timings.into_iter().enumerate() {
            let cell = number as u32;
            let to_pin = |net: u32, pin| net_ns(drivers[net as usize], fanout[net as usize], pin);
            edges.extend(timing.arcs.into_iter().map(|arc| Edge {
                from: arc.input,
                to: arc.output,
                net_ns: to_pin(arc.input, arc.pin),
                ns: arc.ns,
                levels: arc.levels,
                cell,
                inside: arc.inside,
            }));
            for at in timing.starts {
                let domain = clocks.domain(at.clock);
                sources.push(Source { at, cell: Some(cell), domain });
            }
            for at in timing.ends {
                let (domain, net_ns) = (clocks.domain(at.clock), to_pin(at.input, at.pin));
                sinks.push(Sink { at, cell: Some(cell), domain, net_ns });
            }
            if let Some(one) = timing.within {
                let domain = clocks.domain(one.clock);
                within.push((one, domain, cell));
            }
        }
        ports(netlist, &clocks, &fanout, &drivers, &mut sources, &mut sinks);
        edges.sort_by_key(|edge| edge.to);
        let nets = netlist.nets();
        let entering_from = ranges(nets, edges.iter().map(|edge| edge.to));
        let mut leaving: Vec<u32> = (0..edges.len() as u32).collect();
        leaving.sort_by_key(|edge| edges[*edge as usize].from);
        let leaving_from = ranges(nets, leaving.iter().map(|edge| edges[*edge as usize].from));
        let mut graph = Graph {
            netlist,
            edges,
            sources,
            sinks,
            within,
            fanout,
            order: Vec::new(),
            clocks: clocks.names(netlist),
            leaving,
            leaving_from,
            entering_from,
        };
        graph.order = graph.sorted()?;
        Ok(graph)
    }

    /// Domain of ports.
    pub(super) fn ports(&self) -> usize {
        self.clocks.len()
    }

    /// Indices of the edges that end at a net.
    pub(super) fn entering(&self, net: u32) -> std::ops::Range<usize> {
        self.entering_from[net as usize] as usize..self.entering_from[net as usize + 1] as usize
    }

    /// Indices of the edges that start at a net.
    pub(super) fn leaving(&self, net: u32) -> impl Iterator<Item = usize> + '_ {
        let range = self.leaving_from[net as usize] as usize..self.leaving_from[net as usize + 1] as usize;
        self.leaving[range].iter().map(|edge| *edge as usize)
    }

    /// Nets, each after all that it depends on.
    fn sorted(&self) -> Result<Vec<u32>> {
        let nets = self.netlist.nets() as u32;
        let mut waits: Vec<u32> = (0..nets).map(|net| self.entering(net).len() as u32).collect();
        let mut order: Vec<u32> = (0..nets).filter(|net| waits[*net as usize] == 0).collect();
        let mut next = 0;
        while next < order.len() {
            for edge in self.leaving(order[next]) {
                let to = self.edges[edge].to;
                waits[to as usize] -= 1;
                if waits[to as usize] == 0 {
                    order.push(to);
                }
            }
            next += 1;
        }
        if order.len() < nets as usize {
            bail!("a combinational loop through {}", self.on_loop(&waits));
        }
        Ok(order)
    }

    /// Name of a net on a loop: from a net that waits, backwards until one comes again.
    fn on_loop(&self, waits: &[u32]) -> String {
        let waiting = |net: u32| waits[net as usize] > 0;
        let mut net = (0..waits.len() as u32).find(|net| waiting(*net)).unwrap_or_default();
        let mut seen = std::collections::HashSet::new();
        let mut named = None;
        while seen.insert(net) {
            named = self.netlist.name(net).or(named);
            let before = self.entering(net).map(|edge| self.edges[edge].from).find(|from| waiting(*from));
            net = before.unwrap_or(net);
        }
        self.netlist.name(net).or(named).unwrap_or("nets without a name").to_owned()
    }
}

/// Number of pins that each net drives, and the kind of its driver.
fn loads(netlist: &Netlist, timings: &[Timing]) -> (Vec<u32>, Vec<Driver>) {
    let nets = netlist.nets();
    let (mut fanout, mut drivers) = (vec![0; nets], vec![Driver::Other; nets]);
    for (cell, timing) in netlist.cells.iter().zip(timings) {
        match &timing.loads {
            Some(loads) => loads.iter().for_each(|(net, pins)| fanout[*net as usize] += pins),
            None => {
                let inputs = cell.inputs().filter(|pin| !cells::CLOCK_PINS.contains(&pin.name.as_str()));
                inputs.flat_map(Port::nets).for_each(|net| fanout[net as usize] += 1);
            }
        }
        for pin in cell.outputs() {
            for (place, bit) in pin.bits.iter().enumerate() {
                if let Some(net) = bit.net() {
                    drivers[net as usize] = cells::driver(cell, &pin.name, place);
                }
            }
        }
    }
    (fanout, drivers)
}

/// Adds ports: inputs that are no clock start paths, outputs end them. The way to an output port costs as a
/// net to a pin of the fabric.
fn ports(
    netlist: &Netlist,
    clocks: &Clocks,
    fanout: &[u32],
    drivers: &[Driver],
    sources: &mut Vec<Source>,
    sinks: &mut Vec<Sink>,
) {
    let domain = clocks.roots.len();
    for port in &netlist.ports {
        for (place, bit) in port.bits.iter().enumerate() {
            let Some(net) = bit.net() else { continue };
            let inside = None;
            if !port.output && !clocks.roots.contains(&net) {
                let at = Start { output: net, clock: net, ns: 0.0, levels: 0, inside };
                sources.push(Source { at, cell: None, domain });
            } else if port.output {
                let pin = Pin::Fabric;
                let name = bit_name(&port.name, place as u32, port.bits.len() as u32);
                let at = End { input: net, clock: net, ns: 0.0, pin, levels: 0, name, inside };
                let net_ns = net_ns(drivers[net as usize], fanout[net as usize], pin);
                sinks.push(Sink { at, cell: None, domain, net_ns });
            }
        }
    }
}

/// Starts of the ranges of a sorted list of nets.
fn ranges(nets: usize, sorted: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut from = vec![0; nets + 1];
    sorted.for_each(|net| from[net as usize + 1] += 1);
    for net in 0..nets {
        from[net + 1] += from[net];
    }
    from
}

/// The clocks of a netlist, in the order in which they are found.
struct Clocks {
    /// Input of each clock buffer by its output.
    buffers: HashMap<u32, u32>,
    roots: Vec<u32>,
}

impl Clocks {
    fn of(netlist: &Netlist) -> Clocks {
        let buffers = netlist.cells.iter().filter(|cell| cell.kind == "BUFG");
        let buffers = buffers.filter_map(|cell| Some((cell.nets("O").next()?, cell.nets("I").next()?)));
        Clocks { buffers: buffers.collect(), roots: Vec::new() }
    }

    fn domain(&mut self, clock: u32) -> usize {
        let mut root = clock;
        while let Some(input) = self.buffers.get(&root) {
            root = *input;
        }
        let known = self.roots.iter().position(|known| *known == root);
        known.unwrap_or_else(|| {
            self.roots.push(root);
            self.roots.len() - 1
        })
    }

    /// Names: that of the port if the clock comes from one.
    fn names(&self, netlist: &Netlist) -> Vec<String> {
        let port_of = |root: &u32| {
            let port = netlist.ports.iter().find(|port| port.bits == [Bit::Net(*root)])?;
            Some(port.name.as_str())
        };
        let name = |root: &u32| {
            let name = port_of(root).or_else(|| netlist.name(*root));
            name.map_or_else(|| format!("clock {root}"), str::to_owned)
        };
        self.roots.iter().map(name).collect()
    }
}
