//! The choice of a mapping by the forecasts of all.

use crate::design::design::Design;
use crate::design::takv::descriptor::Descriptor;
use crate::design::takv::mapping::Mapping;
use crate::design::time::bounds::Bounds;
use crate::design::time::forecast::cycles::Forecast;
use crate::design::time::forecast::follower::forecast;
use crate::design::time::forecast::noted::least_cycles;

/// Share of its cycles that another mapping must save against `row-aligned`, which moves the fewest flits. A
/// smaller difference says nothing.
const WORTH: f64 = 0.02;

/// The chosen mapping, with the forecasts that it was chosen by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The mapping to use.
    pub mapping: Mapping,
    /// Each mapping's forecast, or the reason why it was left out.
    pub forecasts: Vec<(Mapping, Result<Forecast, &'static str>)>,
}

impl Choice {
    /// The mapping with the least expected cycles for these descriptors; `row-aligned` if it is within 2 % of it.
    ///
    /// # Panics
    /// If there is no descriptor.
    pub fn new(design: &Design, descriptors: &[Descriptor]) -> Choice {
        let alone = descriptors.iter().all(|d| d.stream == 0 && d.streams == 1);
        let of = |mapping| match mapping {
            Mapping::StreamStriped if alone => Err("one stream: the same as row-aligned"),
            _ => Ok(forecast(design, descriptors, mapping)),
        };
        let forecasts = Mapping::ALL.map(|mapping| (mapping, of(mapping)));
        let cost = |(mapping, forecast): &(Mapping, Result<Forecast, &'static str>)| {
            let cycles = forecast.as_ref().ok()?.cycles as f64;
            Some((*mapping, if *mapping == Mapping::RowAligned { cycles * (1.0 - WORTH) } else { cycles }))
        };
        let least = forecasts.iter().filter_map(cost).min_by(|a, b| a.1.total_cmp(&b.1));
        let mapping = least.map_or(Mapping::RowAligned, |(mapping, _)| mapping);
        Choice { mapping, forecasts: forecasts.to_vec() }
    }

    /// The mapping whose tightest bound is the least for these descriptors, with its bounds; `row-aligned` if that is
    /// within 2 % of it. Bounds leave out what parts wait for, so they take a small part of a forecast's time.
    pub fn by_bounds(design: &Design, descriptors: &[Descriptor]) -> (Mapping, Bounds) {
        let under = |mapping| descriptors.iter().map(|d| Descriptor { mapping, ..*d }).collect::<Vec<_>>();
        let of = |mapping| (mapping, least_cycles(design, &under(mapping)));
        let cost = |(_, bounds): &(Mapping, Bounds)| bounds.tightest().1 as f64;
        let aligned = of(Mapping::RowAligned);
        let others = [Mapping::HeadTile, Mapping::StreamStriped].map(of);
        let best = others.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).expect("there are two");
        if cost(&best) < cost(&aligned) * (1.0 - WORTH) {
            best
        } else {
            aligned
        }
    }

    /// The forecast of a mapping; none if it was left out.
    pub fn of(&self, mapping: Mapping) -> Option<Forecast> {
        let found = self.forecasts.iter().find(|(known, _)| *known == mapping)?;
        found.1.as_ref().ok().copied()
    }
}
