//! The estimate: compares a design with the FPGA, region by region.

use super::parts::{as_instantiated, crossings, parts, Clock, Part, Scale};
use super::yosys::{Costs, Effort, Step, Yosys};
use crate::design::{Design, Floorplan, Fpga, Mesh, Resources, Wires};
use crate::emit;
use crate::tools::workers;
use anyhow::{Context, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Default share of an SLR that a design may fill: above it Vivado routes late or not at all.
const DEFAULT_SHARE: f64 = 0.8;

/// Logic on the FPGA besides the design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// None: the design has the whole FPGA.
    None,
    /// The shell of the Vitis platform.
    Vitis,
}

/// Limits within which a design fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Share of each resource of an SLR that may be taken.
    pub share: f64,
    /// Logic that occupies part of the FPGA.
    pub shell: Shell,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { share: DEFAULT_SHARE, shell: Shell::None }
    }
}

impl Limits {
    /// All resources of an SLR that a design can use.
    pub fn has(&self, fpga: &Fpga, slr: usize) -> Resources {
        let mut has = fpga.slrs[slr].has;
        if self.shell == Shell::Vitis {
            // Each LUT has two registers; half of the LUTs can be memories.
            let taken = fpga.shell_lut[slr];
            has.lut = has.lut.saturating_sub(taken);
            has.lutram_lut = has.lutram_lut.saturating_sub(taken / 2);
            has.ff = has.ff.saturating_sub(2 * taken);
        }
        has
    }

    /// Wires of a boundary between SLRs that a design can use.
    pub fn crossings(&self, fpga: &Fpga) -> u64 {
        let shells = if self.shell == Shell::Vitis { fpga.shell_crossings } else { 0 };
        u64::from(fpga.crossings) - shells
    }
}

/// Resource demand of a design's parts, independent of the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Parts with the costs of one instance each.
    pub parts: Vec<(Part, Costs)>,
    /// Wires from one SLR to the next.
    pub wires: Wires,
}

impl Demand {
    /// Synthesises the parts of a design, `jobs` at once. `progress` gets the index of a part, the number of
    /// parts, and the step.
    ///
    /// # Errors
    /// As [`Yosys::costs`]; the rest is abandoned then.
    pub fn of(
        design: &Design,
        yosys: &Yosys,
        effort: Effort,
        jobs: usize,
        progress: &mut (dyn FnMut(usize, usize, Step) + Send),
    ) -> Result<Demand> {
        let parts = parts(design);
        let places: Vec<usize> = (0..parts.len()).collect();
        let (failed, progress) = (AtomicBool::new(false), Mutex::new(progress));
        let stop = || failed.load(Ordering::Relaxed) || yosys.stopped();
        let yosys = yosys.stopped_by(&stop);
        let measure = |place: &usize| -> Result<Costs> {
            let part = &parts[*place];
            let files = emit::emit_block(design, part.module)?;
            let change = as_instantiated(design, part);
            let mut told = |step: Step| {
                let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                progress(*place, parts.len(), step);
            };
            Ok(yosys.costs(&files, part.module, &change, effort, &mut told)?)
        };
        let mut costs = vec![None; parts.len()];
        workers::work(&places, jobs, &measure, &mut |place, measured| {
            failed.fetch_or(measured.is_err(), Ordering::Relaxed);
            costs[*place] = Some(measured?);
            Ok(())
        })?;
        let mut measured: Vec<_> = parts.into_iter().zip(costs.into_iter().flatten()).collect();
        measured.extend(crossings(design));
        Ok(Demand { parts: measured, wires: design.wires() })
    }

    /// Resources of one tile above row 0.
    pub fn tile(&self) -> Resources {
        self.sum(|scale| u64::from(matches!(scale, Scale::Tile | Scale::Above)))
    }

    /// Costs of a named part.
    ///
    /// # Errors
    /// When there is no part of that name.
    pub fn part(&self, name: &str) -> Result<&Costs> {
        let found = self.parts.iter().find(|(part, _)| part.name == name);
        found.map(|(_, costs)| costs).with_context(|| format!("the design has no {name}"))
    }

    /// The slowest part on a clock, with its estimated period in nanoseconds.
    pub fn period(&self, clock: Clock) -> Option<(Part, f64)> {
        let on_clock = self.parts.iter().filter(|(part, _)| part.clock == clock);
        on_clock.map(|(part, costs)| (*part, costs.period_ns)).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn sum(&self, count: impl Fn(Scale) -> u64) -> Resources {
        let of = |(part, costs): &(Part, Costs)| costs.area.resources().times(count(part.scale));
        self.parts.iter().map(of).fold(Resources::default(), |sum, part| sum.plus(&part))
    }
}

/// A resource of which a design needs more than an SLR may give.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Over {
    /// The SLR.
    pub slr: usize,
    /// Index of the resource in [`Resources::NAMES`].
    pub resource: usize,
    /// The demand.
    pub used: u64,
    /// The amount in the SLR.
    pub has: u64,
    /// The amount that may be used.
    pub limit: u64,
}

