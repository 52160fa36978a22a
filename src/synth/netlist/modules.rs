//! Modules with wires, ports and cells. A wire's bits are nets of its module, numbered from the first wire on.
//!
//! Names and keys are without the backslash of RTLIL; those that Yosys made begin with `$`.

use anyhow::{Context as _, Result};
use std::collections::BTreeMap;

/// A bit of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bit {
    /// A net of its module.
    Net(u32),
    /// A constant: `0`, `1`, `x` or `z`.
    Constant(char),
}

impl Bit {
    /// The net, unless it is a constant.
    pub fn net(&self) -> Option<u32> {
        match self {
            Bit::Net(net) => Some(*net),
            Bit::Constant(_) => None,
        }
    }
}

/// A port of a module or of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// True if it is an output. Of a cell it is known in flat netlists only.
    pub output: bool,
    /// Its bits, the lowest first.
    pub bits: Vec<Bit>,
}

impl Port {
    /// Its bits that are nets.
    pub fn nets(&self) -> impl Iterator<Item = u32> + '_ {
        self.bits.iter().filter_map(Bit::net)
    }
}

/// The port of a name.
pub fn port<'p>(ports: &'p [Port], name: &str) -> Option<&'p Port> {
    ports.iter().find(|port| port.name == name)
}

/// The net at a place of a port; none where it is open or a constant.
pub fn net_at(ports: &[Port], name: &str, place: usize) -> Option<u32> {
    port(ports, name)?.bits.get(place)?.net()
}

/// A cell, or an instance of a module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// Key of its module, or kind of Yosys' own.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Path of an instance that flattening moved, as Vivado writes it: `u_a/gen_b.u_c`.
    pub path: Option<String>,
    /// Parameters, as Yosys writes them.
    pub parameters: Vec<(String, String)>,
    /// Ports, by name.
    pub ports: Vec<Port>,
}

impl Cell {
    /// Nets of a port, in the order of its bits; nothing where it is open.
    pub fn nets(&self, name: &str) -> impl Iterator<Item = u32> + '_ {
        port(&self.ports, name).into_iter().flat_map(Port::nets)
    }

    /// The net at a place of a port.
    pub fn net(&self, name: &str, place: usize) -> Option<u32> {
        net_at(&self.ports, name, place)
    }

    /// The inputs, in a flat netlist.
    pub fn inputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| !port.output)
    }

    /// The outputs, in a flat netlist.
    pub fn outputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.output)
    }

    /// A parameter that is a word; nothing where it is not given.
    pub fn word(&self, parameter: &str) -> &str {
        let found = self.parameters.iter().find(|(name, _)| name == parameter);
        found.map_or("", |(_, value)| value.trim_matches('"'))
    }

    /// A parameter that is a number, `36` or `2'01`; `0` where it is not given.
    pub fn number(&self, parameter: &str) -> u64 {
        let word = self.word(parameter);
        let number = match word.split_once('\'') {
            Some((_, bits)) => u64::from_str_radix(bits.trim_start_matches('s'), 2),
            None => word.parse(),
        };
        number.unwrap_or(0)
    }
}

/// A vector of nets with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wire {
    /// Its name.
    pub name: String,
    /// Path of a wire that flattening moved, as Vivado writes it: `u_requester/count_q`.
    pub path: Option<String>,
    /// Its lowest net.
    pub first: u32,
    /// Bits.
    pub width: u32,
    /// Number of the lowest bit in the source.
    pub offset: i32,
    /// True if it is marked as a register that samples bits of another clock.
    pub async_reg: bool,
    /// True if it is a register with an initial value.
    pub initial: bool,
}

impl Wire {
    /// Its nets.
    pub fn nets(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.width
    }

    /// Name of one of its bits.
    pub fn bit(&self, place: u32) -> String {
        bit_name(&self.name, place, self.width)
    }
}

/// Name of a bit of a wire or port.
pub fn bit_name(name: &str, place: u32, width: u32) -> String {
    match width {
        1 => name.to_owned(),
        _ => format!("{name}[{place}]"),
    }
}

/// A module: one set of parameters. It appears once, however often it is instantiated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// True if its source says that its instances keep their hierarchy.
    pub kept: bool,
    /// Wires, by their nets.
    pub wires: Vec<Wire>,
    /// Ports, by name.
    pub ports: Vec<Port>,
    /// Cells and instances.
    pub cells: Vec<Cell>,
    /// Bits that are connected.
    pub connected: Vec<(Bit, Bit)>,
}

impl Module {
    /// Number of nets.
    pub fn nets(&self) -> u32 {
        self.wires.last().map_or(0, |wire| wire.nets().end)
    }

    /// The wire of a net.
    pub fn wire(&self, net: u32) -> &Wire {
        &self.wires[self.wires.partition_point(|wire| wire.first <= net) - 1]
    }

    /// A name of a net.
    pub fn name(&self, net: u32) -> String {
        let wire = self.wire(net);
        wire.bit(net - wire.first)
    }

    /// Nets that are the same.
    pub fn same(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.connected.iter().filter_map(|(a, b)| Some((a.net()?, b.net()?)))
    }
}

/// All modules, by their key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Modules {
    pub(in crate::synth) all: BTreeMap<String, Module>,
}

impl Modules {
    /// The module of a key; none for the cells of Yosys itself.
    pub(in crate::synth) fn get(&self, key: &str) -> Option<&Module> {
        self.all.get(key)
    }

    /// Key of the module of a name in the source; of several, the first.
    pub(in crate::synth) fn key(&self, name: &str) -> Result<&str> {
        let found = self.all.keys().find(|key| source_name(key) == name);
        Ok(found.with_context(|| format!("Yosys' netlist has no module {name}"))?)
    }
}

/// Name in the source: of `$paramod$0123abcd\meshkv_pad_row`, `$paramod\meshkv_dsp\SOURCE=s32'0` or `meshkv_core`.
pub fn source_name(key: &str) -> &str {
    key.split('\\').nth(1).unwrap_or(key)
}
