//! The elaborated netlist of Yosys (RTLIL), reduced to objects that constraints name: modules with their
//! ports, registers and instances. Each module appears once, however often it is instantiated.

use anyhow::{bail, Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A vector of bits with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    /// Name in the source, prefixed by its generate blocks.
    pub name: String,
    /// Bits.
    pub width: u32,
    /// Number of the lowest.
    pub first: u32,
    /// True if it is marked as a register that samples bits of another clock.
    pub async_reg: bool,
}

/// A module after elaboration: one set of parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// Name in the source.
    pub name: String,
    /// Ports.
    pub ports: Vec<Bits>,
    /// Registers.
    pub registers: Vec<Bits>,
    /// Instances with the key of their module.
    pub instances: Vec<(String, String)>,
}

/// All modules by their Yosys key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Netlist {
    modules: BTreeMap<String, Module>,
}

/// A wire while its module is read.
#[derive(Default)]
struct Wire {
    width: u32,
    first: u32,
    port: bool,
    async_reg: bool,
}

impl Netlist {
    /// Reads the output of `write_rtlil` after `hierarchy; proc`.
    ///
    /// # Errors
    /// When the text is cut short.
    pub fn parse(rtlil: &str) -> Result<Netlist> {
        let mut netlist = Netlist::default();
        let mut lines = rtlil.lines();
        while let Some(line) = lines.next() {
            if let Some(key) = line.strip_prefix("module ") {
                let module = read_module(key, &mut lines).with_context(|| format!("module {key}"))?;
                netlist.modules.insert(key.to_owned(), module);
            }
        }
        let known: BTreeSet<_> = netlist.modules.keys().cloned().collect();
        for module in netlist.modules.values_mut() {
            // Internal cells of Yosys are no instances of the design.
            module.instances.retain(|(_, key)| known.contains(key));
        }
        Ok(netlist)
    }

    /// The module of a name in the source; of several, the first.
    pub fn module(&self, name: &str) -> Option<&Module> {
        self.modules.values().find(|module| module.name == name)
    }

    /// The netlist as commands of `sim/vivado/netlist.tcl`, and the number of the module `top`.
    ///
    /// # Errors
    /// When there is no such module.
    pub fn to_tcl(&self, top: &str) -> Result<(String, usize)> {
        let number: BTreeMap<_, _> = self.modules.keys().zip(1..).collect();
        let top = self
            .modules
            .iter()
            .find(|(_, module)| module.name == top)
            .with_context(|| format!("Yosys' netlist has no module {top}"))?;
        let mut text = String::new();
        for (key, module) in &self.modules {
            let ports: Vec<_> =
                module.ports.iter().map(|p| format!("{{{{{}}} {}}}", p.name, p.width)).collect();
            let registers: Vec<_> = module
                .registers
                .iter()
                .map(|r| format!("{{{{{}}} {} {} {}}}", r.name, r.width, r.first, u8::from(r.async_reg)))
                .collect();
            let instances: Vec<_> = module
                .instances
                .iter()
                .map(|(name, key)| format!("{{{{{name}}} {}}}", number[key]))
                .collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "netlist::module {} {} {{{}}} {{{}}} {{{}}}",
                number[key],
                module.name,
                ports.join(" "),
                registers.join(" "),
                instances.join(" ")
            );
        }
        Ok((text, number[top.0]))
    }
}

fn read_module<'a>(key: &str, lines: &mut impl Iterator<Item = &'a str>) -> Result<Module> {
    let mut module = Module { name: source_name(key), ..Module::default() };
    let mut wires: BTreeMap<&str, Wire> = BTreeMap::new();
    let mut registers = BTreeSet::new();
    let mut async_reg = false;
    loop {
        let Some(line) = lines.next() else { bail!("the netlist ends within it") };
        let line = line.trim_start();
        if line == "end" {
            break;
        } else if let Some(attribute) = line.strip_prefix("attribute ") {
            async_reg |= attribute.starts_with("\\async_reg");
        } else if let Some(wire) = line.strip_prefix("wire ") {
            read_wire(wire, std::mem::take(&mut async_reg), &mut wires);
        } else if let Some(cell) = line.strip_prefix("cell ") {
            async_reg = false;
            read_cell(cell, lines, &mut module, &mut registers)?;
        } else if line.starts_with("process ") {
            bail!("it has a process: `proc` was not run");
        }
    }
    for (name, wire) in wires {
        let bits =
            Bits { name: name.to_owned(), width: wire.width, first: wire.first, async_reg: wire.async_reg };
        if registers.contains(name) {
            module.registers.push(bits.clone());
        }
        if wire.port {
            module.ports.push(bits);
        }
    }
    Ok(module)
}

