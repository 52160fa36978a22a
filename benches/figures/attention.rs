//! Attention on the whole design: errors against FlashAttention-2's, pace of the arrays, gain of
//! the overlap, and PaD in Yosys.
//!
//! Real tensors are those of `MESHKV_TENSORS`, else the example's.

use super::area;
use super::figure::{Figure, Goal};
use super::program::{file, json, number};
use anyhow::{Context, Result};
use meshkv::config::Config;
use meshkv::cosim::build::one_place;
use meshkv::design::Design;
use meshkv::emit::{self, SourceFile};
use meshkv::model::datapath::tensors::layers;
use meshkv::synth::{Costs, Yosys};
use std::fs;
use std::path::Path;

/// KV flits per cycle that a tile accepts while its FIFO holds one.
const ACCEPTED: f64 = 0.95;
/// Share of the MACs in use, the paper's goal.
const MACS: f64 = 0.80;

pub fn measure() -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let mut figures = real()?;
    for kv_heads in [8, 2] {
        for tokens in [1024, 1000] {
            figures.extend(drawn(dir.path(), kv_heads, tokens)?);
        }
    }
    figures.extend(areas()?);
    Ok(figures)
}

/// All layers of real tensors, eight queries each.
fn real() -> Result<Vec<Figure>> {
    let example = format!("{}/examples/minilm.safetensors", env!("CARGO_MANIFEST_DIR"));
    let path = std::env::var("MESHKV_TENSORS").unwrap_or(example);
    let bytes = fs::read(&path).with_context(|| path.clone())?;
    let config = format!("{}/configs/minilm.toml", env!("CARGO_MANIFEST_DIR"));
    let mut figures = Vec::new();
    for layer in layers(&bytes)? {
        let args = format!("--layer {layer} --fit --batch 8 --mapping row-aligned");
        let value = json(&format!("run {config} --tensors {path} {args}"))?;
        figures.push(errors(
            &format!("real tensors, layer {layer}"),
            &value,
            &format!("configs/minilm.toml --tensors T {args}"),
        )?);
    }
    Ok(figures)
}

/// Errors of a run, which must be exact, against FlashAttention-2's.
fn errors(what: &str, value: &serde_json::Value, command: &str) -> Result<Figure> {
    let of = |key: &str| number(value, key);
    let exact = value["bit_exact"] == true;
    let within = of("max_abs_error")? <= of("fa2_max_abs_error")? && of("rms_error")? <= of("fa2_rms_error")?;
    Ok(Figure {
        what: format!("{what}: largest error, RMS error"),
        value: format!(
            "{:.3e}, {:.3e}; heads within {} of {}, where FA-2 is not finite {}; {}",
            of("max_abs_error")?,
            of("rms_error")?,
            value["heads_within_fa2"],
            value["heads"],
            value["heads_fa2_not_finite"],
            if exact { "every bit as the model" } else { "NOT as the model" }
        ),
        goal: Goal::Met(
            exact && within,
            format!("<= FA-2: {:.3e}, {:.3e}", of("fa2_max_abs_error")?, of("fa2_rms_error")?),
        ),
        command: format!("meshkv run {command}"),
    })
}

