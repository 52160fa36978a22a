//! Types of the tables: a register, its bits, and a cause of an error.

/// Who may do what with a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Keeps what is written.
    ReadWrite,
    /// A write changes nothing and is an error.
    ReadOnly,
    /// A write acts; it reads as 0.
    WriteOnly,
    /// A bit that is written as 1 is cleared.
    WriteClears,
    /// A bit that is written as 1 is turned over.
    WriteToggles,
}

impl Access {
    /// As tables show it.
    pub fn name(self) -> &'static str {
        match self {
            Access::ReadWrite => "read, write",
            Access::ReadOnly => "read",
            Access::WriteOnly => "write",
            Access::WriteClears => "read, 1 clears",
            Access::WriteToggles => "read, 1 toggles",
        }
    }

    /// A write is legal.
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
    /// What it says.
    pub doc: &'static str,
}

impl BitField {
    /// The field out of the register's value.
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
    /// Who may do what.
    pub access: Access,
    /// What it is.
    pub doc: &'static str,
    /// Its bits; none if it is one number.
    pub fields: &'static [BitField],
}

/// Why something was refused or a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCause {
    /// Upper-case name.
    pub name: &'static str,
    /// Bit of `ERROR`.
    pub bit: u32,
    /// What happened.
    pub doc: &'static str,
    /// What `ERROR_INFO.WHERE` is.
    pub place: &'static str,
}
