//! Writes a configuration to begin with, with the meaning, range and default of every key as comments.

use super::keys::{tables, Key};
use super::schema::Config;
use crate::config::reading::file_keys::{version, VERSION, VERSION_KEY};
use serde_json::Value;
use std::fmt::Write;

/// A configuration to begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Preset {
    /// The fabric for the Alveo U280: it fits, and is as fast as the card's HBM
    #[default]
    U280,
    /// The same beside the shell of the Vitis platform
    Shell,
    /// The paper's design, 8 x 8 tiles: to simulate, since it does not fit the card
    Paper,
    /// The smallest fabric that has everything: builds in seconds
    Tiny,
}

/// Widest comment, in columns.
const WIDTH: usize = 96;

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 4] = [Preset::U280, Preset::Shell, Preset::Paper, Preset::Tiny];

    /// The configuration of the repository with its values.
    fn text(self) -> &'static str {
        match self {
            Preset::U280 => include_str!("../../configs/u280_4x8.toml"),
            Preset::Shell => include_str!("../../configs/u280_shell.toml"),
            Preset::Paper => include_str!("../../configs/meshkv.toml"),
            Preset::Tiny => include_str!("../../configs/tiny.toml"),
        }
    }

    /// Its purpose and its results.
    fn opening(self) -> &'static str {
        match self {
            Preset::U280 => {
                "meshkv configuration for the Alveo U280: 4 x 8 tiles that move KV at the rate of the card's HBM, for \
                 LLaMA-2-7B: 99 % of 460 GB/s at 32 K tokens, 56 % of the card's LUTs. The cache of 8 layers, 32 K tokens \
                 and one stream takes 4 GiB of the card's 8 GiB of HBM."
            }
            Preset::Shell => {
                "meshkv configuration for the Alveo U280 beside the shell of the Vitis platform: 2 x 16 tiles, which need \
                 fewer wires between the dies, at 99 % of 460 GB/s. The cache of 8 layers, 32 K tokens and one stream takes \
                 4 GiB of the card's 8 GiB of HBM."
            }
            Preset::Paper => {
                "meshkv configuration with the paper's design: 8 x 8 tiles of 512 bits, a layer in one column, LLaMA-2-7B at \
                 32 K tokens. It is for simulation and comparison: it takes 98 % of the LUTs of a U280, which no placer fits, \
                 and moves KV at a fourth of its HBM's rate."
            }
            Preset::Tiny => {
                "meshkv configuration of the smallest fabric that has everything: 3 x 2 tiles of 64 bits. Its Verilog builds in \
                 seconds: for first tries and tests."
            }
        }
    }
}

/// The text of a configuration file that sets every key as a preset does, for the user to edit.
///
/// # Panics
/// If its file is no configuration, which a test would have found.
pub fn commented(preset: Preset) -> String {
    let config: Config = toml::from_str(preset.text()).expect("a preset is a configuration");
    let values: Value = serde_json::to_value(config).expect("a configuration is a value");
    let mut text = String::new();
    comment(&mut text, preset.opening());
    comment(
        &mut text,
        "Every key stands here with its meaning; a key left out takes its default. `meshkv check` prints what follows \
         from this file; `meshkv schema` prints a JSON Schema for editors.",
    );
    text.push('\n');
    comment(&mut text, &version().doc);
    line(&mut text, &format!("{VERSION_KEY} = {VERSION}"));
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
