//! The timing of one part: the paths between its registers, and its interface, from which paths through
//! several parts are put together.

use super::arrivals::{Arrivals, Way, NEVER};
use super::fanout::{self, Net};
use super::graph::Graph;
use super::paths::{ClockPaths, Naming, Step};
use crate::synth::netlist::flat::Netlist;
use crate::synth::netlist::modules::Bit;
use crate::synth::timing::library::delays;
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Timing of a part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PartTiming {
    /// Paths between registers, by the name of their clock.
    pub clocks: BTreeMap<String, ClockPaths>,
    /// Paths that start or end at ports, as if these were registers without delay.
    pub boundary: ClockPaths,
    /// Nets within it that drive the most pins.
    pub nets: Vec<Net>,
    /// The interface.
    pub(super) interface: Interface,
}

/// Timing of a part at its ports.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Interface {
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
}

/// One bit of an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Input {
    pub(super) port: String,
    pub(super) place: usize,
    /// Pins that it drives within the part.
    pub(super) fanout: u32,
    /// Longest way to a register of each clock; the net of the port is not in it.
    pub(super) tails: Vec<Tail>,
}

/// One bit of an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Output {
    pub(super) port: String,
    pub(super) place: usize,
    /// Pins that its net drives within the part.
    pub(super) fanout: u32,
    /// Longest way from a register of each clock; the net of the port is not in it.
    pub(super) heads: Vec<Tail>,
    /// Ways from inputs.
    pub(super) through: Vec<Through>,
}

/// A way between a register and a port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tail {
    pub(super) clock: String,
    pub(super) ns: f64,
    pub(super) levels: u32,
    /// The most levels of any such way.
    pub(super) most: u32,
    /// The register.
    pub(super) register: String,
    pub(super) steps: Vec<Step>,
}

/// A way from an input to an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Through {
    pub(super) port: String,
    pub(super) place: usize,
    pub(super) ns: f64,
    pub(super) levels: u32,
    pub(super) most: u32,
    pub(super) steps: Vec<Step>,
}

impl PartTiming {
    /// Times a flat netlist.
    ///
    /// # Errors
    /// When a cell has no timing, or on a combinational loop.
    pub fn of(netlist: &Netlist) -> Result<PartTiming> {
        let graph = Graph::new(netlist, &crate::synth::timing::library::cells::timing)?;
        let naming = Naming { graph: &graph, inside: &[] };
        let ports = graph.ports();
        let mut clocks = BTreeMap::new();
        let mut boundary = vec![naming.worst(ports, ports)];
        for (domain, name) in graph.clocks.iter().enumerate() {
            clocks.insert(name.clone(), naming.worst(domain, domain));
            boundary.extend([naming.worst(domain, ports), naming.worst(ports, domain)]);
        }
        let interface = interface(&graph, &naming);
        let nets = fanout::most(&naming, true);
        Ok(PartTiming { clocks, boundary: ClockPaths::merged(boundary), nets, interface })
    }

    /// All lists of paths.
    fn lists(&self) -> impl Iterator<Item = &ClockPaths> {
        self.clocks.values().chain([&self.boundary])
    }

    /// Delay of the worst path, ports included.
    pub fn worst_ns(&self) -> f64 {
        self.lists().map(|list| list.worst_ns).fold(0.0, f64::max)
    }

    /// The most levels of any path, ports included.
    pub fn worst_levels(&self) -> u32 {
        self.lists().map(|list| list.worst_levels).max().unwrap_or(0)
    }
}

fn interface(graph: &Graph, naming: &Naming) -> Interface {
    let mut interface = Interface::default();
    for (name, place, net) in bits(graph.netlist, false) {
        let fanout = graph.fanout[net as usize];
        interface.inputs.push(Input { port: name.to_owned(), place, fanout, tails: Vec::new() });
    }
    for (name, place, net) in bits(graph.netlist, true) {
        let fanout = graph.fanout[net as usize];
        let (heads, through) = (Vec::new(), Vec::new());
        interface.outputs.push(Output { port: name.to_owned(), place, fanout, heads, through });
    }
    for (domain, clock) in graph.clocks.iter().enumerate() {
        let (forward, backward) = (Arrivals::forward(graph, domain), Arrivals::backward(graph, domain));
        for ((_, _, net), output) in bits(graph.netlist, true).zip(&mut interface.outputs) {
            let Some(ns) = forward.ns(net) else { continue };
            let way = forward.way_to(graph, net);
            output.heads.push(Tail {
                clock: clock.clone(),
                ns,
                levels: naming.levels(&way),
                most: forward.most(net),
                register: naming.start(&way),
                steps: naming.head(&way),
            });
        }
        for ((_, _, net), input) in bits(graph.netlist, false).zip(&mut interface.inputs) {
            let Some(ns) = backward.ns(net) else { continue };
            let way = backward.way_from(graph, net);
            let sink = &graph.sinks[way.terminal];
            let mut steps = naming.edges(&way);
            steps.extend(naming.tail_step(sink));
            without_first_net(&mut steps, input.fanout);
            input.tails.push(Tail {
                clock: clock.clone(),
                ns: ns - delays::net(input.fanout),
                levels: naming.levels(&way),
                most: backward.most(net),
                register: naming.end(sink),
                steps,
            });
        }
    }
    through(graph, naming, &mut interface);
    interface
}

