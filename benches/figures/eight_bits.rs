//! Runs with one stream over caches of eight bits, from `ap_start` to `ap_done`, beside the time of their bytes and array
//! passes. The goals are of a memory that is not refreshed.

use super::figure::Figure;
use super::lengths::Limit::{Cycles, Share};
use super::lengths::{
    config, of_chosen, on_all_cores, rows_of, run, stem, Change, Chosen, CARD, GQA, MANNER,
};
use super::program::{file, number};
use super::{at_least, at_most, lengths};
use anyhow::Result;
use meshkv::config::Narrow;
use serde_json::Value;
use std::path::Path;

const FP8: &str = "configs/u280_4x8_fp8.toml";
const INT8: &str = "configs/u280_4x8_int8.toml";
/// INT8 for four query heads a KV head.
const NARROW: Change = ("model.kv_heads = 8, pe.narrow = \"both\"", |c| {
    (c.model.kv_heads, c.pe.narrow) = (8, Narrow::Both);
});
/// INT8 for eight of them.
const GQA_8: Change = ("model.heads = 64, model.kv_heads = 8, pe.narrow = \"both\"", |c| {
    (c.model.heads, c.model.kv_heads, c.pe.narrow) = (64, 8, Narrow::Both);
});

/// Configurations, and what they have for groups of query heads.
const EIGHT_BITS: [(&str, Change); 2] = [(FP8, GQA), (INT8, NARROW)];

const WHOLE: &str = "--tokens 32768";
/// Goals of their own.
static LONGEST: [Chosen; 4] = [
    Chosen { what: "LLaMA-2-7B, B = 1", path: FP8, change: None, options: WHOLE, limit: Cycles(147_500.0) },
    Chosen { what: "LLaMA-2-7B, B = 1", path: INT8, change: None, options: WHOLE, limit: Cycles(150_000.0) },
    Chosen { what: "GQA 4, B = 1", path: FP8, change: Some(GQA), options: WHOLE, limit: Cycles(56_500.0) },
    Chosen {
        what: "GQA 4, B = 1",
        path: INT8,
        change: Some(NARROW),
        options: WHOLE,
        limit: Cycles(38_500.0),
    },
];
/// Passes of the array, of all cycles.
const OF_ARRAY: f64 = 0.96;

pub fn measure() -> Result<Vec<Figure>> {
    let dir = tempfile::tempdir()?;
    let rows = rows_of(dir.path(), &LONGEST)?;
    let mut figures =
        LONGEST.iter().zip(&rows).map(|(load, row)| of_chosen(load, row)).collect::<Result<Vec<_>>>()?;
    figures.push(of_array(dir.path())?);
    figures.extend(of_every_length(dir.path())?);
    Ok(figures)
}

fn bound(row: &Value, key: &str) -> Result<f64> {
    number(&row["bounds"], key)
}

/// A configuration with a change, as a file.
fn changed(dir: &Path, name: &str, path: &str, change: Change) -> Result<String> {
    let mut config = config(path)?;
    (change.1)(&mut config);
    file(dir, name, &toml::to_string(&config)?)
}

/// Eight query heads a KV head, which the array bounds.
fn of_array(dir: &Path) -> Result<Figure> {
    let row = run(&changed(dir, "gqa_8.toml", INT8, GQA_8)?, WHOLE)?;
    let (cycles, passes) = (number(&row, "cycles")?, bound(&row, "array")?);
    Ok(Figure {
        what: format!("`{}`: GQA 8, B = 1, {WHOLE}", stem(INT8)),
        value: format!("{cycles} cycles, {:.3} of the array's {passes:.0}", passes / cycles),
        goal: at_least(passes / cycles, OF_ARRAY, format!("{OF_ARRAY} of the array's")),
        command: format!("meshkv sim run {INT8} {MANNER} {WHOLE} with {}", GQA_8.0),
    })
}

/// The goal is the larger of bytes and passes, and what the goal of FP16 leaves beside its bytes, and 2 %.
fn of_every_length(dir: &Path) -> Result<Vec<Figure>> {
    let loads: Vec<_> =
        lengths::CHOSEN.iter().filter(|load| load.path == CARD && load.what.ends_with("B = 1")).collect();
    let rows = rows_of(dir, loads.iter().copied())?;
    let mut pieces = Vec::new();
    for (at, (path, gqa)) in EIGHT_BITS.iter().enumerate() {
        let grouped = changed(dir, &format!("eight_{at}.toml"), path, *gqa)?;
        for (load, row) in loads.iter().zip(&rows) {
            let (path_of, text) = match load.change {
                None => ((*path).to_owned(), String::new()),
                Some(_) => (grouped.clone(), format!(" with {}", gqa.0)),
            };
            pieces.push((*path, path_of, text, *load, row));
        }
    }
    on_all_cores(&pieces, &|(path, path_of, text, load, fp16)| {
        let row = run(path_of, load.options)?;
        let (cycles, of_fp16) = (number(&row, "cycles")?, bound(fp16, "bytes")?);
        let goal = match load.limit {
            Cycles(most) => most,
            Share(least) => of_fp16 / least,
        };
        let most = (bound(&row, "bytes")?.max(bound(&row, "array")?) + goal - of_fp16) * 1.02;
        Ok(Figure {
            what: format!("`{}`: {}, {}", stem(path), load.what, load.options),
            value: format!("{cycles} cycles, {:.3} of the memory's bandwidth", number(&row, "share")?),
            goal: at_most(cycles, most.round(), format!("{most:.0} cycles")),
            command: format!("meshkv sim run {path} {MANNER} {}{text}", load.options),
        })
    })
}
