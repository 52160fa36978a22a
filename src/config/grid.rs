//! A sweep file: a base configuration, what varies, and what is run at each point.
//!
//! ```toml
//! base = "../configs/u280_8x8.toml"
//! [grid]                      # every combination
//! noc.vc_depth = [4, 8]
//! [[zip]]                     # lists of one length that go together
//! mesh.cols = [4, 8]
//! mesh.rows = [4, 8]
//! [workload]
//! kind = "traffic"
//! load = { from = 0.05, to = 0.5, step = 0.05 }
//! ```
//!
//! It reads and judges each value by its key; what the values of one point mean together is for the design to say.

use super::finding::Finding;
use super::keys::{tables, tables_of, Key, Table};
use super::report::{Report, Text};
use super::walk::{names, Walk};
use super::work::{DecodeWork, TrafficWork, WorkKind};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// Most values that a range may stand for: a step of one digit too many is an error and no long wait.
const MOST_STEPS: f64 = 10_000.0;

/// One value of one key, and where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Set {
    /// `table.name` of the configuration, or `workload.name`.
    pub path: String,
    /// What it is set to.
    pub value: Value,
    /// Bytes of the value in the sweep file.
    pub span: Range<usize>,
}

/// What one step along an axis sets.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Choice {
    /// Name of one of `[[points]]`.
    pub name: Option<String>,
    /// Its values.
    pub sets: Vec<Set>,
}

/// Choices of which each point of the grid takes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// In the order of the file.
    pub choices: Vec<Choice>,
}

/// A sweep file as it was read. Its points are all combinations of a choice of every axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// Stem of the file's name.
    pub name: String,
    /// The base configuration, below the folder of the file.
    pub base: PathBuf,
    /// What is run.
    pub kind: WorkKind,
    /// What varies; a key that is set to one value is an axis of one choice.
    pub axes: Vec<Axis>,
    source: Text,
}

impl Grid {
    /// Puts findings about points at the values that they are about.
    pub fn report(&self, found: &[(Finding, Option<Range<usize>>)]) -> Report {
        let problems = found.iter().map(|(finding, span)| self.source.locate(finding, span.clone(), false));
        Report::new(&self.source.path, problems.collect())
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.source.text
    }
}

/// Reads a sweep file strictly.
///
/// # Errors
/// All problems of the file at once: TOML syntax, unknown keys, wrong types, illegal values.
pub fn load_grid(path: &Path) -> Result<Grid, Report> {
    let source = Text::load(path, "name an existing sweep file; docs/sweeps.md says what one holds")?;
    let name = super::stem(path).unwrap_or_default();
    let (document, walk) = Walk::parse(&source);
    let mut reader = Reader { walk, axes: Vec::new(), base: None, kind: None, placed: BTreeMap::new() };
    reader.top_level(document.get_ref());
    reader.missing();
    let Reader { walk, axes, base, kind, .. } = reader;
    let report = Report::new(&source.path, walk.problems);
    if report.has_errors() {
        return Err(report);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let base = folder.join(base.unwrap_or_default());
    Ok(Grid { name, base, kind: kind.unwrap_or(WorkKind::Traffic), axes, source })
}

struct Reader<'a> {
    walk: Walk<'a>,
    axes: Vec<Axis>,
    base: Option<String>,
    kind: Option<WorkKind>,
    /// Where each key is given its values: it may be an axis once.
    placed: BTreeMap<String, &'static str>,
}

/// A key with no rule of its own.
fn free_key(name: &str, doc: &str) -> Key {
    Key {
        path: name.to_owned(),
        name: name.to_owned(),
        doc: doc.to_owned(),
        kind: super::keys::Kind::Text,
        default: Value::Null,
        example: "configs/meshkv.toml".into(),
        choices: Vec::new(),
        range: None,
        why: None,
    }
}

fn words() -> Vec<Table> {
    let table = |name: &str, keys: Vec<Key>| Table { name: name.to_owned(), doc: String::new(), keys };
    let top = table("", vec![free_key("base", "Path of the base configuration, from the sweep file")]);
    std::iter::once(top).chain(["grid", "zip", "points", "workload"].map(|t| table(t, Vec::new()))).collect()
}

