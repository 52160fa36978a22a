//! Operators: the mutants that a module's text offers, each a text in place of some bytes.
//!
//! A mutant of an expression has its width and sign wherever it stands: the guard puts both into the arms of one
//! choice. No operator adds a signal that an expression did not have, so none makes a combinational loop.

use super::verilog::{Expression, Kind, Place, Reading, Span, Spot, Statement};

/// A text in place of some bytes of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::eval::mutate) struct Edit {
    /// The bytes.
    pub(in crate::eval::mutate) span: Span,
    /// The text in their place.
    pub(in crate::eval::mutate) mutated: String,
    /// Kind of the change.
    pub(in crate::eval::mutate) operator: &'static str,
    /// True if the bytes are a statement; if not, they are an expression.
    pub(in crate::eval::mutate) statement: bool,
}

/// All mutants of a text that was read, in the order of their bytes.
pub(in crate::eval::mutate) fn edits(text: &str, reading: &Reading) -> Vec<Edit> {
    let mut all = Edits { text, reading, found: Vec::new() };
    reading.spots.iter().for_each(|spot| all.spot(spot));
    reading.statements.iter().for_each(|statement| all.statement(statement));
    let mut found = all.found;
    found.sort_by(|a, b| (a.span, &a.mutated).cmp(&(b.span, &b.mutated)));
    found.dedup_by(|a, b| (a.span, &a.mutated) == (b.span, &b.mutated));
    found
}

struct Edits<'t> {
    text: &'t str,
    reading: &'t Reading,
    found: Vec<Edit>,
}

/// The operator in place of another, and the kind of the change.
fn other(operator: &str) -> &'static [(&'static str, &'static str)] {
    match operator {
        "&" => &[("|", "and-or")],
        "|" => &[("&", "and-or")],
        "^" => &[("|", "and-or")],
        "&&" => &[("||", "and-or")],
        "||" => &[("&&", "and-or")],
        "==" => &[("!=", "compare")],
        "!=" => &[("==", "compare")],
        "<" => &[("<=", "bound"), (">=", "compare")],
        "<=" => &[("<", "bound"), (">", "compare")],
        ">" => &[(">=", "bound"), ("<=", "compare")],
        ">=" => &[(">", "bound"), ("<", "compare")],
        "+" => &[("-", "sum")],
        "-" => &[("+", "sum")],
        "<<" => &[(">>", "shift")],
        ">>" => &[("<<", "shift")],
        ">>>" => &[(">>", "shift")],
        _ => &[],
    }
}

impl Edits<'_> {
    fn add(&mut self, span: Span, mutated: String, operator: &'static str) {
        self.found.push(Edit { span, mutated, operator, statement: false });
    }

    fn text(&self, span: Span) -> String {
        span.of(self.text).to_owned()
    }

    fn spot(&mut self, spot: &Spot) {
        let whole = &spot.expression;
        let text = self.text(whole.span);
        match spot.place {
            Place::Condition => {
                self.add(whole.span, format!("!({text})"), "negated");
                self.add(whole.span, "1'b0".to_owned(), "never");
                self.add(whole.span, "1'b1".to_owned(), "always");
            }
            // A number is stuck already, and a register is changed where it is written.
            Place::Wire(true) if ![Kind::Number, Kind::Name].contains(&whole.kind) => {
                self.add(whole.span, "1'b0".to_owned(), "stuck");
                self.add(whole.span, "1'b1".to_owned(), "stuck");
            }
            // What is connected without an operator may be an output.
            Place::Port if [Kind::Name, Kind::Concatenation].contains(&whole.kind) => return,
            _ => {}
        }
        self.expression(whole);
    }

    fn expression(&mut self, of: &Expression) {
        let parts: Vec<String> = of.parts.iter().map(|part| self.text(part.span)).collect();
        let operator = self.text(of.operator);
        match (of.kind, &parts[..]) {
            (Kind::Binary, [left, right]) => {
                for (other, kind) in other(&operator) {
                    self.add(of.span, format!("({left}) {other} ({right})"), kind);
                }
                if ["&", "|", "&&", "||"].contains(&operator.as_str()) {
                    self.add(of.span, left.clone(), "operand");
                    self.add(of.span, right.clone(), "operand");
                }
            }
            (Kind::Unary, [operand]) => match operator.as_str() {
                "~" => self.add(of.span, format!("({operand})"), "negated"),
                "!" => self.add(of.span, format!("!(!({operand}))"), "negated"),
                "&" => self.add(of.span, format!("(|({operand}))"), "and-or"),
                "|" => self.add(of.span, format!("(&({operand}))"), "and-or"),
                "~&" => self.add(of.span, format!("(~|({operand}))"), "and-or"),
                "~|" => self.add(of.span, format!("(~&({operand}))"), "and-or"),
                _ => {}
            },
            (Kind::Choice, [condition, then, other]) => {
                self.add(of.span, format!("{condition} ? ({other}) : ({then})"), "arms");
                self.add(of.span, format!("({then})"), "arm");
                self.add(of.span, format!("({other})"), "arm");
            }
            (Kind::Number, _) => self.number(of.span),
            (Kind::Name, indices) => {
                for (part, index) in of.parts.iter().zip(indices) {
                    if self.moves(part) {
                        self.add(part.span, format!("{index} + 1'b1"), "index");
                    }
                }
                return;
            }
            (Kind::Call, _) if operator == "$clog2" => return,
            _ => {}
        }
        of.parts.iter().for_each(|part| self.expression(part));
    }

    /// True if an index is a signal, and not a constant of this place.
    fn moves(&self, index: &Expression) -> bool {
        index.kind == Kind::Name && self.reading.signals.contains(self.text(index.span).as_str())
    }

    fn number(&mut self, span: Span) {
        let number = self.text(span);
        let Some((width, digits)) = number.split_once('\'') else {
            if let Ok(value) = number.parse::<u32>() {
                self.add(span, (u64::from(value) + 1).to_string(), "constant");
            }
            return;
        };
        let (base, digits) = digits.split_at(digits.len().min(1));
        let radix = match base {
            "b" => 2,
            "d" => 10,
            "h" => 16,
            _ => return,
        };
        let (Ok(value), Ok(bits)) =
            (u64::from_str_radix(&digits.replace('_', ""), radix), width.parse::<u32>())
        else {
            return;
        };
        if bits > 63 {
            return;
        }
        let mask = (1_u64 << bits) - 1;
        for changed in [value.wrapping_add(1) & mask, value.wrapping_sub(1) & mask] {
            self.add(span, format!("{width}'d{changed}"), "constant");
        }
    }

    fn statement(&mut self, of: &Statement) {
        if of.sides.is_some() && of.guarded {
            self.found.push(Edit {
                span: of.span,
                mutated: ";".to_owned(),
                operator: "dropped",
                statement: true,
            });
        }
    }
}
