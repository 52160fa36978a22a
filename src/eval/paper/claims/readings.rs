//! Readings of a claim that sets one fabric beside another.

use crate::config::Mapping;
use crate::eval::paper::case::Case;
use crate::eval::paper::claim::View;
use crate::eval::paper::measured::{Found, Measured};
use crate::eval::paper::plan::mappings;

/// Our readings of the claim of a name: the plain one first.
pub(super) type Reading = (String, Vec<View>);

/// A figure of a case.
pub(super) type Figure = fn(&Measured) -> f64;

/// Both sides map heads to the row of a slice's home.
const ROWS: &str = "heads follow the row of the slice's home (row-aligned) on both sides";
/// Both sides spread streams over the rows.
const STRIPED: &str = "streams are striped over the rows on both sides";
/// Each side is at its best.
const BEST: &str = "each side has the mapping that is best for it";
/// A layer over all columns.
const STRIDE: &str = "a layer lies in all columns (column_stride = 1), and each side has its best mapping";
/// Every slice for every head.
const SHARED: &str = "every head gets every slice (segment sharing)";
/// Only the distributed side follows the homes.
const AGAINST_TILES: &str = "only the distributed side maps heads to the row of the home: cent, whose homes are in one row, would compute in that row alone";

/// The two sides of a comparison, and how they are compared.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    /// The fabric of the claim.
    pub(super) of: Case,
    /// The one beside it.
    pub(super) base: Case,
    /// What is compared.
    pub(super) figure: Figure,
    /// Its error.
    pub(super) error: Figure,
    /// The reading is `base` over `of`: a speed of what is counted in cycles.
    pub(super) inverse: bool,
    /// What is compared is flits, which a sample of one segment tells; cycles it does not.
    pub(super) flits: bool,
}

impl Sides {
    /// A figure whose error is that of the cycles.
    pub(super) fn new(of: Case, base: Case, figure: Figure) -> Sides {
        Sides { of, base, figure, error: |m| m.error, inverse: false, flits: false }
    }

    /// Throughput: cycles, inverted.
    pub(super) fn speed(of: Case, base: Case) -> Sides {
        Sides { inverse: true, ..Sides::new(of, base, |m| m.cycles) }
    }

    pub(super) fn traffic(of: Case, base: Case) -> Sides {
        Sides { error: |m| m.traffic_error, ..Sides::new(of, base, |m| m.traffic) }
    }

    /// The same of flits.
    pub(super) fn of_flits(self) -> Sides {
        Sides { flits: true, ..self }
    }

    fn number(&self, of: &Measured, base: &Measured) -> f64 {
        let (of, base) = ((self.figure)(of), (self.figure)(base));
        if self.inverse {
            base / of
        } else {
            of / base
        }
    }

    /// The best case of all mappings: the one with the smallest count.
    fn best<'f>(&self, found: &'f Found, case: Case) -> Option<&'f Measured> {
        let all = mappings(case.batch).iter().filter_map(|&mapping| found.get(case.mapped(mapping)));
        all.min_by(|a, b| (self.figure)(a).total_cmp(&(self.figure)(b)))
    }

    fn view(&self, name: String, assumption: Option<&'static str>, of: &Measured, base: &Measured) -> View {
        let error = (self.error)(of).max((self.error)(base));
        View { ours: self.number(of, base), name, assumption, error, ..view_of(of, 0.0) }
    }

    /// The reading of just these two cases.
    pub(super) fn plain(&self, found: &Found) -> Option<View> {
        let (of, base) = (found.get(self.of)?, found.get(self.base)?);
        let name = format!("{} beside {}", self.of.fabric, self.base.fabric);
        Some(self.view(name, None, of, base))
    }

    /// All readings that have their rows; the plain one, a head on one tile on both sides, first.
    pub(super) fn readings(&self, found: &Found) -> Vec<View> {
        let mut views = Vec::new();
        let on_both = |mapping: Mapping| {
            let name = format!("{} on both sides", mapping.name());
            let assumption = match mapping {
                Mapping::RowAligned => Some(ROWS),
                Mapping::StreamStriped => Some(STRIPED),
                _ => None,
            };
            let (of, base) = (found.get(self.of.mapped(mapping))?, found.get(self.base.mapped(mapping))?);
            Some(self.view(name, assumption, of, base))
        };
        // Without the plain reading there is no claim yet.
        let Some(plain) = on_both(Mapping::HeadTile) else { return views };
        views.push(plain);
        views.extend(mappings(self.of.batch)[1..].iter().filter_map(|&mapping| on_both(mapping)));
        if self.base.fabric == "cent" {
            let (of, base) = (self.of.mapped(Mapping::RowAligned), self.base.mapped(Mapping::HeadTile));
            if let Some((of, base)) = found.get(of).zip(found.get(base)) {
                let name = format!("{} row-aligned beside cent head-tile", self.of.fabric);
                views.push(self.view(name, Some(AGAINST_TILES), of, base));
            }
        }
        let mut best = |of: Case, assumption: &'static str| {
            let Some((of, base)) = self.best(found, of).zip(self.best(found, self.base)) else { return };
            let names = [of, base].map(|side| format!("{} {}", side.case.fabric, side.case.mapping.name()));
            views.push(self.view(names.join(" beside "), Some(assumption), of, base));
        };
        best(self.of, BEST);
        if matches!(self.of.fabric, "meshkv" | "takv") {
            best(Case { fabric: "meshkv_stride1", ..self.of }, STRIDE);
        }
        let shared = self.flits.then(|| found.get(self.of.shared()).zip(found.get(self.base.shared())));
        if let Some((of, base)) = shared.flatten() {
            views.push(self.view(
                "head-tile on both sides, segment sharing".to_owned(),
                Some(SHARED),
                of,
                base,
            ));
        }
        views
    }
}

/// A reading of one case.
pub(super) fn view_of(of: &Measured, ours: f64) -> View {
    View {
        name: format!("{} {}", of.case.fabric, of.case.mapping.name()),
        assumption: None,
        ours,
        bound_by: of.bound_by.clone(),
        over_bound: of.over_bound,
        error: of.error,
        command: of.command.clone(),
    }
}

/// Readings of a figure of one fabric under each mapping; the plain one, a head on one tile, first. `stride` adds a
/// layer over all columns.
pub(super) fn alone(found: &Found, case: Case, stride: bool, figure: Figure) -> Vec<View> {
    let of = |case: Case, assumption: Option<&'static str>| {
        found.get(case).map(|of| View { assumption, ..view_of(of, figure(of)) })
    };
    let Some(plain) = of(case, None) else { return Vec::new() };
    let rows = of(case.mapped(Mapping::RowAligned), Some("heads follow the row of the slice's home"));
    let mut views: Vec<View> = [Some(plain), rows].into_iter().flatten().collect();
    if stride {
        let wide = Case { fabric: "meshkv_stride1", ..case };
        let over = "a layer lies in all columns (column_stride = 1)";
        let both =
            "a layer lies in all columns (column_stride = 1), and heads follow the row of the slice's home";
        views.extend(of(wide, Some(over)));
        views.extend(of(wide.mapped(Mapping::RowAligned), Some(both)));
    }
    views
}
