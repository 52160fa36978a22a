//! The description of a Verilog module without its body: purpose, parameters, ports.
//!
//! One description serves the header of the emitted file and the emitted documentation,
//! so the two cannot differ.

use crate::emit::rtl::block::Block;
use serde::Serialize;

/// Direction of a port, seen from the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dir {
    /// Driven from outside.
    Input,
    /// Driven by the module.
    Output,
}

/// Width of a port, as written and as configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Width {
    /// Verilog expression over the module's parameters; "1" is a scalar.
    pub expr: String,
    /// Bits as configured.
    pub bits: u32,
}

/// One parameter with its value as configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParamSpec {
    /// UPPER_SNAKE name.
    pub name: &'static str,
    /// Verilog range with its brackets; empty for a plain number.
    pub range: &'static str,
    /// Value as configured, as Verilog writes it.
    pub literal: String,
    /// Meaning, with its unit.
    pub doc: &'static str,
}

/// One port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PortSpec {
    /// Direction.
    pub dir: Dir,
    /// Name.
    pub name: String,
    /// Width.
    pub width: Width,
    /// Meaning; empty if the group says all.
    pub doc: &'static str,
    /// Comment that opens a bundle of ports; empty inside a bundle.
    pub group: &'static str,
}

/// One Verilog module, all but its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModuleSpec {
    /// Block that it belongs to.
    pub block: Block,
    /// Module and file name.
    pub name: &'static str,
    /// Header comment: purpose, reasons, invariant.
    pub summary: Vec<&'static str>,
    /// Parameters in order.
    pub params: Vec<ParamSpec>,
    /// Ports in order.
    pub ports: Vec<PortSpec>,
    /// Modules it instantiates.
    pub instances: Vec<&'static str>,
    /// Its instances keep their hierarchy in synthesis.
    pub kept: bool,
}

impl ModuleSpec {
    /// Path of its source below the output folder.
    pub fn path(&self) -> String {
        format!("rtl/{}/{}.v", self.block.name(), self.name)
    }
}

/// Documentation of a reset of all tiles.
const OF_TILES: &str =
    "One reset a tile, bit t for tile t and the logic next to it; all bits change in the same cycle.";

/// Builds one [`ModuleSpec`]; parameters come before the ports that use them.
pub(in crate::emit) struct ModuleBuilder {
    spec: ModuleSpec,
    group: &'static str,
}

