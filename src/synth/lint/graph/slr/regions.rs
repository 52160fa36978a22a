//! The nets between regions.

use crate::synth::lint::graph::slr::places::Places;
use crate::synth::lint::graph::summary::{role, Driver, Loads, Role, Summaries};
use crate::synth::netlist::modules::{net_at, Bit, Cell, Modules, Port};
use crate::synth::netlist::same::Same;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// Something at a net, in an SLR; without one it is between the instances that the floorplan places.
struct At<T> {
    slr: Option<u32>,
    what: T,
}

/// Drivers and loads of each net.
type Nets = BTreeMap<u32, (Vec<At<Driver>>, Vec<At<Loads>>)>;

/// A cell outside all regions.
struct Loose {
    nets: Vec<u32>,
    name: String,
}

/// The design taken apart as far as the floorplan goes.
struct Apart<'a> {
    modules: &'a Modules,
    places: &'a Places,
    summaries: Summaries<'a>,
    same: Same,
    names: Vec<String>,
    drivers: Vec<(u32, At<Driver>)>,
    loads: Vec<(u32, At<Loads>)>,
    loose: Vec<Loose>,
}

/// Where an instance is.
struct Here<'a> {
    path: &'a str,
    level: usize,
    slr: Option<u32>,
    open: Vec<usize>,
}

/// Checks every net between two SLRs; returns the findings, by net.
pub(super) fn crossings(modules: &Modules, top: &str, places: &Places) -> Result<Vec<String>> {
    let mut apart = Apart {
        modules,
        places,
        summaries: Summaries::new(modules),
        same: Same::default(),
        names: Vec::new(),
        drivers: Vec::new(),
        loads: Vec::new(),
        loose: Vec::new(),
    };
    let key = modules.key(top)?.to_owned();
    apart.take(&key, &[], &Here { path: "", level: 0, slr: None, open: places.at_top() })?;
    Ok(apart.found())
}