/// A boundary between two SLRs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// The SLR below it.
    pub lower: usize,
    /// Wires that cross it.
    pub used: u64,
    /// Wires that can cross.
    pub has: u64,
    /// Wires that may cross.
    pub limit: u64,
}

impl Boundary {
    /// Share of the wires that is used.
    pub fn share(&self) -> f64 {
        self.used as f64 / self.has as f64
    }

    /// True if more wires cross than may.
    pub fn is_over(&self) -> bool {
        self.used > self.limit
    }
}

/// A demand on a mesh on an FPGA.
#[derive(Debug, Clone)]
pub struct Estimate<'a> {
    /// The demand.
    pub demand: &'a Demand,
    /// The mesh.
    pub mesh: Mesh,
    /// The FPGA.
    pub fpga: &'static Fpga,
    /// Assignment of rows to SLRs.
    pub plan: Floorplan,
    /// Limits within which it fits.
    pub limits: Limits,
}

impl<'a> Estimate<'a> {
    /// Places a demand on a mesh, which may differ from the measured one.
    pub fn new(demand: &'a Demand, mesh: Mesh, fpga: &'static Fpga, limits: Limits) -> Estimate<'a> {
        Estimate {
            demand,
            mesh,
            fpga,
            plan: Floorplan::new(mesh, fpga, |plan| demand.wires.across(mesh, fpga, plan, 0)),
            limits,
        }
    }

    /// Total resources.
    pub fn total(&self) -> Resources {
        self.demand.sum(|scale| self.count(scale))
    }

    /// Number of instances of a part of this scale.
    pub fn count(&self, scale: Scale) -> u64 {
        let slrs = 0..self.fpga.slrs.len() as u32;
        slrs.map(|slr| self.in_slr(scale, slr)).sum()
    }

    /// Number of its instances in an SLR.
    pub fn in_slr(&self, scale: Scale, slr: u32) -> u64 {
        if scale.is_bare() && self.limits.shell == Shell::Vitis {
            return 0;
        }
        let row_ports = self.demand.wires.ports_of_row(self.mesh, self.fpga);
        scale.in_slr(self.mesh, row_ports, &self.plan, slr)
    }

    /// Resources used in an SLR.
    pub fn used(&self, slr: usize) -> Resources {
        self.demand.sum(|scale| self.in_slr(scale, slr as u32))
    }

    /// Resources available in an SLR.
    pub fn has(&self, slr: usize) -> Resources {
        self.limits.has(self.fpga, slr)
    }

    /// Resources that may be used in an SLR.
    pub fn limit(&self, slr: usize) -> Resources {
        Resources::of(self.has(slr).values().map(|has| (has as f64 * self.limits.share).floor() as u64))
    }

    /// All shortages, the worst first.
    pub fn over(&self) -> Vec<Over> {
        let in_slr = |slr: usize| {
            let (used, has, limit) =
                (self.used(slr).values(), self.has(slr).values(), self.limit(slr).values());
            (0..used.len()).map(move |resource| Over {
                slr,
                resource,
                used: used[resource],
                has: has[resource],
                limit: limit[resource],
            })
        };
        let all = (0..self.fpga.slrs.len()).flat_map(in_slr);
        let mut over: Vec<_> = all.filter(|o| o.used > o.limit).collect();
        over.sort_by(|a, b| b.share().total_cmp(&a.share()));
        over
    }

    /// The boundaries between SLRs, from below.
    pub fn boundaries(&self) -> Vec<Boundary> {
        let has = self.limits.crossings(self.fpga);
        let limit = (has as f64 * self.limits.share).floor() as u64;
        let across = |lower| self.demand.wires.across(self.mesh, self.fpga, &self.plan, lower as u32);
        (0..self.fpga.slrs.len() - 1)
            .map(|lower| Boundary { lower, used: across(lower), has, limit })
            .collect()
    }

    /// True if no SLR lacks a resource and no boundary has too many wires.
    pub fn fits(&self) -> bool {
        self.over().is_empty() && !self.boundaries().iter().any(Boundary::is_over)
    }

    /// The fullest resource of any SLR, and its share of the SLR.
    pub fn fullest(&self) -> (usize, usize, f64) {
        let shares = (0..self.fpga.slrs.len()).flat_map(|slr| {
            let (used, has) = (self.used(slr).values(), self.has(slr).values());
            (0..used.len()).map(move |r| (slr, r, used[r] as f64 / has[r].max(1) as f64))
        });
        shares.max_by(|a, b| a.2.total_cmp(&b.2)).unwrap_or_default()
    }
}

