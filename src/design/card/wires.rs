//! Wires from one SLR to the next: mesh links, the column bus, and the paths between rows and the host side.
//!
//! Wires that can cross are a limited resource (`Fpga::crossings`): the floorplan assigns rows by them, and
//! the estimate checks designs against them. They are counted from port widths as in `docs/floorplan.md`,
//! without clocks.

use crate::design::card::floorplan::Floorplan;
use crate::design::card::fpga::Fpga;
use crate::design::card::memory::fewest_tiles_per_port;
use crate::design::network::mesh::Mesh;

/// Numbers of crossing wires, per column, port, tile and row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wires {
    /// Per column, between neighbouring rows: from the lower to the upper, and back.
    pub column: [u32; 2],
    /// Per memory port, to the memory interface and back.
    pub port: u32,
    /// Tiles that share a memory port, in a mesh for whose ports the card has enough channels.
    pub tiles_per_port: u32,
    /// Per tile, to the host side: errors.
    pub tile: u32,
    /// Per row: counters and resets.
    pub row: u32,
    /// Once for all rows: the counter selection.
    pub once: u32,
}

impl Wires {
    /// Memory ports of a row of `mesh`, which may differ from the mesh of the design.
    pub fn ports_of_row(&self, mesh: Mesh, fpga: &Fpga) -> u32 {
        mesh.cols().div_ceil(fewest_tiles_per_port(mesh, self.tiles_per_port, fpga.hbm_channels))
    }

    /// Wires that cross from an SLR to the one above it.
    pub fn across(&self, mesh: Mesh, fpga: &Fpga, plan: &Floorplan, lower: u32) -> u64 {
        let (cols, above) =
            (mesh.cols(), (0..mesh.rows()).filter(|row| plan.slr(*row) > lower).count() as u32);
        let between = (0..mesh.rows()).any(|row| plan.slr(row) == lower && plan.crosses(row));
        let links = if between { cols * self.column.iter().sum::<u32>() } else { 0 };
        let of_row = self.ports_of_row(mesh, fpga) * self.port + cols * self.tile + self.row;
        u64::from(links + above * of_row + if above > 0 { self.once } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Board, Config};
    use crate::design::card::wires::*;
    use crate::design::Design;

    #[test]
    fn wires_are_as_the_floorplan_page_counts_them() {
        let across = |config: &Config| {
            let design = Design::from_config("t", config).unwrap();
            let (wires, fpga) = (design.wires(), Fpga::of(Board::U280));
            [0, 1].map(|lower| wires.across(design.mesh, fpga, &design.floorplan, lower))
        };
        let mut config = Config::default();
        config.noc.flit_width = 256;
        assert_eq!(across(&config), [6_160 + 7_344 + 711, 6_160 + 3_672 + 369]);
        config.floorplan.slr_registers = false;
        assert_eq!(across(&config), [14_215, 10_201]);
        // Ports of 512 bits have too many wires: SLR0 gets one more row.
        config.noc.flit_width = 512;
        assert_eq!(across(&config), [10_224 + 11_220 + 597, 10_224 + 4_488 + 255]);
    }

    #[test]
    fn nothing_crosses_where_there_is_no_row_above() {
        let (mesh, fpga) = (Mesh::new(2, 2), Fpga::of(Board::U280));
        let wires = Wires { column: [100, 50], port: 10, tiles_per_port: 2, tile: 2, row: 3, once: 1 };
        let plan = Floorplan::new(mesh, fpga, |plan| wires.across(mesh, fpga, plan, 0));
        assert_eq!([0, 1].map(|lower| wires.across(mesh, fpga, &plan, lower)), [300 + 17 + 1, 0]);
    }

    #[test]
    fn a_larger_mesh_has_as_many_ports_as_the_card_has_channels_for() {
        let fpga = Fpga::of(Board::U280);
        let ports = |tiles_per_port, cols, rows| {
            let wires = Wires { tiles_per_port, ..Wires::default() };
            wires.ports_of_row(Mesh::new(cols, rows), fpga) * rows
        };
        assert_eq!([ports(1, 4, 8), ports(1, 8, 8), ports(2, 4, 8), ports(1, 16, 16)], [32, 32, 16, 32]);
    }
}
