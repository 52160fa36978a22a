//! Summary of a module at its ports: registers, logic, or a way through.

use crate::synth::netlist::modules::{port, Cell, Module, Modules, Port};
use crate::synth::netlist::same::Same;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Driver of a net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::synth::lint) enum Driver {
    /// Output of a register.
    Register(String),
    /// Output of logic or a memory.
    Logic(String),
}

/// Loads of a net, except clocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::synth::lint) struct Loads {
    /// Data input of a register.
    pub(in crate::synth::lint) data: Option<String>,
    /// Anything else.
    pub(in crate::synth::lint) other: Option<String>,
    /// Bits of registers that it enables.
    pub(in crate::synth::lint) enabled: u32,
    /// Bits of registers that it resets.
    pub(in crate::synth::lint) reset: u32,
}

impl Loads {
    fn add(&mut self, more: &Loads, prefix: &str) {
        let named = |name: &Option<String>| name.as_ref().map(|name| format!("{prefix}{name}"));
        self.data = self.data.take().or_else(|| named(&more.data));
        self.other = self.other.take().or_else(|| named(&more.other));
        self.enabled += more.enabled;
        self.reset += more.reset;
    }
}

/// A module at its ports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::synth::lint) struct Summary {
    /// Drivers of output bits.
    pub(in crate::synth::lint) drivers: Vec<(String, usize, Driver)>,
    /// Loads of input bits.
    pub(in crate::synth::lint) loads: Vec<(String, usize, Loads)>,
    /// Port bits that are one net.
    pub(in crate::synth::lint) same: Vec<[(String, usize); 2]>,
    /// Enables and resets of much within it.
    pub(in crate::synth::lint) controls: Vec<Control>,
}

/// A net that enables or resets registers, and does not leave its module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::synth::lint) struct Control {
    pub(in crate::synth::lint) net: String,
    pub(in crate::synth::lint) driver: Driver,
    /// Bits of registers that it enables.
    pub(in crate::synth::lint) enabled: u32,
    /// Bits of registers that it resets.
    pub(in crate::synth::lint) reset: u32,
}

/// Role of a port of one of Yosys' internal cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::synth::lint) enum Role {
    /// Output of a register, its data input, its clock.
    Output,
    Data,
    Clock,
    /// Enable, or reset, of a register.
    Enable,
    Reset,
    /// Output, or input, of logic.
    LogicOutput,
    LogicInput,
}

/// Role of a port of a cell of Yosys.
pub(in crate::synth::lint) fn role(kind: &str, port: &str) -> Role {
    let register =
        kind.ends_with("dff") || kind.ends_with("dffe") || kind.ends_with("dffce") || kind == "$aldff";
    match (register, port) {
        (true, "Q") => Role::Output,
        (true, "D") => Role::Data,
        (true, "EN") => Role::Enable,
        (true, "SRST" | "ARST") => Role::Reset,
        (_, "CLK" | "RD_CLK" | "WR_CLK") => Role::Clock,
        (false, "Y" | "Q" | "RD_DATA" | "DATA_OUT") => Role::LogicOutput,
        (false, "DATA") if kind.starts_with("$memrd") => Role::LogicOutput,
        (_, _) => Role::LogicInput,
    }
}

/// Summaries of modules, each made once.
pub(in crate::synth::lint) struct Summaries<'a> {
    modules: &'a Modules,
    known: BTreeMap<String, Rc<Summary>>,
}

/// Drivers and loads of nets, by their number.
#[derive(Default)]
struct Ends {
    drivers: BTreeMap<u32, Driver>,
    loads: BTreeMap<u32, Loads>,
}

