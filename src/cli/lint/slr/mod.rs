//! Paths between super logic regions: each must lead from the output of a register to the data input of another.
//!
//! Yosys' elaborated netlist has each module once. Instances that `constraints/floorplan.xdc` places, and all around them,
//! are taken apart; the rest of an instance in a region is [summarised](summary) by its ports. So the whole design is
//! never flattened.

mod connections;
mod places;
mod regions;
mod summary;

use super::messages::{Message, Severity};
use super::passes::{netlist, Linters};
use super::vivado;
use crate::cli::interrupt::Interrupt;
use anyhow::{bail, Result};
use connections::Modules;
use places::Places;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Messages of one lint; the count of the rest is in the last.
const MOST: usize = 20;

/// The floorplan, by its path below the folder.
const FLOORPLAN: &str = "constraints/floorplan.xdc";

/// Property of a register between two SLRs.
const REGISTERS: &str = "USER_SLL_REG";

/// Checks the netlist of the sources in `dir`, which Yosys has elaborated there.
///
/// # Errors
/// When a file cannot be read, or Yosys cannot be started.
pub fn check(linters: &Linters, dir: &Path, top: &str, interrupt: &Interrupt) -> Result<Vec<Message>> {
    let floorplan = fs::read_to_string(dir.join(FLOORPLAN))?;
    let places = Places::parse(&floorplan)?;
    // Without registers, by floorplan.slr_registers, wires between regions are as they are.
    if places.regions() < 2 || !floorplan.contains(REGISTERS) {
        return Ok(Vec::new());
    }
    // Enables and resets become inputs of registers, and what drives nothing goes.
    let registers = format!("{top}.registers.il");
    let script = format!("read_rtlil {}; opt_dff; opt_clean; write_rtlil {registers}", netlist(top));
    let mut command = Command::new(&linters.yosys.path);
    command.args(["-q", "-p", &script]).current_dir(dir);
    let output = vivado::ended(&linters.yosys, command, interrupt)?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        bail!("Yosys cannot find the registers: {}", String::from_utf8_lossy(&said).trim());
    }
    let modules = Modules::parse(&fs::read_to_string(dir.join(registers))?)?;
    let found = regions::crossings(&modules, top, &places)?;
    let rest = found.len().saturating_sub(MOST);
    let mut texts: Vec<_> = found.into_iter().take(MOST).collect();
    if rest > 0 {
        texts.push(format!("{FLOORPLAN}: {rest} more nets between SLRs are not from register to register"));
    }
    Ok(texts.into_iter().map(|text| Message { severity: Severity::Error, text }).collect())
}
