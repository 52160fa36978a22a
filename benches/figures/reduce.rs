//! Cost in Yosys of the modules between the sums of a tile and the output of a head, with the
//! reference's parameters.

use super::area;
use super::figure::Figure;
use anyhow::Result;

const PARTS: [(&str, &str); 3] = [
    ("meshkv_async_fifo", "FIFO between two clocks, 16 x 64 bit"),
    ("meshkv_part_former", "part former"),
    ("meshkv_reduce_root", "reduce root, 32 heads of 128 elements, one a column"),
];

pub fn measure() -> Result<Vec<Figure>> {
    let (yosys, design) = (area::find()?, area::reference()?);
    let mut figures = Vec::new();
    for (module, name) in PARTS {
        figures.push(area::block(&yosys, &design, module, name.to_owned(), "make bench FIGURES=reduce")?);
    }
    Ok(figures)
}
