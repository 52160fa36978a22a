//! Visits: the home column at which the tiles of each column begin their round of a row.
//!
//! Under mapping `row-aligned`, each turn is a pattern of flows along a row: one home column feeds each
//! column, and all advance by one column together. If every column began at itself, the middle links would
//! carry half of the row in some turns and nothing in others. [`starts`] is the table whose busiest link,
//! over all turns, carries the fewest flows. Of equal tables it has the fewest such turns, then the fewest of
//! the next busiest. The mean over the turns is no measure: it rewards idle turns, whose time a busy turn
//! cannot use. Tests find the tables again.

/// For rows of 2 to 16 columns, the home column at which each column begins. Optimal up to ten columns;
/// beyond, the best that hill climbing from many starts found.
const STARTS: [&[u32]; 15] = [
    &[0, 1],
    &[0, 1, 2],
    &[0, 2, 1, 3],
    &[0, 1, 2, 3, 4],
    &[0, 1, 3, 2, 4, 5],
    &[0, 1, 4, 3, 2, 5, 6],
    &[0, 1, 5, 4, 7, 2, 3, 6],
    &[0, 1, 2, 5, 4, 3, 6, 7, 8],
    &[0, 1, 4, 6, 5, 8, 3, 2, 7, 9],
    &[0, 1, 5, 7, 6, 10, 3, 2, 4, 8, 9],
    &[0, 1, 5, 9, 7, 3, 10, 4, 11, 2, 8, 6],
    &[0, 2, 4, 9, 5, 11, 6, 1, 7, 8, 12, 3, 10],
    &[0, 2, 4, 11, 9, 8, 1, 6, 13, 10, 3, 7, 5, 12],
    &[0, 1, 3, 7, 11, 9, 8, 14, 5, 4, 12, 10, 2, 13, 6],
    &[0, 1, 5, 14, 11, 7, 9, 3, 12, 6, 4, 13, 15, 8, 10, 2],
];

/// The home column at which each column of a row of `cols` begins.
///
/// # Panics
/// If no mesh has so many columns.
pub fn starts(cols: u32) -> &'static [u32] {
    STARTS[cols as usize - 2]
}

#[cfg(test)]
mod tests {
    use crate::design::takv::visits::*;
    use std::cmp::Ordering;

    /// Flows on the busiest link of a row, in each turn.
    fn busiest(starts: &[u32]) -> impl Iterator<Item = u32> + '_ {
        let cols = starts.len();
        (0..cols).map(move |turn| {
            let mut links = [[0; 16]; 2];
            for (column, start) in starts.iter().enumerate() {
                let home = (*start as usize + turn) % cols;
                let (direction, between) = match home.cmp(&column) {
                    Ordering::Less => (0, home..column),
                    _ => (1, column..home),
                };
                links[direction][between].iter_mut().for_each(|flows| *flows += 1);
            }
            links.into_iter().flatten().max().unwrap()
        })
    }

    /// Cost of a table: the flows on the busiest link of each turn, the busiest turn first.
    fn cost(starts: &[u32]) -> Vec<u32> {
        let mut turns: Vec<_> = busiest(starts).collect();
        turns.sort_unstable_by(|a, b| b.cmp(a));
        turns
    }

    /// The least cost of all tables that begin with `table[..fixed]`.
    fn least(table: &mut Vec<u32>, fixed: usize) -> Vec<u32> {
        if fixed == table.len() {
            return cost(table);
        }
        let mut best = vec![u32::MAX];
        for other in fixed..table.len() {
            table.swap(fixed, other);
            best = best.min(least(table, fixed + 1));
            table.swap(fixed, other);
        }
        best
    }

    #[test]
    fn four_columns_carry_one_flow_a_link_in_every_turn() {
        assert_eq!(starts(4), [0, 2, 1, 3]);
        assert!(busiest(starts(4)).all(|flows| flows == 1));
        // In step, as without the table.
        assert_eq!(cost(&[0, 1, 2, 3]), [2, 1, 1, 0]);
    }

    #[test]
    fn eight_columns_carry_three_flows_a_link_in_one_turn_only() {
        assert_eq!(cost(starts(8)), [3, 2, 2, 2, 2, 2, 2, 2]);
    }

    #[test]
    fn every_column_begins_at_a_home_of_its_own() {
        for cols in 2..=16 {
            let mut sorted = starts(cols).to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..cols).collect::<Vec<_>>());
        }
    }

    /// The first column may start at home column 0: moving all by one only begins a turn later.
    #[test]
    fn no_table_of_up_to_eight_columns_is_better() {
        for cols in 2..=8 {
            assert_eq!(cost(starts(cols)), least(&mut (0..cols).collect(), 1), "{cols} columns");
        }
    }

    /// Proves the tables of nine and ten columns, which takes half a minute.
    #[test]
    #[ignore = "a measurement"]
    fn no_table_of_nine_or_ten_columns_is_better() {
        for cols in 9..=10 {
            assert_eq!(cost(starts(cols)), least(&mut (0..cols).collect(), 1), "{cols} columns");
        }
    }

    #[test]
    fn wide_rows_are_better_than_in_step_and_near_the_bound() {
        for cols in 9..=16 {
            let in_step: Vec<_> = (0..cols).collect();
            let most = cost(starts(cols))[0];
            // The middle link carries a fourth of the columns on average, in either direction.
            assert!(most < cost(&in_step)[0] && most <= cols.div_ceil(4) + 1, "{cols} columns: {most}");
        }
    }

    /// The program that found the wide tables: swaps of two columns that cost no more, from many random tables.
    #[test]
    #[ignore = "a measurement: prints tables"]
    fn find_wide_tables() {
        let mut random = 12345_u64;
        let mut below = |n: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % n as u64) as usize
        };
        for cols in 11..=16_usize {
            let mut table: Vec<u32> = (0..cols as u32).collect();
            let mut best = (cost(starts(cols as u32)), starts(cols as u32).to_vec());
            for _ in 0..2000 {
                (2..cols).rev().for_each(|i| table.swap(i, 1 + below(i)));
                let (mut now, mut fails) = (cost(&table), 0);
                while fails < 400 {
                    let (a, b) = (1 + below(cols - 1), 1 + below(cols - 1));
                    table.swap(a, b);
                    let next = cost(&table);
                    fails = if next < now { 0 } else { fails + 1 };
                    match next <= now {
                        true => now = next,
                        false => table.swap(a, b),
                    }
                }
                best = best.min((now, table.clone()));
            }
            println!("{cols}: {best:?}");
        }
    }
}
