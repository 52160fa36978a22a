//! The list of keys, derived from the schema of the configuration types.
//!
//! The fields of [`Config`] state the name, meaning, default and range of each key once; this
//! module only reads them. It checks one value at a time. The design checks keys together.

use super::schema::{Config, LayerGroup};
use crate::config::findings::advice::Advice;
use crate::config::findings::finding::Finding;
use schemars::generate::SchemaSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::OnceLock;

/// Rule of a value that its key cannot have.
pub(super) const LEGAL: &str = "key-is-legal";

/// A table of the file; the top level has no name.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Name between the brackets.
    pub name: String,
    /// Its meaning.
    pub doc: String,
    /// Its keys, in the order of declaration.
    pub keys: Vec<Key>,
}

/// Type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Bool,
    /// One of a list of words.
    Text,
    /// A list of groups of layers.
    Groups,
}

impl Kind {
    fn holds(self, value: &Value) -> bool {
        match self {
            Kind::Integer => value.is_i64() || value.is_u64(),
            Kind::Number => value.is_number(),
            Kind::Bool => value.is_boolean(),
            Kind::Text => value.is_string(),
            Kind::Groups => value.is_array(),
        }
    }
}

/// One key of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// `table.name`, or `name` at the top level.
    pub path: String,
    /// Last part of the path.
    pub name: String,
    /// Meaning, in one or two sentences.
    pub doc: String,
    /// Type of the value.
    pub kind: Kind,
    /// Default; null if omitting the key has a meaning of its own.
    pub default: Value,
    /// Example for a key without a default.
    pub example: Value,
    /// Legal values, if they are few.
    pub choices: Vec<Value>,
    /// Smallest and largest number; true if the smallest is excluded.
    pub range: Option<(f64, f64, bool)>,
    /// Reason for the limits, if it is not obvious.
    pub why: Option<String>,
}

/// All tables in the order of declaration, the top level first.
pub fn tables() -> &'static [Table] {
    static TABLES: OnceLock<Vec<Table>> = OnceLock::new();
    TABLES.get_or_init(tables_of::<Config>)
}

/// Violations of single keys in `config`, whatever its source.
pub fn violations(config: &Config) -> Vec<Finding> {
    let values = serde_json::to_value(config).unwrap_or_default();
    let value_of = |table: &Table, key: &Key| match table.name.as_str() {
        "" => values[&key.name].clone(),
        name => values[name][&key.name].clone(),
    };
    let keys = tables().iter().flat_map(|t| t.keys.iter().map(move |k| (t, k)));
    let judged = keys.map(|(t, k)| (k, value_of(t, k)));
    // NaN and infinity, which JSON lacks, arrive here as null.
    let shown = |v: &Value| if v.is_null() { "nan or inf".to_owned() } else { v.to_string() };
    judged.filter_map(|(key, value)| key.judge(&value, &shown(&value))).collect()
}

