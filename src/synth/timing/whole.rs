//! Paths of the whole design: parts are cells of an assembly, with the ways of their interfaces as arcs.

use super::fanout::{self, Net};
use super::graph::Graph;
use super::part::{PartTiming, Tail};
use super::paths::{ClockPaths, Inside, Naming};
use crate::synth::netlist::flat::Netlist;
use crate::synth::netlist::modules::{port, Bit, Cell};
use crate::synth::timing::library::arcs::{self, Arc, End, Pin, Start};
use crate::synth::timing::library::cells;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// Names of the array's clock, in parts and in the top module. Every other clock is the network's.
const ARRAY_CLOCKS: [&str; 2] = ["pe_clk", "ap_clk_2"];

/// Name of the clock of the ports of HBM, in converters.
const HBM_CLOCK: &str = "hbm_aclk";

/// Timing of a design.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Paths of the network's clock.
    pub noc: ClockPaths,
    /// Paths of the array's clock.
    pub pe: ClockPaths,
    /// Paths of the clock of HBM, in converters.
    #[serde(default)]
    pub hbm: ClockPaths,
    /// Nets that drive the most pins, clocks apart.
    pub nets: Vec<Net>,
}

impl Timing {
    /// Adds the paths between the registers of a part that is beside the design.
    pub fn add(&mut self, name: &str, part: &PartTiming) {
        for (clock, paths) in &part.clocks {
            let list = if clock == HBM_CLOCK { &mut self.hbm } else { &mut self.noc };
            *list = ClockPaths::merged([std::mem::take(list), within(name, paths)]);
        }
        let here = part.nets.iter().map(|net| net.below(name));
        self.nets = fanout::merged(std::mem::take(&mut self.nets).into_iter().chain(here));
    }
}

/// A part as it stands in the assembly.
#[derive(Debug, Clone, Copy)]
pub struct Placed<'a> {
    /// Its module.
    pub module: &'a str,
    /// True if it is that of row 0, false if it is that of other rows, none if there is one for all.
    pub row0: Option<bool>,
    /// Its timing.
    pub timing: &'a PartTiming,
}

impl Placed<'_> {
    /// True if a cell of the assembly is an instance of it. Yosys writes parameters before a module's name.
    fn is(&self, cell: &Cell) -> bool {
        if cell.kind.rsplit('\\').next() != Some(self.module) {
            return false;
        }
        let Some(row0) = self.row0 else { return true };
        let mut row = port(&cell.ports, "y").into_iter().flat_map(|port| &port.bits);
        row0 == row.all(|bit| *bit == Bit::Constant('0'))
    }
}

/// Times a design: `assembly` has its parts as cells, and all logic around them.
///
/// # Errors
/// When a cell has no timing, a part no instance, or on a combinational loop.
pub fn time_whole(assembly: &Netlist, parts: &[Placed]) -> Result<Timing> {
    let mut inside = Vec::new();
    let first: Vec<usize> = parts.iter().map(|part| ways(part.timing, &mut inside)).collect();
    let timing_of = |cell: &Cell| match parts.iter().position(|part| part.is(cell)) {
        Some(part) => instance(cell, parts[part].timing, first[part]),
        None => cells::timing(cell),
    };
    let graph = Graph::new(assembly, &timing_of)?;
    let naming = Naming { graph: &graph, inside: &inside };
    let (mut noc, mut pe) = (Vec::new(), Vec::new());
    for (domain, clock) in graph.clocks.iter().enumerate() {
        let list = if is_array(clock) { &mut pe } else { &mut noc };
        list.extend([naming.worst(domain, domain), naming.worst(graph.ports(), domain)]);
        list.push(naming.worst(domain, graph.ports()));
    }
    let mut nets = fanout::most(&naming, false);
    for part in parts {
        let instance = assembly.cells.iter().find(|cell| part.is(cell));
        let instance = instance.with_context(|| format!("{} has no instance", part.module))?;
        for (clock, paths) in &part.timing.clocks {
            let list = if is_array(clock) { &mut pe } else { &mut noc };
            list.push(within(&instance.name, paths));
        }
        nets.extend(part.timing.nets.iter().map(|net| net.below(&instance.name)));
    }
    Ok(Timing {
        noc: ClockPaths::merged(noc),
        pe: ClockPaths::merged(pe),
        hbm: ClockPaths::default(),
        nets: fanout::merged(nets),
    })
}

fn is_array(clock: &str) -> bool {
    ARRAY_CLOCKS.contains(&clock)
}

/// Paths between registers of a part, with the name of its first instance.
fn within(instance: &str, paths: &ClockPaths) -> ClockPaths {
    let mut paths = paths.clone();
    for path in &mut paths.paths {
        path.from = format!("{instance}.{}", path.from);
        path.to = format!("{instance}.{}", path.to);
        for step in path.steps.iter_mut().filter(|step| !step.net.is_empty()) {
            step.net = format!("{instance}.{}", step.net);
        }
    }
    paths
}

/// Lists the ways of an interface in the order of [`instance`]; returns the place of the first.
fn ways(part: &PartTiming, inside: &mut Vec<Inside>) -> usize {
    let first = inside.len();
    let of =
        |tail: &Tail| Inside { name: tail.register.clone(), levels: tail.levels, steps: tail.steps.clone() };
    let interface = &part.interface;
    inside.extend(interface.inputs.iter().flat_map(|input| &input.tails).map(of));
    inside.extend(interface.outputs.iter().flat_map(|output| &output.heads).map(of));
    inside.extend(interface.outputs.iter().flat_map(|output| &output.through).map(|through| Inside {
        name: String::new(),
        levels: through.levels,
        steps: through.steps.clone(),
    }));
    first
}

