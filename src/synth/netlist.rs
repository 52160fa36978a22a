//! A flat netlist in Yosys' JSON: its cells with pins and parameters, ports, and names of nets.
//!
//! It counts cells and knows no delay.

use crate::design::Resources;
use anyhow::{bail, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// LUT memories and their LUTs: all eight of a SLICEM, or two for 64 words of one bit with two ports.
const LUT_MEMORIES: [(&str, u64); 10] = [
    ("RAM32M16", 8),
    ("RAM64M8", 8),
    ("RAM32X16DR8", 8),
    ("RAM64X8SW", 8),
    ("RAM32X1D", 2),
    ("RAM64X1D", 2),
    ("RAM128X1D", 4),
    ("RAM256X1D", 8),
    ("SRL16E", 1),
    ("SRLC32E", 1),
];

/// Cell counts of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// LUT1 to LUT6. Inverters are not counted: the LUT or register behind them absorbs them.
    pub luts: u64,
    /// LUTs used as memory, 8 for each RAM32M16.
    pub ram_luts: u64,
    /// Registers.
    pub registers: u64,
    /// Block RAMs in halves: one RAMB36E2 is two.
    pub bram18: u64,
    /// UltraRAMs.
    pub uram: u64,
    /// Multipliers.
    pub dsp: u64,
}

impl Area {
    /// LUTs of both kinds.
    pub fn sum(self) -> u64 {
        self.luts + self.ram_luts
    }

    /// Resources as a utilisation report counts them: half block RAMs are rounded up.
    pub fn resources(self) -> Resources {
        Resources {
            lut: self.sum(),
            lutram_lut: self.ram_luts,
            ff: self.registers,
            bram36: self.bram18.div_ceil(2),
            uram: self.uram,
            dsp: self.dsp,
        }
    }
}

/// One bit of a pin or port.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Bit {
    /// A net, by its number.
    Net(u32),
    /// A constant: `0`, `1`, `x` or `z`.
    Constant(String),
}

impl Bit {
    /// The net, unless it is a constant.
    pub(super) fn net(&self) -> Option<u32> {
        match self {
            Bit::Net(net) => Some(*net),
            Bit::Constant(_) => None,
        }
    }
}

/// Direction of a pin or port, seen from the cell or module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Direction {
    Input,
    Output,
    Inout,
}

/// One cell: its name, its type in the library, its parameters and pins.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Cell {
    #[serde(skip)]
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) parameters: BTreeMap<String, String>,
    #[serde(default)]
    port_directions: BTreeMap<String, Direction>,
    pub(super) connections: BTreeMap<String, Vec<Bit>>,
}

impl Cell {
    /// Pins of one direction, with their bits.
    pub(super) fn pins(&self, direction: Direction) -> impl Iterator<Item = (&str, &[Bit])> {
        let pins = self.connections.iter().map(|(pin, bits)| (pin.as_str(), bits.as_slice()));
        pins.filter(move |(pin, _)| self.direction(pin) == direction)
    }

    /// Nets of a pin, in the order of its bits; nothing where the pin is open.
    pub(super) fn nets(&self, pin: &str) -> impl Iterator<Item = u32> + '_ {
        self.connections.get(pin).into_iter().flatten().filter_map(Bit::net)
    }

    /// A parameter that is a number; `0` where the netlist does not give it.
    pub(super) fn number(&self, parameter: &str) -> u64 {
        self.parameters.get(parameter).map_or(0, |bits| u64::from_str_radix(bits, 2).unwrap_or(0))
    }

    /// A parameter that is a word.
    pub(super) fn word(&self, parameter: &str) -> &str {
        self.parameters.get(parameter).map_or("", String::as_str)
    }

    fn direction(&self, pin: &str) -> Direction {
        self.port_directions.get(pin).copied().unwrap_or(Direction::Input)
    }
}

/// A port of the module.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Port {
    pub(super) direction: Direction,
    pub(super) bits: Vec<Bit>,
}

#[derive(Deserialize)]
struct File {
    modules: HashMap<String, Module>,
}

#[derive(Deserialize)]
struct Module {
    #[serde(default)]
    ports: BTreeMap<String, Port>,
    #[serde(default)]
    cells: BTreeMap<String, Cell>,
    #[serde(default)]
    netnames: BTreeMap<String, NetName>,
}

#[derive(Deserialize)]
struct NetName {
    #[serde(default)]
    hide_name: u8,
    bits: Vec<Bit>,
}

/// The cells of one flat module.
pub struct Netlist {
    pub(super) cells: Vec<Cell>,
    pub(super) ports: BTreeMap<String, Port>,
    names: HashMap<u32, String>,
}

impl Netlist {
    /// Reads module `top` of Yosys' JSON.
    ///
    /// # Errors
    /// When the text is no such netlist.
    pub fn parse(text: &str, top: &str) -> Result<Netlist> {
        let mut file: File = serde_json::from_str(text)?;
        let Some(module) = file.modules.remove(top) else { bail!("the netlist has no module {top}") };
        let cells = module.cells.into_iter().filter(|(_, cell)| cell.kind != "$scopeinfo");
        let cells = cells.map(|(name, cell)| Cell { name, ..cell }).collect();
        Ok(Netlist { cells, ports: module.ports, names: names(&module.netnames) })
    }

