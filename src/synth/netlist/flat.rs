//! One flat module, whose aliases are one net: its cells with pins and parameters, its ports, and names of nets.

use crate::synth::netlist::modules::{port, Bit, Cell, Module, Modules, Port, Wire};
use crate::synth::netlist::same::Same;
use anyhow::{Context as _, Result};
use std::collections::HashMap;

/// The cells of one flat module.
pub struct Netlist {
    pub(in crate::synth) cells: Vec<Cell>,
    pub(in crate::synth) ports: Vec<Port>,
    pub(in crate::synth) names: HashMap<u32, String>,
}

impl Netlist {
    /// Reads module `top` of the output of `write_rtlil`, which has all modules of the library as well.
    ///
    /// # Errors
    /// When the text is no such netlist.
    pub fn parse(text: &str, top: &str) -> Result<Netlist> {
        let mut modules = Modules::parse(text)?;
        let module = modules.all.remove(top).with_context(|| format!("the netlist has no module {top}"))?;
        let mut bits = Bits::of(&module);
        let Module { mut ports, mut cells, wires, .. } = module;
        bits.number(&mut ports);
        cells.retain(|cell| cell.kind != "$scopeinfo");
        cells.sort_by(|a, b| a.name.cmp(&b.name));
        for cell in &mut cells {
            bits.number(&mut cell.ports);
            let Some(library) = modules.get(&cell.kind) else { continue };
            for pin in &mut cell.ports {
                pin.output = port(&library.ports, &pin.name).is_some_and(|port| port.output);
            }
        }
        Ok(Netlist { cells, ports, names: bits.names(&wires) })
    }

    /// Number of nets: every net is below it.
    pub(in crate::synth) fn nets(&self) -> usize {
        let nets = self.cells.iter().flat_map(|cell| &cell.ports).chain(&self.ports).flat_map(Port::nets);
        nets.max().map_or(0, |net| net as usize + 1)
    }

    /// Name of a net in the sources; none for nets that synthesis made.
    pub(in crate::synth) fn name(&self, net: u32) -> Option<&str> {
        self.names.get(&net).map(String::as_str)
    }
}

/// New numbers of nets: aliases have one, or are a constant.
struct Bits {
    same: Same,
    /// The bit of all nets of a set, by the net that represents them.
    known: HashMap<u32, Bit>,
    nets: u32,
}

impl Bits {
    fn of(module: &Module) -> Bits {
        let mut same = Same::new(module.nets());
        module.same().for_each(|(a, b)| same.join(a, b));
        let mut known = HashMap::new();
        for (a, b) in &module.connected {
            if let (Bit::Net(net), constant @ Bit::Constant(_)) = (a, b) {
                known.insert(same.root(*net), *constant);
            }
        }
        Bits { same, known, nets: 0 }
    }

    /// Numbers the bits of ports.
    fn number(&mut self, ports: &mut [Port]) {
        for bit in ports.iter_mut().flat_map(|port| &mut port.bits) {
            let Bit::Net(net) = bit else { continue };
            let new = Bit::Net(self.nets);
            let known = *self.known.entry(self.same.root(*net)).or_insert(new);
            self.nets += u32::from(known == new);
            *bit = known;
        }
    }

    /// One name for each net: the shortest of those in the sources, and of equal lengths the first by letters.
    fn names(&mut self, wires: &[Wire]) -> HashMap<u32, String> {
        let mut best: HashMap<u32, (&Wire, u32)> = HashMap::new();
        for wire in wires.iter().filter(|wire| !wire.name.starts_with('$')) {
            for (place, net) in wire.nets().enumerate() {
                let Some(Bit::Net(net)) = self.known.get(&self.same.root(net)) else { continue };
                let here = (wire, place as u32);
                let entry = best.entry(*net).or_insert(here);
                if (wire.name.len(), &wire.name) < (entry.0.name.len(), &entry.0.name) {
                    *entry = here;
                }
            }
        }
        best.into_iter().map(|(net, (wire, place))| (net, wire.bit(place))).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::synth::netlist::flat::*;

    #[test]
    fn aliases_are_one_net_with_the_shortest_name_of_the_sources() {
        let text = "module \\LUT2\n  wire input 1 \\I0\n  wire input 2 \\I1\n  wire output 3 \\O\nend\n\
                    module \\m\n  wire output 1 \\zero\n  wire output 2 \\y\n  wire $auto$1\n  wire width 2 \\u_a.deep.name\n  \
                    wire \\u_a.q\n  cell \\LUT2 $lut\n    connect \\I0 $auto$1\n    connect \\I1 \\u_a.deep.name [1]\n    \
                    connect \\O \\y\n  end\n  connect \\u_a.q $auto$1\n  connect \\u_a.deep.name [0] \\u_a.q\n  \
                    connect \\zero 1'0\nend\n";
        let netlist = Netlist::parse(text, "m").unwrap();
        let cell = &netlist.cells[0];
        let name = |port: &str| netlist.name(cell.net(port, 0)?);
        assert_eq!((name("I0"), name("I1"), name("O")), (Some("u_a.q"), Some("u_a.deep.name[1]"), Some("y")));
        assert_eq!(cell.outputs().map(|port| port.name.as_str()).collect::<Vec<_>>(), ["O"]);
        assert_eq!((netlist.nets(), port(&netlist.ports, "zero").unwrap().bits[0]), (3, Bit::Constant('0')));
        assert!(Netlist::parse("", "m").is_err());
    }
}
