//! Paths by name: registers, steps and levels of the longest ways of a graph.

use super::arrivals::{Arrivals, Way};
use super::graph::{Graph, Sink};
use crate::synth::netlist::modules::{Cell, Port};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Number of paths that a report has of each clock.
pub(super) const MOST_PATHS: usize = 10;

/// A step of a path: a net and the cell behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Type of the cell.
    pub cell: String,
    /// Name of the net that the cell drives, or of the pin where the path ends; empty if synthesis made it.
    pub net: String,
    /// Pins that the net before the cell drives; 0 at the start.
    pub fanout: u32,
    /// Delay of the net before the cell in nanoseconds.
    pub net_ns: f64,
    /// Delay of the cell in nanoseconds: clock to output at the start, setup at the end.
    pub cell_ns: f64,
}

/// A path from a register or port to a register or port.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Path {
    /// Register, memory or port where it starts.
    pub from: String,
    /// Register, memory or port where it ends, with its pin.
    pub to: String,
    /// Delay with clock to output and setup, in nanoseconds.
    pub ns: f64,
    /// LUTs and reads of LUT memories.
    pub levels: u32,
    /// Its steps, the start first.
    pub steps: Vec<Step>,
}

/// The paths of one clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockPaths {
    /// Delay of the worst path in nanoseconds.
    pub worst_ns: f64,
    /// The most levels of any path; it need not be one of the worst.
    pub worst_levels: u32,
    /// The worst paths, worst first. Of paths between the same two words of registers there is one.
    pub paths: Vec<Path>,
}

impl ClockPaths {
    /// The worst of several lists, one path of each pair of words.
    pub(super) fn merged(all: impl IntoIterator<Item = ClockPaths>) -> ClockPaths {
        let mut merged = ClockPaths::default();
        for one in all {
            merged.worst_ns = merged.worst_ns.max(one.worst_ns);
            merged.worst_levels = merged.worst_levels.max(one.worst_levels);
            merged.paths.extend(one.paths);
        }
        merged
            .paths
            .sort_by(|a, b| b.ns.total_cmp(&a.ns).then_with(|| (&a.from, &a.to).cmp(&(&b.from, &b.to))));
        let mut seen = BTreeSet::new();
        merged.paths.retain(|path| seen.insert((word(&path.from), word(&path.to))));
        merged.paths.truncate(MOST_PATHS);
        merged
    }
}

/// A name without the numbers of its bits, instances and memory cells, and without the letter of a memory's
/// pin: what differs by them only is the same path.
pub(super) fn word(name: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for letter in name.chars() {
        inside = (inside || letter == '[') && letter != ']';
        if !inside || letter == '[' {
            out.push(letter);
        }
    }
    let (register, pin) = out.split_once('/').unwrap_or((&out, ""));
    let numbered = |part: &&str| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit());
    let register: Vec<_> = register.split('.').filter(|part| !numbered(part)).collect();
    let pin = ["DI", "ADDR"].into_iter().find(|stem| pin.starts_with(stem)).unwrap_or(pin);
    format!("{}/{pin}", register.join("."))
}

/// Names and steps of the ways of a graph. `inside` has the steps of arcs that are paths through a part, and
/// of starts and ends within one.
pub(super) struct Naming<'a> {
    pub(super) graph: &'a Graph<'a>,
    pub(super) inside: &'a [Inside],
}

/// What is known of a way within a part.
#[derive(Debug, Clone, Default)]
pub(super) struct Inside {
    /// The register or port at its other end.
    pub(super) name: String,
    pub(super) levels: u32,
    pub(super) steps: Vec<Step>,
}

