//! A netlist of Yosys (RTLIL), reduced to objects that constraints name: modules with their ports, registers and
//! instances. Each module appears once, however often it is instantiated.
//!
//! An object that flattening moved into another module has the path from there in its name, as Vivado writes it:
//! `u_requester/count_q`.

use anyhow::{bail, Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// A vector of bits with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bits {
    /// Name in the source, prefixed by its generate blocks and by the instances that were dissolved around it.
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
    /// True if its source says that its instances keep their hierarchy.
    pub kept: bool,
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

/// Attributes of the next object.
#[derive(Default)]
struct Attributes {
    async_reg: bool,
    keep_hierarchy: bool,
    /// Path of an object that flattening moved.
    moved_from: Option<String>,
}

impl Attributes {
    /// `\\async_reg "true"`, `\\hdlname "u_fifo u_write gray_q"`.
    fn add(&mut self, attribute: &str) {
        let (name, value) = attribute.split_once(' ').unwrap_or((attribute, ""));
        match name {
            "\\async_reg" => self.async_reg = true,
            "\\keep_hierarchy" => self.keep_hierarchy = true,
            "\\hdlname" => self.moved_from = Some(value.trim_matches('"').replace(' ', "/")),
            _ => (),
        }
    }
}

/// A wire while its module is read.
#[derive(Default)]
struct Wire {
    name: String,
    width: u32,
    first: u32,
    port: bool,
    async_reg: bool,
}

impl Netlist {
    /// Reads the output of `write_rtlil` after `hierarchy; proc`, and perhaps `flatten`.
    ///
    /// # Errors
    /// When the text is cut short.
    pub fn parse(rtlil: &str) -> Result<Netlist> {
        let mut netlist = Netlist::default();
        let mut attributes = Attributes::default();
        let mut lines = rtlil.lines();
        while let Some(line) = lines.next() {
            if let Some(attribute) = line.strip_prefix("attribute ") {
                attributes.add(attribute);
            } else if let Some(key) = line.strip_prefix("module ") {
                let mut module = read_module(key, &mut lines).with_context(|| format!("module {key}"))?;
                module.kept = std::mem::take(&mut attributes).keep_hierarchy;
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

    /// The key of the module of a name in the source; of several, the first.
    fn key(&self, name: &str) -> Result<&str> {
        let found = self.modules.iter().find(|(_, module)| module.name == name);
        Ok(found.with_context(|| format!("Yosys' netlist has no module {name}"))?.0)
    }

    /// The instances whose every occurrence below `top` is among `paths`, each with the key of the module around it.
    ///
    /// # Errors
    /// When there is no such module.
    pub fn always_among(&self, top: &str, paths: &BTreeSet<&str>) -> Result<BTreeSet<(&str, &str)>> {
        let mut always = BTreeMap::new();
        let mut levels = vec![(self.key(top)?, String::new())];
        while let Some((key, path)) = levels.pop() {
            for (name, child) in &self.modules[key].instances {
                let path = format!("{path}{name}");
                *always.entry((key, name.as_str())).or_insert(true) &= paths.contains(path.as_str());
                levels.push((child, path + "/"));
            }
        }
        Ok(always.into_iter().filter_map(|(instance, here)| here.then_some(instance)).collect())
    }

    /// The netlist as commands of `sim/vivado/netlist.tcl`, and the number of the module `top`. The numbers of
    /// its modules begin with `prefix`.
    ///
    /// # Errors
    /// When there is no such module.
    pub fn to_tcl(&self, top: &str, prefix: &str) -> Result<(String, String)> {
        let number: BTreeMap<_, _> = self
            .modules
            .keys()
            .map(String::as_str)
            .zip((1..).map(|n: usize| format!("{prefix}{n}")))
            .collect();
        let top = self.key(top)?;
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
                .map(|(name, key)| format!("{{{{{name}}} {}}}", number[key.as_str()]))
                .collect();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "netlist::module {} {} {{{}}} {{{}}} {{{}}}",
                number[key.as_str()],
                module.name,
                ports.join(" "),
                registers.join(" "),
                instances.join(" ")
            );
        }
        Ok((text, number[top].clone()))
    }
}

fn read_module<'a>(key: &str, lines: &mut impl Iterator<Item = &'a str>) -> Result<Module> {
    let mut module = Module { name: source_name(key), ..Module::default() };
    let mut wires: BTreeMap<&str, Wire> = BTreeMap::new();
    let mut registers = BTreeSet::new();
    let mut attributes = Attributes::default();
    loop {
        let Some(line) = lines.next() else { bail!("the netlist ends within it") };
        let line = line.trim_start();
        if line == "end" {
            break;
        } else if let Some(attribute) = line.strip_prefix("attribute ") {
            attributes.add(attribute);
        } else if let Some(wire) = line.strip_prefix("wire ") {
            read_wire(wire, std::mem::take(&mut attributes), &mut wires);
        } else if let Some(cell) = line.strip_prefix("cell ") {
            let moved_from = std::mem::take(&mut attributes).moved_from;
            read_cell(cell, moved_from, lines, &mut module, &mut registers)?;
        } else if line.starts_with("process ") {
            bail!("it has a process: `proc` was not run");
        } else {
            attributes = Attributes::default();
        }
    }
    for (name, wire) in wires {
        let Wire { width, first, async_reg, .. } = wire;
        let bits = Bits { name: wire.name, width, first, async_reg };
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
fn read_wire<'a>(line: &'a str, attributes: Attributes, wires: &mut BTreeMap<&'a str, Wire>) {
    let words: Vec<_> = line.split(' ').collect();
    let Some(name) = words.last().and_then(|name| name.strip_prefix('\\')) else { return };
    let after = |what: &str| {
        words.iter().position(|w| *w == what).and_then(|at| words.get(at + 1)).and_then(|n| n.parse().ok())
    };
    let port = ["input", "output", "inout"].iter().any(|kind| words.contains(kind));
    wires.insert(
        name,
        Wire {
            name: attributes.moved_from.unwrap_or_else(|| name.to_owned()),
            width: after("width").unwrap_or(1),
            first: after("offset").unwrap_or(0),
            port,
            async_reg: attributes.async_reg,
        },
    );
}

fn read_cell<'a>(
    line: &'a str,
    moved_from: Option<String>,
    lines: &mut impl Iterator<Item = &'a str>,
    module: &mut Module,
    registers: &mut BTreeSet<&'a str>,
) -> Result<()> {
    let (kind, name) = line.split_once(' ').context("a cell without a name")?;
    let flip_flop = kind.starts_with('$') && kind.contains("dff");
    if let Some(name) = name.strip_prefix('\\') {
        module.instances.push((moved_from.unwrap_or_else(|| name.to_owned()), kind.to_owned()));
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
    use crate::synth::lint::graph::netlist::*;

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
        let (tcl, number) = netlist.to_tcl("top", "e").unwrap();
        assert!(
            tcl.contains(&format!(
                "netlist::module {number} top {{{{{{clk}} 1}}}} {{}} {{{{{{gen_x[3].u_sub}} e1}}}}\n"
            )),
            "{tcl}"
        );
    }

    #[test]
    fn an_object_that_flattening_moved_has_the_path_in_its_name() {
        let moved = TEXT
            .replace("  wire width 3 offset 4 \\high_q\n", "  attribute \\hdlname \"u_a gen_b.u_c high_q\"\n  wire width 3 offset 4 \\u_a.gen_b.u_c.high_q\n")
            .replace("\\Q { \\high_q ", "\\Q { \\u_a.gen_b.u_c.high_q ")
            .replace("module \\top", "attribute \\keep_hierarchy \"yes\"\nmodule \\top")
            .replace("  cell $paramod", "  attribute \\hdlname \"u_d gen_x[3].u_sub\"\n  cell $paramod");
        let netlist = Netlist::parse(&moved).unwrap();
        let names: Vec<_> =
            netlist.module("sub").unwrap().registers.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names, ["first_q", "u_a/gen_b.u_c/high_q"]);
        let top = netlist.module("top").unwrap();
        assert_eq!((top.instances[0].0.as_str(), top.kept), ("u_d/gen_x[3].u_sub", true));
        assert!(!netlist.module("sub").unwrap().kept);
    }

    #[test]
    fn an_instance_counts_where_every_occurrence_of_it_is_named() {
        let twice = "module \\leaf\nend\nmodule \\sub\n  cell \\leaf \\u_leaf\n  end\nend\n\
                     module \\top\n  cell \\sub \\u_a\n  end\n  cell \\sub \\u_b\n  end\nend\n";
        let netlist = Netlist::parse(twice).unwrap();
        let always = |paths: &[&'static str]| {
            let among = netlist.always_among("top", &paths.iter().copied().collect()).unwrap();
            among.into_iter().map(|(_, name)| name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(always(&["u_a", "u_a/u_leaf"]), ["u_a"]);
        assert_eq!(always(&["u_a", "u_a/u_leaf", "u_b/u_leaf"]), ["u_leaf", "u_a"]);
    }

    #[test]
    fn a_netlist_that_is_cut_short_or_has_processes_is_an_error() {
        assert!(Netlist::parse(&TEXT[..TEXT.len() - 5]).is_err());
        assert!(Netlist::parse("module \\a\n  process $x\n  end\nend\n").is_err());
        assert!(Netlist::parse(TEXT).unwrap().to_tcl("nothing", "").is_err());
    }
}