/// `$paramod$0123abcd\meshkv_pad_row` or `$paramod\meshkv_dsp\SOURCE=s32'0` or `\meshkv_core`.
fn source_name(key: &str) -> String {
    key.split('\\').nth(1).unwrap_or(key).to_owned()
}

/// `width 5 offset 2 output 4 \m_data`.
fn read_wire<'a>(line: &'a str, async_reg: bool, wires: &mut BTreeMap<&'a str, Wire>) {
    let words: Vec<_> = line.split(' ').collect();
    let Some(name) = words.last().and_then(|name| name.strip_prefix('\\')) else { return };
    let after = |what: &str| {
        words.iter().position(|w| *w == what).and_then(|at| words.get(at + 1)).and_then(|n| n.parse().ok())
    };
    let port = ["input", "output", "inout"].iter().any(|kind| words.contains(kind));
    wires.insert(
        name,
        Wire { width: after("width").unwrap_or(1), first: after("offset").unwrap_or(0), port, async_reg },
    );
}

fn read_cell<'a>(
    line: &'a str,
    lines: &mut impl Iterator<Item = &'a str>,
    module: &mut Module,
    registers: &mut BTreeSet<&'a str>,
) -> Result<()> {
    let (kind, name) = line.split_once(' ').context("a cell without a name")?;
    let flip_flop = kind.starts_with('$') && kind.contains("dff");
    if let Some(name) = name.strip_prefix('\\') {
        module.instances.push((name.to_owned(), kind.to_owned()));
    }
    for line in lines.by_ref() {
        let line = line.trim_start();
        if line == "end" {
            return Ok(());
        }
        if let (true, Some(q)) = (flip_flop, line.strip_prefix("connect \\Q ")) {
            // One name with or without a range, or several in braces.
            registers.extend(q.split(' ').filter_map(|word| word.strip_prefix('\\')));
        }
    }
    bail!("the netlist ends within cell {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
# Generated by Yosys
attribute \\src \"a.v:1\"
module $paramod\\sub\\WIDTH=s32'00000000000000000000000000000010
  parameter \\WIDTH 2
  wire width 2 $0\\first_q[1:0]
  attribute \\src \"a.v:2\"
  wire input 1 \\clk
  attribute \\async_reg \"true\"
  wire width 2 \\first_q
  wire width 3 offset 4 \\high_q
  wire width 2 output 2 \\m_data
  cell $dff $procdff$1
    parameter \\WIDTH 5
    connect \\CLK \\clk
    connect \\D $0\\first_q[1:0]
    connect \\Q { \\high_q [5:4] \\first_q }
  end
  connect \\m_data \\first_q
end
module \\top
  wire input 1 \\clk
  cell $paramod\\sub\\WIDTH=s32'00000000000000000000000000000010 \\gen_x[3].u_sub
    connect \\clk \\clk
  end
  cell $and $and$a.v:1$2
    connect \\Y \\y
  end
end
";

    #[test]
    fn registers_ports_and_instances_are_named_as_in_the_source() {
        let netlist = Netlist::parse(TEXT).unwrap();
        let sub = netlist.module("sub").unwrap();
        let bits =
            |name: &str, width, first, async_reg| Bits { name: name.to_owned(), width, first, async_reg };
        assert_eq!(sub.registers, [bits("first_q", 2, 0, true), bits("high_q", 3, 4, false)]);
        assert_eq!(sub.ports, [bits("clk", 1, 0, false), bits("m_data", 2, 0, false)]);
        let top = netlist.module("top").unwrap();
        assert_eq!(top.instances.len(), 1);
        assert_eq!(top.instances[0].0, "gen_x[3].u_sub");
        let (tcl, number) = netlist.to_tcl("top").unwrap();
        assert!(
            tcl.contains(&format!(
                "netlist::module {number} top {{{{{{clk}} 1}}}} {{}} {{{{{{gen_x[3].u_sub}} 1}}}}\n"
            )),
            "{tcl}"
        );
    }

    #[test]
    fn a_netlist_that_is_cut_short_or_has_processes_is_an_error() {
        assert!(Netlist::parse(&TEXT[..TEXT.len() - 5]).is_err());
        assert!(Netlist::parse("module \\a\n  process $x\n  end\nend\n").is_err());
        assert!(Netlist::parse(TEXT).unwrap().to_tcl("nothing").is_err());
    }
}
