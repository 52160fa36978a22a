//! Errors of printing a block for a shell: each gives the value, the rule and the way out.

use thiserror::Error;

/// A block breaks a rule that keeps its text independent of widths and free of latches.
///
/// These are mistakes in a kernel's source, never in a user's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PrintError {
    /// The block has no generated combinational description.
    #[error("the block has no combinational description; write `update` under #[hdl_gen]")]
    NotCombinational,
    /// The block holds another block or an interface.
    #[error(
        "`{name}` is a block inside the block; a kernel is flat, its shell keeps registers and instances"
    )]
    Nested {
        /// Name of the inner block or signal.
        name: String,
    },
    /// A signal is neither an input, an output nor a constant, or neither `Bit` nor `Bits`.
    #[error("`{name}` is {what}; a kernel has inputs, outputs and constants of type Bit or Bits only")]
    UnsupportedSignal {
        /// Name of the signal.
        name: String,
        /// The kind that it has instead.
        what: String,
    },
    /// A name that is no signal of the block.
    #[error("`{name}` is not a signal of the block; read with `.val()`, write with `.next`, make a number a Constant")]
    UnknownName {
        /// The name as rust-hdl spells it.
        name: String,
    },
    /// A number other than 0 and 1.
    #[error("the number {literal} is written in the block; make it a Constant, the shell's parameter")]
    Number {
        /// The literal as rust-hdl prints it.
        literal: String,
    },
    /// Something whose meaning depends on a width, or that a shell cannot hold.
    #[error("{what} depends on widths, which belong to the shell; use signals of equal width")]
    WidthDependent {
        /// The construct.
        what: &'static str,
    },
    /// A statement other than an assignment or a condition.
    #[error("{what} cannot be printed; a kernel is made of assignments and if / else")]
    UnsupportedStatement {
        /// The statement.
        what: &'static str,
    },
    /// A comparison that Verilog would evaluate at the width of a number.
    #[error(
        "`{expression}` mixes a number with a sum, a difference or a complement: Verilog would evaluate it \
         at the number's width; assign the inner part to an output first"
    )]
    Widening {
        /// The comparison as it would be printed.
        expression: String,
    },
    /// An input or constant is written.
    #[error("`{name}` is written but is not an output")]
    WritesInput {
        /// Name of the signal.
        name: String,
    },
    /// An output is read where it may not have its value yet.
    #[error("`{name}` is read before it is written on every path, which would be a loop in hardware")]
    ReadBeforeWrite {
        /// Name of the output.
        name: String,
    },
    /// An output is written again after it was read.
    #[error("`{name}` is written again after it was read, so that the reader would see an older value")]
    WriteAfterRead {
        /// Name of the output.
        name: String,
    },
    /// An output keeps its old value on some path.
    #[error("`{name}` is not written on every path, which would be a latch; give it a default first")]
    Latch {
        /// Name of the output.
        name: String,
    },
}
