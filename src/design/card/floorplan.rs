//! The floorplan: assigns rows of the mesh to super logic regions (SLRs), and says which links cross between
//! two.
//!
//! Rows are assigned whole and in order, so only column links between two neighbouring rows cross. SLR0 also
//! holds the HBM and PCIe interfaces. It gets two parts of the rows where the others get three (2, 3 and 3 of
//! eight). Row 0 is always in SLR0, next to the host logic. The memory-port wires of each row above SLR0
//! cross out of it. Where these are too many beside the shell of the Vitis platform, rows are assigned
//! evenly, SLR0 first (3, 3 and 2 of eight).

use crate::design::card::fpga::Fpga;
use crate::design::network::mesh::Mesh;

/// Parts of the rows that each SLR gets.
const SHARES: [u32; 3] = [2, 3, 3];
/// Percentage of used wires out of SLR0, of those that the shell leaves, above which rows are assigned evenly.
const MOST_CROSSINGS: u64 = 80;

/// Assignment of the rows of a mesh to the SLRs of the FPGA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floorplan {
    /// SLR of each row, from the south; never decreasing.
    slr_of_row: Vec<u32>,
}

impl Floorplan {
    /// Assigns the rows of `mesh`: two parts to SLR0 where the others get three, or evenly if the memory
    /// ports would bring too many wires out of SLR0. `crossing` counts the wires.
    pub fn new(mesh: Mesh, fpga: &Fpga, crossing: impl Fn(&Floorplan) -> u64) -> Floorplan {
        let by_shares = Floorplan::by_shares(mesh, fpga);
        if 100 * crossing(&by_shares) <= MOST_CROSSINGS * (u64::from(fpga.crossings) - fpga.shell_crossings) {
            return by_shares;
        }
        Floorplan::evenly(mesh, fpga)
    }

    /// Assigns rows by largest remainders of the shares. Of equal remainders the lower SLR, nearer to the
    /// memory, comes first.
    pub(in crate::design) fn by_shares(mesh: Mesh, fpga: &Fpga) -> Floorplan {
        let (rows, parts) = (mesh.rows(), SHARES.iter().sum::<u32>());
        let mut counts = SHARES.map(|share| rows * share / parts);
        let mut order: Vec<usize> = (0..fpga.slrs.len()).collect();
        order.sort_by_key(|&slr| std::cmp::Reverse(rows * SHARES[slr] % parts));
        let left = rows - counts.iter().sum::<u32>();
        for &slr in order.iter().take(left as usize) {
            counts[slr] += 1;
        }
        if counts[0] == 0 {
            let last = counts.iter().rposition(|count| *count > 0).expect("a mesh has rows");
            counts[last] -= 1;
            counts[0] = 1;
        }
        Floorplan::of(counts)
    }

    /// Assigns rows as evenly as possible. Remaining rows go to the lowest SLRs: no other even assignment has
    /// fewer rows above either boundary, so none has fewer wires.
    fn evenly(mesh: Mesh, fpga: &Fpga) -> Floorplan {
        let slrs = fpga.slrs.len() as u32;
        Floorplan::of(fpga.slrs.map(|slr| (mesh.rows() + slrs - 1 - slr.index) / slrs))
    }

    fn of(counts: [u32; 3]) -> Floorplan {
        let slr_of_row = (0..).zip(counts).flat_map(|(slr, rows)| vec![slr; rows as usize]).collect();
        Floorplan { slr_of_row }
    }

    /// The SLR of a row.
    ///
    /// # Panics
    /// If the mesh has no such row.
    pub fn slr(&self, row: u32) -> u32 {
        self.slr_of_row[row as usize]
    }

    /// Rows of an SLR, from the south.
    pub fn rows_of(&self, slr: u32) -> std::ops::Range<u32> {
        let before = self.slr_of_row.iter().filter(|s| **s < slr).count() as u32;
        let here = self.slr_of_row.iter().filter(|s| **s == slr).count() as u32;
        before..before + here
    }

