//! The modules of a design, with the number of instances, their place and their clock.

use super::netlist::area::Area;
use super::yosys::Costs;
use crate::design::{Design, Floorplan, Mesh};
use crate::emit::{self, ModuleSpec};

/// Number and place of a part's instances in a mesh, as in `docs/floorplan.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// One per tile, in the SLR of its row.
    Tile,
    /// One per tile above row 0.
    Above,
    /// One per tile of row 0.
    Bottom,
    /// One per memory port, in the SLR of its row.
    Port,
    /// One per column, with row 0.
    Column,
    /// One, with row 0.
    Once,
    /// One, in SLR0 next to HBM and PCIe.
    Host,
    /// One per memory port, in SLR0 next to HBM; none under the Vitis shell, whose linker makes its own.
    Hbm,
    /// One, in SLR0 next to HBM; none under the Vitis shell.
    HbmOnce,
    /// One per column and boundary between SLRs, in the upper of the two.
    Northward,
    /// The same, in the lower.
    Southward,
}

impl Scale {
    /// True if there is none under the Vitis shell.
    pub fn is_bare(self) -> bool {
        matches!(self, Scale::Hbm | Scale::HbmOnce)
    }

    /// Number of instances in one SLR, for a mesh with `row_ports` memory ports in a row.
    pub fn in_slr(self, mesh: Mesh, row_ports: u32, plan: &Floorplan, slr: u32) -> u64 {
        let (cols, rows) = (u64::from(mesh.cols()), plan.rows_of(slr));
        let once = |here: bool, times: u64| if here { times } else { 0 };
        match self {
            Scale::Tile => cols * rows.len() as u64,
            Scale::Above => cols * rows.filter(|y| *y > 0).count() as u64,
            Scale::Port => u64::from(row_ports) * rows.len() as u64,
            Scale::Column | Scale::Bottom => once(plan.slr(0) == slr, cols),
            Scale::Once => once(plan.slr(0) == slr, 1),
            Scale::Host | Scale::HbmOnce => once(slr == 0, 1),
            Scale::Hbm => once(slr == 0, u64::from(row_ports) * u64::from(mesh.rows())),
            Scale::Northward => once(rows.start > 0 && !rows.is_empty(), cols),
            Scale::Southward => once(rows.end < mesh.rows() && !rows.is_empty(), cols),
        }
    }
}

/// The clock that bounds a part. Its few registers on the other clock are checked against this one, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Clock {
    /// The network clock.
    Noc,
    /// The PE clock.
    Pe,
    /// The clock of the ports of HBM.
    Hbm,
}

/// A module that is synthesised by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Name in reports.
    pub name: &'static str,
    /// Its module.
    pub module: &'static str,
    /// Number and place of its instances.
    pub scale: Scale,
    /// The clock whose period it must meet.
    pub clock: Clock,
}

const fn part(name: &'static str, module: &'static str, scale: Scale, clock: Clock) -> Part {
    Part { name, module, scale, clock }
}

/// Parts of a tile.
const OF_TILE: [Part; 3] = [
    part("router", emit::ROUTER, Scale::Tile, Clock::Noc),
    part("transport", emit::TILE, Scale::Above, Clock::Noc),
    part("pad", emit::PAD, Scale::Tile, Clock::Pe),
];

/// Parts around the tiles. Not every design has all of them.
const AROUND: [Part; 7] = [
    part("transport_row0", emit::TILE, Scale::Bottom, Clock::Noc),
    part("column_root", emit::ROOT, Scale::Column, Clock::Noc),
    part("column_controller", "meshkv_column_controller", Scale::Column, Clock::Noc),
    part("memory_port", "meshkv_memory_port", Scale::Port, Clock::Noc),
    part("write_port", "meshkv_write_port", Scale::Port, Clock::Noc),
    part("swap_unit", "meshkv_swap_unit", Scale::Once, Clock::Noc),
    part("front", emit::FRONT, Scale::Host, Clock::Noc),
];

/// Converters to the ports of HBM, in the system without a shell. Designs with flits narrower than a beat have none.
const READS: Part = part("axi3_read", "meshkv_axi3_read", Scale::Hbm, Clock::Hbm);
/// The same where memory ports write new tokens, too.
const WRITES: Part = part("axi3_memory", "meshkv_axi3_io", Scale::Hbm, Clock::Hbm);
/// The converter of queries and outputs.
const IO: Part = part("axi3_io", "meshkv_axi3_io", Scale::HbmOnce, Clock::Hbm);

/// Registers between SLRs, in designs that have them: one a wire, without synthesis.
pub(super) fn crossings(design: &Design) -> Vec<(Part, Costs)> {
    if !design.slr_registers() {
        return Vec::new();
    }
    let [north, south] = design.wires().column;
    let of = |name, scale, bits: u32| {
        let part = part(name, "meshkv_crossing", scale, Clock::Noc);
        let area = Area { luts: 0, ram_luts: 0, registers: bits.into(), bram18: 0, uram: 0, dsp: 0 };
        (part, Costs { area, levels: 0, period_ns: 0.0 })
    };
    vec![of("crossing_north", Scale::Northward, north), of("crossing_south", Scale::Southward, south)]
}

/// The parts of a design that are synthesised, those of the tile first.
pub fn parts(design: &Design) -> Vec<Part> {
    let modules = emit::modules(design);
    let has = |part: &Part| modules.iter().any(|m| m.name == part.module);
    let memory = if design.append.is_some() { WRITES } else { READS };
    OF_TILE.into_iter().chain(AROUND).chain([memory, IO]).filter(has).collect()
}

