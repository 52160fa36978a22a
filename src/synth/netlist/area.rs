//! Counts of cells that UltraScale+ has.

use crate::design::Resources;
use crate::synth::netlist::flat::Netlist;
use anyhow::{bail, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// LUT memories and their LUTs: all eight of a SLICEM, or two for 64 words of one bit with two ports.
const LUT_MEMORIES: [(&str, u64); 10] = [
    ("RAM32M16", 8),
    ("RAM64M8", 8),
    ("RAM32X16DR8", 8),
    ("RAM64X8SW", 8),
    ("RAM32X1D", 2),
    ("RAM64X1D", 2),
    ("RAM128X1D", 4),
    ("RAM256X1D", 8),
    ("SRL16E", 1),
    ("SRLC32E", 1),
];

/// Cell counts of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// LUT1 to LUT6. Inverters are not counted: the LUT or register behind them absorbs them.
    pub luts: u64,
    /// LUTs used as memory, 8 for each RAM32M16.
    pub ram_luts: u64,
    /// Registers.
    pub registers: u64,
    /// Block RAMs in halves: one RAMB36E2 is two.
    pub bram18: u64,
    /// UltraRAMs.
    pub uram: u64,
    /// Multipliers.
    pub dsp: u64,
}

impl Area {
    /// LUTs of both kinds.
    pub fn sum(self) -> u64 {
        self.luts + self.ram_luts
    }

    /// Resources as a utilisation report counts them: half block RAMs are rounded up.
    pub fn resources(self) -> Resources {
        Resources {
            lut: self.sum(),
            lutram_lut: self.ram_luts,
            ff: self.registers,
            bram36: self.bram18.div_ceil(2),
            uram: self.uram,
            dsp: self.dsp,
        }
    }
}

impl Netlist {
    /// Counts the cells.
    ///
    /// # Errors
    /// When a cell has no counting rule.
    pub fn area(&self) -> Result<Area> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        self.cells.iter().for_each(|cell| *counts.entry(&cell.kind).or_default() += 1);
        if let Some(cell) = counts.keys().find(|kind| !is_known(kind)) {
            bail!("{cell} is a cell that nobody has decided how to count");
        }
        let of =
            |prefix: &str| counts.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, n)| n).sum();
        Ok(Area {
            luts: of("LUT"),
            ram_luts: LUT_MEMORIES.iter().map(|(name, luts)| of(name) * luts).sum(),
            registers: of("FD"),
            bram18: 2 * of("RAMB36") + of("RAMB18"),
            uram: of("URAM"),
            dsp: of("DSP48"),
        })
    }
}

/// True if [`Area`] has a place for the cell, or leaves it out on purpose.
fn is_known(kind: &str) -> bool {
    const OTHERS: [&str; 20] = [
        "LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6", "CARRY4", "CARRY8", "MUXF7", "MUXF8", "MUXF9", "INV",
        "BUFG", "FDRE", "FDSE", "FDCE", "FDPE", "URAM288", "RAMB36E2", "RAMB18E2",
    ];
    OTHERS.contains(&kind) || kind == "DSP48E2" || LUT_MEMORIES.iter().any(|(memory, _)| *memory == kind)
}

#[cfg(test)]
mod tests {
    use crate::synth::netlist::flat::Netlist;

    fn netlist(kinds: &[&str]) -> Netlist {
        let cell = |(at, kind): (usize, &&str)| format!("  cell {kind} \\u_{at}\n  end\n");
        let cells: String = kinds.iter().enumerate().map(cell).collect();
        Netlist::parse(&format!("module \\m\n{cells}end\n"), "m").unwrap()
    }

    #[test]
    fn cells_are_counted_and_an_unknown_one_is_an_error() {
        let known = ["\\LUT3", "\\RAM32M16", "\\FDSE", "\\RAMB18E2", "\\INV", "\\RAMB36E2", "$scopeinfo"];
        let area = netlist(&known).area().unwrap();
        assert_eq!((area.luts, area.ram_luts, area.registers, area.bram18), (1, 8, 1, 3));
        assert!(netlist(&["\\OBUF"]).area().unwrap_err().to_string().contains("OBUF"));
    }
}
