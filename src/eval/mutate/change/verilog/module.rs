//! A module of Verilog as what a mutant may change: expressions with their places, and statements.

use super::cursor::Cursor;
use super::expression::{expression, selections, Expression};
use super::token::{line, Span, TokenKind, Unreadable};
use std::collections::BTreeSet;

/// Place of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::eval::mutate) enum Place {
    /// The right side of a continuous assignment, or of the declaration of a wire; true if the left side is one bit.
    Wire(bool),
    /// The right side of an assignment in a block.
    Assigned,
    /// The condition of an `if` in a block.
    Condition,
    /// The word that a `case` compares.
    Selector,
    /// What is connected to a port of an instance.
    Port,
}

/// An expression at its place.
#[derive(Debug, Clone)]
pub(in crate::eval::mutate) struct Spot {
    pub(in crate::eval::mutate) place: Place,
    pub(in crate::eval::mutate) expression: Expression,
}

/// A statement in a block.
#[derive(Debug, Clone, Copy)]
pub(in crate::eval::mutate) struct Statement {
    pub(in crate::eval::mutate) span: Span,
    /// Of a nonblocking assignment, its left and its right side.
    pub(in crate::eval::mutate) sides: Option<(Span, Span)>,
    /// True if it is under a condition.
    pub(in crate::eval::mutate) guarded: bool,
}

/// A module as it was read.
#[derive(Debug, Clone, Default)]
pub(in crate::eval::mutate) struct Reading {
    pub(in crate::eval::mutate) spots: Vec<Spot>,
    pub(in crate::eval::mutate) statements: Vec<Statement>,
    /// Names of ports, wires and registers.
    pub(in crate::eval::mutate) signals: BTreeSet<String>,
    /// Those of one bit.
    scalars: BTreeSet<String>,
}

impl Reading {
    /// Reads the modules of a file.
    ///
    /// # Errors
    /// [`Unreadable`] at what the reader does not know.
    pub(in crate::eval::mutate) fn of(text: &str) -> Result<Reading, Unreadable> {
        let mut cursor = Cursor::new(text)?;
        let mut reading = Reading::default();
        while !cursor.is_over() {
            cursor.skip_to("module")?;
            reading.header(&mut cursor)?;
            while !cursor.at("endmodule") {
                reading.item(&mut cursor)?;
            }
            cursor.take("endmodule")?;
        }
        Ok(reading)
    }

    /// Line of a byte of the text, from 1 on.
    pub(in crate::eval::mutate) fn line(text: &str, at: usize) -> usize {
        line(text, at)
    }

    /// Skips the header of a module, and notes its ports.
    fn header(&mut self, cursor: &mut Cursor) -> Result<(), Unreadable> {
        let words = cursor.skip_to(";")?;
        // A port is the last word before its comma.
        for two in words.windows(2) {
            if [",", ")"].contains(&two[1]) && two[0].starts_with(char::is_alphabetic) {
                self.signals.insert(two[0].to_owned());
            }
        }
        Ok(())
    }

    fn item(&mut self, cursor: &mut Cursor) -> Result<(), Unreadable> {
        match cursor.peek() {
            "localparam" | "parameter" | "genvar" | "integer" | "defparam" => cursor.skip_to(";").map(drop),
            "wire" | "reg" => self.declaration(cursor),
            "assign" => {
                cursor.next()?;
                self.continuous(cursor)
            }
            "always" => {
                cursor.next()?;
                cursor.take("@")?;
                if cursor.at("*") {
                    cursor.next()?;
                } else {
                    cursor.skip_parentheses()?;
                }
                self.statement(cursor, false)
            }
            "initial" => {
                cursor.next()?;
                Reading::default().statement(cursor, false)
            }
            "function" => cursor.skip_to("endfunction").map(drop),
            "generate" | "endgenerate" | "end" | "else" => cursor.next().map(drop),
            "begin" => {
                cursor.next()?;
                cursor.skip_name()
            }
            "if" | "for" => {
                cursor.next()?;
                cursor.skip_parentheses()
            }
            _ => self.instance(cursor),
        }
    }

