//! The part of the documentation page that describes registers.

use super::markdown::cell;
use crate::design::device::registers::{COUNTER_GROUPS, ERRORS};
use crate::design::Design;
use serde::Serialize;

/// Entry of a register, or of one of its fields.
#[derive(Serialize)]
pub(super) struct RegisterRow {
    offset: String,
    name: String,
    bits: String,
    access: &'static str,
    doc: String,
}

/// Entry of an error's bit.
#[derive(Serialize)]
pub(super) struct ErrorRow {
    bit: u32,
    name: &'static str,
    doc: String,
    consequence: &'static str,
    place: String,
}

/// Entry of a group of counters.
#[derive(Serialize)]
pub(super) struct CounterRow {
    number: usize,
    name: &'static str,
    doc: &'static str,
}

/// Arguments and registers by their addresses.
pub(super) fn registers(design: &Design) -> Vec<RegisterRow> {
    let argument = |(number, name): (usize, String)| RegisterRow {
        offset: format!("0x{:03x}", Design::argument_offset(number as u32)),
        bits: "[63:0]".to_owned(),
        access: "read, write",
        doc: match number {
            0 => {
                "Argument: address of the queries, FP16, stream by stream, head by head; a multiple of 4096."
                    .into()
            }
            1 => "Argument: address of the outputs, in the same order; a multiple of 4096.".into(),
            _ if name == "list" => "Argument: address of the list of descriptors; a multiple of 4096.".into(),
            _ => format!("Argument: base address of a memory port; a multiple of {}.", design.base_align()),
        },
        name,
    };
    let mut rows: Vec<_> = design.arguments().into_iter().enumerate().map(argument).collect();
    let first = rows.len();
    for register in design.registers() {
        rows.push(RegisterRow {
            offset: format!("0x{:03x}", register.offset),
            name: register.name.to_owned(),
            bits: String::new(),
            access: register.access.name(),
            doc: cell(register.doc),
        });
        rows.extend(register.fields.iter().map(|field| RegisterRow {
            offset: String::new(),
            name: format!("{}.{}", register.name, field.name),
            bits: match field.width {
                1 => format!("[{}]", field.lsb),
                width => format!("[{}:{}]", field.lsb + width - 1, field.lsb),
            },
            access: "",
            doc: cell(field.doc),
        }));
    }
    // Registers below the arguments come first.
    let below = rows[first..].iter().position(|r| r.name == "MAGIC").unwrap_or(0);
    rows[..first + below].rotate_left(first);
    rows
}

/// Bits of `ERROR`.
pub(super) fn errors() -> Vec<ErrorRow> {
    let row = |e: &crate::design::device::registers::ErrorCause| ErrorRow {
        bit: e.bit,
        name: e.name,
        doc: cell(e.doc),
        consequence: e.consequence.doc(),
        place: cell(e.place),
    };
    ERRORS.iter().map(row).collect()
}

/// Groups of counters.
pub(super) fn counters() -> Vec<CounterRow> {
    COUNTER_GROUPS.iter().enumerate().map(|(number, (name, doc))| CounterRow { number, name, doc }).collect()
}