/// Yosys commands that specialise a part's module like its instances: parameters other than the defaults,
/// coordinates, and outputs that only row 0 uses.
pub(super) fn as_instantiated(design: &Design, part: &Part) -> String {
    let modules = emit::modules(design);
    let periphery: Option<&ModuleSpec> = modules.iter().find(|m| m.name == emit::PERIPHERY);
    let value = |name: &str| {
        let params = periphery.iter().flat_map(|m| &m.params);
        params.into_iter().find(|p| p.name == name).map(|p| p.literal.clone())
    };
    // The tile with the most neighbours and paths.
    let (x, y) = (design.mesh.cols() / 2, design.mesh.rows() / 2);
    let (own, outer) = match (part.module, part.scale) {
        ("meshkv_column_controller", _) => ("QUEUE", "DESC_DEPTH"),
        ("meshkv_memory_port", _) => ("CREDITS", "REQ_DEPTH"),
        (emit::ROUTER, _) => return placed(part.module, &[("x", x), ("y", y)], false),
        (emit::TILE, Scale::Bottom) => return placed(part.module, &[("x", x), ("y", 0)], false),
        (emit::TILE, _) => return placed(part.module, &[("x", x), ("y", y), ("root_credit", 0)], true),
        _ => return String::new(),
    };
    value(outer).map(|value| format!("chparam -set {own} {value} {}", part.module)).unwrap_or_default()
}

/// Ties inputs of a module to constants; `above` row 0 it also removes the outputs to a reduce root.
fn placed(module: &str, constants: &[(&str, u32)], above: bool) -> String {
    let mut commands = vec![format!("hierarchy -top {module}"), "proc".to_owned()];
    commands.extend(constants.iter().map(|(name, _)| format!("delete -input {module}/w:{name}")));
    if above {
        commands.push(format!("delete -output {module}/w:root_*"));
    }
    commands.push(format!("cd {module}"));
    commands.extend(constants.iter().map(|(name, value)| format!("connect -set {name} {value}")));
    commands.push("cd ..".to_owned());
    commands.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Board, Config};
    use crate::design::Fpga;

    #[test]
    fn counts_follow_the_mesh_and_the_regions() {
        let (mesh, fpga) = (Mesh::new(3, 4), Fpga::of(Board::U280));
        let plan = Floorplan::new(mesh, fpga, |_| 0);
        // Row 0, rows 1 and 2, row 3; in a row of three the last tile has a port to itself.
        let counts = |scale: Scale| [0, 1, 2].map(|slr| scale.in_slr(mesh, 2, &plan, slr));
        assert_eq!(counts(Scale::Tile), [3, 6, 3]);
        assert_eq!((counts(Scale::Above), counts(Scale::Bottom)), ([0, 6, 3], [3, 0, 0]));
        assert_eq!(counts(Scale::Port), [2, 4, 2]);
        assert_eq!((counts(Scale::Column), counts(Scale::Once)), ([3, 0, 0], [1, 0, 0]));
        assert_eq!((counts(Scale::Northward), counts(Scale::Southward)), ([0, 3, 3], [3, 3, 0]));
        // SLR0 and SLR1 have two rows each; SLR0 has the parts of row 0, too.
        let mesh = Mesh::new(2, 2);
        let plan = Floorplan::new(mesh, fpga, |_| 0);
        let counts = |scale: Scale| [0, 1, 2].map(|slr| scale.in_slr(mesh, 2, &plan, slr));
        assert_eq!((counts(Scale::Column), counts(Scale::Host)), ([2, 0, 0], [1, 0, 0]));
        assert_eq!((counts(Scale::Northward), counts(Scale::Southward)), ([0, 2, 0], [2, 0, 0]));
    }

    #[test]
    fn registers_between_regions_are_as_many_as_wires() {
        let mut config = Config::default();
        let registers = |config: &Config| {
            let parts = crossings(&Design::from_config("t", config).unwrap());
            parts.iter().map(|(_, costs)| costs.area.registers).sum::<u64>()
        };
        // Per column: two links of 566 wires, 120 of the bus, its credit, 25 of an occupancy
        // (docs/floorplan.md).
        assert_eq!(registers(&config), 2 * 566 + 120 + 1 + 25);
        config.floorplan.slr_registers = false;
        assert_eq!(registers(&config), 0);
    }

    #[test]
    fn a_design_without_swaps_has_no_swap_unit() {
        let mut config = Config::default();
        let names = |config: &Config| {
            let design = Design::from_config("t", config).unwrap();
            parts(&design).into_iter().map(|p| p.name).collect::<Vec<_>>()
        };
        assert!(names(&config).contains(&"swap_unit"));
        config.takv.swap_epoch = Some(0);
        assert!(!names(&config).contains(&"swap_unit"));
        assert_eq!(names(&config)[..3], ["router", "transport", "pad"]);
    }

    #[test]
    fn parts_have_the_parameters_and_places_of_their_instances() {
        let design = Design::from_config("t", &Config::default()).unwrap();
        let given: Vec<_> = parts(&design).iter().map(|p| as_instantiated(&design, p)).collect();
        assert_eq!(given.iter().filter(|g| g.contains("; connect -set y 4; ")).count(), 2);
        assert_eq!(given.iter().filter(|g| g.contains("; connect -set y 0; ")).count(), 1);
        assert_eq!(given.iter().filter(|g| g.contains("/w:root_*")).count(), 1);
        assert_eq!(given.iter().filter(|g| g.starts_with("chparam -set ")).count(), 2);
    }
}