impl Naming<'_> {
    /// The worst paths that start in domain `from` and end in domain `to`.
    pub(super) fn worst(&self, from: usize, to: usize) -> ClockPaths {
        let graph = self.graph;
        let arrivals = Arrivals::forward(graph, from);
        let mut ends: Vec<(f64, &Sink)> = Vec::new();
        let mut found = ClockPaths::default();
        for sink in graph.sinks.iter().filter(|sink| sink.domain == to) {
            if let Some(ns) = arrivals.ns(sink.at.input) {
                ends.push((ns + sink.net_ns + sink.at.ns, sink));
                found.worst_levels = found.worst_levels.max(arrivals.most(sink.at.input) + sink.at.levels);
            }
        }
        ends.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut seen = BTreeSet::new();
        for (ns, sink) in ends {
            if found.paths.len() == MOST_PATHS {
                break;
            }
            let way = arrivals.way_to(graph, sink.at.input);
            let names = (word(&self.start(&way)), word(&self.end(sink)));
            if seen.insert(names) {
                found.paths.push(self.path(&way, sink, ns));
            }
        }
        let within = graph.within.iter().filter(|(_, domain, _)| (from, to) == (*domain, *domain));
        for (within, _, cell) in within {
            let name = self.cell_name(*cell);
            if seen.insert((word(&name), word(&name))) {
                let cell = within.what.to_owned();
                let step = Step { cell, net: name.clone(), fanout: 0, net_ns: 0.0, cell_ns: within.ns };
                found.paths.push(Path {
                    from: name.clone(),
                    to: name,
                    ns: within.ns,
                    levels: 0,
                    steps: vec![step],
                });
            }
        }
        found.worst_ns = found.paths.iter().map(|path| path.ns).fold(0.0, f64::max);
        ClockPaths::merged([found])
    }

    fn path(&self, way: &Way, sink: &Sink, ns: f64) -> Path {
        let mut steps = self.head(way);
        steps.extend(self.tail_step(sink));
        let inside = |at: Option<usize>| at.map_or(0, |at| self.inside[at].levels);
        let source = self.graph.sources[way.terminal].at.inside;
        let levels = self.levels(way) + inside(source) + inside(sink.at.inside);
        Path { from: self.start(way), to: self.end(sink), ns, levels, steps }
    }

    /// Levels of the edges of a way.
    pub(super) fn levels(&self, way: &Way) -> u32 {
        let of = |edge: &usize| match self.graph.edges[*edge].inside {
            Some(inside) => self.inside[inside].levels,
            None => self.graph.edges[*edge].levels,
        };
        way.edges.iter().map(of).sum()
    }

    /// Name of the register or port where a way starts.
    pub(super) fn start(&self, way: &Way) -> String {
        let source = &self.graph.sources[way.terminal];
        match (source.cell, source.at.inside) {
            (Some(cell), Some(inside)) => format!("{}.{}", self.cell_name(cell), self.inside[inside].name),
            (Some(cell), None) => self.register(cell, Some(source.at.output)),
            (None, _) => format!("port {}", self.net(source.at.output)),
        }
    }

    /// Name of the register or port where a path ends.
    pub(super) fn end(&self, sink: &Sink) -> String {
        match (sink.cell, sink.at.inside) {
            (Some(cell), Some(inside)) => format!("{}.{}", self.cell_name(cell), self.inside[inside].name),
            (Some(cell), None) => format!("{}/{}", self.register(cell, None), sink.at.name),
            (None, _) => format!("port {}", sink.at.name),
        }
    }

    /// Steps from the start of a way to its last edge.
    pub(super) fn head(&self, way: &Way) -> Vec<Step> {
        let source = &self.graph.sources[way.terminal];
        let mut steps = match (source.cell, source.at.inside) {
            (Some(cell), Some(inside)) => self.inside_steps(cell, inside, 0, None),
            (Some(cell), None) => vec![Step {
                cell: self.kind(cell).to_owned(),
                net: self.net(source.at.output),
                fanout: 0,
                net_ns: 0.0,
                cell_ns: source.at.ns,
            }],
            (None, _) => Vec::new(),
        };
        steps.extend(self.edges(way));
        steps
    }

    /// Steps of the edges of a way.
    pub(super) fn edges(&self, way: &Way) -> Vec<Step> {
        let of = |index: &usize| {
            let edge = &self.graph.edges[*index];
            let fanout = self.graph.fanout[edge.from as usize];
            match edge.inside {
                Some(inside) => self.inside_steps(edge.cell, inside, fanout, Some(edge.net_ns)),
                None => vec![Step {
                    cell: self.kind(edge.cell).to_owned(),
                    net: self.net(edge.to),
                    fanout,
                    net_ns: edge.net_ns,
                    cell_ns: edge.ns,
                }],
            }
        };
        way.edges.iter().flat_map(of).collect()
    }

    /// The steps at the end of a path.
    pub(super) fn tail_step(&self, sink: &Sink) -> Vec<Step> {
        let fanout = self.graph.fanout[sink.at.input as usize];
        match (sink.cell, sink.at.inside) {
            (Some(cell), Some(inside)) => self.inside_steps(cell, inside, fanout, Some(sink.net_ns)),
            (Some(cell), None) => vec![Step {
                cell: self.kind(cell).to_owned(),
                net: self.end(sink),
                fanout,
                net_ns: sink.net_ns,
                cell_ns: sink.at.ns,
            }],
            (None, _) => vec![Step {
                cell: "port".to_owned(),
                net: sink.at.name.clone(),
                fanout,
                net_ns: sink.net_ns,
                cell_ns: 0.0,
            }],
        }
    }

    /// Steps within a part: its nets get the name of the instance, and the first net is the one outside.
    fn inside_steps(&self, cell: u32, inside: usize, fanout: u32, net_ns: Option<f64>) -> Vec<Step> {
        let instance = self.cell_name(cell);
        let mut steps = self.inside[inside].steps.clone();
        for step in steps.iter_mut().filter(|step| !step.net.is_empty()) {
            step.net = format!("{instance}.{}", step.net);
        }
        if let (Some(first), Some(net_ns)) = (steps.first_mut(), net_ns) {
            (first.fanout, first.net_ns) = (fanout, first.net_ns + net_ns);
        }
        steps
    }

    /// Name of a net, or nothing if it is of synthesis.
    fn net(&self, net: u32) -> String {
        self.graph.netlist.name(net).unwrap_or_default().to_owned()
    }

    /// Name of a net; where it is of synthesis, the first end that it reaches without logic, if any.
    pub(super) fn of_net(&self, net: u32) -> String {
        let end = || self.graph.sinks.iter().find(|sink| sink.at.input == net).map(|sink| self.end(sink));
        match self.net(net) {
            name if name.is_empty() => end().map_or_else(|| "logic".to_owned(), |end| format!("to {end}")),
            name => name,
        }
    }

    fn cell(&self, cell: u32) -> &Cell {
        &self.graph.netlist.cells[cell as usize]
    }

    fn kind(&self, cell: u32) -> &str {
        &self.cell(cell).kind
    }

    /// Name of a cell: its own, or that of what it drives.
    fn cell_name(&self, cell: u32) -> String {
        let own = &self.cell(cell).name;
        if own.starts_with('$') {
            self.register(cell, None)
        } else {
            own.clone()
        }
    }

    /// Name of a register: that of the net at its output. Memories have names of their own.
    fn register(&self, cell: u32, output: Option<u32>) -> String {
        let of = self.cell(cell);
        if !of.name.starts_with('$') {
            return of.name.clone();
        }
        let mut outputs = of.outputs().flat_map(Port::nets);
        let named = |net: &u32| self.graph.netlist.name(*net);
        let name =
            output.as_ref().and_then(named).or_else(|| outputs.find_map(|net| self.graph.netlist.name(net)));
        name.map_or_else(|| format!("{} without a name", of.kind), str::to_owned)
    }
}
