//! The top as a component in IP-XACT (IEEE 1685-2022), `ipxact/meshkv_top.xml`: bus interfaces, registers, ports, files.
//!
//! It has no parameters: the generator has set them all.

use super::fusesoc::{identifier, CONSTRAINTS};
use super::register_map::{arguments, registers};
use crate::design::device::registers::ADDRESS_BITS;
use crate::design::Design;
use crate::emit::rtl::spec::module::{Dir, ModuleSpec, PortSpec};
use crate::emit::rtl::spec::names::TOP;
use crate::emit::rtl::Block;
use crate::emit::source_file::SourceFile;
use crate::emit::templates::Templates;
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::sync::LazyLock;
use tera::Context;

const TEMPLATE: [(&str, &str); 1] =
    [("component.xml", include_str!("../../../templates/ecosystem/component.xml.tera"))];

/// AXI4 and AXI4-Lite interfaces share the network's clock and reset.
const CLOCK: &str = "ap_clk";
const RESET: &str = "ap_rst_n";

/// A pair of a logical port of a bus and the port of the top.
#[derive(Debug, Serialize)]
struct PortMap {
    logical: String,
    physical: String,
}

/// A bus interface of the top.
#[derive(Debug, Serialize)]
struct Bus {
    name: String,
    doc: String,
    /// Bus and abstraction as `vendor`, `library`, `name`, `version`.
    vendor: &'static str,
    library: &'static str,
    kind: &'static str,
    abstraction: String,
    version: &'static str,
    is_initiator: bool,
    /// True if addresses pass: a target has a memory map, an initiator an address space.
    is_addressed: bool,
    maps: Vec<PortMap>,
    /// Names and values.
    parameters: Vec<[String; 2]>,
}

/// A port of the top.
#[derive(Debug, Serialize)]
struct Port {
    name: String,
    doc: String,
    direction: &'static str,
    /// Highest bit of a vector; none for a scalar.
    left: Option<u32>,
    qualifier: &'static str,
}

pub(super) fn emit(design: &Design, modules: &[ModuleSpec]) -> Result<SourceFile> {
    static PARSED: LazyLock<Templates> = LazyLock::new(|| Templates::parse(TEMPLATE));
    let top = modules.iter().find(|m| m.name == TOP).expect("every design has a top");
    let mut context = Context::new();
    context.insert("name", &design.name);
    context.insert("component", &identifier(&design.name));
    context.insert("version", env!("CARGO_PKG_VERSION"));
    context.insert("top", TOP);
    context.insert("buses", &buses(top));
    context.insert("ports", &top.ports.iter().map(port).collect::<Vec<_>>());
    context.insert("bytes", &(1 << ADDRESS_BITS));
    context.insert("arguments", &arguments(design));
    context.insert("registers", &registers(design));
    let of_top = modules.iter().filter(|m| m.block != Block::Board);
    context.insert("sources", &of_top.map(ModuleSpec::path).collect::<Vec<_>>());
    context.insert("constraints", &CONSTRAINTS);
    let text = PARSED.render(TEMPLATE[0].0, &context).context("template component.xml")?;
    Ok(SourceFile { path: format!("ipxact/{TOP}.xml"), text })
}

fn port(port: &PortSpec) -> Port {
    Port {
        name: port.name.clone(),
        doc: port.doc.clone(),
        direction: match port.dir {
            Dir::Input => "in",
            Dir::Output => "out",
        },
        left: Some(port.width.bits - 1).filter(|_| port.width.expr != "1"),
        qualifier: match signal(&port.name) {
            Some(("clock", _)) => "isClock",
            Some(("reset", _)) => "isReset",
            Some(_) => "isInterrupt",
            None => "",
        },
    }
}

/// Kind of an interface of a single wire, and its logical port.
fn signal(port: &str) -> Option<(&'static str, &'static str)> {
    match port {
        "interrupt" => Some(("interrupt", "INTERRUPT")),
        _ if port.starts_with("ap_clk") => Some(("clock", "CLK")),
        _ if port.starts_with("ap_rst_n") => Some(("reset", "RST")),
        _ => None,
    }
}