    /// True if the links between `row` and the row north of it cross from one SLR to another.
    pub fn crosses(&self, row: u32) -> bool {
        self.slr_of_row.get(row as usize + 1).is_some_and(|north| *north != self.slr(row))
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Board, Config};
    use crate::design::card::floorplan::*;
    use crate::design::{Design, Wires};

    /// Rows of each SLR.
    fn counts(plan: &Floorplan) -> Vec<u32> {
        let rows = plan.slr_of_row.len() as u32;
        let used = (0..3).filter(|&slr| !plan.rows_of(slr).is_empty()).count();
        assert_eq!((0..rows).filter(|&r| plan.crosses(r)).count(), used - 1);
        (0..3).map(|slr| plan.rows_of(slr).len() as u32).collect()
    }

    fn by_shares(rows: u32) -> Vec<u32> {
        counts(&Floorplan::by_shares(Mesh::new(2, rows), Fpga::of(Board::U280)))
    }

    fn evenly(rows: u32) -> Vec<u32> {
        counts(&Floorplan::evenly(Mesh::new(2, rows), Fpga::of(Board::U280)))
    }

    #[test]
    fn rows_are_dealt_two_three_three() {
        assert_eq!(by_shares(8), [2, 3, 3]);
        assert_eq!(by_shares(16), [4, 6, 6]);
        assert_eq!(by_shares(4), [1, 2, 1]);
        assert_eq!(by_shares(2), [1, 1, 0]);
        assert_eq!(by_shares(3), [1, 1, 1]);
    }

    #[test]
    fn every_row_has_a_region_and_the_first_stands_in_the_lowest() {
        for rows in 2..=16 {
            for counts in [by_shares(rows), evenly(rows)] {
                assert_eq!(counts.iter().sum::<u32>(), rows);
                assert!(counts[0] > 0);
            }
        }
    }

    #[test]
    fn an_even_dealing_has_the_fewest_wires_of_all_that_are_even_within_a_row() {
        assert_eq!([evenly(8), evenly(4), evenly(7)], [[3, 3, 2], [2, 1, 1], [3, 2, 2]]);
        let fpga = Fpga::of(Board::U280);
        let wires = Wires { column: [100, 50], port: 10, tiles_per_port: 2, tile: 2, row: 3, once: 1 };
        for rows in 3..=16_u32 {
            let mesh = Mesh::new(4, rows);
            let across = |plan: &Floorplan| [0, 1].map(|lower| wires.across(mesh, fpga, plan, lower));
            let best = across(&Floorplan::evenly(mesh, fpga));
            let most = rows.div_ceil(3);
            let some = [most, most - 1];
            for counts in some.into_iter().flat_map(|a| some.map(|b| [a, b, rows - a - b])) {
                let even = counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1;
                let other = across(&Floorplan::of(counts));
                assert!(!even || (best[0] <= other[0] && best[1] <= other[1]), "{rows}: {counts:?}");
            }
        }
    }

    #[test]
    fn wires_of_memory_ports_draw_a_row_to_the_memory() {
        let dealt = |cols, flit_width, tiles_per_port| {
            let mut config = Config::default();
            (config.mesh.cols, config.noc.flit_width) = (cols, flit_width);
            config.memory.tiles_per_port = tiles_per_port;
            let design = Design::from_config("t", &config).unwrap();
            let (wires, fpga) = (design.wires(), Fpga::of(Board::U280));
            let share =
                |plan: &Floorplan| 100 * wires.across(design.mesh, fpga, plan, 0) / u64::from(fpga.crossings);
            let shares = [
                share(&Floorplan::by_shares(design.mesh, fpga)),
                share(&Floorplan::evenly(design.mesh, fpga)),
            ];
            (counts(&design.floorplan), shares)
        };
        // Four columns of 512 bits with a port a tile; the same in pairs.
        assert_eq!(dealt(4, 512, None), (vec![3, 3, 2], [83, 73]));
        assert_eq!(dealt(4, 512, Some(2)).0, [2, 3, 3]);
        assert_eq!(dealt(8, 256, None), (vec![2, 3, 3], [61, 55]));
        assert_eq!(dealt(8, 512, None), (vec![3, 3, 2], [105, 95]));
    }
}
