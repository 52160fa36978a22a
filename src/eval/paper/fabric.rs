//! The fabrics that are compared, by name: configurations of the repository, and changes to them.

use super::case::Model;
use crate::config::{Config, Spread};

/// Configurations that ship with the program.
const FILES: [(&str, &str); 12] = [
    ("cent", include_str!("../../../configs/cent.toml")),
    ("shared", include_str!("../../../configs/shared.toml")),
    ("takv", include_str!("../../../configs/takv.toml")),
    ("meshkv", include_str!("../../../configs/meshkv.toml")),
    ("meshkv_stride1", include_str!("../../../configs/meshkv_stride1.toml")),
    ("no_bloom", include_str!("../../../configs/no_bloom.toml")),
    ("no_takv", include_str!("../../../configs/no_takv.toml")),
    ("no_pad", include_str!("../../../configs/no_pad.toml")),
    ("no_mare", include_str!("../../../configs/no_mare.toml")),
    ("u280_4x8", include_str!("../../../configs/u280_4x8.toml")),
    ("u280_8x8", include_str!("../../../configs/u280_8x8.toml")),
    ("u280_shell", include_str!("../../../configs/u280_shell.toml")),
];

/// A change to a fabric, by the word after its name: `meshkv/window=24`.
fn change(config: &mut Config, text: &str) -> Option<()> {
    let (key, value) = text.split_once('=')?;
    match key {
        "window" => config.mare.coalesce_window = value.parse().ok()?,
        "segment" => config.kv.segment_tokens = value.parse().ok()?,
        "fifo" => config.pad.fifo_depth = Some(value.parse().ok()?),
        "spread" if value == "slice" => config.takv.spread = Spread::Slice,
        "epoch" => config.takv.swap_epoch = Some(value.parse().ok()?),
        "vn0" => config.noc.vn0_vcs = value.parse().ok()?,
        "vn1" => config.noc.vn1_vcs = value.parse().ok()?,
        "mesh" => {
            let (cols, rows) = value.split_once('x')?;
            (config.mesh.cols, config.mesh.rows) = (cols.parse().ok()?, rows.parse().ok()?);
        }
        _ => return None,
    }
    Some(())
}

/// The configuration of a fabric for a model. The name is that of a configuration of the repository, and may have
/// changes: `meshkv/mesh=16x4`.
///
/// # Panics
/// If there is no such fabric: a slip in this crate, which a test looks for.
pub fn fabric(name: &str, model: Model) -> Config {
    let mut words = name.split('/');
    let file = words.next().unwrap_or_default();
    let text = FILES.iter().find(|(known, _)| *known == file).map(|(_, text)| *text);
    let text = text.unwrap_or_else(|| panic!("no configuration {file} ships with the program"));
    let mut config: Config = toml::from_str(text).expect("what ships with the program is legal");
    for word in words {
        change(&mut config, word).unwrap_or_else(|| panic!("{word} changes nothing"));
    }
    if model == Model::Mistral {
        (config.model.kv_heads, config.model.sliding_window) = (8, Some(4096));
    }
    config
}
