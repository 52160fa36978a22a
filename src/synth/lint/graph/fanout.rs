//! Fanout of enables and resets: a driver of many registers must be a register, and may drive no more than a tile has.
//!
//! A net to thousands of registers spans a part of the device, so that no time of the cycle is left for logic before it.

use crate::synth::lint::graph::summary::{Control, Driver, Summaries};
use crate::synth::lint::messages::{Message, Severity};
use crate::synth::netlist::modules::Modules;
use anyhow::Result;

/// The most bits of registers that logic may enable: those of a memory's output count, which the memory takes. It is two
/// of the widest flit with its header.
const ENABLED_BY_LOGIC: u32 = 2560;

/// The most bits of registers that logic may reset: the widest flit with its header, and less than those of a tile.
const RESET_BY_LOGIC: u32 = 1280;

/// The most bits of registers that one register may enable or reset: twice those of a tile.
const BY_REGISTER: u32 = 4096;

/// Checks every enable and reset of the netlist.
///
/// # Errors
/// When the netlist has no module `top`.
pub fn check(modules: &Modules, top: &str) -> Result<Vec<Message>> {
    let mut summaries = Summaries::new(modules);
    summaries.of(modules.key(top)?)?;
    let all = summaries
        .all()
        .flat_map(|(key, summary)| summary.controls.iter().map(move |control| wrong(key, control)));
    Ok(all.flatten().map(|text| Message { severity: Severity::Error, text }).collect())
}

/// Finding about a net of a module, if it has a fault.
fn wrong(key: &str, control: &Control) -> Option<String> {
    let Control { net, driver, enabled, reset } = control;
    let module = key.rsplit('\\').next().unwrap_or(key);
    let (what, bits, most, way_out) = match driver {
        Driver::Logic(_) if *reset > RESET_BY_LOGIC => {
            ("resets", *reset, RESET_BY_LOGIC, "need a register before them")
        }
        Driver::Logic(_) if *enabled > ENABLED_BY_LOGIC => {
            ("enables", *enabled, ENABLED_BY_LOGIC, "need a register before them")
        }
        Driver::Register(_) if enabled + reset > BY_REGISTER => {
            ("enables or resets", enabled + reset, BY_REGISTER, "need a tree of registers")
        }
        _ => return None,
    };
    let source = match driver {
        Driver::Logic(name) => format!("logic at {name}"),
        Driver::Register(name) => format!("register {name}"),
    };
    Some(format!(
        "net {net} of {module}, from {source}, {what} {bits} bits of registers: more than {most} {way_out}"
    ))
}