impl ModuleBuilder {
    /// A module with its header comment, one line an entry.
    pub(in crate::emit) fn new(block: Block, name: &'static str, summary: &[&'static str]) -> Self {
        let spec = ModuleSpec {
            block,
            name,
            summary: summary.to_vec(),
            params: Vec::new(),
            ports: Vec::new(),
            instances: Vec::new(),
            kept: false,
        };
        ModuleBuilder { spec, group: "" }
    }

    /// Adds a parameter that is a number.
    pub(in crate::emit) fn param(self, name: &'static str, value: u32, doc: &'static str) -> Self {
        self.bits_param(name, "", value.to_string(), doc)
    }

    /// Adds a parameter that is a vector of bits.
    pub(in crate::emit) fn bits_param(
        mut self,
        name: &'static str,
        range: &'static str,
        literal: String,
        doc: &'static str,
    ) -> Self {
        self.spec.params.push(ParamSpec { name, range, literal, doc });
        self
    }

    /// The module has the parameter already.
    pub(in crate::emit) fn has_param(&self, name: &str) -> bool {
        self.spec.params.iter().any(|p| p.name == name)
    }

    /// Adds the parameters of the modules it instantiates, each once, except those it sets itself.
    pub(in crate::emit) fn params_of(mut self, parts: &[&ModuleSpec], but: &[&str]) -> Self {
        for param in parts.iter().flat_map(|part| &part.params) {
            if !self.has_param(param.name) && !but.contains(&param.name) {
                self.spec.params.push(param.clone());
            }
        }
        self
    }

    /// Keeps only these parameters.
    pub(in crate::emit) fn only(mut self, names: &[&str]) -> Self {
        self.spec.params.retain(|p| names.contains(&p.name));
        self
    }

    /// Adds a part's ports whose names begin with one of `prefixes`, `times` ("TILES*" or nothing) as wide.
    pub(in crate::emit) fn ports_of(mut self, part: &ModuleSpec, prefixes: &[&str], times: &str) -> Self {
        for prefix in prefixes {
            let known: Vec<_> = part.ports.iter().filter(|p| p.name.starts_with(prefix)).collect();
            assert!(!known.is_empty(), "{} has no port {prefix}", part.name);
            for port in known {
                self.group = port.group;
                let width = format!("{times}{}", port.width.expr).replace("*1", "");
                self = self.port(port.dir, port.name.clone(), width.as_str(), port.doc);
            }
        }
        self
    }

    /// Adds `clk` and `rst`.
    pub(in crate::emit) fn clocked(self) -> Self {
        self.input("clk", 1, "").input("rst", 1, "")
    }

    /// Adds `clk` and a reset for each tile.
    pub(in crate::emit) fn clocked_by_tile(self) -> Self {
        self.input("clk", 1, "").input("rst", "TILES", OF_TILES)
    }

    /// Adds clock and reset of PaD, unrelated to the network's.
    pub(in crate::emit) fn compute_clocked(self) -> Self {
        self.group("Clock of PaD, unrelated to the network's.").input("pe_clk", 1, "").input(
            "pe_rst",
            1,
            "Synchronous to pe_clk; held together with rst.",
        )
    }

    /// Adds clock of PaD and a reset for each tile.
    pub(in crate::emit) fn compute_clocked_by_tile(mut self) -> Self {
        self = self.compute_clocked();
        let of_one = self.spec.ports.pop().expect("the reset is the last");
        self.input(of_one.name, "TILES", of_one.doc)
    }

    /// Goes on with one of two variants.
    pub(in crate::emit) fn when(
        self,
        holds: bool,
        then: impl FnOnce(Self) -> Self,
        otherwise: impl FnOnce(Self) -> Self,
    ) -> Self {
        if holds {
            then(self)
        } else {
            otherwise(self)
        }
    }

    /// Opens a bundle of ports.
    pub(in crate::emit) fn group(mut self, comment: &'static str) -> Self {
        self.group = comment;
        self
    }

    /// Adds an input.
    pub(in crate::emit) fn input(
        self,
        name: impl Into<String>,
        width: impl IntoWidth,
        doc: &'static str,
    ) -> Self {
        self.port(Dir::Input, name.into(), width, doc)
    }

    /// Adds an output.
    pub(in crate::emit) fn output(
        self,
        name: impl Into<String>,
        width: impl IntoWidth,
        doc: &'static str,
    ) -> Self {
        self.port(Dir::Output, name.into(), width, doc)
    }

    /// Adds a port of the given direction.
    pub(in crate::emit) fn port(
        mut self,
        dir: Dir,
        name: String,
        width: impl IntoWidth,
        doc: &'static str,
    ) -> Self {
        let width = width.into_width(&self.spec.params);
        let group = std::mem::take(&mut self.group);
        self.spec.ports.push(PortSpec { dir, name, width, doc, group });
        self
    }

    /// Names the modules it instantiates.
    pub(in crate::emit) fn instances(mut self, names: &[&'static str]) -> Self {
        self.spec.instances = names.to_vec();
        self
    }

    /// Keeps the hierarchy of its instances in synthesis.
    pub(in crate::emit) fn keep_hierarchy(mut self) -> Self {
        self.spec.kept = true;
        self
    }

    /// The finished description.
    pub(in crate::emit) fn build(self) -> ModuleSpec {
        self.spec
    }
}

/// A port width: a number of bits, or a product of parameters and numbers such as `"TILES*VCS"` or `"WIDTH/16"`.
pub(in crate::emit) trait IntoWidth {
    /// The width under the values of `params`.
    fn into_width(self, params: &[ParamSpec]) -> Width;
}

impl IntoWidth for u32 {
    fn into_width(self, _: &[ParamSpec]) -> Width {
        Width { expr: self.to_string(), bits: self }
    }
}

impl IntoWidth for &str {
    fn into_width(self, params: &[ParamSpec]) -> Width {
        let value = |factor: &str| {
            let named = params.iter().find(|p| p.name == factor).map_or(factor, |p| &p.literal);
            // A name that is no number is an error of this crate, not of the user.
            named.parse::<u32>().unwrap_or_else(|_| panic!("no parameter {factor}"))
        };
        let factor = |factor: &str| match factor.split_once('/') {
            Some((whole, parts)) => value(whole) / value(parts),
            None => value(factor),
        };
        Width { expr: self.to_owned(), bits: self.split('*').map(factor).product() }
    }
}

/// Adds a part's ports with the directions of its partner.
pub(in crate::emit::rtl) fn mirrored_ports(
    mut b: ModuleBuilder,
    part: &ModuleSpec,
    prefixes: &[&str],
    times: &str,
) -> ModuleBuilder {
    for prefix in prefixes {
        for port in part.ports.iter().filter(|p| p.name.starts_with(prefix)) {
            let dir = if port.dir == Dir::Input { Dir::Output } else { Dir::Input };
            if !port.group.is_empty() {
                b = b.group(port.group);
            }
            let width = format!("{times}{}", port.width.expr).replace("*1", "");
            b = b.port(dir, port.name.clone(), width.as_str(), port.doc);
        }
    }
    b
}

/// Parameters of a part that differ in the fabric and keep their own values, in the notation of `instance`.
pub(in crate::emit::rtl) fn unshared_params(fabric: &ModuleSpec, part: &ModuleSpec) -> String {
    let other = |p: &&ParamSpec| {
        fabric.params.iter().any(|f| f.name == p.name && f.literal != p.literal) || p.name == "SLOTS"
    };
    part.params.iter().filter(other).map(|p| format!("{}=;", p.name)).collect()
}
