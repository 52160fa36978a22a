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

/// Ways out in words, for a finding about `key`.
pub(in crate::config) fn words(advice: &[Advice], key: &str) -> String {
    let table = key.split_once('.').map_or("", |(table, _)| table);
    let name = |path: &str| match path.split_once('.') {
        Some((home, name)) if home == table => name.to_owned(),
        _ => path.to_owned(),
    };
    let way = |advice: &Advice| {
        let (out, set): (Vec<_>, Vec<_>) = advice.set.iter().partition(|setting| setting.value.is_null());
        let set: Vec<_> = set.iter().map(|s| format!("{} = {}", name(&s.key), toml_of(&s.value))).collect();
        let out: Vec<_> = out.iter().map(|s| name(&s.key)).collect();
        let set = (!set.is_empty()).then(|| set.join(" and "));
        let out = (!out.is_empty()).then(|| format!("leave {} out", out.join(" and ")));
        [set, out].into_iter().flatten().collect::<Vec<_>>().join(" and ")
    };
    let sets = |advice: &Advice| advice.set.iter().any(|setting| !setting.value.is_null());
    let leaves = |advice: &Advice| advice.set.iter().any(|setting| setting.value.is_null());
    let mut text = String::new();
    for (at, own) in advice.iter().enumerate() {
        // A way that sets keys shares the verb of the one before it, unless that ends with another.
        let verb = match at.checked_sub(1).map(|before| leaves(&advice[before])) {
            None if sets(own) => "try ",
            None => "",
            Some(true) if sets(own) => ", or set ",
            Some(_) => ", or ",
        };
        text += verb;
        text += &way(own);
    }
    text
}

/// A value as a configuration file has it.
pub fn toml_of(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(toml_of).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entry = |(name, value): (&String, &Value)| format!("{name} = {}", toml_of(value));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        one => one.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::findings::advice::*;

    #[test]
    fn ways_are_told_with_the_names_of_their_table() {
        let ways = [
            Advice::set("takv.placement", "round_robin").and("takv.a", Value::Null),
            Advice::set("mesh.cols", 4).and("mesh.rows", 2),
        ];
        let expected =
            "try placement = \"round_robin\" and leave a out, or set mesh.cols = 4 and mesh.rows = 2";
        assert_eq!(words(&ways, "takv.column_stride"), expected);
        let ways = [Advice::leave_out("model.a"), Advice::set("model.b", 4), Advice::set("model.c", 5)];
        assert_eq!(words(&ways, "model.a"), "leave a out, or set b = 4, or c = 5");
    }
}
