//! Readings of sizes that follow from formulas, and of the parameters of Table II: what the configuration has.

use super::hardware::number;
use super::readings::Reading;
use crate::config::Config;
use crate::design::{Design, Exchange, Port};
use crate::eval::paper::case::Model;
use crate::eval::paper::fabric::fabric;

pub(super) fn readings() -> Vec<Reading> {
    let config: Config = fabric("meshkv", Model::Llama);
    let (model, kv, noc, mare) = (&config.model, &config.kv, &config.noc, &config.mare);
    let row = Exchange::of(&config).token_bytes as f64;
    let slab = row * f64::from(model.layers) * f64::from(model.max_tokens);
    let tiles = f64::from(config.mesh.cols * config.mesh.rows);
    let fifo = Design::from_config("meshkv", &config).map_or(0, |design| design.mare.fifo_depth);
    let (gib, mib) = (f64::from(1 << 30), f64::from(1 << 20));
    let sizes = [
        ("cache", slab / gib),
        ("block", row * f64::from(kv.segment_tokens) / mib),
        ("per-tile", slab / tiles / mib),
        ("epoch", f64::from(config.takv.swaps_every())),
        ("ports", Port::ALL.len() as f64),
        ("flit", f64::from(noc.flit_width)),
        ("vn0", f64::from(noc.vn0_vcs)),
        ("vn1", f64::from(noc.vn1_vcs)),
        ("depth", f64::from(noc.vc_depth)),
        ("bloom", f64::from(mare.bloom_bits)),
        ("tags", f64::from(mare.tag_entries)),
        ("refresh", f64::from(mare.bloom_refresh)),
        ("window", f64::from(mare.coalesce_window)),
        ("fifo", f64::from(fifo)),
    ];
    let view = |ours| number("by the configuration", ours, "meshkv check configs/meshkv.toml");
    sizes.map(|(name, ours)| (format!("size-{name}"), vec![view(ours)])).into()
}