impl<'a> Summaries<'a> {
    pub(in crate::synth::lint) fn new(modules: &'a Modules) -> Summaries<'a> {
        Summaries { modules, known: BTreeMap::new() }
    }

    /// The summaries that were made, by the key of their module.
    pub(in crate::synth::lint) fn all(&self) -> impl Iterator<Item = (&str, &Summary)> {
        self.known.iter().map(|(key, summary)| (key.as_str(), &**summary))
    }

    /// The summary of a module.
    pub(in crate::synth::lint) fn of(&mut self, key: &str) -> Result<Rc<Summary>> {
        if let Some(known) = self.known.get(key) {
            return Ok(Rc::clone(known));
        }
        let module = self.modules.get(key).ok_or_else(|| anyhow::anyhow!("no module {key}"))?;
        let summary = Rc::new(self.make(module)?);
        self.known.insert(key.to_owned(), Rc::clone(&summary));
        Ok(summary)
    }

    fn make(&mut self, module: &Module) -> Result<Summary> {
        let mut same = Same::new(module.nets());
        module.same().for_each(|(a, b)| same.join(a, b));
        let mut children = Vec::new();
        for cell in module.cells.iter().filter(|cell| self.modules.get(&cell.kind).is_some()) {
            let summary = self.of(&cell.kind)?;
            for [a, b] in &summary.same {
                if let (Some(a), Some(b)) = (cell.net(&a.0, a.1), cell.net(&b.0, b.1)) {
                    same.join(a, b);
                }
            }
            children.push((cell, summary));
        }
        let mut ends = Ends::default();
        for cell in module.cells.iter().filter(|cell| self.modules.get(&cell.kind).is_none()) {
            ends.of_cell(cell, module, &mut same);
        }
        for (cell, summary) in children {
            let prefix = format!("{}/", cell.name);
            for (port, place, driver) in &summary.drivers {
                let Some(net) = cell.net(port, *place) else { continue };
                ends.drivers.insert(same.root(net), driver.below(&prefix));
            }
            for (port, place, loads) in &summary.loads {
                let Some(net) = cell.net(port, *place) else { continue };
                ends.loads.entry(same.root(net)).or_default().add(loads, &prefix);
            }
        }
        let mut summary = ends.at_ports(module, &mut same);
        summary.controls = ends.controls(module, &mut same);
        Ok(summary)
    }
}

impl Driver {
    /// The same driver, seen from outside an instance.
    pub(in crate::synth::lint) fn below(&self, prefix: &str) -> Driver {
        match self {
            Driver::Register(name) => Driver::Register(format!("{prefix}{name}")),
            Driver::Logic(name) => Driver::Logic(format!("{prefix}{name}")),
        }
    }
}

impl Ends {
    fn of_cell(&mut self, cell: &Cell, module: &Module, same: &mut Same) {
        let width = port(&cell.ports, "Q").map_or(0, |port| port.bits.len() as u32);
        for port in &cell.ports {
            let role = role(&cell.kind, &port.name);
            for net in port.nets() {
                let (root, name) = (same.root(net), module.name(net));
                match role {
                    Role::Output => {
                        self.drivers.insert(root, Driver::Register(name));
                    }
                    Role::LogicOutput => {
                        self.drivers.insert(root, Driver::Logic(name));
                    }
                    Role::Data => self.loads.entry(root).or_default().data = Some(name),
                    Role::LogicInput => self.loads.entry(root).or_default().other = Some(name),
                    Role::Enable | Role::Reset => {
                        let loads = self.loads.entry(root).or_default();
                        loads.other = Some(name);
                        match role {
                            Role::Enable => loads.enabled += width,
                            _ => loads.reset += width,
                        }
                    }
                    Role::Clock => (),
                }
            }
        }
    }

    /// Nets that stay within the module and enable or reset a register.
    fn controls(&self, module: &Module, same: &mut Same) -> Vec<Control> {
        let ports: BTreeSet<u32> =
            module.ports.iter().flat_map(Port::nets).map(|net| same.root(net)).collect();
        let within = self
            .loads
            .iter()
            .filter(|(root, loads)| loads.enabled + loads.reset > 0 && !ports.contains(root));
        let of = |(root, loads): (&u32, &Loads)| {
            let (net, driver) = (module.name(*root), self.drivers.get(root)?.clone());
            Some(Control { net, driver, enabled: loads.enabled, reset: loads.reset })
        };
        within.filter_map(of).collect()
    }

    fn at_ports(&self, module: &Module, same: &mut Same) -> Summary {
        let mut summary = Summary::default();
        let mut seen: BTreeMap<u32, (String, usize)> = BTreeMap::new();
        for port in &module.ports {
            for (place, net) in port.nets().enumerate() {
                let root = same.root(net);
                let here = (port.name.clone(), place);
                if let Some(first) = seen.get(&root) {
                    summary.same.push([first.clone(), here]);
                    continue;
                }
                seen.insert(root, here);
                if let Some(driver) = self.drivers.get(&root) {
                    summary.drivers.push((port.name.clone(), place, driver.clone()));
                }
                if let Some(loads) = self.loads.get(&root) {
                    summary.loads.push((port.name.clone(), place, loads.clone()));
                }
            }
        }
        summary
    }
}
