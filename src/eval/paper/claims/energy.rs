//! Claims on energy at 32 K, B = 1.

use super::readings::Sides;
use crate::eval::paper::case::Case;
use crate::eval::paper::claim::Claim;
use crate::eval::paper::measured::{Found, Measured};
use crate::eval::paper::verdict::Better;

/// Name, what, the paper's change in percent, our energies of the kind, and why.
type Kind = (&'static str, &'static str, f64, fn(&Measured) -> f64, &'static str);

const KINDS: [Kind; 3] = [
    (
        "link",
        "Energy of routers and links",
        -48.0,
        |m| m.energy[0],
        "Energy of links is traffic times a published figure for a bit and hop, so it changes as traffic does.",
    ),
    (
        "sram",
        "Energy of SRAM",
        7.0,
        |m| m.energy[1],
        "A flit is written into a home's memory and read from it wherever the home is; banks of one size cost the same.",
    ),
    (
        "net",
        "Energy in all",
        -17.0,
        |m| m.energy.iter().sum(),
        "By the published figures external memory takes nearly all of the energy of a token, and every configuration reads the cache once: links are a small part.",
    ),
];

/// The claims: changes are those of the energies' ratio.
pub(super) fn claims(found: &Found) -> Vec<Claim> {
    let claim = |(name, what, paper, figure, why): Kind| {
        let sides = Sides {
            of: Case::of("meshkv"),
            base: Case::of("cent"),
            figure,
            error: |m| m.traffic_error,
            inverse: false,
            flits: true,
        };
        let mut views = sides.readings(found);
        views.iter_mut().for_each(|view| view.ours = 100.0 * (view.ours - 1.0));
        Claim {
            id: format!("energy-{name}"),
            place: "Section IX-B",
            what: format!("{what} of meshkv beside cent, T = 32 K, B = 1"),
            paper,
            unit: "%",
            better: Better::Lower,
            views,
            why: why.to_owned(),
        }
    };
    KINDS.into_iter().map(claim).collect()
}
