//! All claims of the paper's evaluation, in its order.
//!
//! Each number of the paper stands here once, in the file of its section. A number that its text repeats from a table
//! is no claim of its own.

mod ablation;
mod energy;
mod hardware;
mod interconnect;
mod pad;
mod parameters;
mod readings;
mod speed;

pub use hardware::Resources;

use super::claim::Claim;
use super::measured::Found;
use super::plan::Extent;

/// The claims, with what was measured of them.
pub fn claims(found: &Found, resources: Option<&Resources>, extent: Extent) -> Vec<Claim> {
    let mut claims = interconnect::claims(found);
    claims.extend(speed::claims(found));
    claims.extend(energy::claims(found));
    claims.extend(pad::claims(found));
    claims.extend(ablation::claims(found));
    claims.extend(parameters::claims());
    claims.extend(hardware::claims(found, resources, extent));
    claims
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::paper::claim::topic;
    use crate::eval::paper::Verdict;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_sixty_claims_with_names_of_their_own() {
        let claims = claims(&Found::default(), None, Extent::Quick);
        let ids: BTreeSet<&String> = claims.iter().map(|claim| &claim.id).collect();
        assert_eq!(ids.len(), claims.len());
        assert!(claims.len() >= 60, "{}", claims.len());
        for claim in &claims {
            assert!(!claim.why.is_empty() && claim.paper.is_finite(), "{}", claim.id);
            assert_ne!(topic(claim.place), "other numbers", "{}", claim.place);
        }
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
