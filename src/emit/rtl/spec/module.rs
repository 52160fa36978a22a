//! Interface of a module: purpose, parameters, ports, and the modules that it instantiates.
//!
//! It is read from the module's own [header](crate::emit::rtl::linking::header), so Verilog and documentation cannot differ.

use crate::emit::rtl::spec::block::Block;
use anyhow::{Context as _, Result};
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

impl Width {
    /// A width as written: a number, or a product of parameters and numbers such as `TILES*VCS` or `WIDTH/16`.
    ///
    /// # Errors
    /// If it names something that is no number.
    pub(in crate::emit) fn of(expr: &str, params: &[ParamSpec]) -> Result<Width> {
        let value = |factor: &str| {
            let named = params.iter().find(|p| p.name == factor).map_or(factor, |p| &p.literal);
            named.parse::<u32>().with_context(|| format!("no parameter {factor}"))
        };
        let mut bits = 1;
        for factor in expr.split('*') {
            bits *= match factor.split_once('/') {
                Some((whole, parts)) => value(whole)? / value(parts)?,
                None => value(factor)?,
            };
        }
        Ok(Width { expr: expr.to_owned(), bits })
    }

    /// The range that declares it; nothing for a scalar.
    pub(in crate::emit) fn range(&self) -> String {
        match self.expr.parse::<u32>() {
            Ok(1) => String::new(),
            Ok(n) => format!("[{}:0]", n - 1),
            Err(_) => format!("[{}-1:0]", self.expr),
        }
    }
}

/// One parameter with its value as configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParamSpec {
    /// UPPER_SNAKE name.
    pub name: String,
    /// Verilog range with its brackets; empty for a plain number.
    pub range: String,
    /// Value as configured, as Verilog writes it.
    pub literal: String,
    /// Meaning, with its unit.
    pub doc: String,
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
    pub doc: String,
    /// Comment that opens a bundle of ports; empty inside a bundle.
    pub group: String,
}

/// One Verilog module, all but its body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ModuleSpec {
    /// Block that it belongs to.
    pub block: Block,
    /// Module and file name.
    pub name: &'static str,
    /// Header comment: purpose, reasons, invariant.
    pub summary: Vec<String>,
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

    /// The parameter of this name.
    pub fn param(&self, name: &str) -> Option<&ParamSpec> {
        self.params.iter().find(|p| p.name == name)
    }

    /// The port of this name.
    pub fn port(&self, name: &str) -> Option<&PortSpec> {
        self.ports.iter().find(|p| p.name == name)
    }

    /// A module without parameters and ports, for tests.
    #[cfg(test)]
    pub(in crate::emit) fn bare(block: Block, name: &'static str, instances: &[&'static str]) -> ModuleSpec {
        ModuleSpec {
            block,
            name,
            summary: Vec::new(),
            params: Vec::new(),
            ports: Vec::new(),
            instances: instances.to_vec(),
            kept: false,
        }
    }
}
