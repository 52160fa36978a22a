//! Random storms of fetches: many tiles ask for few ranges, so that homes and requesters come into rare states.

use super::{legal, part_seed, Draw};
use crate::config::{Config, PlacementKind};
use crate::cosim::workloads::fetch::scenario::{self, Workload};
use crate::cosim::workloads::fetch::{Bench, FetchError, Plan};
use crate::design::Design;
use crate::model::cycle::common::Reached;

/// Slices that are asked for, at most.
const SLICES: u32 = 8;

/// Routers with transports, and a storm of fetches on them.
#[derive(Debug, Clone)]
pub struct SoakStorm {
    /// Seed of the case.
    pub seed: u64,
    /// The design.
    pub design: Design,
    /// The fetches.
    pub plan: Plan,
}

impl SoakStorm {
    /// The case of a seed.
    ///
    /// # Panics
    /// If no draw is legal, which no seed is known to cause.
    pub fn of(seed: u64) -> SoakStorm {
        let mut draw = Draw::new(seed);
        let (_, design) = legal(&mut draw, config);
        let plan = plan(&mut draw, &design, seed);
        SoakStorm { seed, design, plan }
    }

    /// Another storm on the same design; part 0 is the case itself.
    #[must_use]
    pub fn part(self, part: u64) -> SoakStorm {
        if part == 0 {
            return self;
        }
        let seed = part_seed(self.seed, part);
        SoakStorm { plan: plan(&mut Draw::new(seed), &self.design, seed), ..self }
    }

    /// The case in a few words.
    pub fn title(&self) -> String {
        let (mesh, commands) = (self.design.mesh, self.plan.commands.iter().map(Vec::len).sum::<usize>());
        format!("storm on {} x {}, {commands} fetches", mesh.cols(), mesh.rows())
    }

    /// Rare states that it reaches, on the model.
    ///
    /// # Errors
    /// If the run gets stuck, or `stop` returns true.
    pub fn foreseen(&self, stop: &mut dyn FnMut() -> bool) -> Result<Reached, FetchError> {
        let done = Bench::on_model(&self.design).run(&self.plan, &mut |_, _| stop())?;
        Ok(done.reached.unwrap_or_default())
    }
}

/// A random storm.
fn plan(draw: &mut Draw, design: &Design, seed: u64) -> Plan {
    let (commands, gap) = (draw.from(20, 120), draw.of(&[0, 3, 20, 100]));
    let (most, stall) = (draw.from(1, SLICES), draw.from(0, 119) as u8);
    // Homes hold one slice at least.
    let plans = (1..=most)
        .rev()
        .filter_map(|slices| scenario::plan(design, &Workload::Storm { commands, gap, slices }, seed).ok());
    let mut plan = { plans }.next().expect("one slice has a place");
    plan.stall = if draw.one_in(3) { stall } else { 0 };
    plan
}

/// A random configuration: what MaRe depends on is small or large.
fn config(draw: &mut Draw) -> Config {
    let mut c = Config::default();
    (c.mesh.cols, c.mesh.rows) = (draw.from(2, 5), draw.from(2, 4));
    (c.noc.flit_width, c.noc.vc_depth) = (draw.of(&[64, 128]), draw.of(&[2, 3, 4, 8]));
    (c.noc.vn0_vcs, c.noc.vn1_vcs) = (draw.from(1, 3), draw.from(2, 4));
    c.noc.router_stages = draw.of(&[2, 3]);
    (c.mare.multicast, c.mare.dedup) = (!draw.one_in(4), !draw.one_in(4));
    (c.mare.coalesce_window, c.mare.tree_build_cycles) =
        (draw.of(&[0, 1, 3, 8, 12, 40]), draw.of(&[1, 4, 9]));
    c.mare.request_entries = draw.of(&[2, 3, 16, 33]);
    (c.mare.bloom_bits, c.mare.tag_entries) = (draw.of(&[16, 64, 256]), draw.of(&[1, 5, 16]));
    c.mare.bloom_refresh = draw.of(&[4, 16, 96, 1000]);
    (c.takv.column_stride, c.takv.swap_epoch) = (draw.of(&[0, 1]), None);
    // Of one home all tiles ask at once.
    c.takv.placement = draw.of(&[PlacementKind::Takv, PlacementKind::Takv, PlacementKind::Hub]);
    (c.pad.enable, c.pad.fifo_depth) = (!draw.one_in(4), Some(draw.of(&[5, 16, 48, 61])));
    (c.kv.segment_tokens, c.pe.head_dim) = (draw.of(&[8, 13, 16]), draw.of(&[32, 64]));
    (c.kv.uram_per_tile, c.kv.banks) = (draw.of(&[1, 2]), draw.from(1, 4));
    (c.model.kv_heads, c.model.max_streams) = (draw.of(&[1, 2, 3]), 1);
    c.model.heads = c.model.kv_heads * draw.from(1, 3);
    (c.model.layers, c.model.max_tokens) = (1, 256);
    c.floorplan.slr_registers = !draw.one_in(3);
    c.noc.parity = draw.one_in(3);
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_follow_from_their_seed_and_end_on_the_model() {
        assert_eq!(format!("{:?}", SoakStorm::of(7)), format!("{:?}", SoakStorm::of(7)));
        for seed in 0..12 {
            let case = SoakStorm::of(seed);
            let done = Bench::on_model(&case.design).run(&case.plan, &mut |_, _| false);
            let done = done.unwrap_or_else(|e| panic!("seed {seed}, {}: {e}", case.title()));
            assert_eq!(done.violations, 0, "seed {seed}, {}: {:?}", case.title(), done.violation_list);
        }
    }
}
