//! Registers of the front: which are stored, and the read value of each.

use crate::design::device::registers::{named, Access, Register};
use crate::design::Design;
use crate::emit::rtl::spec::values::Values;

/// Registers that store the written value unchanged.
const KEPT: [&str; 11] = [
    "DESC_CACHE",
    "DESC_FIRST",
    "DESC_STRIDE",
    "DESC_COUNT",
    "DESC_ROWS",
    "DESC_STREAMS",
    "QUERY_STREAMS",
    "LIST_COUNT",
    "TOKEN_STREAMS",
    "WATCHDOG",
    "COUNTER_SELECT",
];

/// Sets the tables of the registers.
pub(super) fn set(values: &mut Values, design: &Design) {
    let lower = |r: &Register| r.name.to_lowercase();
    let writable = design.registers().filter(|r| r.access.writes());
    let addresses: Vec<_> =
        writable.map(|r| row([("name", lower(r).into()), ("word", word(r).into())])).collect();
    let identity = design.identity();
    let reads = design.registers().map(|r| {
        row([("name", r.name.into()), ("word", word(r).into()), ("value", read(r, &identity).into())])
    });
    // COUNTER_SELECT is written only if the selected counter exists.
    let kept = KEPT.map(|name| {
        let (reset, masked) = (named(name).reset(), name != "COUNTER_SELECT");
        row([("name", name.to_lowercase().into()), ("reset", reset.into()), ("masked", masked.into())])
    });
    values.set("addresses", addresses);
    values.set("error_info_read", read(named("ERROR_INFO"), &identity));
    values.set("reads", reads.collect::<Vec<_>>());
    values.set("kept", kept.to_vec());
}

/// A register's word address.
pub(super) fn word(register: &Register) -> String {
    format!("10'h{:03x}", register.offset / 4)
}

/// A row of a table.
fn row<const N: usize>(pairs: [(&str, tera::Value); N]) -> tera::Value {
    tera::Value::from_iter(pairs.map(|(name, value)| (name.to_owned(), value)))
}

/// Verilog expression for the read value of a register.
fn read(register: &Register, identity: &[(&str, u32)]) -> String {
    if let Some((_, value)) = identity.iter().find(|(name, _)| *name == register.name) {
        return format!("32'h{value:08x}");
    }
    let lower = register.name.to_lowercase();
    match register.name {
        _ if register.access == Access::WriteOnly => "32'd0".to_owned(),
        name if KEPT.contains(&name) => format!("{lower}_q"),
        "CYCLES_LOW" => "cycles[31:0]".to_owned(),
        "CYCLES_HIGH" => "high_q".to_owned(),
        _ if register.fields.is_empty() => lower,
        _ => fields(register),
    }
}

/// The fields of a register as a concatenation of wires named after them, zeros between.
fn fields(register: &Register) -> String {
    let mut parts = Vec::new();
    let mut top = 32;
    for field in register.fields.iter().rev() {
        let end = field.lsb + field.width;
        if end < top {
            parts.push(format!("{}'d0", top - end));
        }
        parts.push(format!("{}_{}", register.name, field.name).to_lowercase());
        top = field.lsb;
    }
    if top > 0 {
        parts.push(format!("{top}'d0"));
    }
    format!("{{{}}}", parts.join(", "))
}