impl Apart<'_> {
    /// Takes an instance apart; `outer` are the nets at its ports.
    fn take(&mut self, key: &str, outer: &[Port], here: &Here) -> Result<()> {
        let modules = self.modules;
        let module = modules.get(key).ok_or_else(|| anyhow::anyhow!("no module {key}"))?;
        let first = self.same.add(module.nets());
        self.names.extend((0..module.nets()).map(|net| format!("{}{}", here.path, module.name(net))));
        for (a, b) in module.same() {
            self.same.join(first + a, first + b);
        }
        for port in &module.ports {
            for (place, net) in port.nets().enumerate() {
                if let Some(outer) = net_at(outer, &port.name, place) {
                    self.same.join(first + net, outer);
                }
            }
        }
        for cell in &module.cells {
            let mut cell = cell.clone();
            for bit in cell.ports.iter_mut().flat_map(|port| &mut port.bits) {
                *bit = bit.net().map_or(*bit, |net| Bit::Net(first + net));
            }
            if modules.get(&cell.kind).is_none() {
                self.own(&cell, here.slr);
                continue;
            }
            let (slr, open) = self.places.enter(&here.open, here.level, &cell.name);
            let (slr, path) = (slr.or(here.slr), format!("{}{}/", here.path, cell.name));
            // An instance in no region, or with parts in other regions, is taken apart.
            if slr.is_none() || !open.is_empty() {
                self.take(&cell.kind, &cell.ports, &Here { path: &path, level: here.level + 1, slr, open })?;
            } else {
                self.whole(&cell, &path, slr)?;
            }
        }
        Ok(())
    }

    /// Notes a cell of Yosys.
    fn own(&mut self, cell: &Cell, slr: Option<u32>) {
        let mut loose = Loose { nets: Vec::new(), name: String::new() };
        for port in &cell.ports {
            let role = role(&cell.kind, &port.name);
            for net in port.nets() {
                let name = self.names[net as usize].clone();
                match role {
                    Role::Clock => (),
                    Role::Output => self.drivers.push((net, At { slr, what: Driver::Register(name) })),
                    Role::LogicOutput if slr.is_none() => loose.nets.push(net),
                    Role::LogicInput | Role::Enable | Role::Reset if slr.is_none() => loose.nets.push(net),
                    Role::LogicOutput => self.drivers.push((net, At { slr, what: Driver::Logic(name) })),
                    Role::Data => {
                        self.loads
                            .push((net, At { slr, what: Loads { data: Some(name), ..Loads::default() } }));
                    }
                    Role::LogicInput | Role::Enable | Role::Reset => {
                        self.loads
                            .push((net, At { slr, what: Loads { other: Some(name), ..Loads::default() } }));
                    }
                }
                if role == Role::LogicOutput {
                    loose.name.clone_from(&self.names[net as usize]);
                }
            }
        }
        if !loose.nets.is_empty() {
            self.loose.push(loose);
        }
    }

    /// Notes an instance that is in one region.
    fn whole(&mut self, cell: &Cell, path: &str, slr: Option<u32>) -> Result<()> {
        let summary = self.summaries.of(&cell.kind)?;
        for [a, b] in &summary.same {
            if let (Some(a), Some(b)) = (cell.net(&a.0, a.1), cell.net(&b.0, b.1)) {
                self.same.join(a, b);
            }
        }
        for (port, place, driver) in &summary.drivers {
            if let Some(net) = cell.net(port, *place) {
                self.drivers.push((net, At { slr, what: driver.below(path) }));
            }
        }
        for (port, place, loads) in &summary.loads {
            if let Some(net) = cell.net(port, *place) {
                let named = |name: &Option<String>| name.as_ref().map(|name| format!("{path}{name}"));
                let what = Loads { data: named(&loads.data), other: named(&loads.other), ..Loads::default() };
                self.loads.push((net, At { slr, what }));
            }
        }
        Ok(())
    }

    /// The findings, sorted.
    fn found(mut self) -> Vec<String> {
        let mut nets = Nets::new();
        for (net, driver) in std::mem::take(&mut self.drivers) {
            nets.entry(self.same.root(net)).or_default().0.push(driver);
        }
        for (net, loads) in std::mem::take(&mut self.loads) {
            nets.entry(self.same.root(net)).or_default().1.push(loads);
        }
        let mut found = BTreeSet::new();
        for (net, (drivers, loads)) in &nets {
            for driver in drivers {
                for load in loads.iter().filter(|load| load.slr.is_some() && driver.slr.is_some()) {
                    if load.slr != driver.slr {
                        found.extend(wrong(&self.names[*net as usize], driver, load));
                    }
                }
            }
        }
        found.extend(self.between(&nets));
        found.into_iter().collect()
    }

    /// Logic outside all regions whose nets lead to more than one.
    fn between(&mut self, nets: &Nets) -> Vec<String> {
        let mut groups = self.same.clone();
        for loose in &self.loose {
            loose.nets.windows(2).for_each(|pair| groups.join(pair[0], pair[1]));
        }
        let mut slrs: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (net, (drivers, loads)) in nets {
            let all = drivers.iter().map(|d| d.slr).chain(loads.iter().map(|l| l.slr));
            slrs.entry(groups.root(*net)).or_default().extend(all.flatten());
        }
        let mut found = Vec::new();
        for loose in &self.loose {
            let here = slrs.get(&groups.root(loose.nets[0]));
            if let Some(here) = here.filter(|here| here.len() > 1) {
                found.push(format!(
                    "net {}: logic in no region is between {}",
                    loose.name,
                    here.iter().map(|slr| format!("SLR{slr}")).collect::<Vec<_>>().join(" and ")
                ));
            }
        }
        found
    }
}

/// Finding about a net between two SLRs, if it has a fault.
fn wrong(net: &str, driver: &At<Driver>, load: &At<Loads>) -> Option<String> {
    let (from, to) = (driver.slr?, load.slr?);
    let of = |text: String| Some(format!("net {net} crosses from SLR{from} to SLR{to}: {text}"));
    match (&driver.what, &load.what.other) {
        (Driver::Logic(name), _) => of(format!("{name} is logic, not a register")),
        (Driver::Register(_), Some(name)) => of(format!("{name} is not the data input of a register")),
        (Driver::Register(_), None) => None,
    }
}
