//! Reads a file as a [`Config`], with every problem of every key at its place.
//!
//! The reader never stops at the first problem. A wrong key is reported and keeps its default, so
//! that the rest can still be checked.

use crate::config::findings::advise::tried;
use crate::config::findings::finding::{Finding, Severity};
use crate::config::findings::report::{Problem, Text};
use crate::config::keys::{tables, Key, Table, LEGAL};
use crate::config::reading::file_keys::{accept, file_tables, version, Accepted, ACCEPT, VERSION_KEY};
use crate::config::reading::walk::{names, Walk};
use crate::config::schema::Config;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// Contents of a file, as far as it can be read.
pub(in crate::config) struct Draft {
    /// Legal values, and defaults for the rest.
    pub config: Config,
    /// Problems.
    pub problems: Vec<Problem>,
    /// Place of each key's value.
    pub spans: BTreeMap<String, Range<usize>>,
    /// Keys with a wrong value, replaced by a default.
    pub wrong: BTreeSet<String>,
    /// Place of each table's name.
    pub homes: BTreeMap<String, Range<usize>>,
    /// Version that the file was written for.
    pub version: Option<u32>,
    /// Warnings that it accepts.
    pub accepts: Vec<Accepted>,
    /// True if a line is no TOML, which may have been meant for any key.
    pub broken: bool,
}

impl Draft {
    /// Tries the ways out of findings of `check`, and of problems of single keys.
    ///
    /// Findings that depend on another wrong key do not count: its default is nobody's choice.
    pub fn advise(&mut self, found: &mut [Finding], check: &dyn Fn(&Config) -> Vec<Finding>) {
        let wrong = &self.wrong;
        let but = |key: &str, config: &Config| {
            let mut found = check(config);
            let others = |other: &str| other != key && wrong.contains(other);
            found.retain(|finding| !finding.keys().any(others));
            found
        };
        let base: Vec<Finding> = found.to_vec();
        for finding in found {
            let tried =
                tried(&finding.advice, finding, &self.config, (&base, wrong), &|config| but("", config));
            finding.advice = tried;
        }
        for problem in self.problems.iter_mut().filter(|problem| !problem.advice.is_empty()) {
            let of = Finding::error(&problem.key, "", "").of(problem.rule);
            let mut ways =
                tried(&problem.advice, &of, &self.config, (&base, wrong), &|config| but(&of.key, config));
            // Leaving a key out is for where no value near the one in the file does.
            if of.rule == LEGAL {
                ways.truncate(1);
            }
            problem.readvise(ways);
        }
    }

    /// Places a finding of keys together.
    ///
    /// A warning about a key that is left out points to where the key would stand. An error points to the key that
    /// conflicts with it, if the file has one: it is the cause.
    pub fn place(&self, source: &Text, finding: &Finding) -> Problem {
        let own = self.spans.get(&finding.key);
        let involved = || match finding.severity {
            Severity::Error => finding.keys().find_map(|key| self.spans.get(key)),
            Severity::Warning => None,
        };
        let span = own.or_else(involved).cloned();
        let span = match finding.key.as_str() {
            "" => span,
            key => Some(span.unwrap_or_else(|| source.home(key, &self.homes))),
        };
        source.locate(finding, span, own.is_none())
    }
}

/// Reads a whole file.
pub(in crate::config) fn read(source: &Text) -> Draft {
    let (document, walk) = Walk::parse(source);
    let mut reader =
        Reader { walk, spans: BTreeMap::new(), homes: BTreeMap::new(), version: None, accepts: Vec::new() };
    let mut values = Map::new();
    reader.top_level(document.get_ref(), &mut values);
    let Reader { mut walk, spans, homes, version, accepts } = reader;
    let config = serde_json::from_value(Value::Object(values)).unwrap_or_else(|error| {
        // The list of keys and the types have one source, so this means that they disagree.
        walk.report(
            Finding::error("", error.to_string(), "this is a fault of meshkv; please report it"),
            None,
        );
        Config::default()
    });
    let broken = walk.is_broken();
    Draft { config, problems: walk.problems, spans, homes, version, accepts, wrong: walk.wrong, broken }
}

struct Reader<'a> {
    walk: Walk<'a>,
    spans: BTreeMap<String, Range<usize>>,
    homes: BTreeMap<String, Range<usize>>,
    version: Option<u32>,
    accepts: Vec<Accepted>,
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
                self.homes.insert(word.to_owned(), name.span());
                self.table(table, value, &mut inner);
                values.insert(word.to_owned(), Value::Object(inner));
            } else if word == VERSION_KEY {
                let read = self.walk.value(version(), value).and_then(|read| read.as_u64());
                self.version = read.and_then(|read| read.try_into().ok());
                self.spans.insert(word.to_owned(), value.span());
            } else if word == ACCEPT {
                self.accepts(value);
            } else {
                let all = file_tables();
                self.walk.unknown(all, &all[0], word, name.span(), Some(value));
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
                None => self.walk.unknown(file_tables(), table, word, name.span(), Some(value)),
            }
        }
    }

    fn accepts(&mut self, value: &Spanned<DeValue<'_>>) {
        let tables = match value.get_ref() {
            DeValue::Array(items) => items.iter().collect(),
            _ => vec![value],
        };
        for item in tables {
            match item.get_ref() {
                DeValue::Table(entries) if matches!(value.get_ref(), DeValue::Array(_)) => {
                    self.accept(entries, item.span());
                }
                _ => {
                    let help =
                        "write [[accept]] on a line of its own, then warning = \"...\" and reason = \"...\"";
                    self.walk
                        .report(Finding::error(ACCEPT, "is not a list of tables", help), Some(item.span()));
                }
            }
        }
    }

    fn accept(&mut self, entries: &DeTable<'_>, span: Range<usize>) {
        let table = accept();
        let mut read: BTreeMap<&str, (String, Range<usize>)> = BTreeMap::new();
        for (name, value) in entries {
            let word = name.get_ref().as_ref();
            let Some(key) = table.keys.iter().find(|key| key.name == word) else {
                self.walk.unknown(std::slice::from_ref(table), table, word, name.span(), Some(value));
                continue;
            };
            let text = self.walk.value(key, value).and_then(|text| text.as_str().map(str::to_owned));
            match text {
                Some(text) if !text.trim().is_empty() => drop(read.insert(&key.name, (text, value.span()))),
                Some(_) => {
                    let help = format!("try {} = {}", key.name, key.example);
                    let finding = Finding::error(&key.path, "is empty", help);
                    self.walk.report(finding, Some(value.span()));
                }
                None => {}
            }
        }
        let mut missing = |name: &str| {
            let key = format!("{ACCEPT}.{name}");
            if !entries.iter().any(|(word, _)| word.get_ref() == name) {
                let help =
                    "an accepted warning has its name and a reason: warning = \"...\", reason = \"...\"";
                self.walk.report(Finding::error(&key, "is missing", help), Some(span.clone()));
            }
        };
        ["warning", "reason"].into_iter().for_each(&mut missing);
        if let (Some((warning, span)), Some((reason, _))) = (read.remove("warning"), read.remove("reason")) {
            let key = read.remove("key").map(|(key, _)| key);
            self.accepts.push(Accepted { warning, span, key, reason });
        }
    }

    fn key(&mut self, key: &Key, value: &Spanned<DeValue<'_>>, values: &mut Map<String, Value>) {
        self.spans.insert(key.path.clone(), value.span());
        if let Some(json) = self.walk.value(key, value) {
            values.insert(key.name.clone(), json);
        }
    }
}
