//! Prints a rust-hdl block as the inside of an `always @(*)`.
//!
//! rust-hdl's own printer drops the brackets that Rust's precedence makes superfluous, and Verilog
//! ranks `&` below `==`: `a & b == c` would change its meaning. Here every nested operation is
//! bracketed, save where no reading can differ: the negation of a name, and a chain of one
//! associative operator.

use crate::kernels::printing::error::PrintError;
use crate::kernels::printing::symbols::{is_scalar_literal, Symbols};
use crate::kernels::rules::{check_widths, is_scalar, Order};
use rust_hdl::core::ast::{
    Verilog, VerilogBlock, VerilogBlockOrConditional as Otherwise, VerilogConditional,
    VerilogExpression as Expr, VerilogLiteral, VerilogOp as Op, VerilogOpUnary as Unary,
    VerilogStatement as Statement,
};
use rust_hdl::core::block::Block;

/// Columns a line may have before its right side is broken at the outermost operator.
const LINE_WIDTH: usize = 100;
/// Depth of the body in a shell: inside `always`, inside `module`.
const BODY_DEPTH: usize = 2;

/// The body of `kernel`: statements indented by eight spaces, no newline at the end.
///
/// # Errors
/// When the block's Verilog could depend on a width, hold a latch, or mean something else than
/// its Rust; see [`PrintError`].
pub fn body(kernel: &impl Block) -> Result<String, PrintError> {
    let symbols = Symbols::of(kernel)?;
    let Verilog::Combinatorial(block) = kernel.hdl() else {
        return Err(PrintError::NotCombinational);
    };
    let mut printer = Printer { symbols: &symbols, lines: Vec::new(), depth: BODY_DEPTH };
    let mut order = Order::default();
    printer.block(&block, &mut order)?;
    order.check_complete(&symbols)?;
    Ok(printer.lines.join("\n"))
}

struct Printer<'a> {
    symbols: &'a Symbols,
    lines: Vec<String>,
    depth: usize,
}

impl Printer<'_> {
    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.depth)));
    }

    fn block(&mut self, block: &VerilogBlock, order: &mut Order) -> Result<(), PrintError> {
        block.iter().try_for_each(|statement| self.statement(statement, order))
    }

    fn indented(&mut self, block: &VerilogBlock, order: &mut Order) -> Result<(), PrintError> {
        self.depth += 1;
        let result = self.block(block, order);
        self.depth -= 1;
        result
    }

    fn statement(&mut self, statement: &Statement, order: &mut Order) -> Result<(), PrintError> {
        let unsupported = |what| Err(PrintError::UnsupportedStatement { what });
        match statement {
            Statement::Assignment(target, value) => self.assignment(target, value, order),
            Statement::If(conditional) => self.conditional("", conditional, order),
            Statement::SliceAssignment { .. } => {
                Err(PrintError::WidthDependent { what: "an assignment to some bits of a signal" })
            }
            Statement::Comment(_) => unsupported("a comment"),
            Statement::Match(_) => unsupported("match"),
            Statement::Loop(_) => unsupported("a for loop"),
            Statement::Link(_) => unsupported("a link between interfaces"),
            Statement::Macro(_) => unsupported("the set-up of a register"),
        }
    }

    fn assignment(&mut self, target: &Expr, value: &Expr, order: &mut Order) -> Result<(), PrintError> {
        let Expr::Signal(raw) = target else {
            return Err(PrintError::WidthDependent { what: "an assignment to a part of a signal" });
        };
        // Printed before its names are resolved, so that a construct is refused for what it is.
        let text = self.expression(value)?;
        order.read(self.symbols, value)?;
        order.write(self.symbols, raw)?;
        let name = &self.symbols.get(raw)?.name;
        let line = format!("{name} = {text};");
        if 4 * self.depth + line.len() <= LINE_WIDTH {
            self.line(&line);
            return Ok(());
        }
        let (terms, symbol) = self.chain(value)?;
        self.line(&format!("{name} = {}", terms[0]));
        for term in &terms[1..] {
            self.line(&format!("    {symbol} {term}"));
        }
        if let Some(last) = self.lines.last_mut() {
            last.push(';');
        }
        Ok(())
    }

    fn conditional(
        &mut self,
        lead: &str,
        conditional: &VerilogConditional,
        order: &mut Order,
    ) -> Result<(), PrintError> {
        let test = self.expression(&conditional.test)?;
        order.read(self.symbols, &conditional.test)?;
        let mut otherwise = order.clone();
        self.line(&format!("{lead}if ({test}) begin"));
        self.indented(&conditional.then, order)?;
        match &conditional.otherwise {
            Otherwise::None => self.line("end"),
            Otherwise::Block(block) => {
                self.line("end else begin");
                self.indented(block, &mut otherwise)?;
                self.line("end");
            }
            Otherwise::Conditional(next) => match next.as_ref() {
                Statement::If(next) => self.conditional("end else ", next, &mut otherwise)?,
                _ => return Err(PrintError::UnsupportedStatement { what: "else without if or block" }),
            },
        }
        *order = std::mem::take(order).join(otherwise);
        Ok(())
    }

    /// The expression without brackets around it.
    fn expression(&self, expr: &Expr) -> Result<String, PrintError> {
        let width = |what| Err(PrintError::WidthDependent { what });
        match expr {
            Expr::Signal(raw) => Ok(self.symbols.get(raw)?.name.clone()),
            Expr::Literal(literal) => number(literal),
            Expr::Paren(inner) => self.expression(inner),
            Expr::Unary(op, inner) => self.unary(op, inner),
            Expr::Binary(left, op, right) => {
                let (symbol, kind) = operator(op)?;
                let left_text = match bare(left) {
                    Expr::Binary(_, inner, _) if kind == Kind::Chain && same(op, inner) => {
                        self.expression(left)?
                    }
                    _ => self.operand(left)?,
                };
                let text = format!("{left_text} {symbol} {}", self.operand(right)?);
                if kind == Kind::Compare {
                    check_widths(self.symbols, &[left, right], &text)?;
                }
                Ok(text)
            }
            Expr::Cast(..) => width("a cast"),
            Expr::Signed(_) | Expr::Unsigned(_) => width("a change of sign"),
            Expr::Index(..) => width("a bit of a signal"),
            Expr::Slice(..) => width("a slice"),
            Expr::IndexReplace(..) => width("the replacement of a bit"),
        }
    }

    fn unary(&self, op: &Unary, inner: &Expr) -> Result<String, PrintError> {
        let symbol = match op {
            // On one bit `!` and `~` agree, and `!` stays one bit wherever it stands.
            Unary::Not if is_scalar(self.symbols, inner)? => "!",
            Unary::Not => "~",
            Unary::All => "&",
            Unary::Any => "|",
            Unary::Xor => "^",
            Unary::Neg => return Err(PrintError::WidthDependent { what: "a negative number" }),
        };
        let text = format!("{symbol}{}", self.operand(inner)?);
        if !matches!(op, Unary::Not) {
            check_widths(self.symbols, &[inner], &text)?;
        }
        Ok(text)
    }

    /// The expression as part of another one.
    fn operand(&self, expr: &Expr) -> Result<String, PrintError> {
        let text = self.expression(expr)?;
        Ok(match bare(expr) {
            Expr::Signal(_) | Expr::Literal(_) => text,
            Expr::Unary(Unary::Not, inner) if matches!(bare(inner), Expr::Signal(_)) => text,
            _ => format!("({text})"),
        })
    }

    /// The terms of the outermost associative chain, and its operator; one term if there is none.
    fn chain(&self, expr: &Expr) -> Result<(Vec<String>, &'static str), PrintError> {
        let Expr::Binary(_, outer, _) = bare(expr) else {
            return Ok((vec![self.expression(expr)?], ""));
        };
        let (symbol, kind) = operator(outer)?;
        if kind != Kind::Chain {
            return Ok((vec![self.expression(expr)?], ""));
        }
        let mut terms = Vec::new();
        let mut rest = expr;
        while let Expr::Binary(left, op, right) = bare(rest) {
            if !same(op, outer) {
                break;
            }
            terms.push(self.operand(right)?);
            rest = left;
        }
        terms.push(self.operand(rest)?);
        terms.reverse();
        Ok((terms, symbol))
    }
}

