//! Writes a configuration to begin with, with the meaning, range and default of every key as comments.

use super::findings::advice::toml_of;
use super::keys::{tables, Key};
use super::models::{self, ModelShape};
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
    /// The fabric for the Alveo U55C, with pages: all layers of LLaMA-2-7B in twice the memory
    U55c,
    /// The paper's design, 8 x 8 tiles: to simulate, since it does not fit the card
    Paper,
    /// The smallest fabric that has everything: builds in seconds
    Tiny,
    /// The fabric for the U280 with pages, for LLaMA-2-7B
    #[value(name = "llama-2-7b")]
    Llama2,
    /// The same for Llama-3-8B and 3.1, with four query heads a KV head
    #[value(name = "llama-3-8b")]
    Llama3,
    /// The same for Llama-3-70B, of 80 layers
    #[value(name = "llama-3-70b")]
    Llama3Large,
    /// The same for Mistral-7B-v0.1, with a window of 4096 tokens
    #[value(name = "mistral-7b")]
    Mistral,
    /// The same for Ministral-8B: one layer in four sees all tokens
    #[value(name = "ministral-8b")]
    Ministral,
    /// The same for Qwen2-7B and Qwen2.5-7B, with seven query heads a KV head
    #[value(name = "qwen-2-7b")]
    Qwen2,
    /// The same for Qwen3-8B
    #[value(name = "qwen-3-8b")]
    Qwen3,
    /// The same for Gemma 3 4B: one layer in six sees all tokens
    #[value(name = "gemma-3-4b")]
    Gemma4,
    /// The same for Gemma 3 12B
    #[value(name = "gemma-3-12b")]
    Gemma12,
    /// The same for Gemma 3 27B
    #[value(name = "gemma-3-27b")]
    Gemma27,
    /// The same for gpt-oss-20b: every second layer sees all tokens, heads have sinks
    #[value(name = "gpt-oss-20b")]
    GptOss20,
    /// The same for gpt-oss-120b
    #[value(name = "gpt-oss-120b")]
    GptOss120,
}

/// Widest comment, in columns.
const WIDTH: usize = 96;

impl Preset {
    /// Those that are a configuration of the repository.
    pub const FABRICS: [Preset; 5] = [Preset::U280, Preset::Shell, Preset::U55c, Preset::Paper, Preset::Tiny];

    /// The model that a preset is for; none of a fabric.
    fn model(self) -> Option<&'static ModelShape> {
        Some(match self {
            Preset::U280 | Preset::Shell | Preset::U55c | Preset::Paper | Preset::Tiny => return None,
            Preset::Llama2 => &models::LLAMA_2_7B,
            Preset::Llama3 => &models::LLAMA_3_8B,
            Preset::Llama3Large => &models::LLAMA_3_70B,
            Preset::Mistral => &models::MISTRAL_7B,
            Preset::Ministral => &models::MINISTRAL_8B,
            Preset::Qwen2 => &models::QWEN_2_7B,
            Preset::Qwen3 => &models::QWEN_3_8B,
            Preset::Gemma4 => &models::GEMMA_3_4B,
            Preset::Gemma12 => &models::GEMMA_3_12B,
            Preset::Gemma27 => &models::GEMMA_3_27B,
            Preset::GptOss20 => &models::GPT_OSS_20B,
            Preset::GptOss120 => &models::GPT_OSS_120B,
        })
    }

    /// The configuration.
    ///
    /// # Panics
    /// If its file is no configuration, which a test would have found.
    pub fn config(self) -> Config {
        let mut config: Config = toml::from_str(self.text()).expect("a preset is a configuration");
        if let Some(model) = self.model() {
            model.apply(&mut config);
        }
        config
    }

    /// The configuration of the repository with its values, or those of its fabric.
    fn text(self) -> &'static str {
        match self {
            Preset::Shell => include_str!("../../configs/u280_shell.toml"),
            Preset::U55c => include_str!("../../configs/u55c_4x8.toml"),
            Preset::Paper => include_str!("../../configs/meshkv.toml"),
            Preset::Tiny => include_str!("../../configs/tiny.toml"),
            _ => include_str!("../../configs/u280_4x8.toml"),
        }
    }

    /// Its purpose and its results.
    fn opening(self) -> String {
        if let Some(model) = self.model() {
            return model.opening();
        }
        let text = match self {
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
            Preset::U55c => {
                "meshkv configuration for the Alveo U55C: 4 x 8 tiles that move KV at the rate of the card's HBM, with pages, \
                 for all 32 layers of LLaMA-2-7B. A token takes 512 KiB in all layers, and the pool 14 GiB of the card's 16 GiB \
                 of HBM: 28 K tokens of up to 64 caches, of which 8 are decoded at once."
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
            _ => unreachable!("other presets have a model"),
        };
        text.to_owned()
    }
}

/// The text of a configuration file that sets every key as a preset does, for the user to edit.
///
/// # Panics
/// If its file is no configuration, which a test would have found.
pub fn commented(preset: Preset) -> String {
    let values: Value = serde_json::to_value(preset.config()).expect("a configuration is a value");
    let mut text = String::new();
    comment(&mut text, &preset.opening());
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
        true => line(text, &format!("# {} = {}", key.name, toml_of(&key.example))),
        false => line(text, &format!("{} = {}", key.name, toml_of(value))),
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
