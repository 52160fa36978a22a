//! Holds JSON against the schemas that `meshkv schema` prints: the words of JSON Schema that these use, and no others.

use serde_json::Value;

/// Words that say nothing of a value.
const REMARKS: [&str; 7] = ["$schema", "$comment", "$defs", "title", "description", "format", "examples"];

/// The faults of a value, each with its place; none if it is as the schema has it.
///
/// # Panics
/// If the schema has a word that is not known here.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Checked { root: schema, found: &mut found }.check(schema, value, "");
    found
}

struct Checked<'a> {
    root: &'a Value,
    found: &'a mut Vec<String>,
}

impl Checked<'_> {
    fn fault(&mut self, place: &str, what: impl std::fmt::Display) {
        self.found.push(format!("{}: {what}", if place.is_empty() { "/" } else { place }));
    }

    fn faults_of(&self, schema: &Value, value: &Value, place: &str) -> Vec<String> {
        let mut found = Vec::new();
        Checked { root: self.root, found: &mut found }.check(schema, value, place);
        found
    }

    fn check(&mut self, schema: &Value, value: &Value, place: &str) {
        let words = match schema {
            Value::Bool(true) => return,
            Value::Object(words) => words,
            other => panic!("{place}: {other} is no schema"),
        };
        for (word, of) in words {
            match word.as_str() {
                "$ref" => {
                    let target = of.as_str().and_then(|to| self.root.pointer(to.trim_start_matches('#')));
                    self.check(target.unwrap_or_else(|| panic!("{of} refers to nothing")), value, place);
                }
                "anyOf" | "oneOf" => self.one_of(of, value, place),
                "type" => {
                    let is = |name: &Value| is_a(value, name.as_str().expect("a name"));
                    let right = of.as_array().map_or_else(|| is(of), |names| names.iter().any(is));
                    if !right {
                        self.fault(place, format_args!("{value} is no {of}"));
                    }
                }
                "const" if value != of => self.fault(place, format_args!("{value} is not {of}")),
                "enum" if !of.as_array().expect("a list").contains(value) => {
                    self.fault(place, format_args!("{value} is none of {of}"));
                }
                "minimum" if value.as_f64() < of.as_f64() && value.is_number() => {
                    self.fault(place, format_args!("{value} is below {of}"));
                }
                "maximum" if value.as_f64() > of.as_f64() && value.is_number() => {
                    self.fault(place, format_args!("{value} is above {of}"));
                }
                "minItems" | "maxItems" => {
                    let length = value.as_array().map(|items| items.len() as u64);
                    let wrong = if word == "minItems" { length < of.as_u64() } else { length > of.as_u64() };
                    if wrong && length.is_some() {
                        self.fault(place, format_args!("{word} is {of}"));
                    }
                }
                "required" => {
                    for key in of.as_array().expect("a list").iter().filter_map(Value::as_str) {
                        if value.is_object() && value.get(key).is_none() {
                            self.fault(place, format_args!("{key} is missing"));
                        }
                    }
                }
                // Both are checked with what surrounds them.
                "properties" | "additionalProperties" | "items" | "prefixItems" => {}
                "const" | "enum" | "minimum" | "maximum" => {}
                word if REMARKS.contains(&word) => {}
                word => panic!("{place}: the word {word} of a schema is not known to this test"),
            }
        }
        self.parts(schema, value, place);
    }

    /// Keys of an object and items of a list.
    fn parts(&mut self, schema: &Value, value: &Value, place: &str) {
        for (key, value) in value.as_object().into_iter().flatten() {
            let place = format!("{place}/{key}");
            match (schema["properties"].get(key), schema.get("additionalProperties")) {
                (Some(of), _) | (None, Some(of @ Value::Object(_))) => self.check(of, value, &place),
                (None, Some(Value::Bool(false))) => self.fault(&place, "is not in the schema"),
                (None, _) => {}
            }
        }
        for (at, value) in value.as_array().into_iter().flatten().enumerate() {
            let of = schema["prefixItems"].get(at).or_else(|| schema.get("items"));
            if let Some(of) = of {
                self.check(of, value, &format!("{place}/{at}"));
            }
        }
    }

    /// At least one of the schemas holds; the faults are those of the closest.
    fn one_of(&mut self, schemas: &Value, value: &Value, place: &str) {
        let all = schemas.as_array().expect("a list").iter();
        let least = all.map(|schema| self.faults_of(schema, value, place)).min_by_key(Vec::len);
        self.found.extend(least.expect("there is one"));
    }
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("{other} is no type"),
    }
}

/// Places of texts that are numbers; versions, and names of choices that are digits, are none.
pub fn numbers_as_text(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    look(value, "", &mut found);
    found
}

fn look(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.parse::<f64>().is_ok() => found.push(format!("{place}: {text:?}")),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| look(item, &format!("{place}/{at}"), found));
        }
        Value::Object(keys) => {
            for (key, value) in
                keys.iter().filter(|(key, _)| !["version", "oldest", "vn"].contains(&key.as_str()))
            {
                look(value, &format!("{place}/{key}"), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_fault_is_found() {
        let schema = json!({
            "type": "object",
            "properties": {
                "n": { "type": ["integer", "null"], "minimum": 0 },
                "list": { "type": "array", "items": { "$ref": "#/$defs/word" }, "maxItems": 2 },
                "map": { "type": "object", "additionalProperties": { "type": "number" } },
                "either": { "anyOf": [{ "const": 1 }, { "enum": ["a", "b"] }] },
            },
            "required": ["n"],
            "additionalProperties": false,
            "$defs": { "word": { "type": "string" } },
        });
        let right = json!({ "n": 3, "list": ["x"], "map": { "any": 0.5 }, "either": "b" });
        assert_eq!(faults(&schema, &right), [""; 0]);
        for (wrong, fault) in [
            (json!({}), "/: n is missing"),
            (json!({ "n": "3" }), "/n: \"3\" is no [\"integer\",\"null\"]"),
            (json!({ "n": -1 }), "/n: -1 is below 0"),
            (json!({ "n": 1.5 }), "/n: 1.5 is no [\"integer\",\"null\"]"),
            (json!({ "n": null, "more": 1 }), "/more: is not in the schema"),
            (json!({ "n": 0, "list": [7] }), "/list/0: 7 is no \"string\""),
            (json!({ "n": 0, "list": ["a", "b", "c"] }), "/list: maxItems is 2"),
            (json!({ "n": 0, "map": { "any": "1" } }), "/map/any: \"1\" is no \"number\""),
            (json!({ "n": 0, "either": 2 }), "/either: 2 is not 1"),
        ] {
            assert_eq!(faults(&schema, &wrong), [fault]);
        }
        assert_eq!(numbers_as_text(&json!({ "version": "5.0", "x": ["a", "0.1"] })), ["/x/1: \"0.1\""]);
    }
}