/// Brackets of the source say nothing that the tree does not.
fn bare(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => bare(inner),
        other => other,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Associative: a chain needs no brackets.
    Chain,
    /// Wraps at the width of its operands.
    Sum,
    /// One bit out of operands with a width of their own.
    Compare,
}

fn operator(op: &Op) -> Result<(&'static str, Kind), PrintError> {
    Ok(match op {
        Op::LogicalAnd => ("&&", Kind::Chain),
        Op::LogicalOr => ("||", Kind::Chain),
        Op::BitAnd => ("&", Kind::Chain),
        Op::BitOr => ("|", Kind::Chain),
        Op::BitXor => ("^", Kind::Chain),
        Op::Add => ("+", Kind::Sum),
        Op::Sub => ("-", Kind::Sum),
        Op::Eq => ("==", Kind::Compare),
        Op::Ne => ("!=", Kind::Compare),
        Op::Lt => ("<", Kind::Compare),
        Op::Le => ("<=", Kind::Compare),
        Op::Ge => (">=", Kind::Compare),
        Op::Gt => (">", Kind::Compare),
        Op::Mul => return Err(PrintError::WidthDependent { what: "a product" }),
        Op::Shl | Op::Shr => return Err(PrintError::WidthDependent { what: "a shift" }),
    })
}

/// rust-hdl's operators cannot be compared themselves.
fn same(a: &Op, b: &Op) -> bool {
    std::mem::discriminant(a) == std::mem::discriminant(b)
}

/// Numbers are printed without a width, so that they take their neighbours'.
fn number(literal: &VerilogLiteral) -> Result<String, PrintError> {
    let scalar = is_scalar_literal(literal);
    match format!("{literal:x}").split_once("'h") {
        Some((_, "0")) => Ok(if scalar { "1'b0" } else { "0" }.to_owned()),
        Some((_, "1")) => Ok(if scalar { "1'b1" } else { "1" }.to_owned()),
        _ => Err(PrintError::Number { literal: literal.to_string() }),
    }
}
