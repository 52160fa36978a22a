//! The register map as templates print it: registers, their fields, and the arguments.
//!
//! It adds to `design::registers` a field for each register without any, so that every bit with a meaning is in a field.

use crate::design::device::registers::{Access, BitField, Register, ARGUMENT_STRIDE, ERRORS};
use crate::design::Design;
use serde::Serialize;

/// A field of a register.
#[derive(Debug, Serialize)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) lsb: u32,
    msb: u32,
    pub(super) width: u32,
    doc: &'static str,
    /// Properties of SystemRDL.
    rdl: &'static str,
    /// Words of IP-XACT; empty if there is nothing to say.
    access: &'static str,
    write: &'static str,
    read: &'static str,
    /// True if the hardware changes it.
    volatile: bool,
    /// Value after a reset; none if it shows a state of the hardware.
    pub(super) reset: Option<String>,
}

/// A register.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) offset: String,
    doc: &'static str,
    pub(super) fields: Vec<Field>,
}

/// An argument of two words, or an array of such.
#[derive(Debug, Serialize)]
pub(super) struct Argument {
    name: &'static str,
    offset: String,
    stride: u32,
    /// Length of the array; 0 for a single argument.
    count: u32,
    doc: String,
}

/// All registers but the arguments, by their addresses.
pub(super) fn registers(design: &Design) -> Vec<Row> {
    let row = |register: &Register| Row {
        name: register.name,
        offset: format!("{:03x}", register.offset),
        doc: register.doc,
        fields: fields(design, register),
    };
    design.registers().map(row).collect()
}

/// Arguments: the buffers, and the bases of all memory ports.
pub(super) fn arguments(design: &Design) -> Vec<Argument> {
    let argument = |number, name, count, doc: String| Argument {
        name,
        offset: format!("{:03x}", Design::argument_offset(number)),
        stride: ARGUMENT_STRIDE,
        count,
        doc,
    };
    let base = format!("Base address of each memory port; a multiple of {}.", design.base_align());
    vec![
        argument(0, "ARG_QUERIES", 0, "Address of the queries; a multiple of 4096.".to_owned()),
        argument(1, "ARG_OUTPUTS", 0, "Address of the outputs; a multiple of 4096.".to_owned()),
        argument(2, "ARG_HBM", design.memory.ports, base),
        argument(
            design.list_argument(),
            "ARG_LIST",
            0,
            "Address of the list of descriptors; a multiple of 4096.".to_owned(),
        ),
    ]
}

fn fields(design: &Design, register: &Register) -> Vec<Field> {
    let reset = design.reset_value(register);
    let whole = || vec![BitField { name: "VALUE", lsb: 0, width: 32, doc: register.doc, access: None }];
    let fields = match register.name {
        "ERROR" => {
            let cause = |cause: &crate::design::device::registers::ErrorCause| BitField {
                name: cause.name,
                lsb: cause.bit,
                width: 1,
                doc: cause.doc,
                access: None,
            };
            ERRORS.iter().map(cause).collect()
        }
        _ if register.fields.is_empty() => whole(),
        _ => register.fields.to_vec(),
    };
    let is_constant = register.access == Access::ReadOnly && reset.is_some();
    let of = |field: &BitField| {
        let access = field.access.unwrap_or(register.access);
        let words = words(access, is_constant);
        // A field of the hardware in a register that is written has no value of its own after a reset.
        let shown = access == Access::ReadOnly && field.access.is_some();
        Field {
            name: field.name,
            lsb: field.lsb,
            msb: field.lsb + field.width - 1,
            width: field.width,
            doc: field.doc,
            rdl: words.rdl,
            access: words.access,
            write: words.write,
            read: words.read,
            volatile: !(is_constant || matches!(access, Access::ReadWrite | Access::WriteOnly)),
            reset: reset.filter(|_| !shown).map(|value| format!("{:x}", field.of(value))),
        }
    };
    fields.iter().map(of).collect()
}

/// An access in the words of SystemRDL and IP-XACT.
struct Words {
    rdl: &'static str,
    access: &'static str,
    write: &'static str,
    read: &'static str,
}

fn words(access: Access, is_constant: bool) -> Words {
    let (rdl, access, write, read) = match access {
        Access::ReadWrite => ("sw = rw; hw = r;", "read-write", "", ""),
        Access::ReadOnly if is_constant => ("sw = r; hw = na;", "read-only", "", ""),
        Access::ReadOnly => ("sw = r; hw = w;", "read-only", "", ""),
        Access::ReadClears => ("sw = r; hw = rw; onread = rclr;", "read-only", "", "clear"),
        Access::WriteOnly => ("sw = w; hw = r;", "write-only", "", ""),
        Access::WriteClears => ("sw = rw; hw = rw; onwrite = woclr;", "read-write", "oneToClear", ""),
        Access::WriteToggles => ("sw = rw; hw = rw; onwrite = wot;", "read-write", "oneToToggle", ""),
        Access::WriteSets => ("sw = rw; hw = rw; onwrite = woset;", "read-write", "oneToSet", ""),
    };
    Words { rdl, access, write, read }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn map() -> Vec<Row> {
        registers(&Design::from_config("test", &Config::default()).unwrap())
    }

    #[test]
    fn every_register_has_a_field_and_every_cause_of_an_error_is_one() {
        let map = map();
        assert!(map.iter().all(|row| !row.fields.is_empty()));
        let causes = &map.iter().find(|row| row.name == "ERROR").unwrap().fields;
        assert_eq!(causes.iter().map(|f| (f.lsb, f.name)).collect::<Vec<_>>(), {
            ERRORS.iter().map(|e| (e.bit, e.name)).collect::<Vec<_>>()
        });
    }

    #[test]
    fn values_after_a_reset_are_those_of_constants_and_of_stored_registers() {
        let map = map();
        let reset = |register: &str, field: &str| {
            let row = map.iter().find(|row| row.name == register).unwrap();
            row.fields.iter().find(|f| f.name == field).unwrap().reset.clone()
        };
        assert_eq!(reset("MAGIC", "VALUE").as_deref(), Some("4d4b5631"));
        assert_eq!(reset("MESH", "COLS").as_deref(), Some("8"));
        assert_eq!(reset("WATCHDOG", "VALUE").as_deref(), Some("100000"));
        assert_eq!(reset("CTRL", "AP_DONE").as_deref(), Some("0"));
        assert_eq!(reset("CTRL", "AP_IDLE"), None);
        assert_eq!(reset("STATUS", "RUN"), None);
    }
}