/// Takes the port's net from the first step: its fan-out is only known outside.
fn without_first_net(steps: &mut [Step], fanout: u32) {
    if let Some(first) = steps.first_mut() {
        first.net_ns -= delays::net(fanout);
    }
}

/// Bits of the inputs, or outputs, that are nets.
fn bits(netlist: &Netlist, output: bool) -> impl Iterator<Item = (&str, usize, u32)> {
    let ports = netlist.ports.iter().filter(move |port| port.output == output);
    ports.flat_map(|port| {
        let net = |(place, bit): (usize, &Bit)| Some((port.name.as_str(), place, bit.net()?));
        port.bits.iter().enumerate().filter_map(net)
    })
}

/// Adds the ways from inputs to outputs, one search for each input that has any.
fn through(graph: &Graph, naming: &Naming, interface: &mut Interface) {
    let mut outputs: HashMap<u32, Vec<usize>> = HashMap::new();
    for (index, (_, _, net)) in bits(graph.netlist, true).enumerate() {
        outputs.entry(net).or_default().push(index);
    }
    let onward = Arrivals::backward(graph, graph.ports());
    let mut place = vec![0; graph.order.len()];
    graph.order.iter().enumerate().for_each(|(at, net)| place[*net as usize] = at);
    for (name, bit, net) in bits(graph.netlist, false) {
        if onward.ns(net).is_none() {
            continue;
        }
        let first = delays::net(graph.fanout[net as usize]);
        let reached = Reached::from(graph, &onward, &place, net);
        for to in reached.nets() {
            for output in outputs.get(&to).into_iter().flatten() {
                let way = Way { edges: reached.edges(graph, to), terminal: 0 };
                let mut steps = naming.edges(&way);
                without_first_net(&mut steps, graph.fanout[net as usize]);
                interface.outputs[*output].through.push(Through {
                    port: name.to_owned(),
                    place: bit,
                    // A wire from port to port has no net of its own.
                    ns: if to == net { 0.0 } else { reached.ns(to) - first },
                    levels: naming.levels(&way),
                    most: reached.most(to),
                    steps,
                });
            }
        }
    }
}

/// Longest ways from one net, as far as they lead to outputs: nanoseconds, most levels, last edge.
struct Reached(BTreeMap<u32, (f64, u32, Option<usize>)>);

impl Reached {
    /// Searches in the order of the nets; `place` is the place of each in it.
    fn from(graph: &Graph, onward: &Arrivals, place: &[usize], net: u32) -> Reached {
        let mut found = BTreeMap::from([(net, (0.0, 0, None))]);
        let mut queue = BTreeSet::from([(place[net as usize], net)]);
        while let Some((_, here)) = queue.pop_first() {
            let (ns, most, _) = found[&here];
            for index in graph.leaving(here) {
                let edge = &graph.edges[index];
                if onward.ns(edge.to).is_none() {
                    continue;
                }
                let later = ns + edge.net_ns + edge.ns;
                let entry = found.entry(edge.to).or_insert((NEVER, 0, None));
                entry.1 = entry.1.max(most + edge.levels);
                if later > entry.0 {
                    (entry.0, entry.2) = (later, Some(index));
                }
                queue.insert((place[edge.to as usize], edge.to));
            }
        }
        Reached(found)
    }

    fn nets(&self) -> Vec<u32> {
        self.0.keys().copied().collect()
    }

    fn ns(&self, net: u32) -> f64 {
        self.0.get(&net).map_or(NEVER, |found| found.0)
    }

    fn most(&self, net: u32) -> u32 {
        self.0.get(&net).map_or(0, |found| found.1)
    }

    fn edges(&self, graph: &Graph, mut net: u32) -> Vec<usize> {
        let mut edges = Vec::new();
        while let Some((_, _, Some(edge))) = self.0.get(&net) {
            edges.push(*edge);
            net = graph.edges[*edge].from;
        }
        edges.reverse();
        edges
    }
}
