//! Readings of energy at 32 K, B = 1: changes are those of the energies' ratio, in percent.

use super::readings::{Figure, Reading, Sides};
use crate::eval::paper::case::Case;
use crate::eval::paper::measured::Found;

const KINDS: [(&str, Figure); 3] =
    [("link", |m| m.energy[0]), ("sram", |m| m.energy[1]), ("net", |m| m.energy.iter().sum())];

pub(super) fn readings(found: &Found) -> Vec<Reading> {
    let reading = |(name, figure): (&str, Figure)| {
        let sides = Sides { figure, ..Sides::traffic(Case::of("meshkv"), Case::of("cent")).of_flits() };
        let mut views = sides.readings(found);
        views.iter_mut().for_each(|view| view.ours = 100.0 * (view.ours - 1.0));
        (format!("energy-{name}"), views)
    };
    KINDS.map(reading).into()
}
