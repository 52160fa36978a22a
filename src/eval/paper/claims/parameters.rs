//! Claims on sizes that follow from formulas, and on the parameters of Table II.

use super::hardware::number;
use crate::config::Config;
use crate::design::{Design, Exchange, Port};
use crate::eval::paper::case::Model;
use crate::eval::paper::claim::Claim;
use crate::eval::paper::fabric::fabric;
use crate::eval::paper::verdict::Better;

/// Name, place, what, the paper's number, its unit, ours, and why.
type Size = (&'static str, &'static str, &'static str, f64, &'static str, f64, &'static str);

const TABLE: &str = "Table II";
const AS_STATED: &str = "The configuration has the paper's value.";
const WHY_FIFO: &str = "96 flits cover the round trip with registers between the dies, the window, and the chunk that a home streams to another tile first; with 48 the array waits (see the claim on F).";

/// The claims.
pub(super) fn claims() -> Vec<Claim> {
    let config: Config = fabric("meshkv", Model::Llama);
    let (model, kv, noc, mare) = (&config.model, &config.kv, &config.noc, &config.mare);
    let row = Exchange::of(&config).token_bytes as f64;
    let slab = row * f64::from(model.layers) * f64::from(model.max_tokens);
    let tiles = f64::from(config.mesh.cols * config.mesh.rows);
    let fifo = Design::from_config("meshkv", &config).map_or(0, |design| design.mare.fifo_depth);
    let (gib, mib) = (f64::from(1 << 30), f64::from(1 << 20));
    let block = row * f64::from(kv.segment_tokens);
    let sizes: [Size; 14] = [
        (
            "cache",
            "Section III",
            "Cache of LLaMA-2-7B at T = 32 K",
            16.0,
            "GiB",
            slab / gib,
            "Equation 2 with FP16.",
        ),
        (
            "block",
            "Section V",
            "Macro-block of 64 tokens",
            1.0,
            "MiB",
            block / mib,
            "Its equation with FP16.",
        ),
        (
            "per-tile",
            "Section V",
            "Logical KV cache a tile, 8 x 8 tiles",
            256.0,
            "MiB",
            slab / tiles / mib,
            "N_max with FP16.",
        ),
        (
            "epoch",
            "Section V",
            "Steps between two swaps of homes",
            128.0,
            "steps",
            f64::from(config.takv.swaps_every()),
            AS_STATED,
        ),
        ("ports", TABLE, "Ports of a router", 5.0, "ports", Port::ALL.len() as f64, AS_STATED),
        ("flit", TABLE, "Width of a flit", 512.0, "bits", f64::from(noc.flit_width), AS_STATED),
        ("vn0", TABLE, "Virtual channels of VN0", 2.0, "channels", f64::from(noc.vn0_vcs), AS_STATED),
        ("vn1", TABLE, "Virtual channels of VN1", 2.0, "channels", f64::from(noc.vn1_vcs), AS_STATED),
        ("depth", TABLE, "Input FIFO of a virtual channel", 8.0, "flits", f64::from(noc.vc_depth), AS_STATED),
        ("bloom", TABLE, "Bits of a bloom filter", 256.0, "bits", f64::from(mare.bloom_bits), AS_STATED),
        ("tags", TABLE, "Entries of a tag table", 16.0, "entries", f64::from(mare.tag_entries), AS_STATED),
        (
            "refresh",
            TABLE,
            "Refresh interval of the filter",
            96.0,
            "cycles",
            f64::from(mare.bloom_refresh),
            AS_STATED,
        ),
        ("window", TABLE, "Coalescing window", 12.0, "cycles", f64::from(mare.coalesce_window), AS_STATED),
        ("fifo", TABLE, "FIFO of an array", 48.0, "flits", f64::from(fifo), WHY_FIFO),
    ];
    sizes
        .map(|(id, place, what, paper, unit, ours, why)| Claim {
            id: format!("size-{id}"),
            place,
            what: what.to_owned(),
            paper,
            unit,
            better: Better::Same,
            views: vec![number("by the configuration", ours, "meshkv check configs/meshkv.toml")],
            why: why.to_owned(),
        })
        .into()
}