/// Interfaces in the order of their first ports; every port is of one.
fn buses(top: &ModuleSpec) -> Vec<Bus> {
    let mut buses: Vec<Bus> = Vec::new();
    let mut group = "";
    for port in &top.ports {
        if !port.group.is_empty() {
            group = &port.group;
        }
        if let Some((kind, logical)) = signal(&port.name) {
            buses.push(wire(port, group, kind, logical));
            continue;
        }
        let (bus, logical) = port.name.rsplit_once('_').expect("a port of a bus has its prefix");
        if buses.last().is_none_or(|last| last.name != bus) {
            buses.push(axi(bus, group));
        }
        let map = PortMap { logical: logical.to_uppercase(), physical: port.name.clone() };
        buses.last_mut().expect("it was pushed").maps.push(map);
    }
    let axi: Vec<_> = buses.iter().filter(|b| b.is_addressed).map(|b| b.name.clone()).collect();
    let clock = buses.iter_mut().find(|b| b.name == CLOCK).expect("the top has a clock");
    clock.parameters.insert(0, ["ASSOCIATED_BUSIF".to_owned(), axi.join(":")]);
    buses
}

/// An interface of one wire, of the kinds that Vivado has.
fn wire(port: &PortSpec, doc: &str, kind: &'static str, logical: &'static str) -> Bus {
    let parameter = |name: &str, value: &str| [name.to_owned(), value.to_owned()];
    let parameters = match kind {
        "clock" => vec![parameter("ASSOCIATED_RESET", &port.name.replace("clk", "rst_n"))],
        "reset" => vec![parameter("POLARITY", "ACTIVE_LOW")],
        _ => vec![parameter("SENSITIVITY", "LEVEL_HIGH")],
    };
    Bus {
        name: port.name.clone(),
        doc: doc.to_owned(),
        vendor: "xilinx.com",
        library: "signal",
        kind,
        abstraction: format!("{kind}_rtl"),
        version: "1.0",
        is_initiator: port.dir == Dir::Output,
        is_addressed: false,
        maps: vec![PortMap { logical: logical.to_owned(), physical: port.name.clone() }],
        parameters,
    }
}

/// An interface of AXI4 or AXI4-Lite, without its own ports.
fn axi(bus: &str, doc: &str) -> Bus {
    let is_initiator = bus.starts_with("m_");
    let kind = if is_initiator { "AXI4" } else { "AXI4Lite" };
    let common = [("ACLK", CLOCK), ("ARESETn", RESET)];
    Bus {
        name: bus.to_owned(),
        doc: doc.to_owned(),
        vendor: "amba.com",
        library: "AMBA4",
        kind,
        abstraction: format!("{kind}_rtl"),
        version: "r0p0_0",
        is_initiator,
        is_addressed: true,
        maps: common.map(|(l, p)| PortMap { logical: l.to_owned(), physical: p.to_owned() }).into(),
        parameters: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::emit::modules;
    use std::collections::BTreeMap;

    #[test]
    fn every_port_is_in_one_interface_besides_the_clock_and_reset_of_the_buses() {
        let modules = modules(&Design::from_config("test", &Config::default()).unwrap());
        let top = modules.iter().find(|m| m.name == TOP).unwrap();
        let buses = buses(top);
        let axi = buses.iter().filter(|b| b.is_addressed).count();
        let mut mapped: BTreeMap<&str, usize> = BTreeMap::new();
        for map in buses.iter().flat_map(|b| &b.maps) {
            *mapped.entry(&map.physical).or_default() += 1;
        }
        for port in &top.ports {
            let times = if [CLOCK, RESET].contains(&port.name.as_str()) { axi + 1 } else { 1 };
            assert_eq!(mapped[port.name.as_str()], times, "{}", port.name);
        }
        let names: Vec<_> = buses.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(
            names[..6],
            ["ap_clk", "ap_rst_n", "ap_clk_2", "ap_rst_n_2", "interrupt", "s_axi_control"]
        );
        assert_eq!(names.last(), Some(&"m_axi_io"));
    }
}
