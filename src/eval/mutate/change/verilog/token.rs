//! Tokens of Verilog. Comments, attributes and directives are skipped, and so is all between a conditional directive
//! and its end: it is for simulation or proof.

/// Bytes of a text, from the first to the one behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::eval::mutate) struct Span {
    pub(in crate::eval::mutate) start: usize,
    pub(in crate::eval::mutate) end: usize,
}

impl Span {
    /// The bytes of `text`.
    pub(in crate::eval::mutate) fn of(self, text: &str) -> &str {
        &text[self.start..self.end]
    }

    /// True if `other` lies inside.
    pub(in crate::eval::mutate) fn holds(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// A text that the reader does not understand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub(in crate::eval::mutate) struct Unreadable {
    /// Line, from 1 on.
    pub(in crate::eval::mutate) line: usize,
    /// Reason.
    pub(in crate::eval::mutate) what: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    Text,
    Symbol,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// Symbols of several characters, longer ones first.
const SYMBOLS: [&str; 19] = [
    "<<<", ">>>", "===", "!==", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "~&", "~|", "~^", "^~", "**",
    "+:", "-:",
];

/// Line of a byte, from 1 on.
pub(super) fn line(text: &str, at: usize) -> usize {
    1 + text[..at].matches('\n').count()
}

/// All tokens of a text.
///
/// # Errors
/// If a comment, an attribute, a string or a conditional has no end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Unreadable> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let endless = |what: &str| Unreadable { line: line(text, at), what: format!("{what} has no end") };
        let skip = |end: &str, what: &str| rest.find(end).map(|n| n + end.len()).ok_or_else(|| endless(what));
        if rest.starts_with(char::is_whitespace) {
            at += 1;
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += skip("*/", "a comment")?;
        } else if rest.starts_with("(*") && !rest.starts_with("(*)") {
            at += skip("*)", "an attribute")?;
        } else if rest.starts_with("`if") {
            at += conditional(rest).ok_or_else(|| endless("a conditional"))?;
        } else if rest.starts_with('`') {
            at += rest.find('\n').unwrap_or(rest.len());
        } else {
            let (kind, length) = token(rest).ok_or_else(|| endless("a string"))?;
            found.push(Token { kind, span: Span { start: at, end: at + length } });
            at += length;
        }
    }
    Ok(found)
}

/// Length of a conditional directive, with all up to its end.
fn conditional(rest: &str) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    loop {
        let here = &rest[at..];
        if here.starts_with("`if") {
            depth += 1;
        } else if here.starts_with("`endif") {
            depth -= 1;
            if depth == 0 {
                return Some(at + "`endif".len());
            }
        }
        at += 1 + rest[at + 1..].find('`')?;
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

/// Kind and length of the first token; none if it is a string without an end.
fn token(rest: &str) -> Option<(TokenKind, usize)> {
    let run = |from: usize, of: &dyn Fn(char) -> bool| {
        from + rest[from..].find(|c| !of(c)).unwrap_or(rest.len() - from)
    };
    let first = rest.chars().next()?;
    if first == '"' {
        return Some((TokenKind::Text, rest[1..].find('"')? + 2));
    }
    if first.is_ascii_digit() || first == '\'' {
        let digits = run(0, &|c| c.is_ascii_digit() || c == '_');
        let based = rest[digits..].starts_with('\'');
        return Some((TokenKind::Number, if based { run(digits + 1, &is_word) } else { digits }));
    }
    if is_word(first) {
        return Some((TokenKind::Word, run(0, &is_word)));
    }
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(*symbol));
    Some((TokenKind::Symbol, symbol.map_or(first.len_utf8(), |symbol| symbol.len())))
}
