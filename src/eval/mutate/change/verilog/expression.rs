//! Expressions of Verilog as trees.

use super::cursor::Cursor;
use super::token::{Span, TokenKind, Unreadable};

/// Kind of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::eval::mutate) enum Kind {
    /// A name, with what is selected of it; its parts are the indices of single bits and words.
    Name,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An operator before its operand.
    Unary,
    /// An operator between two.
    Binary,
    /// A choice: its parts are condition and both arms.
    Choice,
    /// An expression in parentheses.
    Parentheses,
    /// A concatenation, or what is repeated.
    Concatenation,
    /// A call of a function: its parts are the arguments.
    Call,
}

/// An expression with its parts.
#[derive(Debug, Clone)]
pub(in crate::eval::mutate) struct Expression {
    pub(in crate::eval::mutate) kind: Kind,
    pub(in crate::eval::mutate) span: Span,
    /// The operator; of others the first token.
    pub(in crate::eval::mutate) operator: Span,
    pub(in crate::eval::mutate) parts: Vec<Expression>,
}

/// Operators between two, by how tight they bind.
const BINARY: [&[&str]; 11] = [
    &["||"],
    &["&&"],
    &["|", "~|"],
    &["^", "~^", "^~"],
    &["&", "~&"],
    &["==", "!=", "===", "!=="],
    &["<", "<=", ">", ">="],
    &["<<", ">>", "<<<", ">>>"],
    &["+", "-"],
    &["*", "/", "%"],
    &["**"],
];

const UNARY: [&str; 10] = ["~", "!", "&", "|", "^", "~&", "~|", "~^", "-", "+"];

/// Reads an expression.
///
/// # Errors
/// If there is none.
pub(super) fn expression(cursor: &mut Cursor) -> Result<Expression, Unreadable> {
    let condition = binary(cursor, 0)?;
    if !cursor.at("?") {
        return Ok(condition);
    }
    let operator = cursor.take("?")?;
    let then = expression(cursor)?;
    cursor.take(":")?;
    let other = expression(cursor)?;
    let span = Span { start: condition.span.start, end: other.span.end };
    Ok(Expression { kind: Kind::Choice, span, operator, parts: vec![condition, then, other] })
}

fn binary(cursor: &mut Cursor, level: usize) -> Result<Expression, Unreadable> {
    let Some(operators) = BINARY.get(level) else { return unary(cursor) };
    let mut left = binary(cursor, level + 1)?;
    while cursor.at_one_of(operators) {
        let operator = cursor.next()?.span;
        let right = binary(cursor, level + 1)?;
        let span = Span { start: left.span.start, end: right.span.end };
        left = Expression { kind: Kind::Binary, span, operator, parts: vec![left, right] };
    }
    Ok(left)
}

fn unary(cursor: &mut Cursor) -> Result<Expression, Unreadable> {
    if !cursor.at_one_of(&UNARY) {
        return primary(cursor);
    }
    let operator = cursor.next()?.span;
    let operand = unary(cursor)?;
    let span = Span { start: operator.start, end: operand.span.end };
    Ok(Expression { kind: Kind::Unary, span, operator, parts: vec![operand] })
}

fn primary(cursor: &mut Cursor) -> Result<Expression, Unreadable> {
    let token = cursor.next()?;
    let whole = |kind, end, parts| {
        let span = Span { start: token.span.start, end };
        Ok(Expression { kind, span, operator: token.span, parts })
    };
    match token.kind {
        TokenKind::Number => whole(Kind::Number, token.span.end, Vec::new()),
        TokenKind::Text => whole(Kind::Text, token.span.end, Vec::new()),
        TokenKind::Word if cursor.at("(") => {
            cursor.take("(")?;
            let parts = list(cursor, ")")?;
            whole(Kind::Call, cursor.last_end(), parts)
        }
        TokenKind::Word => {
            let parts = selections(cursor)?;
            whole(Kind::Name, cursor.last_end(), parts)
        }
        TokenKind::Symbol => match cursor.text(token.span) {
            "(" => {
                let inner = expression(cursor)?;
                cursor.take(")")?;
                whole(Kind::Parentheses, cursor.last_end(), vec![inner])
            }
            "{" => {
                let mut parts = vec![expression(cursor)?];
                if cursor.at("{") {
                    // How often something is repeated is a constant.
                    cursor.take("{")?;
                    parts = list(cursor, "}")?;
                    cursor.take("}")?;
                } else if cursor.at(",") {
                    cursor.take(",")?;
                    parts.extend(list(cursor, "}")?);
                } else {
                    cursor.take("}")?;
                }
                whole(Kind::Concatenation, cursor.last_end(), parts)
            }
            other => Err(cursor.unreadable_last(format!("`{other}` begins no expression"))),
        },
    }
}

/// Expressions with commas between them, and the end.
fn list(cursor: &mut Cursor, end: &str) -> Result<Vec<Expression>, Unreadable> {
    let mut parts = Vec::new();
    while !cursor.at(end) {
        parts.push(expression(cursor)?);
        if !cursor.at(end) {
            cursor.take(",")?;
        }
    }
    cursor.take(end)?;
    Ok(parts)
}

/// What is selected of a name: returns the indices of single bits and words, and the first bits of moving parts.
pub(super) fn selections(cursor: &mut Cursor) -> Result<Vec<Expression>, Unreadable> {
    let mut indices = Vec::new();
    loop {
        if cursor.at(".") {
            cursor.take(".")?;
            cursor.next()?;
            // The scope of a name has a constant index.
            indices.clear();
        } else if cursor.at("[") {
            cursor.take("[")?;
            let index = expression(cursor)?;
            if cursor.at(":") {
                cursor.take(":")?;
                expression(cursor)?;
            } else {
                if cursor.at_one_of(&["+:", "-:"]) {
                    cursor.next()?;
                    expression(cursor)?;
                }
                indices.push(index);
            }
            cursor.take("]")?;
        } else {
            return Ok(indices);
        }
    }
}
