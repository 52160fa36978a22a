//! Finds changes that would fit where a design does not: other meshes by scaling, other keys by synthesis.

use crate::cli::output::ui::Ui;
use crate::cli::prepare::estimate::args::Args;
use crate::cli::prepare::estimate::demand::demand;
use crate::design::{Design, Mesh, Resources};
use crate::synth::shrink::{self, Change};
use crate::synth::{Boundary, Demand, Effort, Estimate, Yosys};
use crate::tools::WorkError;

/// Known alternatives to a design.
pub(super) struct Found {
    /// The largest mesh of the same tiles that fits; `None` if not even four tiles do.
    pub(super) largest: Option<Mesh>,
    /// The one of them with the most memory ports, and their number.
    pub(super) most_ports: Option<(Mesh, u32)>,
    /// Changes of keys that were estimated, those that fit first, the fullest last.
    pub(super) tried: Vec<Tried>,
    /// Changes of keys without synthesis results.
    pub(super) untried: Vec<Change>,
}

/// A change of keys and its result on the same mesh.
pub(super) struct Tried {
    pub(super) change: Change,
    pub(super) fits: bool,
    pub(super) total: Resources,
    /// The fullest resource: SLR, index and share.
    pub(super) fullest: (usize, usize, f64),
    /// The largest mesh of the changed tiles that fits.
    pub(super) largest: Option<Mesh>,
}

/// Finds alternatives; changes of keys only where the design does not fit.
///
/// # Errors
/// When synthesis fails.
pub(super) fn suggest(
    args: &Args,
    design: &Design,
    estimate: &Estimate,
    yosys: &Yosys,
    ui: &Ui,
) -> anyhow::Result<Found> {
    let limits = estimate.limits;
    let shapes = shrink::shapes(estimate.demand, design.configuration(), limits);
    let (largest, most_ports) =
        (shapes.first().copied(), shrink::most_ports(design.configuration(), &shapes));
    let (mut tried, mut untried) = (Vec::new(), Vec::new());
    let effort = if args.suggest { Effort::Synthesise } else { Effort::CacheOnly };
    let wires = estimate.boundaries().iter().any(Boundary::is_over);
    for change in shrink::changes(design.configuration(), &estimate.over(), wires) {
        let changed = Design::from_config(&design.name, &change.config)?;
        let made: Demand = match demand(args, &changed, yosys, effort, ui) {
            Ok(made) => made,
            // Without `--suggest` only cached results are used.
            Err(error) if !args.suggest && is_stopped(&error) => {
                untried.push(change);
                continue;
            }
            Err(error) => return Err(error),
        };
        let fpga = changed.fpga();
        let other = Estimate::new(&made, changed.mesh, fpga, limits);
        tried.push(Tried {
            fits: other.fits(),
            total: other.total(),
            fullest: other.fullest(),
            largest: shrink::shapes(&made, &change.config, limits).first().copied(),
            change,
        });
    }
    tried.sort_by(|a, b| b.fits.cmp(&a.fits).then(a.fullest.2.total_cmp(&b.fullest.2)));
    Ok(Found { largest, most_ports, tried, untried })
}

fn is_stopped(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<WorkError>(), Some(WorkError::Stopped))
}
