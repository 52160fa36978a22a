//! Types of the register tables: a register, its bit fields, and an error cause.

/// Access rights of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Stores the written value.
    ReadWrite,
    /// A write is an error and changes nothing.
    ReadOnly,
    /// A write triggers an action; it reads as 0.
    WriteOnly,
    /// Writing 1 clears a bit.
    WriteClears,
    /// Writing 1 toggles a bit.
    WriteToggles,
}

impl Access {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Access::ReadWrite => "read, write",
            Access::ReadOnly => "read",
            Access::WriteOnly => "write",
            Access::WriteClears => "read, 1 clears",
            Access::WriteToggles => "read, 1 toggles",
        }
    }

    /// True if a write is legal.
    pub fn writes(self) -> bool {
        self != Access::ReadOnly
    }
}

/// Bits of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BitField {
    /// Upper-case name.
    pub name: &'static str,
    /// Lowest bit.
    pub lsb: u32,
    /// Bits.
    pub width: u32,
    /// Its meaning.
    pub doc: &'static str,
}

impl BitField {
    /// Extracts the field from the register's value.
    pub fn of(&self, value: u32) -> u32 {
        (value >> self.lsb) & (u32::MAX >> (32 - self.width))
    }
}

/// One register of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register {
    /// Upper-case name.
    pub name: &'static str,
    /// Byte address.
    pub offset: u32,
    /// Access rights.
    pub access: Access,
    /// Its purpose.
    pub doc: &'static str,
    /// Its bit fields; none if it is one number.
    pub fields: &'static [BitField],
}

/// The cause of a refused request or an ended run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCause {
    /// Upper-case name.
    pub name: &'static str,
    /// Bit of `ERROR`.
    pub bit: u32,
    /// The event.
    pub doc: &'static str,
    /// Meaning of `ERROR_INFO.WHERE`.
    pub place: &'static str,
}
