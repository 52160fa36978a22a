//! A netlist of Xilinx cells in Yosys' JSON: counts its cells and measures its logic depth.

use crate::design::Resources;
use anyhow::{bail, Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

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
    (SHIFT_REGISTERS[0], 1),
    (SHIFT_REGISTERS[1], 1),
];
/// A LUT as a shift register of up to 16 or 32 stages.
const SHIFT_REGISTERS: [&str; 2] = ["SRL16E", "SRLC32E"];

/// LUTs of a memory cell.
fn memory_luts(cell: &str) -> Option<u64> {
    LUT_MEMORIES.iter().find(|(name, _)| *name == cell).map(|(_, luts)| *luts)
}

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

/// Role of a cell on a path from register to register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A LUT, or the read side of a LUT memory: one level.
    Lut,
    /// Carries, wide multiplexers, inverters and clock buffers: no level of their own.
    Free,
    /// A register: paths start at Q and end at all inputs.
    Register,
}

fn kind(cell: &str) -> Result<Kind> {
    Ok(match cell {
        "LUT1" | "LUT2" | "LUT3" | "LUT4" | "LUT5" | "LUT6" | "LUT6_2" => Kind::Lut,
        shift if SHIFT_REGISTERS.contains(&shift) => Kind::Register,
        memory if memory_luts(memory).is_some() => Kind::Lut,
        "CARRY4" | "CARRY8" | "MUXF7" | "MUXF8" | "MUXF9" | "INV" | "BUFG" => Kind::Free,
        "FDRE" | "FDSE" | "FDCE" | "FDPE" | "URAM288" | "RAMB36E2" | "RAMB18E2" | "DSP48E2" => Kind::Register,
        other => bail!("{other} is a cell that nobody has decided how to count"),
    })
}

/// One cell: its name in the netlist's library and its pins.
struct Cell {
    kind: Kind,
    name: String,
    inputs: Vec<(String, Vec<u64>)>,
    outputs: Vec<(String, Vec<u64>)>,
}

/// The cells of one flat module.
pub struct Netlist {
    cells: Vec<Cell>,
}

impl Netlist {
    /// Reads module `top` of Yosys' JSON.
    ///
    /// # Errors
    /// When the text is no such netlist, or holds a cell without a counting rule.
    pub fn parse(text: &str, top: &str) -> Result<Netlist> {
        let value: Value = serde_json::from_str(text)?;
        let cells = value["modules"][top]["cells"].as_object().context("no cells")?;
        let cells =
            cells.values().filter(|cell| cell["type"] != "$scopeinfo").map(read).collect::<Result<_>>()?;
        Ok(Netlist { cells })
    }

    /// Counts the cells.
    pub fn area(&self) -> Area {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        self.cells.iter().for_each(|cell| *counts.entry(&cell.name).or_default() += 1);
        let of =
            |prefix: &str| counts.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, n)| n).sum();
        Area {
            luts: of("LUT"),
            ram_luts: LUT_MEMORIES.iter().map(|(name, luts)| of(name) * luts).sum(),
            registers: of("FD"),
            bram18: 2 * of("RAMB36") + of("RAMB18"),
            uram: of("URAM"),
            dsp: of("DSP48"),
        }
    }

    /// LUTs on the longest path between registers or ports.
    ///
    /// # Errors
    /// On a combinational loop.
    pub fn levels(&self) -> Result<u32> {
        let mut drivers = HashMap::new();
        for (index, cell) in self.cells.iter().enumerate().filter(|(_, cell)| cell.kind != Kind::Register) {
            for (pin, bits) in &cell.outputs {
                bits.iter().for_each(|bit| _ = drivers.insert(*bit, (index, pin.as_str())));
            }
        }
        let mut walk = Walk { cells: &self.cells, drivers, depths: HashMap::new() };
        let mut deepest = 0;
        for cell in &self.cells {
            // Paths end at inputs of registers and at write sides of memories. Logic that drives no register
            // is no timing path.
            let inputs = cell.inputs.iter().filter(|(pin, _)| cell.ends_at(pin));
            for bit in inputs.flat_map(|(_, bits)| bits) {
                deepest = deepest.max(walk.depth(*bit)?);
            }
        }
        Ok(deepest)
    }
}

impl Cell {
    /// True if a path ends at this input.
    fn ends_at(&self, pin: &str) -> bool {
        self.kind == Kind::Register || (memory_luts(&self.name).is_some() && pin != "WCLK")
    }

    /// True if `output` follows `input` within the cycle. Memories are read by the address of the same
    /// letter; data and enable wait for the clock.
    fn passes(&self, input: &str, output: &str) -> bool {
        memory_luts(&self.name).is_none()
            || (input.starts_with("ADDR") && input.chars().last() == output.chars().last())
    }
}

fn read(cell: &Value) -> Result<Cell> {
    let name = cell["type"].as_str().context("a cell without type")?.to_owned();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (pin, bits) in cell["connections"].as_object().context("a cell without pins")? {
        // Constants are strings; nets are numbers.
        let nets = bits.as_array().context("pins are lists")?.iter().filter_map(Value::as_u64).collect();
        let side = if cell["port_directions"][pin] == "output" { &mut outputs } else { &mut inputs };
        side.push((pin.clone(), nets));
    }
    Ok(Cell { kind: kind(&name)?, name, inputs, outputs })
}

/// A search backwards from the ends of paths; each net is visited once.
struct Walk<'a> {
    cells: &'a [Cell],
    drivers: HashMap<u64, (usize, &'a str)>,
    /// LUTs up to a net; `None` while it is being searched.
    depths: HashMap<u64, Option<u32>>,
}

impl Walk<'_> {
    fn depth(&mut self, net: u64) -> Result<u32> {
        if let Some(known) = self.depths.get(&net) {
            return known.context("a combinational loop");
        }
        // Nets without a driver here come from registers or input ports.
        let Some((index, output)) = self.drivers.get(&net).copied() else { return Ok(0) };
        self.depths.insert(net, None);
        let cells = self.cells;
        let cell = &cells[index];
        let mut deepest = 0;
        for (_, bits) in cell.inputs.iter().filter(|(pin, _)| cell.passes(pin, output)) {
            for bit in bits {
                deepest = deepest.max(self.depth(*bit)?);
            }
        }
        let depth = deepest + u32::from(cell.kind == Kind::Lut);
        self.depths.insert(net, Some(depth));
        Ok(depth)
    }
}
