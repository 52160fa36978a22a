//! Reads the tables of a sweep file, key by key; `values` reads the values.

use super::axis::{Axis, Choice, Set};
use super::words::{free_key, slurm, words, workload};
use crate::config::findings::finding::Finding;
use crate::config::keys::{tables, Key};
use crate::config::reading::walk::{names, Walk};
use crate::config::work::{SlurmTable, WorkKind};
use std::collections::BTreeMap;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// The contents read so far.
pub(super) struct Reader<'a> {
    pub(super) walk: Walk<'a>,
    pub(super) axes: Vec<Axis>,
    pub(super) base: Option<String>,
    pub(super) kind: Option<WorkKind>,
    pub(super) slurm: SlurmTable,
    /// Table that sets each key, which may be an axis once.
    placed: BTreeMap<String, &'static str>,
}

/// The entries of a table in the order of the file, which a map does not keep.
fn in_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(String, Range<usize>, &'t Spanned<DeValue<'a>>)> {
    let mut entries: Vec<_> =
        table.iter().map(|(name, value)| (name.get_ref().to_string(), name.span(), value)).collect();
    entries.sort_by_key(|(_, span, _)| span.start);
    entries
}

impl<'a> Reader<'a> {
    /// Reads a whole file.
    pub(super) fn of(walk: Walk<'a>, document: &DeTable<'_>) -> Reader<'a> {
        let mut reader = Reader {
            walk,
            axes: Vec::new(),
            base: None,
            kind: None,
            slurm: SlurmTable::default(),
            placed: BTreeMap::new(),
        };
        reader.top_level(document);
        reader.missing();
        reader
    }
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
                "slurm" => self.slurm(value),
                _ => {
                    self.walk.unknown(&tables, &tables[0], &word, span, Some(value));
                }
            }
        }
    }

    /// Reports entries that the file lacks.
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
            // The type has the legal words.
            let kind = self.walk.value(&kind_key, value);
            self.kind = kind.and_then(|kind| serde_json::from_value(kind).ok());
        }
        // The other keys depend on the kind.
        let Some(kind) = self.kind else { return };
        let table = workload(kind);
        for (word, span, value) in in_order(entries) {
            match table.keys.iter().find(|key| key.name == word) {
                Some(key) if key.name == "kind" => {}
                Some(key) => {
                    let sets = self.values(key, value, true);
                    self.axis(sets.into_iter().map(|set| Choice { name: None, sets: vec![set] }).collect());
                }
                None => self.walk.unknown(std::slice::from_ref(&table), &table, &word, span, None),
            }
        }
    }

    fn slurm(&mut self, value: &Spanned<DeValue<'_>>) {
        let Some(entries) = self.table("slurm", value) else { return };
        let (table, mut read) = (slurm(), serde_json::Map::new());
        for (word, span, value) in in_order(entries) {
            match table.keys.iter().find(|key| key.name == word) {
                Some(key) => read.extend(self.walk.value(key, value).map(|value| (word, value))),
                None => self.walk.unknown(std::slice::from_ref(&table), &table, &word, span, None),
            }
        }
        // Each value has been checked by its key.
        self.slurm = serde_json::from_value(read.into()).unwrap_or_default();
    }

    /// Adds an axis, or reports its problem.
    fn axis(&mut self, choices: Vec<Choice>) {
        if !choices.is_empty() {
            self.axes.push(Axis { choices });
        }
    }

    /// The configuration keys of a table, with their values; notes the place of each.
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
                            None => self.walk.unknown(tables(), table, &word, span, None),
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
                    None => self.walk.unknown(tables(), top, &word, span, None),
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

    /// Notes the place of a key's values; a second place would contradict the first.
    fn place(&mut self, path: &str, place: &'static str, span: Range<usize>) {
        if let Some(first) = self.placed.insert(path.to_owned(), place) {
            let help = format!("{first} gives it values too: keep one of the two");
            self.walk.report(Finding::error(path, "is given its values twice", help), Some(span));
        }
    }
}
