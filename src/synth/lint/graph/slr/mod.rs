//! Paths between super logic regions: each must lead from the output of a register to the data input of another.
//!
//! Yosys' elaborated netlist has each module once. Instances that `constraints/floorplan.xdc` places, and all around them,
//! are taken apart; the rest of an instance in a region is summarised by its ports. So the whole design is
//! never flattened.

mod places;
mod regions;

use crate::synth::lint::messages::{Message, Severity};
use crate::synth::netlist::modules::Modules;
use anyhow::Result;
use places::Places;
use std::fs;
use std::path::Path;

/// Messages of one lint; the count of the rest is in the last.
const MOST: usize = 20;

/// The floorplan, by its path below the folder.
const FLOORPLAN: &str = "constraints/floorplan.xdc";

/// Property of a register between two SLRs.
const REGISTERS: &str = "USER_SLL_REG";

/// Checks the connections of the design in `dir`.
///
/// # Errors
/// When the floorplan cannot be read, or the netlist has a module less than it names.
pub fn check(modules: &Modules, dir: &Path, top: &str) -> Result<Vec<Message>> {
    let floorplan = fs::read_to_string(dir.join(FLOORPLAN))?;
    let places = Places::parse(&floorplan)?;
    // Without registers, by floorplan.slr_registers, wires between regions are as they are.
    if places.regions() < 2 || !floorplan.contains(REGISTERS) {
        return Ok(Vec::new());
    }
    let found = regions::crossings(modules, top, &places)?;
    let rest = found.len().saturating_sub(MOST);
    let mut texts: Vec<_> = found.into_iter().take(MOST).collect();
    if rest > 0 {
        texts.push(format!("{FLOORPLAN}: {rest} more nets between SLRs are not from register to register"));
    }
    Ok(texts.into_iter().map(|text| Message { severity: Severity::Error, text }).collect())
}
