//! Output of `meshkv estimate` as JSON.

use crate::cli::prepare::estimate::report::{bound, clocks, paper, rounded};
use crate::cli::prepare::estimate::suggest::Found;
use crate::cli::prepare::estimate::timing::{self, TimingOutput};
use crate::design::{Design, Mesh, Resources};
use crate::synth::{self, Clock, Costs, Estimate, Part, Shell, Timing, Yosys};
use schemars::JsonSchema;
use serde::Serialize;

/// Resources of a design, whether it fits, and its paths.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::cli) struct EstimateOutput {
    /// Totals of the design.
    #[serde(flatten)]
    total: Resources,
    /// Name of the configuration.
    name: String,
    /// Tiles from west to east.
    cols: u32,
    /// Tiles from south to north.
    rows: u32,
    /// Payload bits of a flit.
    flit_width: u32,
    /// One router.
    router: WithPeriod,
    /// One tile with its router.
    tile: WithPeriod,
    /// Period in nanoseconds of the slower clock, that of its worst path.
    period_ns: f64,
    /// True if the design fits the device.
    fits: bool,
    /// Share of each resource of a super logic region (SLR) that may be taken.
    limit: f64,
    /// True if room is left for the shell of the Vitis platform.
    shell: bool,
    /// The Yosys that synthesised it.
    yosys: YosysOutput,
    /// Each resource beside its bound, the device and the paper.
    resources: ByResource,
    /// Lower bounds of a tile.
    bounds: Vec<BoundOutput>,
    /// Super logic regions, from the south on.
    slrs: Vec<SlrOutput>,
    /// Boundaries between them.
    boundaries: Vec<BoundaryOutput>,
    /// Parts that were synthesised.
    parts: Vec<PartOutput>,
    /// Clocks.
    clocks: Vec<ClockOutput>,
    /// Paths.
    timing: TimingOutput,
    /// Excesses, worst first.
    over: Vec<OverOutput>,
    /// The largest mesh of such tiles that fits; null if not even four tiles do.
    largest: Option<MeshOutput>,
    /// The mesh that fits and has the most ports of memory; null if none fits.
    most_ports: Option<PortsOutput>,
    /// Changes of keys that were estimated, where the design does not fit.
    changes: Vec<ChangeOutput>,
    /// Changes of keys that `--suggest` would synthesise.
    not_synthesised: Vec<String>,
}

/// Resources, and the period of the worst path, ports included.
#[derive(Debug, Serialize, JsonSchema)]
struct WithPeriod {
    /// Resources of one.
    #[serde(flatten)]
    resources: Resources,
    /// Period in nanoseconds.
    period_ns: f64,
}

/// The synthesis tool.
#[derive(Debug, Serialize, JsonSchema)]
struct YosysOutput {
    /// Its version.
    version: String,
    /// True if estimates by this version were compared with Vivado's.
    calibrated: bool,
}

/// A value for each resource.
#[derive(Debug, Serialize, JsonSchema)]
struct ByResource {
    /// Look-up tables, including those used as memory.
    lut: ResourceOutput,
    /// Look-up tables used as memory or shift registers, included in `lut`.
    lutram_lut: ResourceOutput,
    /// Flip-flops.
    ff: ResourceOutput,
    /// Block RAMs of 36 Kibit.
    bram36: ResourceOutput,
    /// UltraRAMs of 288 Kibit.
    uram: ResourceOutput,
    /// DSP48E2 slices.
    dsp: ResourceOutput,
}

/// One resource of the whole design.
#[derive(Debug, Serialize, JsonSchema)]
struct ResourceOutput {
    /// Number that the design takes.
    used: u64,
    /// Number that any implementation of the structure takes at least.
    bound: u64,
    /// Number that the device has.
    device: u64,
    /// `used` over `device`.
    share: f64,
    /// The paper's number, for a mesh of 8 x 8 with flits of 512 bits; else null.
    paper: Option<u64>,
}

/// A lower bound of a tile.
#[derive(Debug, Serialize, JsonSchema)]
struct BoundOutput {
    /// The part that needs it.
    what: &'static str,
    /// Name of the resource.
    resource: &'static str,
    /// Amount in one tile.
    tile: u64,
    /// Formula of the amount.
    formula: String,
}

