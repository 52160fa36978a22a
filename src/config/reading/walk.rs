//! Common part of all strict readers of TOML: problems with their places, and values checked by
//! their keys.
//!
//! It never stops at the first problem. The caller provides the tables and keys of its file.

use crate::config::findings::advice::Advice;
use crate::config::findings::finding::{Finding, UNKNOWN};
use crate::config::findings::report::{Problem, Text};
use crate::config::keys::{Key, Kind, Table};
use crate::config::reading::file_keys::ACCEPT;
use crate::config::reading::meant::{meant, Meant};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// A file being read.
pub(in crate::config) struct Walk<'a> {
    source: &'a Text,
    /// Problems.
    pub problems: Vec<Problem>,
    /// Keys with a wrong value, replaced by a default.
    pub wrong: BTreeSet<String>,
    /// Places of syntax errors, by the line's first byte.
    broken_lines: BTreeSet<usize>,
}

impl<'a> Walk<'a> {
    /// True if a line is no TOML: whatever it was to say is not among the values.
    pub fn is_broken(&self) -> bool {
        !self.broken_lines.is_empty()
    }

    /// Parses the valid parts of a file and reports syntax errors.
    pub fn parse(source: &'a Text) -> (Spanned<DeTable<'a>>, Walk<'a>) {
        let (document, errors) = DeTable::parse_recoverable(&source.text);
        let mut walk =
            Walk { source, problems: Vec::new(), wrong: BTreeSet::new(), broken_lines: BTreeSet::new() };
        for error in &errors {
            walk.syntax_error(error);
        }
        (document, walk)
    }

    /// Reports a finding at the bytes it is about.
    pub fn report(&mut self, finding: Finding, span: Option<Range<usize>>) {
        if !finding.key.is_empty() {
            self.wrong.insert(finding.key.clone());
        }
        // The parser's recovery from a broken line is a guess, not text of the file.
        let guessed = span.as_ref().is_some_and(|s| self.broken_lines.contains(&self.line_of(s.start)));
        if !guessed {
            self.problems.push(self.source.locate(&finding, span, false));
        }
    }

    /// First byte of the line that holds byte `at`.
    fn line_of(&self, at: usize) -> usize {
        let before = &self.source.text.as_bytes()[..at.min(self.source.text.len())];
        before.iter().rposition(|&b| b == b'\n').map_or(0, |newline| newline + 1)
    }

    fn syntax_error(&mut self, error: &toml::de::Error) {
        // The parser's own message may go over several lines.
        let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
        let help = "the file is TOML 1.0: [table], then key = value, one a line; see https://toml.io";
        let span = error.span().unwrap_or(0..0);
        let finding = Finding::error("", format!("not TOML: {message}"), help).of("file-is-toml");
        self.problems.push(self.source.locate(&finding, Some(span.clone()), false));
        self.broken_lines.insert(self.line_of(span.start));
    }

    /// A value in the type of its key, or nothing if it is wrong, which is reported.
    pub fn value(&mut self, key: &Key, value: &Spanned<DeValue<'_>>) -> Option<Value> {
        let read = if key.kind == Kind::Groups { whole(value.get_ref()) } else { scalar(value.get_ref()) };
        let finding = match read {
            Some(json) => match key.judge(&json, &self.shown(value)) {
                None => return Some(json),
                Some(finding) => finding,
            },
            None => key.wrong_kind(&self.shown(value), &Value::Null),
        };
        self.report(finding, Some(value.span()));
        None
    }

    /// Reports a word that `table`, one of `tables`, does not have; the first of `tables` is the
    /// top level.
    pub fn unknown(
        &mut self,
        tables: &[Table],
        table: &Table,
        word: &str,
        span: Range<usize>,
        value: Option<&Spanned<DeValue<'_>>>,
    ) {
        let is_table =
            value.is_some_and(|value| matches!(value.get_ref(), DeValue::Table(_) | DeValue::Array(_)));
        let top = table.name.is_empty();
        let path = if top { word.to_owned() } else { format!("{}.{word}", table.name) };
        let inner = tables[1..].iter().filter(|_| top);
        let Meant { keys, hint } = meant(tables, table, word);
        let hint = match hint.chars().last() {
            None => hint,
            Some('?') => format!("{hint} "),
            Some(_) => format!("{hint}; "),
        };
        let has = if top { "the top level".to_owned() } else { format!("[{}]", table.name) };
        let mut list = vec![names(table)];
        list.extend(inner.map(|t| match t.name.as_str() {
            ACCEPT => format!("[[{ACCEPT}]]"),
            name => format!("[{name}]"),
        }));
        let help = format!("{hint}{has} has {}", list.join(", "));
        let what = if is_table { "table" } else { "key" };
        let renamed = keys.iter().filter(|_| !is_table).filter_map(|key| {
            let value = value.and_then(|value| scalar(value.get_ref()))?;
            Some(Advice::leave_out(&path).and(key, value))
        });
        let advice: Vec<_> = renamed.chain([Advice::leave_out(&path)]).collect();
        let finding = Finding::error(&path, format!("is not a {what} that meshkv knows"), help);
        self.report(finding.of(UNKNOWN).advising(advice), Some(span));
    }

    /// A value in its own text, or its type if the text would not fit a line.
    pub fn shown(&self, value: &Spanned<DeValue<'_>>) -> String {
        let raw = &self.source.text.get(value.span()).unwrap_or_default();
        match value.get_ref() {
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
            _ if raw.chars().count() <= 40 && !raw.contains(char::is_control) => (*raw).to_owned(),
            other => format!("a long {}", other.type_str()),
        }
    }
}

/// The keys of a table, for a message.
pub(in crate::config) fn names(table: &Table) -> String {
    table.keys.iter().map(|k| k.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A list or a table of such values, or one of them.
fn whole(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::Array(items) => items.iter().map(|item| whole(item.get_ref())).collect(),
        DeValue::Table(entries) => {
            let entry = |(name, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
                Some((String::from(AsRef::<str>::as_ref(name.get_ref())), whole(value.get_ref())?))
            };
            entries.iter().map(entry).collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        one => scalar(one),
    }
}

/// A value that a key can have at all, as JSON; no table, array, date, nan or inf.
pub(in crate::config) fn scalar(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::Boolean(b) => Some(Value::Bool(*b)),
        DeValue::String(s) => Some(Value::from(s.as_ref())),
        DeValue::Integer(i) => {
            // Keys have at most 64 bits: a larger value is reported as too large all the same.
            let number = i128::from_str_radix(i.as_str(), i.radix()).ok()?;
            let bounded = number.clamp(i64::MIN.into(), u64::MAX.into());
            u64::try_from(bounded).map(Value::from).or_else(|_| i64::try_from(bounded).map(Value::from)).ok()
        }
        DeValue::Float(x) => {
            x.as_str().parse().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
        }
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}
