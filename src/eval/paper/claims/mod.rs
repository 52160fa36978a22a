//! All claims of the paper's evaluation, in its order.
//!
//! `claims.toml` has each number of the paper once. The files of the sections have our readings of them.

mod ablation;
mod energy;
mod hardware;
mod interconnect;
mod pad;
mod parameters;
mod readings;
mod speed;

pub use hardware::Resources;

use super::claim::{Claim, View};
use super::measured::Found;
use super::plan::Extent;
use crate::eval::paper::result::verdict::Better;
use readings::Reading;
use serde::Deserialize;
use std::collections::BTreeMap;

/// `claims.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    claims: Vec<Row>,
    /// By name, the reason for our value.
    why: BTreeMap<String, String>,
}

/// A number that the paper states.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    place: String,
    what: String,
    paper: f64,
    /// Divides the number, if the paper has both and not their ratio.
    over: Option<f64>,
    #[serde(default)]
    unit: String,
    better: Better,
    why: String,
}

fn stated() -> Stated {
    toml::from_str(include_str!("claims.toml")).expect("a test reads it")
}

/// The claims, with what was measured of them.
pub fn claims(found: &Found, resources: Option<&Resources>, extent: Extent) -> Vec<Claim> {
    let mut readings: BTreeMap<String, Vec<View>> = readings(found, resources, extent).into_iter().collect();
    let Stated { claims, why } = stated();
    let claim = |row: Row| Claim {
        views: readings.remove(&row.id).unwrap_or_default(),
        id: row.id,
        place: row.place,
        what: row.what,
        paper: row.paper / row.over.unwrap_or(1.0),
        unit: row.unit,
        better: row.better,
        why: why[&row.why].clone(),
    };
    claims.into_iter().map(claim).collect()
}

fn readings(found: &Found, resources: Option<&Resources>, extent: Extent) -> Vec<Reading> {
    [
        interconnect::readings(found),
        speed::readings(found),
        energy::readings(found),
        pad::readings(found),
        ablation::readings(found),
        parameters::readings(),
        hardware::readings(found, resources, extent),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::paper::claim::topic;
    use crate::eval::paper::Verdict;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_read_and_has_a_name_a_place_and_a_reason() {
        let Stated { claims, why } = stated();
        let names: BTreeSet<&String> = claims.iter().map(|row| &row.id).collect();
        assert_eq!((names.len(), claims.len()), (103, 103));
        let places: BTreeSet<&String> = claims.iter().map(|row| &row.place).collect();
        assert!(places.iter().all(|place| topic(place) != "other numbers"), "{places:?}");
        let reasons: BTreeSet<&String> = claims.iter().map(|row| &row.why).collect();
        assert_eq!(reasons, why.keys().collect());
    }

    #[test]
    fn every_row_has_a_reading_and_every_reading_a_row() {
        let readings = readings(&Found::default(), None, Extent::Quick);
        let read: BTreeSet<&String> = readings.iter().map(|(name, _)| name).collect();
        assert_eq!(read.len(), readings.len());
        assert_eq!(read, stated().claims.iter().map(|row| &row.id).collect());
    }

    #[test]
    fn without_rows_nothing_of_a_fabric_is_measured() {
        let claims = claims(&Found::default(), None, Extent::Quick);
        let measured: Vec<&String> =
            claims.iter().filter(|c| c.verdict().0 != Verdict::NotMeasured).map(|c| &c.id).collect();
        assert!(
            measured.iter().all(|id| id.starts_with("size-") || id.as_str() == "round-trip"),
            "{measured:?}"
        );
    }
}
