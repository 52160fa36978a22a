//! Cycles that new tokens add to a decode step of long caches, on the cycle-exact model.

use super::at_most;
use super::figure::Figure;
use super::program::{file, json, number};
use anyhow::Result;
use meshkv::config::Config;

/// Fabrics for the card, their streams, and the changes that a batch of long caches needs.
const STEPS: [(&str, u32, &str); 2] = [
    ("configs/u280_4x8.toml", 1, ""),
    ("configs/u280_4x8_b8.toml", 8, ", model.max_tokens = 32768, model.layers = 1"),
];
/// Most that appending may add.
const MOST: f64 = 0.02;

pub fn measure() -> Result<Vec<Figure>> {
    let (root, dir) = (env!("CARGO_MANIFEST_DIR"), tempfile::tempdir()?);
    let mut figures = Vec::new();
    for (path, batch, changes) in STEPS {
        let mut config: Config = toml::from_str(&std::fs::read_to_string(format!("{root}/{path}"))?)?;
        config.kv.append = true;
        if !changes.is_empty() {
            (config.model.max_tokens, config.model.layers) = (32_768, 1);
        }
        let changed = file(dir.path(), "card.toml", &toml::to_string(&config)?)?;
        let args = format!("--tokens 32768 --batch {batch} --segments all");
        let cycles = |more: &str| {
            let row = json(&format!("sim decode {changed} {args}{more}"))?;
            number(&row, "cycles")
        };
        let (without, with) = (cycles("")?, cycles(" --append")?);
        let added = with / without - 1.0;
        figures.push(Figure {
            what: format!(
                "`{}`: what a new token of each stream adds to a step over 32 768 tokens, B = {batch}",
                path.trim_start_matches("configs/").trim_end_matches(".toml")
            ),
            value: format!("{:.2} %: {with} cycles instead of {without}", 100.0 * added),
            goal: at_most(added, MOST, format!("{:.0} %", 100.0 * MOST)),
            command: format!("meshkv sim decode {path} {args} [--append] with kv.append = true{changes}"),
        });
    }
    Ok(figures)
}