    /// Number of nets: every net is below it.
    pub(super) fn nets(&self) -> usize {
        let of_cells = self.cells.iter().flat_map(|cell| cell.connections.values());
        let of_ports = self.ports.values().map(|port| &port.bits);
        let nets = of_cells.chain(of_ports).flatten().filter_map(Bit::net);
        nets.max().map_or(0, |net| net as usize + 1)
    }

    /// Name of a net in the sources; none for nets that synthesis made.
    pub(super) fn name(&self, net: u32) -> Option<&str> {
        self.names.get(&net).map(String::as_str)
    }

    /// Counts the cells.
    ///
    /// # Errors
    /// When a cell has no counting rule.
    pub fn area(&self) -> Result<Area> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        self.cells.iter().for_each(|cell| *counts.entry(&cell.kind).or_default() += 1);
        if let Some(cell) = counts.keys().find(|kind| !is_known(kind)) {
            bail!("{cell} is a cell that nobody has decided how to count");
        }
        let of =
            |prefix: &str| counts.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, n)| n).sum();
        Ok(Area {
            luts: of("LUT"),
            ram_luts: LUT_MEMORIES.iter().map(|(name, luts)| of(name) * luts).sum(),
            registers: of("FD"),
            bram18: 2 * of("RAMB36") + of("RAMB18"),
            uram: of("URAM"),
            dsp: of("DSP48"),
        })
    }
}

/// True if [`Area`] has a place for the cell, or leaves it out on purpose.
fn is_known(kind: &str) -> bool {
    const OTHERS: [&str; 20] = [
        "LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6", "CARRY4", "CARRY8", "MUXF7", "MUXF8", "MUXF9", "INV",
        "BUFG", "FDRE", "FDSE", "FDCE", "FDPE", "URAM288", "RAMB36E2", "RAMB18E2",
    ];
    OTHERS.contains(&kind) || kind == "DSP48E2" || LUT_MEMORIES.iter().any(|(memory, _)| *memory == kind)
}

/// The best name of each net: of those in the sources the shortest, which is that of the innermost wire last.
fn names(all: &BTreeMap<String, NetName>) -> HashMap<u32, String> {
    let mut best: HashMap<u32, (&str, usize, usize)> = HashMap::new();
    for (name, net) in all.iter().filter(|(name, net)| net.hide_name == 0 && !name.starts_with('$')) {
        for (place, bit) in net.bits.iter().enumerate() {
            let Some(number) = bit.net() else { continue };
            let entry = best.entry(number).or_insert((name, place, net.bits.len()));
            if (name.len(), name.as_str()) < (entry.0.len(), entry.0) {
                *entry = (name, place, net.bits.len());
            }
        }
    }
    let written = |(name, place, width): (&str, usize, usize)| match width {
        1 => name.to_owned(),
        _ => format!("{name}[{place}]"),
    };
    best.into_iter().map(|(net, name)| (net, written(name))).collect()
}

/// Name of a port's clock or of another port: [`Netlist::ports`] has its bits.
pub(super) fn port_bit(port: &str, place: usize, width: usize) -> String {
    if width == 1 {
        port.to_owned()
    } else {
        format!("{port}[{place}]")
    }
}

/// A reader of netlists that tests write by hand.
///
/// # Errors
/// As [`Netlist::parse`].
#[cfg(test)]
pub(super) fn by_hand(module: &serde_json::Value) -> Result<Netlist> {
    Netlist::parse(&serde_json::json!({ "modules": { "m": module } }).to_string(), "m")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_are_counted_and_an_unknown_one_is_an_error() {
        let cell = |kind: &str| json!({ "type": kind, "connections": {} });
        let netlist = by_hand(&json!({ "cells": {
            "a": cell("LUT3"), "b": cell("RAM32M16"), "c": cell("FDSE"), "d": cell("RAMB18E2"), "e": cell("INV"),
            "f": cell("RAMB36E2"), "g": cell("$scopeinfo"),
        }}));
        let area = netlist.unwrap().area().unwrap();
        assert_eq!((area.luts, area.ram_luts, area.registers, area.bram18), (1, 8, 1, 3));
        let unknown = by_hand(&json!({ "cells": { "a": cell("OBUF") } })).unwrap().area().unwrap_err();
        assert!(unknown.to_string().contains("OBUF"));
    }

    #[test]
    fn a_net_has_the_shortest_name_of_the_sources() {
        let netlist = by_hand(&json!({ "netnames": {
            "$auto$1": { "hide_name": 1, "bits": [2] },
            "u_a.deep.name": { "hide_name": 0, "bits": [2, 3] },
            "u_a.q": { "hide_name": 0, "bits": [2] },
        }}))
        .unwrap();
        assert_eq!((netlist.name(2), netlist.name(3)), (Some("u_a.q"), Some("u_a.deep.name[1]")));
        assert_eq!(netlist.name(4), None);
        assert!(Netlist::parse("{\"modules\": {}}", "m").is_err());
    }
}
