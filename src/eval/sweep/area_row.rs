//! The area of a configuration as a sweep has it beside the time: used resources, whether it fits, its periods.

use crate::design::{Design, Resources};
use crate::synth::{design_timing, Demand, Effort, Estimate, Limits, Timing, Yosys};
use serde::Serialize;
use serde_json::{json, Value};

/// Labels of resources, in the order of [`Resources::NAMES`].
const WRITTEN: [&str; 6] = ["LUT", "LUT as memory", "FF", "BRAM36", "URAM", "DSP"];

/// Area and periods of a design by synthesis, not placed or routed.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct AreaRow {
    /// Totals by resource.
    #[serde(flatten)]
    total: Resources,
    /// Wires across the fullest boundary between SLRs.
    sll: u64,
    /// The fullest resource of an SLR, or the fullest boundary, as a share.
    fullest: f64,
    /// Its name and place.
    fullest_of: String,
    /// True if no SLR lacks a resource and no boundary has too many wires, within the limit.
    fits: bool,
    /// Period of the worst path of the network's clock, in nanoseconds.
    noc_ns: f64,
    /// The same of the arrays' clock.
    pe_ns: f64,
    /// True if both are no longer than those of the configuration.
    clocks_met: bool,
    /// Version of the Yosys that synthesised it.
    yosys: String,
}

/// The area of a design, whose missing parts are synthesised, `jobs` at once.
///
/// # Errors
/// When Yosys is missing or fails, or on Ctrl-C; parts that were done are kept.
pub fn area(design: &Design, yosys: &Yosys, jobs: usize) -> anyhow::Result<Value> {
    let demand = Demand::of(design, yosys, Effort::Synthesise, jobs, &mut |_, _, _| ())?;
    let timing = design_timing(design, yosys, Effort::Synthesise, &mut |_| ())?;
    Ok(json!(AreaRow::new(design, &demand, &timing, &yosys.version().to_string())))
}

/// Rounds to thousandths: an estimate is no more precise.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

impl AreaRow {
    /// The area of a design whose parts and paths are known, within the default limits.
    fn new(design: &Design, demand: &Demand, timing: &Timing, yosys: &str) -> AreaRow {
        let estimate = Estimate::new(demand, design.mesh, design.fpga(), Limits::default());
        let (slr, resource, share) = estimate.fullest();
        let boundaries = estimate.boundaries();
        let widest = boundaries.iter().max_by(|a, b| a.share().total_cmp(&b.share()));
        let wires = widest.map(|b| (b.share(), format!("wires from SLR{} to SLR{}", b.lower, b.lower + 1)));
        let logic = (share, format!("{} of SLR{slr}", WRITTEN[resource]));
        let (fullest, fullest_of) = wires.filter(|wires| wires.0 > logic.0).unwrap_or(logic);
        let clock = &design.clock;
        let met =
            timing.noc.worst_ns <= 1000.0 / clock.noc_mhz && timing.pe.worst_ns <= 1000.0 / clock.pe_mhz;
        AreaRow {
            total: estimate.total(),
            sll: widest.map_or(0, |b| b.used),
            fullest: rounded(fullest),
            fullest_of,
            fits: estimate.fits(),
            noc_ns: rounded(timing.noc.worst_ns),
            pe_ns: rounded(timing.pe.worst_ns),
            clocks_met: met,
            yosys: yosys.to_owned(),
        }
    }
}