/// All tables of a file that is read into a `T`, in the order of declaration, the top level first.
pub(super) fn tables_of<T: JsonSchema>() -> Vec<Table> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    let mut top = Table { name: String::new(), doc: text(&schema, "description"), keys: Vec::new() };
    let mut tables = Vec::new();
    for (name, property) in properties(&schema) {
        if property.get("properties").is_some() {
            let keys = properties(property).map(|(key, schema)| read_key(name, key, schema)).collect();
            tables.push(Table { name: name.clone(), doc: text(property, "description"), keys });
        } else {
            top.keys.push(read_key("", name, property));
        }
    }
    // In TOML the keys of the top level come before the first table.
    tables.insert(0, top);
    tables
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn text(schema: &Value, word: &str) -> String {
    // Line breaks of the source are not part of the text.
    schema[word].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read_key(table: &str, name: &str, schema: &Value) -> Key {
    // An enumeration of documented words is a list of constants; one that can be left out is one of two schemas.
    let words = schema["anyOf"][0]["oneOf"].as_array().or(schema["oneOf"].as_array());
    let words = words.into_iter().flatten().map(|word| word["const"].clone());
    let numbers = schema["enum"].as_array().into_iter().flatten().cloned();
    let type_name = match &schema["type"] {
        Value::Array(types) => types.first().and_then(Value::as_str),
        single => single.as_str(),
    };
    let lowest = schema["minimum"].as_f64().or(schema["exclusiveMinimum"].as_f64());
    let range = lowest.zip(schema["maximum"].as_f64());
    Key {
        path: if table.is_empty() { name.to_owned() } else { format!("{table}.{name}") },
        name: name.to_owned(),
        doc: text(schema, "description"),
        kind: match type_name {
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Bool,
            Some("array") => Kind::Groups,
            _ => Kind::Text,
        },
        default: schema["default"].clone(),
        example: schema["examples"][0].clone(),
        choices: words.chain(numbers).collect(),
        range: range.map(|(min, max)| (min, max, schema["exclusiveMinimum"].is_number())),
        why: schema["x-why"].as_str().map(str::to_owned),
    }
}

impl Key {
    /// True if omitting the key differs from every value it can have.
    pub fn optional(&self) -> bool {
        self.default.is_null()
    }

    /// The legal values in words: `2 to 16`, `2, 4, 8 or 16`.
    pub fn legal(&self) -> String {
        match (self.choices.as_slice(), self.range) {
            ([only], _) => format!("only {only}"),
            ([most @ .., last], _) => {
                let most: Vec<_> = most.iter().map(Value::to_string).collect();
                format!("{} or {last}", most.join(", "))
            }
            ([], Some((min, max, true))) => format!("above {min}, at most {max}"),
            ([], Some((min, max, false))) => format!("{min} to {max}"),
            ([], None) if self.kind == Kind::Text => "any string".to_owned(),
            ([], None) if self.kind == Kind::Groups => {
                let keys: Vec<_> =
                    group_keys().iter().map(|key| format!("{} ({})", key.name, key.legal())).collect();
                format!("a list of groups of {}", keys.join(", "))
            }
            ([], None) => "true or false".to_owned(),
        }
    }

    /// The fault of a value of this key, if there is one; `shown` is its text in the file.
    pub fn judge(&self, value: &Value, shown: &str) -> Option<Finding> {
        if value.is_null() && self.optional() {
            return None;
        }
        if !self.kind.holds(value) {
            return Some(self.wrong_kind(shown, value));
        }
        self.fault(value).map(|fault| self.finding(shown, &fault, self.nearest(value)))
    }

    /// The fault of a value of another type than the key's.
    pub(super) fn wrong_kind(&self, shown: &str, value: &Value) -> Finding {
        let fault = match self.kind {
            Kind::Integer => "not a whole number",
            Kind::Number => "not a finite number",
            Kind::Bool => "not true or false",
            Kind::Text => "not a string",
            Kind::Groups => "not a list of groups",
        };
        // The intended value is often clear: "8" or 8.0 for 8.
        let unquoted = value.as_str().and_then(|s| serde_json::from_str::<Value>(s).ok());
        let meant = unquoted.or_else(|| value.as_f64().map(|v| Value::from(v.round() as i64)));
        let meant = meant.filter(|v| self.kind.holds(v) && self.fault(v).is_none());
        let suggestion = meant.or_else(|| Some(self.default.clone())).filter(|v| !v.is_null());
        self.finding(shown, fault, suggestion.unwrap_or_else(|| self.example.clone()))
    }

    /// The rule that a value of the right type breaks.
    fn fault(&self, value: &Value) -> Option<String> {
        if self.kind == Kind::Groups {
            return fault_of_groups(value.as_array()?);
        }
        if !self.choices.is_empty() {
            return (!self.choices.contains(value)).then(|| self.not_a_choice(value));
        }
        let ((min, max, open), number) = self.range.zip(value.as_f64())?;
        match number {
            v if open && v <= min => Some(format!("not above {min}")),
            v if v < min => Some(format!("below {min}")),
            v if v > max => Some(format!("above {max}")),
            _ => None,
        }
    }

    fn not_a_choice(&self, value: &Value) -> String {
        let is_power = |v: &Value| v.as_u64().is_some_and(u64::is_power_of_two);
        let powers = self.choices.len() > 1 && self.choices.iter().all(is_power);
        let bounds =
            self.choices.first().and_then(Value::as_f64).zip(self.choices.last().and_then(Value::as_f64));
        match (bounds, value.as_f64()) {
            (Some(_), Some(_)) if powers && !is_power(value) => "not a power of two".to_owned(),
            (Some((min, _)), Some(v)) if powers && v < min => format!("below {min}"),
            (Some((_, max)), Some(v)) if powers && v > max => format!("above {max}"),
            _ if self.choices.len() == 1 => format!("not {}", self.choices[0]),
            _ => format!("not one of {}", self.legal()),
        }
    }

    /// The legal value closest to an illegal one.
    fn nearest(&self, value: &Value) -> Value {
        let number = value.as_f64().unwrap_or_default();
        let distance = |choice: &Value| match (choice.as_str(), value.as_str()) {
            (Some(a), Some(b)) => crate::config::reading::spelling::distance(a, b) as f64,
            _ => (choice.as_f64().unwrap_or_default() - number).abs(),
        };
        // Of two equally close values the larger one: it loses nothing.
        let closest = self.choices.iter().rev().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        match (closest, self.range) {
            (Some(choice), _) => choice.clone(),
            (None, Some((_, _, true))) if number <= 0.0 => self.default.clone(),
            (None, Some((min, max, _))) => Value::from(number.clamp(min, max) as i64),
            (None, None) => self.default.clone(),
        }
    }

    fn finding(&self, shown: &str, fault: &str, suggestion: Value) -> Finding {
        let reason = self.why.clone().unwrap_or_else(|| first_sentence(&self.doc));
        let legal = self.legal();
        let help = format!("{reason} ({legal})");
        Finding::value(&self.path, shown, format!("is {fault}"), help)
            .of(LEGAL)
            .advising([Advice::set(&self.path, suggestion), Advice::leave_out(&self.path)])
    }
}

/// Keys of a group of layers.
fn group_keys() -> &'static [Key] {
    static KEYS: OnceLock<Vec<Key>> = OnceLock::new();
    KEYS.get_or_init(|| tables_of::<LayerGroup>().swap_remove(0).keys)
}

