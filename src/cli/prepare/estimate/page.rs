//! The page of an estimate: the floorplan with its utilisation, and the tables of used resources.

use crate::cli::prepare::estimate::report::{missed, regions, totals, verdict};
use crate::cli::prepare::estimate::Args;
use crate::design::Design;
use crate::eval::report::{Figure, RunPage, RunTable};
use crate::synth::{floorplan_picture, Estimate, Timing};

/// The page.
pub(super) fn page(args: &Args, design: &Design, estimate: &Estimate, timing: &Timing) -> RunPage {
    let (slr, _, share) = estimate.fullest();
    let caption = format!(
        "Floorplan by synthesis, not placed or routed: where tiles are on the device, and beside each SLR the share of \
         every resource that is used. The fullest resource is in SLR{slr}, at {:.0} %; the limit is {} %.",
        100.0 * share,
        args.limit
    );
    let table = |title: &str, rows: Vec<Vec<String>>| {
        let mut rows = rows.into_iter();
        RunTable { title: title.to_owned(), head: rows.next().unwrap_or_default(), rows: rows.collect() }
    };
    RunPage {
        title: format!("{}: {}", design.name, verdict(design, estimate, timing)),
        subtitle: format!("{} x {} tiles", design.mesh.cols(), design.mesh.rows()),
        command: args.command(),
        warnings: Vec::new(),
        figures: vec![Figure::plain(
            "floorplan",
            floorplan_picture(&design.name, estimate, &missed(design, timing)),
            caption,
        )],
        tables: vec![
            table("What it takes of the device", totals(design, estimate)),
            table("What it takes of each SLR", regions(estimate)),
        ],
    }
}
