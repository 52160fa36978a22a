//! Ways out of a finding, for programs: keys with the values that end it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A key, and the value that it should have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// Path of the key.
    pub key: String,
    /// Its value; null to leave the key out.
    pub value: Value,
}

/// One way out of a finding: all of its settings together end it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Advice {
    /// Keys to set.
    pub set: Vec<Setting>,
}

impl Advice {
    /// Sets one key.
    pub fn set(key: &str, value: impl Into<Value>) -> Advice {
        Advice { set: vec![Setting { key: key.to_owned(), value: value.into() }] }
    }

    /// Leaves one key out.
    pub fn leave_out(key: &str) -> Advice {
        Advice::set(key, Value::Null)
    }

    /// Sets another key, too.
    pub fn and(mut self, key: &str, value: impl Into<Value>) -> Advice {
        self.set.push(Setting { key: key.to_owned(), value: value.into() });
        self
    }
}
