//! Rules that a block must keep so that its Verilog and its Rust mean the same.
//!
//! rust-hdl evaluates every expression at the width of its type and repeats `update` until nothing
//! changes. Verilog evaluates at the widest operand and runs the statements once, in order. The
//! two agree if nothing is evaluated wider than its type ([`check_widths`]) and every output is
//! written before, and never after, it is read ([`Order`]).

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::symbols::{is_scalar_literal, Dir, Symbols};
use rust_hdl::core::ast::{VerilogExpression as Expr, VerilogOp as Op, VerilogOpUnary as Unary};
use std::collections::BTreeSet;

/// Outputs written and read on the way to a point in the body.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    /// Written on every path to here.
    written: BTreeSet<String>,
    /// Read on some path to here.
    read: BTreeSet<String>,
}

impl Order {
    /// Accounts for reading all of `expr`.
    pub(super) fn read(&mut self, symbols: &Symbols, expr: &Expr) -> Result<(), PrintError> {
        for raw in names(expr) {
            let signal = symbols.get(raw)?;
            if signal.dir == Dir::Output {
                if !self.written.contains(&signal.name) {
                    return Err(PrintError::ReadBeforeWrite { name: signal.name.clone() });
                }
                self.read.insert(signal.name.clone());
            }
        }
        Ok(())
    }

    /// Accounts for an assignment to `raw`.
    pub(super) fn write(&mut self, symbols: &Symbols, raw: &str) -> Result<(), PrintError> {
        let signal = symbols.get(raw)?;
        let name = signal.name.clone();
        if signal.dir != Dir::Output {
            return Err(PrintError::WritesInput { name });
        }
        if self.read.contains(&name) {
            return Err(PrintError::WriteAfterRead { name });
        }
        self.written.insert(name);
        Ok(())
    }

    /// The point where two branches meet again.
    pub(super) fn join(self, other: Order) -> Order {
        Order { written: &self.written & &other.written, read: &self.read | &other.read }
    }

    /// Checks that the end of the body leaves no output at its old value.
    pub(super) fn check_complete(&self, symbols: &Symbols) -> Result<(), PrintError> {
        match symbols.outputs().find(|s| !self.written.contains(&s.name)) {
            Some(output) => Err(PrintError::Latch { name: output.name.clone() }),
            None => Ok(()),
        }
    }
}

fn names(expr: &Expr) -> Vec<&str> {
    match expr {
        Expr::Signal(name) => vec![name],
        Expr::Paren(inner) | Expr::Unary(_, inner) => names(inner),
        Expr::Binary(left, _, right) => [names(left), names(right)].concat(),
        // Literals name nothing; the printer refuses everything else.
        _ => Vec::new(),
    }
}

/// True if the expression is one bit by its type, so that it is negated with `!`.
pub(super) fn is_scalar(symbols: &Symbols, expr: &Expr) -> Result<bool, PrintError> {
    Ok(match expr {
        Expr::Signal(name) => symbols.get(name)?.scalar,
        Expr::Literal(literal) => is_scalar_literal(literal),
        Expr::Paren(inner) | Expr::Unary(Unary::Not, inner) => is_scalar(symbols, inner)?,
        Expr::Unary(Unary::All | Unary::Any | Unary::Xor, _) => true,
        // Both sides are of one type, except that a vector may be counted up by a bit.
        Expr::Binary(left, Op::BitAnd | Op::BitOr | Op::BitXor | Op::Add | Op::Sub, right) => {
            is_scalar(symbols, left)? && is_scalar(symbols, right)?
        }
        Expr::Binary(..) => true,
        _ => false,
    })
}

/// Operands that Verilog evaluates at one width: those down to the next one-bit result.
#[derive(Default)]
struct Extent {
    /// A literal or parameter, which is 32 bits wide or more.
    number: bool,
    /// An operation whose result changes if it is evaluated wider.
    wraps: bool,
}

/// Checks a comparison or reduction: `whole` is how it prints.
///
/// An assignment cuts off what wraps; a comparison does not, so `count_q + 1 == DEPTH`
/// would be evaluated at the width of the numbers and never wrap.
pub(super) fn check_widths(symbols: &Symbols, operands: &[&Expr], whole: &str) -> Result<(), PrintError> {
    let mut extent = Extent::default();
    for operand in operands {
        extent.add(symbols, operand)?;
    }
    if extent.number && extent.wraps {
        return Err(PrintError::Widening { expression: whole.to_owned() });
    }
    Ok(())
}

impl Extent {
    fn add(&mut self, symbols: &Symbols, expr: &Expr) -> Result<(), PrintError> {
        match expr {
            Expr::Signal(name) => {
                let signal = symbols.get(name)?;
                self.number |= signal.dir == Dir::Constant && !signal.scalar;
            }
            Expr::Literal(literal) => self.number |= !is_scalar_literal(literal),
            Expr::Paren(inner) => self.add(symbols, inner)?,
            Expr::Unary(Unary::Not, inner) if !is_scalar(symbols, inner)? => {
                self.wraps = true;
                self.add(symbols, inner)?;
            }
            Expr::Binary(left, op @ (Op::Add | Op::Sub | Op::BitAnd | Op::BitOr | Op::BitXor), right) => {
                self.wraps |= matches!(op, Op::Add | Op::Sub);
                self.add(symbols, left)?;
                self.add(symbols, right)?;
            }
            // Everything else is one bit whose operands have a width of their own.
            _ => {}
        }
        Ok(())
    }
}
