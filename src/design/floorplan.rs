//! Which rows of the mesh stand in which super logic region, and which links cross between two.
//!
//! Rows are dealt whole, in order, so that only links along columns cross and only between two neighbouring rows. SLR0
//! also holds what faces HBM and PCIe: it gets two parts of the rows where the others get three (2, 3 and 3 of eight), but
//! always the first, beside which all stands that the host speaks to.

use super::{Device, Mesh};

/// Parts of the rows that each SLR gets.
const SHARES: [u32; 3] = [2, 3, 3];

/// Rows of the mesh, dealt to the SLRs of the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Floorplan {
    /// SLR of each row, from the south. It never falls.
    slr_of_row: Vec<u32>,
}

impl Floorplan {
    /// The rows of `mesh`, dealt by largest remainders; of equal ones the lower SLR, which is nearer to the memory, first.
    pub fn new(mesh: Mesh, device: &Device) -> Floorplan {
        let (rows, parts) = (mesh.rows(), SHARES.iter().sum::<u32>());
        let mut counts = SHARES.map(|share| rows * share / parts);
        let mut order: Vec<usize> = (0..device.slrs.len()).collect();
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

    /// Whether the links between `row` and the row north of it cross from one SLR to another.
    pub fn crosses(&self, row: u32) -> bool {
        self.slr_of_row.get(row as usize + 1).is_some_and(|north| *north != self.slr(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Board;

    fn counts(rows: u32) -> Vec<u32> {
        let plan = Floorplan::new(Mesh::new(2, rows), Device::of(Board::U280));
        assert_eq!((0..rows).filter(|&r| plan.crosses(r)).count(), {
            let used = (0..3).filter(|&slr| !plan.rows_of(slr).is_empty()).count();
            used - 1
        });
        (0..3).map(|slr| plan.rows_of(slr).len() as u32).collect()
    }

    #[test]
    fn rows_are_dealt_two_three_three() {
        assert_eq!(counts(8), [2, 3, 3]);
        assert_eq!(counts(16), [4, 6, 6]);
        assert_eq!(counts(4), [1, 2, 1]);
        assert_eq!(counts(2), [1, 1, 0]);
        assert_eq!(counts(3), [1, 1, 1]);
    }

    #[test]
    fn every_row_has_a_region_and_the_first_stands_in_the_lowest() {
        for rows in 2..=16 {
            assert_eq!(counts(rows).iter().sum::<u32>(), rows);
            assert!(counts(rows)[0] > 0);
        }
    }
}
