//! Types of the register tables: a register, its bit fields, and an error cause.

/// Access rights of a register, or of a field that differs from its register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Stores the written value.
    ReadWrite,
    /// A write of a register is an error; that of a field is ignored.
    ReadOnly,
    /// As `ReadOnly`, and a read clears it.
    ReadClears,
    /// A write triggers an action; it reads as 0.
    WriteOnly,
    /// Writing 1 clears a bit.
    WriteClears,
    /// Writing 1 toggles a bit.
    WriteToggles,
    /// Writing 1 sets a bit, which the hardware clears.
    WriteSets,
}

impl Access {
    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Access::ReadWrite => "read, write",
            Access::ReadOnly => "read",
            Access::ReadClears => "read clears",
            Access::WriteOnly => "write",
            Access::WriteClears => "read, 1 clears",
            Access::WriteToggles => "read, 1 toggles",
            Access::WriteSets => "read, 1 sets",
        }
    }

    /// True if a write is legal.
    pub fn writes(self) -> bool {
        !matches!(self, Access::ReadOnly | Access::ReadClears)
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
    /// Access rights where they differ from the register's.
    pub access: Option<Access>,
}

impl BitField {
    /// The field with access rights of its own.
    pub(super) const fn with(self, access: Access) -> BitField {
        BitField { access: Some(access), ..self }
    }

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

/// Consequence of an error besides setting its bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consequence {
    /// A request is refused. A run that is under way, or is repeated, goes on.
    Refuses,
    /// The run ends or does not begin, and is not repeated.
    Ends,
    /// The run goes on and its outputs are written, but some are void. It is not repeated.
    Voids,
}

impl Consequence {
    /// Text of a table.
    pub fn doc(self) -> &'static str {
        match self {
            Consequence::Refuses => "the request is refused",
            Consequence::Ends => "the run ends or does not begin",
            Consequence::Voids => "the run goes on, outputs are void",
        }
    }

    /// True if it clears `CTRL.AUTO_RESTART`.
    pub fn ends_chain(self) -> bool {
        self != Consequence::Refuses
    }
}

/// The cause of a bit of `ERROR`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCause {
    /// Upper-case name.
    pub name: &'static str,
    /// Bit of `ERROR`.
    pub bit: u32,
    /// Its consequence.
    pub consequence: Consequence,
    /// The event.
    pub doc: &'static str,
    /// Meaning of `ERROR_INFO.WHERE`.
    pub place: &'static str,
}
