//! Marks that templates leave where text depends on the header of another module: `instance(...)`, `parameters(...)`,
//! `wires(...)`.
//!
//! Templates are rendered one by one, before any header is known. The functions of the templates therefore print a
//! mark with their arguments, and [`link`](crate::emit::rtl::linking::link) replaces it.

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use tera::{Function, Value};

/// Character that begins and ends a mark; no template has it.
const EDGE: char = '\u{1}';

/// Functions of the templates that leave a mark.
pub(in crate::emit::rtl) const FUNCTIONS: [&str; 3] = ["instance", "parameters", "wires"];

/// One mark.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::emit::rtl) struct Marker {
    /// The function that left it.
    pub(in crate::emit::rtl) function: String,
    args: HashMap<String, Value>,
}

impl Marker {
    /// A text argument; empty if it is not given.
    pub(in crate::emit::rtl) fn text(&self, name: &str) -> &str {
        self.args.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number.
    pub(in crate::emit::rtl) fn number(&self, name: &str) -> Option<usize> {
        self.args.get(name).and_then(Value::as_u64).map(|n| n as usize)
    }

    /// The `instances` that argument `name` lists, in its order; all of them if it is not given.
    pub(in crate::emit::rtl) fn named(&self, name: &str, instances: &[&'static str]) -> Vec<&'static str> {
        match self.text(name) {
            "" => instances.to_vec(),
            listed => {
                let of = |name| instances.iter().copied().find(|i| *i == name);
                listed.split_whitespace().filter_map(of).collect()
            }
        }
    }

    /// The mark that is all of a line, if it is one.
    pub(in crate::emit::rtl) fn read(line: &str) -> Result<Option<Marker>> {
        let inner = line.strip_prefix(EDGE).and_then(|rest| rest.strip_suffix(EDGE));
        inner.map(|text| serde_json::from_str(text).context("a mark")).transpose()
    }

    /// Splits a text at its marks: text and mark in turns, text first and last.
    pub(in crate::emit::rtl) fn split(text: &str) -> Result<(Vec<&str>, Vec<Marker>)> {
        let parts: Vec<_> = text.split(EDGE).collect();
        let marks = parts.iter().skip(1).step_by(2);
        let marks = marks.map(|text| serde_json::from_str(text).context("a mark")).collect::<Result<_>>()?;
        Ok((parts.into_iter().step_by(2).collect(), marks))
    }
}

/// A function of the templates that leaves a mark.
pub(in crate::emit::rtl) struct Mark(pub(in crate::emit::rtl) &'static str);

impl Function for Mark {
    fn call(&self, args: &HashMap<String, Value>) -> tera::Result<Value> {
        let marker = Marker { function: self.0.to_owned(), args: args.clone() };
        let text = serde_json::to_string(&marker).map_err(tera::Error::json)?;
        Ok(format!("{EDGE}{text}{EDGE}").into())
    }

    fn is_safe(&self) -> bool {
        true
    }
}