    /// Wires or registers, of which wires may have a value.
    fn declaration(&mut self, cursor: &mut Cursor) -> Result<(), Unreadable> {
        cursor.next()?;
        if cursor.at("signed") {
            cursor.next()?;
        }
        let one_bit = !cursor.at("[");
        selections(cursor)?;
        loop {
            let name = cursor.next_word()?.to_owned();
            let word = !cursor.at("[");
            selections(cursor)?;
            if one_bit && word {
                self.scalars.insert(name.clone());
            }
            self.signals.insert(name);
            if cursor.at("=") {
                cursor.take("=")?;
                self.spot(cursor, Place::Wire(one_bit))?;
            }
            if cursor.at(";") {
                return cursor.take(";").map(drop);
            }
            cursor.take(",")?;
        }
    }

    fn continuous(&mut self, cursor: &mut Cursor) -> Result<(), Unreadable> {
        loop {
            let left = expression(cursor)?;
            cursor.take("=")?;
            let one_bit = self.scalars.contains(cursor.text(left.span));
            self.spot(cursor, Place::Wire(one_bit))?;
            if cursor.at(";") {
                return cursor.take(";").map(drop);
            }
            cursor.take(",")?;
        }
    }

    fn instance(&mut self, cursor: &mut Cursor) -> Result<(), Unreadable> {
        let module = cursor.next()?;
        if module.kind != TokenKind::Word {
            let word = cursor.text(module.span);
            return Err(cursor.unreadable(format!("`{word}` begins no item of a module")));
        }
        if cursor.at("#") {
            cursor.take("#")?;
            cursor.skip_parentheses()?;
        }
        cursor.next()?;
        cursor.take("(")?;
        while !cursor.at(")") {
            cursor.take(".")?;
            cursor.next()?;
            cursor.take("(")?;
            if !cursor.at(")") {
                self.spot(cursor, Place::Port)?;
            }
            cursor.take(")")?;
            if cursor.at(",") {
                cursor.take(",")?;
            }
        }
        cursor.take(")")?;
        cursor.take(";").map(drop)
    }

    fn spot(&mut self, cursor: &mut Cursor, place: Place) -> Result<(), Unreadable> {
        let expression = expression(cursor)?;
        self.spots.push(Spot { place, expression });
        Ok(())
    }

    fn statement(&mut self, cursor: &mut Cursor, guarded: bool) -> Result<(), Unreadable> {
        let (start, mut sides) = (cursor.start(), None);
        match cursor.peek() {
            "begin" => {
                cursor.next()?;
                cursor.skip_name()?;
                while !cursor.at("end") {
                    self.statement(cursor, guarded)?;
                }
                cursor.next()?;
            }
            "if" => {
                cursor.next()?;
                cursor.take("(")?;
                self.spot(cursor, Place::Condition)?;
                cursor.take(")")?;
                self.statement(cursor, true)?;
                if cursor.at("else") {
                    cursor.next()?;
                    self.statement(cursor, true)?;
                }
            }
            "for" => {
                cursor.next()?;
                cursor.skip_parentheses()?;
                self.statement(cursor, guarded)?;
            }
            "case" | "casez" => self.cases(cursor)?,
            word if word.starts_with('$') || ["integer", "reg"].contains(&word) => {
                cursor.skip_to(";")?;
            }
            ";" => cursor.next().map(drop)?,
            _ => sides = self.assignment(cursor)?,
        }
        let span = Span { start, end: cursor.last_end() };
        self.statements.push(Statement { span, sides, guarded });
        Ok(())
    }

    fn cases(&mut self, cursor: &mut Cursor) -> Result<(), Unreadable> {
        cursor.next()?;
        cursor.take("(")?;
        self.spot(cursor, Place::Selector)?;
        cursor.take(")")?;
        while !cursor.at("endcase") {
            cursor.skip_to(":")?;
            self.statement(cursor, true)?;
        }
        cursor.next().map(drop)
    }

    /// An assignment; returns the sides of a nonblocking one.
    fn assignment(&mut self, cursor: &mut Cursor) -> Result<Option<(Span, Span)>, Unreadable> {
        let start = cursor.start();
        if cursor.at("{") {
            cursor.next()?;
            cursor.skip_to("}")?;
        } else {
            cursor.next()?;
            selections(cursor)?;
        }
        let left = Span { start, end: cursor.last_end() };
        let later = cursor.at("<=");
        cursor.take(if later { "<=" } else { "=" })?;
        self.spot(cursor, Place::Assigned)?;
        let right = self.spots.last().map_or(left, |spot| spot.expression.span);
        cursor.take(";")?;
        Ok(later.then_some((left, right)))
    }
}
