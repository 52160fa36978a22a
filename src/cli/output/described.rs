//! Fields of a result with their values and meanings, for prose: the meaning is that of its schema.

use schemars::generate::SchemaSettings;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Name, value and meaning of each field of a struct, in the order of declaration. The meaning begins in lower case and
/// has no full stop.
pub(in crate::cli) fn fields<T: Serialize + JsonSchema>(of: &T) -> Vec<(String, Value, String)> {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    let values = serde_json::to_value(of).unwrap_or_default();
    let all = values.as_object().into_iter().flatten();
    let one = |(name, value): (&String, &Value)| {
        let doc = schema["properties"][name]["description"].as_str().unwrap_or_default();
        (name.clone(), value.clone(), phrase(doc))
    };
    all.map(one).collect()
}

/// A sentence as a phrase in a table.
fn phrase(sentence: &str) -> String {
    let text = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = text.trim_end_matches('.').chars();
    match (letters.next(), letters.clone().next()) {
        // A word in capitals keeps them.
        (Some(first), Some(second)) if second.is_lowercase() => first.to_lowercase().chain(letters).collect(),
        (first, _) => first.into_iter().chain(letters).collect(),
    }
}
