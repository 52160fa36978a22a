//! The modules between the sums of a tile and the output of a head, in Yosys, as the reference has them.

use super::area::{self, Costs};
use super::at_most;
use super::figure::Figure;
use anyhow::{Context, Result};
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::emit_block;
use std::fs;

const PARTS: [(&str, &str); 3] = [
    ("meshkv_async_fifo", "FIFO between two clocks, 16 x 64 bit"),
    ("meshkv_part_former", "part former"),
    ("meshkv_reduce_root", "reduce root, 32 heads of 128 elements, one a column"),
];

pub fn measure() -> Result<Vec<Figure>> {
    let yosys = area::find()?;
    // The reference spells out the defaults.
    let design = Design::from_config("u280_8x8", &Config::default())?;
    let mut figures = Vec::new();
    for (module, name) in PARTS {
        let dir = tempfile::tempdir()?;
        for file in emit_block(&design, module)? {
            let path = dir.path().join("rtl_out").join(&file.path);
            fs::create_dir_all(path.parent().context("a folder")?)?;
            fs::write(path, &file.text)?;
        }
        let Costs { area, nanoseconds } = area::costs(&yosys, dir.path(), module)?;
        figures.push(Figure {
            what: name.to_owned(),
            value: format!(
                "{} LUT ({} memory), {} FF, {} BRAM18, {} DSP, {nanoseconds:.2} ns",
                area.sum(),
                area.ram_luts,
                area.registers,
                area.bram18,
                area.dsp
            ),
            goal: at_most(nanoseconds, 4.0, "4 ns"),
            command: "make bench FIGURES=reduce".to_owned(),
        });
    }
    Ok(figures)
}
