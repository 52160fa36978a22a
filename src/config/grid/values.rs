//! Reads the values of a key in a sweep file: one value, a list, or a range.

use super::axis::Set;
use super::reader::Reader;
use crate::config::findings::finding::Finding;
use crate::config::keys::{Key, Kind};
use crate::config::reading::walk::scalar;
use serde_json::Value;
use std::ops::Range;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// Largest number of values in a range: a typing error must be an error and not a long wait.
const MOST_STEPS: f64 = 10_000.0;

/// Repeated values of a list that are reported; a list with more has one mistake many times.
const REPEATED: usize = 10;

impl Reader<'_> {
    /// The values of a key: one, a list of them, or a range. With `once`, no value may be in a list
    /// twice.
    pub(super) fn values(&mut self, key: &Key, value: &Spanned<DeValue<'_>>, once: bool) -> Vec<Set> {
        let set = |value: Value, span: Range<usize>| Set { path: key.path.clone(), value, span };
        match value.get_ref() {
            DeValue::Array(items) => {
                let mut sets: Vec<Set> = Vec::new();
                if items.is_empty() {
                    let help = "list at least one value, or leave the key out";
                    self.walk.report(Finding::error(&key.path, "has no values", help), Some(value.span()));
                }
                let mut repeated = 0;
                for item in items.iter() {
                    if repeated == REPEATED {
                        break;
                    }
                    let Some(read) = self.walk.value(key, item) else { continue };
                    if once && sets.iter().any(|set| set.value == read) {
                        let finding = Finding::value(
                            &key.path,
                            &read,
                            "is in the list already",
                            "list each value once",
                        );
                        self.walk.report(finding, Some(item.span()));
                        repeated += 1;
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
            scalar(value.get_ref())?.as_f64()
        };
        let read = number("from").zip(number("to")).zip(number("step")).filter(|_| entries.len() == 3);
        let Some(((from, to), step)) = read.filter(|((from, to), step)| *step > 0.0 && from <= to) else {
            let help =
                "write { from = 0.05, to = 0.5, step = 0.05 }, a step above 0 and `to` not below `from`";
            let finding = Finding::error(&key.path, "is neither a value nor a list nor a range", help);
            self.walk.report(finding, Some(span));
            return Vec::new();
        };
        if (to - from) / step > MOST_STEPS {
            let fault = format!("is a range of more than {MOST_STEPS} values");
            let finding = Finding::error(&key.path, fault, "take a larger step, or ends that are nearer");
            self.walk.report(finding, Some(span));
            return Vec::new();
        }
        let steps = ((to - from) / step + 1e-9).floor() as u64;
        let mut values = Vec::new();
        for i in 0..=steps {
            // Rounded, so that 0.15 is not 0.15000000000000002.
            let at = ((from + i as f64 * step) * 1e9).round() / 1e9;
            let whole = key.kind == Kind::Integer && at.fract() == 0.0;
            let value = if whole { Value::from(at as i64) } else { Value::from(at) };
            match key.judge(&value, &value.to_string()) {
                None => values.push(value),
                Some(finding) => self.walk.report(finding, Some(span.clone())),
            }
        }
        values
    }
}