impl Over {
    /// Demand divided by capacity.
    pub fn share(&self) -> f64 {
        self.used as f64 / self.has.max(1) as f64
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::config::Board;
    use crate::synth::Area;

    /// A design whose tile takes `lut` LUTs and whose shared parts take a tenth of that each.
    pub(in crate::synth) fn demand(lut: u64) -> Demand {
        let area = |luts| Area { luts, ram_luts: 0, registers: luts, bram18: 3, uram: 1, dsp: 2 };
        let part = |name, scale, clock, luts, period_ns| {
            let part = Part { name, module: "meshkv_x", scale, clock };
            (part, Costs { area: area(luts), levels: 5, period_ns })
        };
        Demand {
            parts: vec![
                part("router", Scale::Tile, Clock::Noc, lut, 3.0),
                part("pad", Scale::Tile, Clock::Pe, 0, 2.0),
                part("column_root", Scale::Column, Clock::Noc, lut / 10, 3.5),
                part("memory_port", Scale::Port, Clock::Noc, lut / 10, 1.0),
                part("swap_unit", Scale::Once, Clock::Noc, lut / 10, 1.0),
                part("axi3_read", Scale::Hbm, Clock::Hbm, 0, 1.0),
            ],
            wires: Wires { tiles_per_port: 2, ..Wires::default() },
        }
    }

    fn estimate(demand: &Demand, cols: u32, rows: u32, limits: Limits) -> Estimate<'_> {
        Estimate::new(demand, Mesh::new(cols, rows), Fpga::of(Board::U280), limits)
    }

    #[test]
    fn regions_add_up_to_the_design() {
        let demand = demand(1000);
        for (cols, rows) in [(2, 2), (3, 5), (8, 8), (16, 4)] {
            let estimate = estimate(&demand, cols, rows, Limits::default());
            let sum = (0..3).map(|slr| estimate.used(slr)).fold(Resources::default(), |a, b| a.plus(&b));
            assert_eq!(sum, estimate.total());
        }
    }

    #[test]
    fn tiles_count_by_the_mesh_and_shared_parts_once() {
        let demand = demand(1000);
        let total = estimate(&demand, 3, 2, Limits::default()).total();
        // Six tiles, three columns, four ports, one unit; a block RAM and a half count as two.
        assert_eq!(total.lut, 6 * 1000 + (3 + 4 + 1) * 100);
        assert_eq!(total.bram36, 2 * (6 * 2 + 3 + 4 + 1 + 4));
        assert_eq!((demand.tile().lut, demand.tile().dsp), (1000, 4));
    }

    #[test]
    fn what_is_too_much_is_named_by_region_worst_first() {
        // Two rows of eight in SLR0 fit, three rows in each of the others do not.
        let demand = demand(16_000);
        let estimate = estimate(&demand, 8, 8, Limits::default());
        let over = estimate.over();
        assert!(!estimate.fits());
        let found: Vec<_> = over.iter().map(|o| (o.slr, Resources::NAMES[o.resource])).collect();
        assert_eq!(found[..2], [(1, "lut"), (2, "lut")]);
        assert_eq!(over[0].limit, 347_648);
        assert!(over.windows(2).all(|w| w[0].share() >= w[1].share()));
    }

    #[test]
    fn the_share_and_the_shell_decide_what_fits() {
        let demand = demand(13_000);
        let at = |share, shell| estimate(&demand, 8, 8, Limits { share, shell }).fits();
        assert!(at(0.8, Shell::None) && at(1.0, Shell::Vitis));
        assert!(!at(0.7, Shell::None) && !at(0.8, Shell::Vitis));
    }

    #[test]
    fn converters_to_hbm_are_in_the_lowest_region_and_only_without_the_shell() {
        let demand = demand(1000);
        let count = |shell| {
            let estimate = estimate(&demand, 3, 4, Limits { share: 0.8, shell });
            [0, 1, 2].map(|slr| estimate.in_slr(Scale::Hbm, slr))
        };
        // Two ports in each of four rows.
        assert_eq!((count(Shell::None), count(Shell::Vitis)), ([8, 0, 0], [0, 0, 0]));
    }

    #[test]
    fn wires_alone_can_be_too_many() {
        let mut demand = demand(1000);
        demand.wires.column = [1000, 1000];
        let fits = |cols| estimate(&demand, cols, 8, Limits::default()).fits();
        // 80 % of 23 040 are 18 432.
        assert!(fits(9) && !fits(10));
        let boundaries = estimate(&demand, 10, 8, Limits::default()).boundaries();
        assert!(boundaries.iter().all(|b| b.is_over() && b.used == 20_000) && boundaries.len() == 2);
    }

    #[test]
    fn the_slowest_part_of_each_clock_is_found() {
        let demand = demand(1000);
        let slowest = |clock| demand.period(clock).map(|(part, ns)| (part.name, ns));
        assert_eq!(slowest(Clock::Noc), Some(("column_root", 3.5)));
        assert_eq!(slowest(Clock::Pe), Some(("pad", 2.0)));
    }
}