/// Timing of a part's instance.
fn instance(cell: &Cell, part: &PartTiming, first: usize) -> Result<arcs::Timing> {
    let clock = |name: &str| {
        let of = || format!("clock {name} of {} is not connected", cell.name);
        cell.net(name, 0).with_context(of)
    };
    let mut timing = arcs::Timing::default();
    let mut loads = Vec::new();
    let mut ways = first..;
    for input in &part.interface.inputs {
        let at = cell.net(&input.port, input.place);
        loads.extend(at.map(|net| (net, input.fanout)));
        for tail in &input.tails {
            let inside = ways.next();
            let Some(net) = at else { continue };
            let (clock, name) = (clock(&tail.clock)?, input.port.clone());
            let (pin, levels) = (Pin::Fabric, tail.most);
            timing.ends.push(End { input: net, clock, ns: tail.ns, pin, levels, name, inside });
        }
    }
    for output in &part.interface.outputs {
        let at = cell.net(&output.port, output.place);
        loads.extend(at.map(|net| (net, output.fanout)));
        for head in &output.heads {
            let inside = ways.next();
            let Some(output) = at else { continue };
            let clock = clock(&head.clock)?;
            timing.starts.push(Start { output, clock, ns: head.ns, levels: head.most, inside });
        }
    }
    for output in &part.interface.outputs {
        let at = cell.net(&output.port, output.place);
        for through in &output.through {
            let inside = ways.next();
            let (Some(output), Some(input)) = (at, cell.net(&through.port, through.place)) else { continue };
            // A wire from port to port is one net.
            let pin = if through.steps.is_empty() { Pin::Absorbed } else { Pin::Fabric };
            let (ns, levels) = (through.ns, through.most);
            timing.arcs.push(Arc { input, output, ns, pin, levels, inside });
        }
    }
    timing.loads = Some(loads);
    Ok(timing)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{by_hand as netlist, cell, lut, ports, register};
    use super::*;
    use serde_json::{json, Value};

    /// A register that drives a LUT within and a port; the port comes through a LUT from the other part.
    fn sender() -> Value {
        json!({
            "ports": ports(&[("clk", 2), ("ready", 10)], &[("valid", 11), ("both", 13)]),
            "cells": { "$a": register(2, 12, 11), "$l": lut(&[11, 10], 12), "$b": lut(&[10, 11], 13) },
            "netnames": { "valid_q": { "bits": [11] } },
        })
    }

    fn receiver() -> Value {
        json!({
            "ports": ports(&[("clk", 2), ("valid", 10), ("both", 14)], &[("ready", 13)]),
            "cells": {
                "$l": lut(&[10], 11), "$q": register(2, 11, 12), "$m": lut(&[10, 12], 13),
                "$n": lut(&[14], 16), "$r": register(2, 16, 15),
            },
            "netnames": { "full_q": { "bits": [12] }, "both_q": { "bits": [15] } },
        })
    }

    #[test]
    fn paths_through_parts_are_those_of_the_flat_netlist() {
        let parts = [sender(), receiver()].map(|part| PartTiming::of(&netlist(&part)).unwrap());
        let assembly = netlist(&json!({
            "ports": ports(&[("ap_clk", 2)], &[]),
            "cells": {
                "u_s": cell("$paramod\\sender", &["valid", "both"],
                    json!({ "clk": [2], "ready": [20], "valid": [21], "both": [22] })),
                "u_r": cell("receiver", &["ready"],
                    json!({ "clk": [2], "valid": [21], "both": [22], "ready": [20], "y": ["0"] })),
            },
        }));
        let placed = |row0| {
            [("sender", None, &parts[0]), ("receiver", row0, &parts[1])]
                .map(|(module, row0, timing)| Placed { module, row0, timing })
        };
        let timing = time_whole(&assembly, &placed(None)).unwrap();
        let flat = PartTiming::of(&netlist(&json!({
            "ports": ports(&[("ap_clk", 2)], &[]),
            "cells": {
                "$a": register(2, 12, 21), "$l": lut(&[21, 20], 12), "$b": lut(&[20, 21], 22),
                "$m": lut(&[21], 31), "$q": register(2, 31, 32), "$n": lut(&[21, 32], 20),
                "$o": lut(&[22], 36), "$r": register(2, 36, 35),
            },
        })))
        .unwrap();
        assert!((timing.noc.worst_ns - flat.clocks["ap_clk"].worst_ns).abs() < 1e-9);
        assert_eq!(timing.noc.worst_levels, flat.clocks["ap_clk"].worst_levels);
        let worst = &timing.noc.paths[0];
        assert_eq!(
            (worst.from.as_str(), worst.to.as_str(), worst.levels),
            ("u_s.valid_q", "u_r.both_q/D", 3)
        );
        let sum: f64 = worst.steps.iter().map(|step| step.net_ns + step.cell_ns).sum();
        assert!((sum - worst.ns).abs() < 1e-9, "{worst:?}");
        assert!(timing.pe.paths.is_empty());
        // Of row 0 it is an instance, of another row it has no timing.
        assert!(
            time_whole(&assembly, &placed(Some(true))).is_ok()
                && time_whole(&assembly, &placed(Some(false))).is_err()
        );
    }
}