/// The keys of a workload.
fn workload(kind: WorkKind) -> Table {
    let tables = match kind {
        WorkKind::Traffic => tables_of::<TrafficWork>(),
        WorkKind::Decode => tables_of::<DecodeWork>(),
    };
    let mut keys = tables.into_iter().next().map_or(Vec::new(), |top| top.keys);
    for key in &mut keys {
        key.path = format!("workload.{}", key.name);
    }
    Table { name: "workload".to_owned(), doc: String::new(), keys }
}

/// The entries of a table in the order of the file, which a map does not keep.
fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(String, Range<usize>, &'t Spanned<DeValue<'a>>)> {
    let mut entries: Vec<_> =
        table.iter().map(|(name, value)| (name.get_ref().to_string(), name.span(), value)).collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    entries
}

impl Reader<'_> {
    fn top_level(&mut self, document: &DeTable<'_>) {
        let tables = words();
        for (word, span, value) in in_order(document) {
            match word.as_str() {
                "base" => {
                    let path = self.walk.value(&tables[0].keys[0], value);
                    self.base = path.and_then(|path| path.as_str().map(str::to_owned));
                }
                "grid" => self.grid(value),
                "zip" => self.list("zip", value, Reader::zip),
                "points" => self.points(value),
                "workload" => self.workload(value),
                _ => {
                    let is_table = matches!(value.get_ref(), DeValue::Table(_) | DeValue::Array(_));
                    self.walk.unknown(&tables, &tables[0], &word, span, is_table);
                }
            }
        }
    }

    /// What the file must have and has not.
    fn missing(&mut self) {
        if self.base.is_none() && !self.walk.wrong.contains("base") {
            let help =
                "name the configuration that the points vary, above the first table: base = \"meshkv.toml\"";
            self.walk.report(Finding::error("base", "is missing", help), None);
        }
        if self.kind.is_none() && !self.walk.wrong.iter().any(|key| key.starts_with("workload")) {
            let help = "add [workload] with kind = \"traffic\" or kind = \"decode\"";
            self.walk.report(Finding::error("workload.kind", "is missing", help), None);
        }
    }

    fn table<'t, 'a>(&mut self, name: &str, value: &'t Spanned<DeValue<'a>>) -> Option<&'t DeTable<'a>> {
        match value.get_ref() {
            DeValue::Table(entries) => Some(entries),
            _ => {
                let help = format!("write [{name}] on a line of its own, then its keys");
                let finding = Finding::value(name, self.walk.shown(value), "is not a table", help);
                self.walk.report(finding, Some(value.span()));
                None
            }
        }
    }

    fn list(
        &mut self,
        name: &'static str,
        value: &Spanned<DeValue<'_>>,
        mut each: impl FnMut(&mut Self, &DeTable<'_>, Range<usize>),
    ) {
        let DeValue::Array(items) = value.get_ref() else {
            let help = format!("write [[{name}]] with two brackets: there may be several");
            let finding = Finding::error(name, "is not a list of tables", help);
            return self.walk.report(finding, Some(value.span()));
        };
        for item in items.iter() {
            if let Some(entries) = self.table(name, item) {
                each(self, entries, item.span());
            }
        }
    }

    fn grid(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(entries) = self.table("grid", value) else { return };
        for (key, value) in self.keys("grid", entries, &[]) {
            let sets = self.values(&key, value, true);
            self.axis(sets.into_iter().map(|set| Choice { name: None, sets: vec![set] }).collect());
        }
    }

    fn zip(&mut self, entries: &DeTable<'_>, span: Range<usize>) {
        let keys = self.keys("zip", entries, &[]);
        let lists: Vec<_> = keys.iter().map(|(key, value)| self.values(key, value, false)).collect();
        let lengths: Vec<_> = lists.iter().map(Vec::len).collect();
        if lengths.windows(2).any(|pair| pair[0] != pair[1]) && !lengths.contains(&0) {
            let told: Vec<_> =
                keys.iter().zip(&lengths).map(|((key, _), n)| format!("{} has {n}", key.path)).collect();
            let help = format!(
                "{}; keys of one [[zip]] go together, value by value: make them alike",
                told.join(", ")
            );
            return self
                .walk
                .report(Finding::error("zip", "has lists of different lengths", help), Some(span));
        }
        let choice = |i: usize| Choice { name: None, sets: lists.iter().map(|l| l[i].clone()).collect() };
        self.axis((0..lengths.first().copied().unwrap_or(0)).map(choice).collect());
    }

    fn points(&mut self, value: &Spanned<DeValue<'_>>) {
        let mut choices: Vec<Choice> = Vec::new();
        let mut paths: Vec<String> = Vec::new();
        self.list("points", value, |reader, entries, span| {
            let mut choice = Choice::default();
            let found = entries.iter().find(|(word, _)| word.get_ref() == "name");
            let key = free_key("name", "Name of the point in tables and pictures");
            let name = found.and_then(|(_, value)| reader.walk.value(&key, value));
            choice.name = name.and_then(|name| name.as_str().map(str::to_owned));
            if choice.name.is_none() || choices.iter().any(|other| other.name == choice.name) {
                let help = "give each of [[points]] a name of its own: name = \"8x8\"";
                let fault = if choice.name.is_none() { "has no name" } else { "has the name of another" };
                reader.walk.report(Finding::error("points", fault, help), Some(span));
            }
            for (key, value) in reader.keys("points", entries, &["name"]) {
                let set = reader.walk.value(&key, value);
                let path = key.path.clone();
                choice.sets.extend(set.map(|set| Set { path, value: set, span: value.span() }));
                paths.push(key.path);
            }
            choices.push(choice);
        });
        paths.sort();
        paths.dedup();
        for path in paths {
            self.place(&path, "[[points]]", value.span());
        }
        self.axis(choices);
    }

    fn workload(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(entries) = self.table("workload", value) else { return };
        let kind_key = workload(WorkKind::Traffic).keys.swap_remove(0);
        if let Some((_, value)) = entries.iter().find(|(word, _)| word.get_ref() == "kind") {
            // Legal words are those of the type.
            let kind = self.walk.value(&kind_key, value);
            self.kind = kind.and_then(|kind| serde_json::from_value(kind).ok());
        }
        // Without its kind nobody knows the other keys.
        let Some(kind) = self.kind else { return };
        let table = workload(kind);
        for (word, span, value) in in_order(entries) {
            match table.keys.iter().find(|key| key.name == word) {
                Some(key) if key.name == "kind" => {}
                Some(key) => {
                    let sets = self.values(key, value, true);
                    self.axis(sets.into_iter().map(|set| Choice { name: None, sets: vec![set] }).collect());
                }
                None => self.walk.unknown(std::slice::from_ref(&table), &table, &word, span, false),
            }
        }
    }

    /// An axis, unless something is wrong with it, which is reported.
    fn axis(&mut self, choices: Vec<Choice>) {
        if !choices.is_empty() {
            self.axes.push(Axis { choices });
        }
    }

    /// The keys of the configuration that a table names, with their values; each is placed.
    fn keys<'t, 'a>(
        &mut self,
        place: &'static str,
        entries: &'t DeTable<'a>,
        but: &[&str],
    ) -> Vec<(Key, &'t Spanned<DeValue<'a>>)> {
        let mut found = Vec::new();
        let top = &tables()[0];
        for (word, span, value) in in_order(entries).into_iter().filter(|(w, ..)| !but.contains(&w.as_str()))
        {
            let table = tables()[1..].iter().find(|table| table.name == word);
            match (table, value.get_ref()) {
                (Some(table), DeValue::Table(inner)) => {
                    for (word, span, value) in in_order(inner) {
                        match table.keys.iter().find(|key| key.name == word) {
                            Some(key) => found.push((key.clone(), value)),
                            None => self.walk.unknown(tables(), table, &word, span, false),
                        }
                    }
                }
                (Some(table), _) => {
                    let help = format!(
                        "name one of its keys: {word}.{} = ...; it has {}",
                        table.keys[0].name,
                        names(table)
                    );
                    self.walk.report(
                        Finding::error(&word, "is a table of the configuration and no key", help),
                        Some(span),
                    );
                }
                (None, _) if word.contains('.') => {
                    let help = format!("write {word} = ... without quotation marks");
                    self.walk.report(
                        Finding::error(&word, "is quoted, which makes it one word", help),
                        Some(span),
                    );
                }
                (None, _) => match top.keys.iter().find(|key| key.name == word) {
                    Some(key) => found.push((key.clone(), value)),
                    None => self.walk.unknown(tables(), top, &word, span, false),
                },
            }
        }
        if place != "points" {
            for (key, value) in &found {
                self.place(&key.path, place, value.span());
            }
        }
        found
    }

    /// Notes where a key gets its values; a second place would contradict the first.
    fn place(&mut self, path: &str, place: &'static str, span: Range<usize>) {
        if let Some(first) = self.placed.insert(path.to_owned(), place) {
            let help = format!("{first} gives it values too: keep one of the two");
            self.walk.report(Finding::error(path, "is given its values twice", help), Some(span));
        }
    }

    /// The values of a key: one, a list of them, or a range. `once`: none may be in a list twice.
    fn values(&mut self, key: &Key, value: &Spanned<DeValue<'_>>, once: bool) -> Vec<Set> {
        let set = |value: Value, span: Range<usize>| Set { path: key.path.clone(), value, span };
        match value.get_ref() {
            DeValue::Array(items) => {
                let mut sets: Vec<Set> = Vec::new();
                if items.is_empty() {
                    let help = "list at least one value, or leave the key out";
                    self.walk.report(Finding::error(&key.path, "has no values", help), Some(value.span()));
                }
                for item in items.iter() {
                    let Some(read) = self.walk.value(key, item) else { continue };
                    if once && sets.iter().any(|set| set.value == read) {
                        let finding = Finding::value(
                            &key.path,
                            &read,
                            "is in the list already",
                            "list each value once",
                        );
                        self.walk.report(finding, Some(item.span()));
                    }
                    sets.push(set(read, item.span()));
                }
                sets
            }
            DeValue::Table(entries) => {
                let read = self.range(key, entries, value.span());
                read.into_iter().map(|read| set(read, value.span())).collect()
            }
            _ => self.walk.value(key, value).map(|read| set(read, value.span())).into_iter().collect(),
        }
    }

    /// `{ from = 0.05, to = 0.5, step = 0.05 }`, both ends included.
    fn range(&mut self, key: &Key, entries: &DeTable<'_>, span: Range<usize>) -> Vec<Value> {
        let number = |word: &str| {
            let value = entries.iter().find(|(name, _)| name.get_ref() == word)?.1;
            super::walk::scalar(value.get_ref())?.as_f64()
        };
        let read = number("from").zip(number("to")).zip(number("step")).filter(|_| entries.len() == 3);
        let Some(((from, to), step)) =
            read.filter(|((from, to), step)| *step > 0.0 && from <= to && (to - from) / step <= MOST_STEPS)
        else {
            let help =
                "write { from = 0.05, to = 0.5, step = 0.05 }, a step above 0 and `to` not below `from`";
            let finding = Finding::error(&key.path, "is neither a value nor a list nor a range", help);
            self.walk.report(finding, Some(span));
            return Vec::new();
        };
        let steps = ((to - from) / step + 1e-9).floor() as u64;
        let mut values = Vec::new();
        for i in 0..=steps {
            // Rounded, so that 0.15 is not 0.15000000000000002.
            let at = ((from + i as f64 * step) * 1e9).round() / 1e9;
            let whole = key.kind == super::keys::Kind::Integer && at.fract() == 0.0;
            let value = if whole { Value::from(at as i64) } else { Value::from(at) };
            match key.judge(&value, &value.to_string()) {
                None => values.push(value),
                Some(finding) => self.walk.report(finding, Some(span.clone())),
            }
        }
        values
    }
}

/// The keys of a workload, for those who list them.
pub fn workload_keys(kind: WorkKind) -> Vec<Key> {
    workload(kind).keys
}