/// Random tensors on four tiles of the reference, with and without overlap.
fn drawn(dir: &Path, kv_heads: u32, tokens: u32) -> Result<Vec<Figure>> {
    let configuration = |enable: bool| -> Result<String> {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows, config.takv.column_stride) = (2, 2, 1);
        (config.model.layers, config.model.heads, config.model.kv_heads) = (1, 8, kv_heads);
        (config.model.max_tokens, config.pad.enable) = (1024, enable);
        file(dir, &format!("g{kv_heads}_{enable}.toml"), &toml::to_string(&config)?)
    };
    let run =
        |enable| json(&format!("run {} --mapping row-aligned --tokens {tokens}", configuration(enable)?));
    let (with, without) = (run(true)?, run(false)?);
    let name = format!("d_h 128, {tokens} tokens, {} heads a KV head", 8 / kv_heads);
    let command =
        format!("make bench FIGURES=attention: 2 x 2 tiles of the reference, 8 heads, {kv_heads} KV heads");
    let of = |key: &str| number(&with, key);
    let passes = f64::from((8 / kv_heads).div_ceil(2));
    let (accepted, macs) = (of("accepted_a_cycle")? * passes, of("mac_utilisation")?);
    let gain = number(&without, "cycles")? / of("cycles")?;
    let figure = |what: &str, value: String, goal: Goal| Figure {
        what: format!("{name}: {what}"),
        value,
        goal,
        command: command.clone(),
    };
    Ok(vec![
        errors(&name, &with, &format!("..., {command}"))?,
        figure(
            &format!("flits accepted while the FIFO holds one, times {passes} passes"),
            format!("{accepted:.3} a cycle"),
            Goal::Met(accepted >= ACCEPTED, format!(">= {ACCEPTED}")),
        ),
        figure(
            "MACs in use while KV flows",
            format!("{:.1} %, bound by {}", 100.0 * macs, with["bound_by"]),
            // One head a KV head leaves a row of two without work.
            if kv_heads == 8 { Goal::Stated } else { Goal::Met(macs >= MACS, format!(">= {MACS}")) },
        ),
        figure(
            "throughput without overlap (paper: 0.78)",
            format!("{:.2} of it, {} to {} cycles", 1.0 / gain, with["cycles"], without["cycles"]),
            Goal::Stated,
        ),
    ])
}

/// PaD of a tile, part by part.
fn areas() -> Result<Vec<Figure>> {
    let (yosys, design) = (area::find()?, area::reference()?);
    let command = "make bench FIGURES=attention";
    let mut figures = Vec::new();
    let in_row = ["meshkv_dot", "meshkv_sums", "meshkv_scratchpad", "meshkv_weight"].map(|m| (m, "a row"));
    let in_tile = ["meshkv_align", "meshkv_query_lanes", "meshkv_reorder_fifo"].map(|m| (m, "a tile"));
    for (module, times) in in_tile.into_iter().chain(in_row) {
        let what = format!("{module}, one {times}");
        figures.push(area::block(&yosys, &design, module, what, command)?);
    }
    let what = "meshkv_pad: two rows of 16 contexts, part former".to_owned();
    figures.push(area::block(&yosys, &design, "meshkv_pad", what, command)?);
    figures.push(tile(&yosys, &design, command)?);
    Ok(figures)
}

/// All logic at one place of the mesh, flat: router, home, requester, the tile's stop on the bus,
/// PaD.
fn tile(yosys: &Yosys, design: &Design, command: &str) -> Result<Figure> {
    let mut files = emit::emit(design)?;
    files.retain(|file| file.path.starts_with("rtl/") && file.path.ends_with(".v"));
    files.push(SourceFile { path: "rtl/meshkv_node.v".to_owned(), text: one_place(design) });
    let Costs { area, period_ns, .. } = area::of_files(yosys, &files, "meshkv_node", "")?;
    let goals = [
        (area.sum(), 12_500),
        (area.registers, 14_000),
        (area.dsp, 90),
        (area.uram, 8),
        (area.bram18.div_ceil(2), 12),
    ];
    Ok(Figure {
        what: "one tile: router, home, staging, PaD".to_owned(),
        value: format!(
            "{} LUT ({} memory), {} FF, {} DSP, {} URAM, {} BRAM18, {period_ns:.2} ns",
            area.sum(),
            area.ram_luts,
            area.registers,
            area.dsp,
            area.uram,
            area.bram18
        ),
        goal: Goal::Met(
            goals.iter().all(|(taken, most)| taken <= most),
            "<= 12500 LUT, 14000 FF, 90 DSP, 8 URAM, 24 BRAM18".to_owned(),
        ),
        command: command.to_owned(),
    })
}
