//! The configuration with every key, its meaning, its range and its default.

use super::keys::{tables, Key};
use std::fmt::Write;

/// Columns a comment may take.
const WIDTH: usize = 96;

/// The text of a configuration file that says what is the default anyway, ready to be changed.
pub fn commented() -> String {
    let mut text = String::from(
        "# meshkv configuration: every key, with its default. A key left out keeps its default.\n\
         # `meshkv check` tells what follows from it; `meshkv schema` prints a JSON Schema for editors.\n",
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
            write_key(&mut text, key);
        }
    }
    text
}

fn write_key(text: &mut String, key: &Key) {
    comment(text, &format!("{} Legal: {}.", key.doc, key.legal()));
    if key.optional() {
        // Left out on purpose: the example must not take effect.
        line(text, &format!("# {} = {}", key.name, key.example));
    } else {
        line(text, &format!("{} = {}", key.name, key.default));
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