/// A super logic region.
#[derive(Debug, Serialize, JsonSchema)]
struct SlrOutput {
    /// Its number.
    slr: usize,
    /// Rows of the mesh that stand in it.
    rows: Vec<u32>,
    /// Resources of the region that the design uses.
    used: Resources,
    /// Resources of the region.
    has: Resources,
    /// Resources of the region that the design may use.
    limit: Resources,
}

/// Wires from a super logic region to the next.
#[derive(Debug, Serialize, JsonSchema)]
struct BoundaryOutput {
    /// The region below.
    lower: usize,
    /// The region above.
    upper: usize,
    /// Wires that cross.
    used: u64,
    /// Wires that can cross.
    has: u64,
    /// Wires that may cross.
    limit: u64,
}

/// A part that was synthesised by itself.
#[derive(Debug, Serialize, JsonSchema)]
struct PartOutput {
    /// One of it, ports included in its period.
    #[serde(flatten)]
    one: WithPeriod,
    /// Its name.
    name: &'static str,
    /// Its module.
    module: String,
    /// Number in the design.
    count: u64,
    /// The most levels of logic of any path.
    levels: u32,
    /// Its clock.
    clock: &'static str,
}

/// A clock.
#[derive(Debug, Serialize, JsonSchema)]
struct ClockOutput {
    /// `noc`, `pe` or `hbm`.
    name: &'static str,
    /// Period of its worst path in nanoseconds.
    period_ns: f64,
    /// Period of the configuration in nanoseconds.
    wanted_ns: f64,
    /// The slowest part by itself; null if there is none.
    part: Option<&'static str>,
    /// True if its paths are no longer than the period of the configuration.
    met: bool,
}

/// A resource of which a region has too little.
#[derive(Debug, Serialize, JsonSchema)]
struct OverOutput {
    /// The region.
    slr: usize,
    /// Name of the resource.
    resource: &'static str,
    /// Number in the region that the design uses.
    used: u64,
    /// Number in the region.
    has: u64,
    /// Number in the region that the design may use.
    limit: u64,
}

/// A mesh.
#[derive(Debug, Serialize, JsonSchema)]
struct MeshOutput {
    /// Tiles from west to east.
    cols: u32,
    /// Tiles from south to north.
    rows: u32,
    /// All tiles.
    tiles: usize,
}

/// A mesh with its ports of memory.
#[derive(Debug, Serialize, JsonSchema)]
struct PortsOutput {
    /// The mesh.
    #[serde(flatten)]
    mesh: MeshOutput,
    /// AXI4 read masters.
    ports: u32,
}

/// A change of keys that was estimated.
#[derive(Debug, Serialize, JsonSchema)]
struct ChangeOutput {
    /// Keys with their values, as in a configuration.
    change: String,
    /// True if it fits.
    fits: bool,
    /// Totals of the changed design.
    total: Resources,
    /// Share of the fullest resource of a region.
    fullest: f64,
    /// The largest mesh of such tiles that fits; null if not even four tiles do.
    largest: Option<MeshOutput>,
}

impl EstimateOutput {
    /// The estimate of a design, with its paths and what else would fit.
    pub(super) fn new(
        design: &Design,
        estimate: &Estimate,
        timing: &Timing,
        yosys: &Yosys,
        found: &Found,
    ) -> anyhow::Result<EstimateOutput> {
        let demand = estimate.demand;
        let router = demand.part("router")?;
        let tile_period = ["router", "transport", "pad"].map(|name| demand.part(name).map(|c| c.period_ns));
        let tile_period = tile_period.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
        let tile_period = tile_period.into_iter().fold(0.0, f64::max);
        Ok(EstimateOutput {
            total: estimate.total(),
            name: design.name.clone(),
            cols: design.mesh.cols(),
            rows: design.mesh.rows(),
            flit_width: design.flit.data_width,
            router: with_period(router.area.resources(), router.period_ns),
            tile: with_period(demand.tile(), tile_period),
            period_ns: rounded(timing.noc.worst_ns.max(timing.pe.worst_ns)),
            fits: estimate.fits(),
            limit: estimate.limits.share,
            shell: estimate.limits.shell == Shell::Vitis,
            yosys: YosysOutput { version: yosys.version().to_string(), calibrated: yosys.calibrated() },
            resources: resources(design, estimate),
            bounds: bounds(design),
            slrs: slrs(estimate),
            boundaries: boundaries(estimate),
            parts: demand.parts.iter().map(|(one, costs)| part(estimate, one, costs)).collect(),
            clocks: clocks_of(design, estimate, timing),
            timing: timing::output(timing),
            over: over(estimate),
            largest: found.largest.map(mesh),
            most_ports: found.most_ports.map(|(m, ports)| PortsOutput { mesh: mesh(m), ports }),
            changes: changes(found),
            not_synthesised: found.untried.iter().map(|change| change.text()).collect(),
        })
    }
}