/// What is wrong with groups of layers, in words behind `is`.
fn fault_of_groups(groups: &[Value]) -> Option<String> {
    if groups.is_empty() {
        return Some("without a group".to_owned());
    }
    let faults: Vec<_> =
        (1..).zip(groups).flat_map(|(number, group)| faults_of_group(number, group)).collect();
    (!faults.is_empty()).then(|| format!("wrong in {}", faults.join("; and in ")))
}

/// Faults of one group, each with the group's number.
fn faults_of_group(number: usize, group: &Value) -> Vec<String> {
    let keys = group_keys();
    let names = || keys.iter().map(|key| key.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(group) = group.as_object() else {
        return vec![format!("group {number}, which is no table of {}", names())];
    };
    let fault = |(name, value): (&String, &Value)| {
        let Some(key) = keys.iter().find(|key| key.name == *name) else {
            return Some(format!("group {number}: {name} is none of its keys, which are {}", names()));
        };
        let legal = || Some(format!("not {}", key.legal()));
        let fault = if key.kind.holds(value) { key.fault(value) } else { legal() };
        Some(format!("group {number}: {name} = {value} is {}", fault?))
    };
    group.iter().filter_map(fault).collect()
}

fn first_sentence(doc: &str) -> String {
    let sentence = doc.split(". ").next().unwrap_or_default().trim_end_matches('.');
    let mut letters = sentence.chars();
    // A word in capitals (URAM288) keeps them.
    let second_is_lower = sentence.chars().nth(1).is_some_and(char::is_lowercase);
    match letters.next() {
        Some(first) if second_is_lower => first.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}
