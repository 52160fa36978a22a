//! Reads a file as a [`Config`], with every problem of every key at its place.
//!
//! The reader never stops at the first problem. A wrong key is reported and keeps its default, so
//! that the rest can still be checked.

use super::finding::Finding;
use super::keys::{tables, Key, Table};
use super::report::{Problem, Text};
use super::schema::Config;
use super::walk::{names, Walk};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// Contents of a file, as far as it can be read.
pub(super) struct Draft {
    /// Legal values, and defaults for the rest.
    pub config: Config,
    /// Problems.
    pub problems: Vec<Problem>,
    /// Place of each key's value.
    pub spans: BTreeMap<String, Range<usize>>,
    /// Keys with a wrong value, replaced by a default.
    pub wrong: BTreeSet<String>,
    /// True if a line is no TOML, which may have been meant for any key.
    pub broken: bool,
}

/// Reads a whole file.
pub(super) fn read(source: &Text) -> Draft {
    let (document, walk) = Walk::parse(source);
    let mut reader = Reader { walk, spans: BTreeMap::new() };
    let mut values = Map::new();
    reader.top_level(document.get_ref(), &mut values);
    let Reader { mut walk, spans } = reader;
    let config = serde_json::from_value(Value::Object(values)).unwrap_or_else(|error| {
        // The list of keys and the types have one source, so this means that they disagree.
        walk.report(
            Finding::error("", error.to_string(), "this is a fault of meshkv; please report it"),
            None,
        );
        Config::default()
    });
    let broken = walk.is_broken();
    Draft { config, problems: walk.problems, spans, wrong: walk.wrong, broken }
}

struct Reader<'a> {
    walk: Walk<'a>,
    spans: BTreeMap<String, Range<usize>>,
}

impl Reader<'_> {
    fn top_level(&mut self, document: &DeTable<'_>, values: &mut Map<String, Value>) {
        let top = &tables()[0];
        for (name, value) in document {
            let word = name.get_ref().as_ref();
            if let Some(key) = top.keys.iter().find(|k| k.name == word) {
                self.key(key, value, values);
            } else if let Some(table) = tables()[1..].iter().find(|t| t.name == word) {
                let mut inner = Map::new();
                self.table(table, value, &mut inner);
                values.insert(word.to_owned(), Value::Object(inner));
            } else {
                let is_table = matches!(value.get_ref(), DeValue::Table(_));
                self.walk.unknown(tables(), top, word, name.span(), is_table);
            }
        }
    }

    fn table(&mut self, table: &Table, value: &Spanned<DeValue<'_>>, values: &mut Map<String, Value>) {
        let DeValue::Table(entries) = value.get_ref() else {
            let help =
                format!("write [{}] on a line of its own, then its keys: {}", table.name, names(table));
            self.walk.wrong.extend(table.keys.iter().map(|k| k.path.clone()));
            let finding = Finding::value(&table.name, self.walk.shown(value), "is not a table", help);
            return self.walk.report(finding, Some(value.span()));
        };
        for (name, value) in entries {
            let word = name.get_ref().as_ref();
            match table.keys.iter().find(|k| k.name == word) {
                Some(key) => self.key(key, value, values),
                None => self.walk.unknown(tables(), table, word, name.span(), false),
            }
        }
    }

    fn key(&mut self, key: &Key, value: &Spanned<DeValue<'_>>, values: &mut Map<String, Value>) {
        self.spans.insert(key.path.clone(), value.span());
        if let Some(json) = self.walk.value(key, value) {
            values.insert(key.name.clone(), json);
        }
    }
}
