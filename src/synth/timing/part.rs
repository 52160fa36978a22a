//! The timing of one part: the paths between its registers, and its interface, from which paths through
//! several parts are put together.

use super::arrivals::{Arrivals, Way, NEVER};
use super::delays;
use super::graph::Graph;
use super::paths::{ClockPaths, Naming, Step};
use crate::synth::netlist::{Bit, Direction, Netlist};
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
    /// The interface.
    pub(super) interface: Interface,
}

/// What is seen of a part at its ports.
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
        let graph = Graph::new(netlist, &super::cells::timing)?;
        let naming = Naming { graph: &graph, inside: &[] };
        let ports = graph.ports();
        let mut clocks = BTreeMap::new();
        let mut boundary = vec![naming.worst(ports, ports)];
        for (domain, name) in graph.clocks.iter().enumerate() {
            clocks.insert(name.clone(), naming.worst(domain, domain));
            boundary.extend([naming.worst(domain, ports), naming.worst(ports, domain)]);
        }
        let interface = interface(&graph, &naming);
        Ok(PartTiming { clocks, boundary: ClockPaths::merged(boundary), interface })
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
    for (name, place, net) in bits(graph.netlist, Direction::Input) {
        let fanout = graph.fanout[net as usize];
        interface.inputs.push(Input { port: name.to_owned(), place, fanout, tails: Vec::new() });
    }
    for (name, place, net) in bits(graph.netlist, Direction::Output) {
        let fanout = graph.fanout[net as usize];
        let (heads, through) = (Vec::new(), Vec::new());
        interface.outputs.push(Output { port: name.to_owned(), place, fanout, heads, through });
    }
    for (domain, clock) in graph.clocks.iter().enumerate() {
        let (forward, backward) = (Arrivals::forward(graph, domain), Arrivals::backward(graph, domain));
        for ((_, _, net), output) in bits(graph.netlist, Direction::Output).zip(&mut interface.outputs) {
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
        for ((_, _, net), input) in bits(graph.netlist, Direction::Input).zip(&mut interface.inputs) {
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

/// Bits of the ports of a direction that are nets.
fn bits(netlist: &Netlist, direction: Direction) -> impl Iterator<Item = (&str, usize, u32)> {
    let ports = netlist.ports.iter().filter(move |(_, port)| port.direction == direction);
    ports.flat_map(|(name, port)| {
        let net = |(place, bit): (usize, &Bit)| Some((name.as_str(), place, bit.net()?));
        port.bits.iter().enumerate().filter_map(net)
    })
}

/// Adds the ways from inputs to outputs, one search for each input that has any.
fn through(graph: &Graph, naming: &Naming, interface: &mut Interface) {
    let mut outputs: HashMap<u32, Vec<usize>> = HashMap::new();
    for (index, (_, _, net)) in bits(graph.netlist, Direction::Output).enumerate() {
        outputs.entry(net).or_default().push(index);
    }
    let onward = Arrivals::backward(graph, graph.ports());
    let mut place = vec![0; graph.order.len()];
    graph.order.iter().enumerate().for_each(|(at, net)| place[*net as usize] = at);
    for (name, bit, net) in bits(graph.netlist, Direction::Input) {
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

#[cfg(test)]
pub(super) mod tests {
    use super::super::delays as d;
    use super::*;
    use crate::synth::netlist::by_hand;
    use serde_json::{json, Value};

    /// A cell whose output pins are in `outputs`.
    pub(in crate::synth::timing) fn cell(kind: &str, outputs: &[&str], connections: Value) -> Value {
        let pins = connections.as_object().unwrap().keys();
        let direction = |pin: &String| if outputs.contains(&pin.as_str()) { "output" } else { "input" };
        let directions: BTreeMap<_, _> = pins.map(|pin| (pin.clone(), direction(pin))).collect();
        json!({ "type": kind, "port_directions": directions, "connections": connections })
    }

    pub(in crate::synth::timing) fn register(clock: u32, input: u32, output: u32) -> Value {
        cell("FDRE", &["Q"], json!({ "C": [clock], "D": [input], "Q": [output] }))
    }

    pub(in crate::synth::timing) fn lut(inputs: &[u32], output: u32) -> Value {
        let mut connections: BTreeMap<_, _> =
            inputs.iter().enumerate().map(|(place, net)| (format!("I{place}"), json!([net]))).collect();
        connections.insert("O".to_owned(), json!([output]));
        cell(&format!("LUT{}", inputs.len()), &["O"], json!(connections))
    }

    /// Ports of one bit each.
    pub(in crate::synth::timing) fn ports(inputs: &[(&str, u32)], outputs: &[(&str, u32)]) -> Value {
        let port = |direction: &'static str| {
            move |(name, net): &(&str, u32)| {
                ((*name).to_owned(), json!({ "direction": direction, "bits": [net] }))
            }
        };
        let all = inputs.iter().map(port("input")).chain(outputs.iter().map(port("output")));
        json!(all.collect::<BTreeMap<_, _>>())
    }

    fn timed(module: &Value) -> PartTiming {
        PartTiming::of(&by_hand(module).unwrap()).unwrap()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    const CLOCK: (&str, u32) = ("clk", 2);

    #[test]
    fn a_path_through_a_lut_memory_goes_from_address_to_data() {
        let memory = json!({
            "ADDRA": [11, "0", "0", "0", "0"], "ADDRB": [12, "0", "0", "0", "0"], "ADDRH": [13, "0", "0", "0", "0"],
            "DOA": [20, 21], "DIA": [14, 14], "WCLK": [2], "WE": [15],
        });
        let timing = timed(&json!({
            "ports": ports(&[CLOCK], &[]),
            "cells": {
                "$a": register(2, 30, 11),
                "u_buffer.mem.0.0": cell("RAM32M16", &["DOA"], memory),
                "$q": register(2, 20, 31),
            },
            "netnames": { "head_q": { "bits": [11] }, "flit_q": { "bits": [31] } },
        }));
        let clk = &timing.clocks["clk"];
        let path = clk.paths.iter().find(|path| path.from == "head_q").unwrap();
        assert_eq!((path.to.as_str(), path.levels, path.steps.len()), ("flit_q/D", 1, 3));
        assert_eq!(path.steps[1].cell, "RAM32M16");
        assert!(near(path.ns, d::FF_CLOCK + d::net(1) + d::LUT_RAM_READ + d::net(1) + d::FF_DATA));
        assert!(timing.boundary.paths.is_empty());
    }

    #[test]
    fn the_write_side_of_a_memory_ends_paths() {
        let memory =
            json!({ "ADDRH": [11], "DIA": [12], "WE": [13], "DOA": [20], "ADDRA": ["0"], "WCLK": [2] });
        let timing = timed(&json!({
            "ports": ports(&[CLOCK], &[]),
            "cells": {
                "$a": register(2, 30, 11), "$b": register(2, 31, 12), "$c": register(2, 32, 13),
                "u.mem": cell("RAM64M8", &["DOA"], memory), "$q": register(2, 20, 33),
            },
            "netnames": { "flit_q": { "bits": [33] } },
        }));
        let paths = &timing.clocks["clk"].paths;
        // What was written comes out after the clock.
        let read = paths.iter().find(|path| path.from == "u.mem").unwrap();
        assert!(read.to == "flit_q/D" && near(read.ns, d::LUT_RAM_CLOCK + d::net(1) + d::FF_DATA));
        let ends = paths.iter().map(|path| path.to.clone()).filter(|end| end != "flit_q/D");
        let ends: BTreeSet<_> = ends.collect();
        assert_eq!(ends.into_iter().collect::<Vec<_>>(), ["u.mem/ADDRH", "u.mem/DIA", "u.mem/WE"]);
    }

    #[test]
    fn a_carry_chain_has_nets_of_its_own() {
        let low = json!({ "CI": ["0"], "CYINIT": ["0"], "S": [12, "1", "1", "1"], "DI": ["0", "0", "0", "0"],
            "CO": [20, 21, 22, 23], "O": [24, 25, 26, 27] });
        let high = json!({ "CI": [23], "CYINIT": ["0"], "S": ["1", "1", "1", "1"], "DI": ["0", "0", "0", "0"],
            "CO": [40, 41, 42, 43], "O": [44, 45, 46, 47] });
        let timing = timed(&json!({
            "ports": ports(&[CLOCK], &[]),
            "cells": {
                "$a": register(2, 30, 11), "$l": lut(&[11], 12),
                "$low": cell("CARRY4", &["CO", "O"], low), "$high": cell("CARRY4", &["CO", "O"], high),
                "$q": register(2, 47, 31),
            },
        }));
        let path = &timing.clocks["clk"].paths[0];
        let nets = d::net(1) + d::NET_TO_CARRY + d::CARRY_CHAIN + d::NET_LUT_TO_FF;
        let cells = d::FF_CLOCK + d::LUT + d::CARRY_S_CO[3] + d::CARRY_CI_O[3] + d::FF_DATA;
        assert!(near(path.ns, nets + cells), "{path:?}");
        assert_eq!(path.levels, 1);
    }

    #[test]
    fn a_dsp_without_registers_passes_data_and_with_them_ends_it() {
        let dsp = |registers: &[&str]| {
            let mut dsp = cell("DSP48E2", &["P"], json!({ "CLK": [2], "A": [11], "B": ["0"], "P": [20] }));
            dsp["parameters"] = json!({ "USE_MULT": "MULTIPLY", "AMULTSEL": "A" });
            registers.iter().for_each(|register| dsp["parameters"][register] = json!("1"));
            timed(&json!({
                "ports": ports(&[CLOCK], &[]),
                "cells": { "$a": register(2, 30, 11), "u_dsp": dsp, "$q": register(2, 20, 31) },
                "netnames": { "a_q": { "bits": [11] }, "p_q": { "bits": [31] } },
            }))
        };
        let ns = |timing: &PartTiming, from: &str, to: &str| {
            let mut paths = timing.clocks["clk"].paths.iter();
            paths.find(|path| path.from == from && path.to == to).map(|path| path.ns)
        };
        let around = |ns: f64| d::FF_CLOCK + d::net(1) + ns;
        let through = dsp(&[]);
        assert!(near(ns(&through, "a_q", "p_q/D").unwrap(), around(d::DSP_THROUGH + d::net(1) + d::FF_DATA)));
        // With MREG the multiplier is before the register, without it the arithmetic unit as well.
        let (late, early) = (dsp(&["PREG"]), dsp(&["MREG", "PREG"]));
        let ends = |stages: f64| around(d::DSP_INPUT + stages);
        assert!(near(ns(&late, "a_q", "u_dsp/A").unwrap(), ends(d::DSP_MULTIPLY + d::DSP_ALU)));
        assert!(near(ns(&early, "a_q", "u_dsp/A").unwrap(), ends(d::DSP_MULTIPLY)));
        assert_eq!(ns(&early, "a_q", "p_q/D"), None);
        let all = dsp(&["AREG", "MREG", "PREG"]);
        assert!(near(ns(&all, "a_q", "u_dsp/A").unwrap(), ends(0.0)));
        assert!(near(ns(&all, "u_dsp", "u_dsp").unwrap(), d::DSP_PERIOD));
        assert!(near(ns(&all, "u_dsp", "p_q/D").unwrap(), d::DSP_CLOCK_P + d::net(1) + d::FF_DATA));
        assert!(near(ns(&dsp(&["AREG", "PREG"]), "u_dsp", "u_dsp").unwrap(), d::DSP_PERIOD_NO_MREG));
    }

    #[test]
    fn a_path_between_two_clocks_is_not_timed() {
        let module = |other: u32| {
            json!({
                "ports": ports(&[CLOCK, ("pe_clk", 3)], &[]),
                "cells": {
                    "$a": register(2, 30, 11), "$l": lut(&[11], 12), "$q": register(other, 12, 31),
                    "$b": register(3, 31, 32),
                },
            })
        };
        let crossing = timed(&module(3));
        assert!(crossing.clocks["clk"].paths.is_empty() && crossing.clocks["pe_clk"].paths.len() == 1);
        assert_eq!(timed(&module(2)).clocks["clk"].paths.len(), 1);
    }

    #[test]
    fn a_clock_is_named_by_its_port_behind_a_buffer() {
        let buffer = cell("BUFG", &["O"], json!({ "I": [2], "O": [5] }));
        let cells = json!({ "$b": buffer, "$a": register(5, 30, 11), "$q": register(2, 11, 31) });
        let timing = timed(&json!({ "ports": ports(&[CLOCK], &[]), "cells": cells }));
        assert_eq!(timing.clocks.keys().collect::<Vec<_>>(), ["clk"]);
        assert_eq!(timing.clocks["clk"].paths.len(), 1);
    }

    #[test]
    fn a_combinational_loop_is_an_error_with_a_name() {
        let module = json!({
            "cells": { "$l": lut(&[11, 13], 12), "$m": lut(&[12], 13), "$q": register(2, 13, 31) },
            "netnames": { "u_x.grant": { "bits": [13] } },
        });
        let error = PartTiming::of(&by_hand(&module).unwrap()).unwrap_err().to_string();
        assert!(error.contains("combinational loop") && error.contains("u_x.grant"), "{error}");
    }

    #[test]
    fn a_net_with_more_pins_takes_longer_and_an_inverter_is_absorbed() {
        let inverter = cell("INV", &["O"], json!({ "I": [11], "O": [13] }));
        let timing = timed(&json!({
            "ports": ports(&[CLOCK], &[]),
            "cells": {
                "$a": register(2, 30, 11), "$i": inverter, "$l": lut(&[13], 12), "$q": register(2, 12, 31),
                "$m": lut(&[11], 14), "$n": lut(&[11], 15), "$o": lut(&[11], 16), "$r": register(2, 16, 32),
            },
            "netnames": { "p_q": { "bits": [31] }, "r_q": { "bits": [32] } },
        }));
        let to = |end: &str| timing.clocks["clk"].paths.iter().find(|path| path.to == end).unwrap().ns;
        let rest = d::FF_CLOCK + d::LUT + d::NET_LUT_TO_FF + d::FF_DATA;
        assert!(near(to("r_q/D"), rest + d::net(4)) && near(to("p_q/D"), rest + d::net(1)));
    }

    #[test]
    fn paths_of_ports_are_kept_apart() {
        let timing = timed(&json!({
            "ports": ports(&[CLOCK, ("s_valid", 11)], &[("m_valid", 31)]),
            "cells": { "$l": lut(&[11], 12), "$q": register(2, 12, 31) },
            "netnames": { "s_valid": { "bits": [11] }, "m_valid": { "bits": [31] } },
        }));
        assert!(timing.clocks["clk"].paths.is_empty());
        let ends: Vec<_> =
            timing.boundary.paths.iter().map(|path| (path.from.as_str(), path.to.as_str())).collect();
        assert_eq!(ends, [("port s_valid", "m_valid/D"), ("m_valid", "port m_valid")]);
        assert!(timing.worst_ns() > 0.0 && timing.worst_levels() == 1);
    }
}