fn with_period(resources: Resources, period_ns: f64) -> WithPeriod {
    WithPeriod { resources, period_ns: rounded(period_ns) }
}

fn mesh(mesh: Mesh) -> MeshOutput {
    MeshOutput { cols: mesh.cols(), rows: mesh.rows(), tiles: mesh.tiles() }
}

fn resources(design: &Design, estimate: &Estimate) -> ByResource {
    let (used, device) = (estimate.total().values(), estimate.fpga.has.values());
    let (bound, paper) = (bound(design).values(), paper(design));
    let one = |i: usize| ResourceOutput {
        used: used[i],
        bound: bound[i],
        device: device[i],
        share: (used[i] as f64 / device[i] as f64 * 1e4).round() / 1e4,
        paper: paper[i],
    };
    // In the order of `Resources::NAMES`.
    ByResource { lut: one(0), lutram_lut: one(1), ff: one(2), bram36: one(3), uram: one(4), dsp: one(5) }
}

fn bounds(design: &Design) -> Vec<BoundOutput> {
    let one = |b: synth::Bound| BoundOutput {
        what: b.what,
        resource: Resources::NAMES[b.resource],
        tile: b.tile,
        formula: b.formula,
    };
    synth::lower_bounds(design).into_iter().map(one).collect()
}

fn slrs(estimate: &Estimate) -> Vec<SlrOutput> {
    let one = |slr: usize| SlrOutput {
        slr,
        rows: estimate.plan.rows_of(slr as u32).collect(),
        used: estimate.used(slr),
        has: estimate.has(slr),
        limit: estimate.limit(slr),
    };
    (0..estimate.fpga.slrs.len()).map(one).collect()
}

fn boundaries(estimate: &Estimate) -> Vec<BoundaryOutput> {
    let all = estimate.boundaries();
    let all = all.iter().map(|b| BoundaryOutput {
        lower: b.lower,
        upper: b.lower + 1,
        used: b.used,
        has: b.has,
        limit: b.limit,
    });
    all.collect()
}

fn part(estimate: &Estimate, part: &Part, costs: &Costs) -> PartOutput {
    PartOutput {
        one: with_period(costs.area.resources(), costs.period_ns),
        name: part.name,
        module: part.module.to_owned(),
        count: estimate.count(part.scale),
        levels: costs.levels,
        clock: match part.clock {
            Clock::Noc => "noc",
            Clock::Pe => "pe",
            Clock::Hbm => "hbm",
        },
    }
}

fn clocks_of(design: &Design, estimate: &Estimate, timing: &Timing) -> Vec<ClockOutput> {
    let one = |(name, clock, wanted): (&'static str, Clock, f64)| {
        let paths = timing::of(timing, clock);
        ClockOutput {
            name,
            period_ns: rounded(paths.worst_ns),
            wanted_ns: rounded(wanted),
            part: estimate.demand.period(clock).map(|(part, _)| part.name),
            met: paths.worst_ns <= wanted,
        }
    };
    clocks(design).into_iter().map(one).collect()
}

fn over(estimate: &Estimate) -> Vec<OverOutput> {
    let all = estimate.over();
    let all = all.iter().map(|o| OverOutput {
        slr: o.slr,
        resource: Resources::NAMES[o.resource],
        used: o.used,
        has: o.has,
        limit: o.limit,
    });
    all.collect()
}

fn changes(found: &Found) -> Vec<ChangeOutput> {
    let all = found.tried.iter().map(|tried| ChangeOutput {
        change: tried.change.text(),
        fits: tried.fits,
        total: tried.total,
        fullest: rounded(tried.fullest.2),
        largest: tried.largest.map(mesh),
    });
    all.collect()
}
