//! Writes the configuration recommended for the card, with the meaning, range and default of every
//! key as comments.

use super::keys::{tables, Key};
use serde_json::Value;
use std::fmt::Write;

/// Source of the values.
const RECOMMENDED: &str = include_str!("../../configs/u280_4x8.toml");

/// Widest comment, in columns.
const WIDTH: usize = 96;

/// The text of a configuration file that sets every key as `configs/u280_4x8.toml` does, for the
/// user to edit.
///
/// # Panics
/// If that file is no TOML, which a test would have found.
pub fn commented() -> String {
    let values: Value = toml::from_str(RECOMMENDED).expect("the recommended configuration is TOML");
    let mut text = String::from(
        "# meshkv configuration for the Alveo U280: 4 x 8 tiles that move KV at the rate of the card's HBM, for LLaMA-2-7B.\n\
         # Every key stands here with its meaning; a key left out takes its default. The cache of 8 layers, 32 K tokens and one\n\
         # stream takes 4 GiB of the card's 8 GiB of HBM.\n\
         # `meshkv check` prints what follows from this file; `meshkv schema` prints a JSON Schema for editors.\n",
    );
    for table in tables() {
        if !table.name.is_empty() {
            text.push('\n');
            comment(&mut text, &table.doc);
            line(&mut text, &format!("[{}]", table.name));
        }
        for key in &table.keys {
            if table.name.is_empty() {
                text.push('\n');
            }
            let value = match table.name.as_str() {
                "" => &values[&key.name],
                name => &values[name][&key.name],
            };
            write_key(&mut text, key, value);
        }
    }
    text
}

fn write_key(text: &mut String, key: &Key, value: &Value) {
    let default = match key.optional() || key.default == *value {
        true => String::new(),
        false => format!(" Default: {}.", key.default),
    };
    comment(text, &format!("{} Legal: {}.{default}", key.doc, key.legal()));
    match value.is_null() {
        // Left out on purpose: the example must not take effect.
        true => line(text, &format!("# {} = {}", key.name, key.example)),
        false => line(text, &format!("{} = {value}", key.name)),
    }
}

/// Appends a sentence or more as comment lines, broken between words.
fn comment(text: &mut String, words: &str) {
    let mut current = String::from("#");
    for word in words.split_whitespace() {
        if current.len() + 1 + word.len() > WIDTH {
            line(text, &current);
            current = String::from("#");
        }
        current.push(' ');
        current.push_str(word);
    }
    line(text, &current);
}

fn line(text: &mut String, line: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{line}");
}
