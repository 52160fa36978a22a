//! A place among the tokens of a text, which moves on as they are read.

use super::token::{line, tokens, Span, Token, Unreadable};

/// A place among the tokens of a text.
pub(super) struct Cursor<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// The first token of a text.
    ///
    /// # Errors
    /// As [`tokens`].
    pub(super) fn new(text: &'t str) -> Result<Cursor<'t>, Unreadable> {
        Ok(Cursor { text, tokens: tokens(text)?, at: 0 })
    }

    pub(super) fn is_over(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(super) fn peek(&self) -> &'t str {
        self.tokens.get(self.at).map_or("", |token| token.span.of(self.text))
    }

    pub(super) fn at(&self, what: &str) -> bool {
        self.peek() == what
    }

    pub(super) fn at_one_of(&self, what: &[&str]) -> bool {
        what.contains(&self.peek())
    }

    pub(super) fn text(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    pub(super) fn next(&mut self) -> Result<Token, Unreadable> {
        let token = self.tokens.get(self.at).copied();
        self.at += 1;
        token.ok_or_else(|| self.unreadable("the text ends within a module".to_owned()))
    }

    pub(super) fn take(&mut self, what: &str) -> Result<Span, Unreadable> {
        if !self.at(what) {
            return Err(self.unreadable(format!("`{}` stands where `{what}` is due", self.peek())));
        }
        Ok(self.next()?.span)
    }

    /// End of the token before this place.
    pub(super) fn last_end(&self) -> usize {
        self.tokens[..self.at.min(self.tokens.len())].last().map_or(0, |token| token.span.end)
    }

    pub(super) fn start(&self) -> usize {
        self.tokens.get(self.at).map_or(self.text.len(), |token| token.span.start)
    }

    pub(super) fn unreadable(&self, what: String) -> Unreadable {
        Unreadable { line: line(self.text, self.start()), what }
    }

    /// The same of the token that was taken last.
    pub(super) fn unreadable_last(&self, what: String) -> Unreadable {
        Unreadable { line: line(self.text, self.last_end().saturating_sub(1)), what }
    }

    pub(super) fn next_word(&mut self) -> Result<&'t str, Unreadable> {
        Ok(self.next()?.span.of(self.text))
    }

    /// Skips up to and with a token at the depth of this place; returns all before it.
    pub(super) fn skip_to(&mut self, end: &str) -> Result<Vec<&'t str>, Unreadable> {
        let (mut depth, mut skipped) = (0, Vec::new());
        loop {
            let word = self.next_word()?;
            match word {
                word if depth == 0 && word == end => return Ok(skipped),
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            skipped.push(word);
        }
    }

    pub(super) fn skip_parentheses(&mut self) -> Result<(), Unreadable> {
        self.take("(")?;
        self.skip_to(")").map(drop)
    }

    pub(super) fn skip_name(&mut self) -> Result<(), Unreadable> {
        if self.at(":") {
            self.take(":")?;
            self.next()?;
        }
        Ok(())
    }
}
