//! Elements of a head: those of the model, and those of a row, which are as many or more.

use crate::config::Config;

/// Elements that a row can have, ascending.
const ROWS: [u32; 4] = [32, 64, 128, 256];

/// Elements of a head of the model. The rest of a row is zero in K, V and q, which changes neither a logit nor an output.
pub fn model_dim(config: &Config) -> u32 {
    config.model.head_dim.unwrap_or(config.pe.head_dim)
}

/// Elements of the smallest row that holds a head of so many; none if no row does.
pub fn row_of(model_dim: u32) -> Option<u32> {
    ROWS.into_iter().find(|&row| row >= model_dim)
}

#[cfg(test)]
mod tests {
    use crate::config::tables;
    use crate::design::pad::head::*;

    #[test]
    fn rows_are_those_that_the_schema_allows() {
        let tables = tables();
        let keys = tables.iter().flat_map(|table| &table.keys);
        let head_dim = keys.into_iter().find(|key| key.path == "pe.head_dim").unwrap();
        let of = |row: &u32| Config {
            pe: crate::config::Pe { head_dim: *row, ..Default::default() },
            ..Config::default()
        };
        for row in 1..=300 {
            let legal = !crate::config::violations(&of(&row)).iter().any(|one| one.key == head_dim.path);
            assert_eq!(legal, ROWS.contains(&row), "{row}");
        }
        assert_eq!([32, 33, 80, 96, 160, 256].map(row_of), [32, 64, 128, 128, 256, 256].map(Some));
        assert_eq!(row_of(257), None);
    }
}
