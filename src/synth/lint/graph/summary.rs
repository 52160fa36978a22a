//! Summary of a module at its ports: registers, logic, or a way through.

use crate::synth::lint::graph::connections::{Bit, Module, Modules, Same};
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
    drivers: BTreeMap<usize, Driver>,
    loads: BTreeMap<usize, Loads>,
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
        let mut same = Same::new(module.names.len());
        module.same.iter().for_each(|&(a, b)| same.join(a, b));
        let mut children = Vec::new();
        for (at, cell) in module.cells.iter().enumerate() {
            if self.modules.get(&cell.kind).is_some() {
                let summary = self.of(&cell.kind)?;
                let bits: BTreeMap<&str, &[Bit]> =
                    cell.ports.iter().map(|(n, b)| (n.as_str(), &b[..])).collect();
                let net = |(port, place): &(String, usize)| *bits.get(port.as_str())?.get(*place)?;
                for [a, b] in &summary.same {
                    if let (Some(a), Some(b)) = (net(a), net(b)) {
                        same.join(a, b);
                    }
                }
                children.push((at, summary));
            }
        }
        let mut ends = Ends::default();
        for cell in module.cells.iter().filter(|cell| self.modules.get(&cell.kind).is_none()) {
            ends.of_cell(&cell.kind, &cell.ports, &mut same, &module.names);
        }
        for (at, summary) in children {
            let cell = &module.cells[at];
            let bits: BTreeMap<&str, &[Bit]> = cell.ports.iter().map(|(n, b)| (n.as_str(), &b[..])).collect();
            let prefix = format!("{}/", cell.name);
            for (port, place, driver) in &summary.drivers {
                let Some(net) = bits.get(port.as_str()).and_then(|bits| *bits.get(*place)?) else { continue };
                ends.drivers.insert(same.root(net), driver.below(&prefix));
            }
            for (port, place, loads) in &summary.loads {
                let Some(net) = bits.get(port.as_str()).and_then(|bits| *bits.get(*place)?) else { continue };
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
    fn of_cell(&mut self, kind: &str, ports: &[(String, Vec<Bit>)], same: &mut Same, names: &[String]) {
        let width = ports.iter().find(|(port, _)| port == "Q").map_or(0, |(_, bits)| bits.len() as u32);
        for (port, bits) in ports {
            for net in bits.iter().flatten() {
                let (root, name) = (same.root(*net), &names[*net]);
                match role(kind, port) {
                    Role::Output => {
                        self.drivers.insert(root, Driver::Register(name.clone()));
                    }
                    Role::LogicOutput => {
                        self.drivers.insert(root, Driver::Logic(name.clone()));
                    }
                    Role::Data => self.loads.entry(root).or_default().data = Some(name.clone()),
                    Role::LogicInput => self.loads.entry(root).or_default().other = Some(name.clone()),
                    Role::Enable | Role::Reset => {
                        let loads = self.loads.entry(root).or_default();
                        loads.other = Some(name.clone());
                        match role(kind, port) {
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
        let ports: BTreeSet<usize> =
            module.ports.values().flat_map(|port| &port.nets).map(|net| same.root(*net)).collect();
        let within = self
            .loads
            .iter()
            .filter(|(root, loads)| loads.enabled + loads.reset > 0 && !ports.contains(root));
        let of = |(root, loads): (&usize, &Loads)| {
            let (net, driver) = (module.names[*root].clone(), self.drivers.get(root)?.clone());
            Some(Control { net, driver, enabled: loads.enabled, reset: loads.reset })
        };
        within.filter_map(of).collect()
    }

    fn at_ports(&self, module: &Module, same: &mut Same) -> Summary {
        let mut summary = Summary::default();
        let mut seen: BTreeMap<usize, (String, usize)> = BTreeMap::new();
        for (name, port) in &module.ports {
            for (place, net) in port.nets.iter().enumerate() {
                let root = same.root(*net);
                let here = (name.clone(), place);
                if let Some(first) = seen.get(&root) {
                    summary.same.push([first.clone(), here]);
                    continue;
                }
                seen.insert(root, here);
                if let Some(driver) = self.drivers.get(&root) {
                    summary.drivers.push((name.clone(), place, driver.clone()));
                }
                if let Some(loads) = self.loads.get(&root) {
                    summary.loads.push((name.clone(), place, loads.clone()));
                }
            }
        }
        summary
    }
}
