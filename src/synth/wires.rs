//! Wires from one SLR to the next: links of the mesh, the column bus, and the ways between rows and what faces the host.
//!
//! Only so many can cross (`Device::crossings`), which is a resource like any other. They are counted from the widths of
//! ports, as `docs/floorplan.md` has them; clocks are left out.

use crate::design::{Design, Floorplan, Mesh, COUNTER_KINDS, SELECT_TILE_BITS, TILE_ERRORS, TOTAL_BITS};
use crate::emit;

/// Resets of a row, one in each clock.
const RESETS: u32 = 2;

/// How many wires one of each thing that crosses has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wires {
    /// Of a column, between neighbouring rows: from the lower to the upper, and back.
    pub column: [u32; 2],
    /// Of a memory port, to what faces memory and back.
    pub port: u32,
    /// Of a tile to what faces the host: errors.
    pub tile: u32,
    /// Of a row: totals and resets.
    pub row: u32,
    /// Of all rows together: which total is looked for.
    pub once: u32,
}

impl Wires {
    /// Of a design, whether it has registers on them or not.
    pub fn of(design: &Design) -> Wires {
        let (flit, vcs) = (&design.flit, design.router.vcs());
        // A link carries valid and payload one way, and the credits of the link the other way.
        let link = flit.data_width + flit.head_width + flit.column_dest_width + 2 * vcs;
        let modules = emit::modules(design);
        let width = |name: &str| {
            let fabric = modules.iter().find(|m| m.name == emit::FABRIC);
            let param = fabric.and_then(|m| m.params.iter().find(|p| p.name == name));
            param.and_then(|p| p.literal.parse::<u32>().ok()).unwrap_or(0)
        };
        // The bus goes north with a valid bit, its credit south, and with it the value of an occupancy.
        let value = if design.swaps() { width("VALUE_WIDTH") + 1 } else { 0 };
        Wires {
            column: [link + width("BUS_WIDTH") + 1, link + 1 + value],
            port: design.way_bits().iter().sum(),
            tile: TILE_ERRORS,
            row: COUNTER_KINDS * TOTAL_BITS + RESETS,
            once: COUNTER_KINDS * SELECT_TILE_BITS,
        }
    }

    /// How many cross from an SLR to the one above it.
    pub fn across(&self, mesh: Mesh, plan: &Floorplan, lower: u32) -> u64 {
        let (cols, above) =
            (mesh.cols(), (0..mesh.rows()).filter(|row| plan.slr(*row) > lower).count() as u32);
        let between = (0..mesh.rows()).any(|row| plan.slr(row) == lower && plan.crosses(row));
        let links = if between { cols * self.column.iter().sum::<u32>() } else { 0 };
        let of_row = cols.div_ceil(2) * self.port + cols * self.tile + self.row;
        u64::from(links + above * of_row + if above > 0 { self.once } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Board, Config};
    use crate::design::Device;

    #[test]
    fn wires_are_as_the_floorplan_page_counts_them() {
        let across = |config: &Config| {
            let design = Design::from_config("t", config).unwrap();
            let (wires, plan) = (Wires::of(&design), Floorplan::new(design.mesh, Device::of(Board::U280)));
            [0, 1].map(|lower| wires.across(design.mesh, &plan, lower))
        };
        let mut config = Config::default();
        assert_eq!(across(&config), [10_208 + 13_704 + 711, 10_208 + 6_852 + 369]);
        config.floorplan.slr_registers = false;
        assert_eq!(across(&config), [24_623, 17_429]);
    }

    #[test]
    fn nothing_crosses_where_there_is_no_row_above() {
        let mesh = Mesh::new(2, 2);
        let plan = Floorplan::new(mesh, Device::of(Board::U280));
        let wires = Wires { column: [100, 50], port: 10, tile: 2, row: 3, once: 1 };
        assert_eq!([0, 1].map(|lower| wires.across(mesh, &plan, lower)), [300 + 17 + 1, 0]);
    }
}
