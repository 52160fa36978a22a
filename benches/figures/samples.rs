//! Error of the cycles of a whole layer that `meshkv decode` extrapolates from its default sample.
//!
//! Whole layers and samples run on the cycle-exact model, which is deterministic: one run each.

use super::at_most;
use super::figure::Figure;
use super::program::{file, json, number};
use anyhow::Result;
use meshkv::config::Config;
use std::path::Path;

/// Largest error of a layer's cycles: what `whole.error` states of whole rounds.
const MOST: f64 = 0.11;

/// The mapping of most of them.
const ALIGNED: &str = "--mapping row-aligned";

/// Configurations, with the number of KV heads if it is not theirs, and arguments.
const LAYERS: [(&str, Option<u32>, &str); 11] = [
    ("u280_4x8", None, ALIGNED),
    ("u280_4x8", None, "--mapping head-tile"),
    ("u280_4x8", Some(8), ALIGNED),
    ("u280_8x8", None, ALIGNED),
    ("u280_16x4", None, ALIGNED),
    ("cent", None, "--mapping row-aligned --tokens 4096"),
    ("shared", None, "--mapping head-tile"),
    ("meshkv", None, ALIGNED),
    ("meshkv_stride1", None, ALIGNED),
    ("meshkv_stride1", None, "--mapping stream-striped --batch 8 --prefix 32768"),
    ("meshkv_stride1", Some(8), "--mapping row-aligned --batch 8 --prefix 32768"),
];

pub fn measure() -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    LAYERS.iter().map(|layer| of_layer(dir.path(), layer)).collect()
}

fn of_layer(dir: &Path, &(name, kv_heads, args): &(&str, Option<u32>, &str)) -> Result<Figure> {
    let own = format!("configs/{name}.toml");
    let (path, with) = match kv_heads {
        None => (own, String::new()),
        Some(kv_heads) => {
            let text = std::fs::read_to_string(format!("{}/{own}", env!("CARGO_MANIFEST_DIR")))?;
            let mut config: Config = toml::from_str(&text)?;
            config.model.kv_heads = kv_heads;
            (
                file(dir, "layer.toml", &toml::to_string(&config)?)?,
                format!(" with model.kv_heads = {kv_heads}"),
            )
        }
    };
    let (sample, whole) = (
        json(&format!("decode {path} {args} --engine model"))?,
        json(&format!("decode {path} {args} --engine model --segments all"))?,
    );
    let cycles = number(&whole, "cycles")?;
    let layers = number(&sample["sample"], "of_layers")?;
    let error = number(&sample["whole"], "cycles")? / layers / cycles - 1.0;
    let command = format!("meshkv decode configs/{name}.toml {args} --engine model");
    Ok(Figure {
        what: format!("`{name}`{with} {args}").trim_end().to_owned(),
        value: format!(
            "{:+.2} % of {cycles} cycles, from {} of {} segments",
            100.0 * error,
            sample["sample"]["segments"],
            sample["sample"]["of_segments"]
        ),
        goal: at_most(error.abs(), MOST, format!("{:.0} %", 100.0 * MOST)),
        command: format!("{}, and --segments all", command.replace("  ", " ")),
    })
}
