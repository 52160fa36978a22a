//! Random fabrics and decode steps: a case is determined by its seed.

use super::{format_of, in_pages, legal_in_a_format, part_seed, Draw};
use crate::config::{Config, PlacementKind, Spread};
use crate::cosim::faults::{judge, Depth, Injected};
use crate::cosim::workloads::decode::{
    step_of, Bench, DecodeError, Decoded, Pace, Plan, StreamLength, Workload,
};
use crate::design::{Design, Mapping, Sharing};
use crate::model::cycle::common::Reached;

const MAPPINGS: [Mapping; 3] = [Mapping::HeadTile, Mapping::RowAligned, Mapping::StreamStriped];

/// Most tokens of a context: a step of them takes some thousand cycles.
const TOKENS: u32 = 100;

/// A fabric, and the decode steps that it runs.
#[derive(Debug, Clone)]
pub struct SoakFabric {
    /// Seed of the case.
    pub seed: u64,
    /// The fabric.
    pub design: Design,
    /// The steps, one after the other.
    pub plan: Plan,
    /// Faults of its memory.
    pub faults: Vec<Injected>,
}

impl SoakFabric {
    /// The case of a seed.
    ///
    /// # Panics
    /// If no draw is legal, which no seed is known to cause.
    pub fn of(seed: u64) -> SoakFabric {
        let mut draw = Draw::new(seed);
        let design = in_pages(seed, legal_in_a_format(seed, &mut draw, config));
        let (plan, faults) = steps(&mut draw, &design, seed);
        SoakFabric { seed, design, plan, faults }
    }

    /// Other steps on the same fabric; part 0 is the case itself.
    #[must_use]
    pub fn part(self, part: u64) -> SoakFabric {
        if part == 0 {
            return self;
        }
        let seed = part_seed(self.seed, part);
        let (plan, faults) = steps(&mut Draw::new(seed), &self.design, seed);
        SoakFabric { plan, faults, ..self }
    }

    /// The case in a few words.
    pub fn title(&self) -> String {
        let (mesh, steps) = (self.design.mesh, self.plan.steps);
        let plural = if steps == 1 { "" } else { "s" };
        let faults: String = self.faults.iter().map(|fault| format!(", {fault}")).collect();
        let format = format_of(&self.design);
        format!("fabric of {} x {}{format}, {steps} decode step{plural}{faults}", mesh.cols(), mesh.rows())
    }

    /// Rare states that it reaches, on the model.
    ///
    /// # Errors
    /// If the run gets stuck, or `stop` returns true.
    pub fn foreseen(&self, stop: &mut dyn FnMut() -> bool) -> Result<Reached, DecodeError> {
        let done = Bench::on_model(&self.design).run_through(&self.plan, &mut |_| stop())?;
        Ok(done.reached.unwrap_or_default())
    }

    /// Number of faults that took effect in a run.
    pub fn reached(done: &Decoded) -> u64 {
        done.struck.iter().flatten().count() as u64
    }

    /// The first thing that is not as it must be in a run: a report that does not fit the faults, or any violation where
    /// none took effect.
    pub fn wrong(&self, done: &Decoded) -> Option<String> {
        let seen = done.seen(&self.design);
        let struck = self.faults.iter().zip(&done.struck).filter(|(_, at)| at.is_some());
        let (faults, reached): (Vec<_>, Vec<_>) = struck.map(|(fault, at)| (fault.clone(), *at)).unzip();
        if faults.is_empty() {
            let violation = done.violation_list.first().map(|violation| violation.message.clone());
            return violation.or_else(|| done.faults.first().map(ToString::to_string));
        }
        let judged = judge(&faults, &reached, &seen, (&self.design, Depth::Core));
        let wrong = judged.into_iter().find(|one| !one.as_expected)?;
        Some(format!("{} must be reported as {}, and this was: {seen}", wrong.fault, wrong.expected))
    }
}

/// A random configuration, as small as its seed allows.
fn config(draw: &mut Draw) -> Config {
    let mut c = Config::default();
    (c.mesh.cols, c.mesh.rows) = (draw.from(2, 5), draw.from(2, 4));
    (c.noc.flit_width, c.noc.vc_depth) = (draw.of(&[64, 128, 512]), draw.of(&[2, 3, 4, 8]));
    (c.noc.vn0_vcs, c.noc.vn1_vcs) = (draw.from(1, 4), draw.from(2, 4));
    c.noc.router_stages = draw.of(&[2, 3]);
    (c.mare.enable, c.mare.multicast) = (!draw.one_in(4), !draw.one_in(3));
    (c.mare.dedup, c.mare.coalesce_window) = (!draw.one_in(3), draw.of(&[0, 1, 5, 12, 40]));
    (c.mare.tree_build_cycles, c.mare.request_entries) = (draw.of(&[1, 4, 9]), draw.of(&[2, 3, 16, 33]));
    (c.mare.bloom_bits, c.mare.tag_entries) = (draw.of(&[16, 64, 256]), draw.of(&[1, 5, 16]));
    (c.mare.bloom_refresh, c.takv.swap_epoch) = (draw.of(&[1, 7, 96]), Some(draw.from(0, 2)));
    (c.takv.column_stride, c.takv.hub_x) = (draw.of(&[0, 0, 1]), draw.from(0, 1));
    let kinds = [PlacementKind::Takv, PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub];
    c.takv.placement = draw.of(&kinds);
    (c.pad.enable, c.pad.fifo_depth) = (!draw.one_in(3), Some(draw.of(&[5, 16, 48, 61])));
    (c.kv.segment_tokens, c.pe.head_dim) = (draw.of(&[3, 8, 13, 16]), draw.of(&[32, 64, 128]));
    (c.kv.uram_per_tile, c.kv.banks) = (draw.of(&[1, 2, 8]), draw.from(1, 4));
    (c.model.kv_heads, c.model.max_streams) = (draw.of(&[1, 2, 3, 5]), draw.of(&[1, 2, 4]));
    c.model.heads = c.model.kv_heads * draw.from(1, 3);
    (c.model.layers, c.model.max_tokens) = (draw.of(&[1, 3, 8]), draw.of(&[200, 256, 1024]));
    c.floorplan.slr_registers = !draw.one_in(3);
    c.kv.append = draw.one_in(3);
    c.memory.tiles_per_port = draw.of(&[None, Some(1), Some(2), Some(4)]);
    c.pe.root_lanes =
        draw.of(&[None, Some(1), Some(2), Some(16)]).filter(|lanes| lanes * 32 <= c.noc.flit_width);
    c.pe.array_rows = draw.from(1, 8);
    // A home by slice needs as many KV heads in each column.
    if draw.one_in(4) {
        (c.takv.placement, c.takv.spread, c.takv.swap_epoch) = (PlacementKind::Takv, Spread::Slice, None);
        c.model.kv_heads = c.mesh.cols * draw.from(1, 2);
        c.model.heads = c.model.kv_heads * draw.from(1, 3);
    }
    c.noc.parity = draw.one_in(3);
    c
}

/// Random faults of its memory in one of two fabrics: early in a run, so that most of them take effect.
fn faults(draw: &mut Draw, design: &Design) -> Vec<Injected> {
    let count = if draw.one_in(2) { draw.from(1, 2) } else { 0 };
    let fault = |draw: &mut Draw| {
        let (port, number) = (draw.from(0, design.memory.ports - 1), draw.from(0, 9));
        let (cycle, cycles) = (draw.from(0, 1500), draw.from(1, 2000));
        // A silence takes a time-out, which is longer than all else: it is rare.
        let text = match draw.from(0, 12) {
            12 => format!("mute@hbm{port}:{number}"),
            kind => match kind % 4 {
                0 => format!("slverr@hbm{port}:{number}"),
                1 => format!("decerr@hbm{port}:{number}"),
                2 => format!("late@hbm{port}:{number}+{cycles}"),
                _ => format!("stall@hbm{port}:{cycle}+{cycles}"),
            },
        };
        text.parse().expect("what is drawn is a fault")
    };
    (0..count).map(|_| fault(draw)).collect()
}

/// Random decode steps, and the faults of its memory during them.
fn steps(draw: &mut Draw, design: &Design, seed: u64) -> (Plan, Vec<Injected>) {
    let mut plan = plan(draw, design, seed);
    let faults = faults(draw, design);
    plan.memory.faults = faults.iter().filter_map(Injected::of_external).cloned().collect();
    (plan, faults)
}

/// Random decode steps.
fn plan(draw: &mut Draw, design: &Design, seed: u64) -> Plan {
    let model = &design.model;
    let (most, batch) = (model.max_tokens.min(TOKENS), draw.from(1, model.max_streams));
    let append = design.append.is_some() && !draw.one_in(3);
    let (tokens, ragged) = (draw.from(1, most), draw.one_in(2));
    // Each stream has a part of its own in a ragged batch, and to append to.
    let prefix = if append || ragged { draw.from(0, tokens - 1) } else { draw.from(0, tokens) };
    let length = |draw: &mut Draw| if ragged { draw.from(prefix + 1, most) } else { tokens };
    let streams: Vec<_> = (0..batch).map(|_| StreamLength { tokens: length(draw), prefix }).collect();
    let load = Workload {
        tokens,
        batch,
        prefix,
        mapping: draw.of(&MAPPINGS),
        sharing: draw.of(&[Sharing::KvHead, Sharing::Segment]),
        segments: None,
        layers: draw.from(1, model.layers.min(2)),
        stride: 1,
        append,
    };
    let made = step_of(design, &load, &streams).expect("the design holds it");
    let plan = Plan::new(design, made.descriptors, seed);
    let memory = if draw.one_in(2) { plan.memory.unruly(seed) } else { plan.memory };
    let pace = Pace { flit_cycles: draw.from(1, 3), stall: draw.from(0, 119) as u8 };
    let mut plan = Plan { steps: draw.from(1, 3), memory, pace, ..plan };
    // Descriptors of one stream may have different mappings.
    if draw.one_in(3) {
        plan.descriptors.iter_mut().for_each(|descriptor| descriptor.mapping = draw.of(&MAPPINGS));
    }
    plan
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_follow_from_their_seed_and_reach_all_parts() {
        let cases: Vec<_> = (0..300).map(SoakFabric::of).collect();
        assert_eq!(format!("{:?}", cases[7]), format!("{:?}", SoakFabric::of(7)));
        let seen = |what: &dyn Fn(&SoakFabric) -> bool| cases.iter().filter(|case| what(case)).count();
        type Part<'a> = &'a dyn Fn(&SoakFabric) -> bool;
        let parts: [Part<'_>; 25] = [
            &|case| case.title().contains(", slverr@"),
            &|case| case.title().contains(", stall@"),
            &|case| case.title().contains(", in pages"),
            &|case| case.design.pages.as_ref().is_some_and(|pages| pages.in_ultra()),
            &|case| case.title().contains(" in bf16"),
            &|case| case.title().contains(" in fp8_e4m3"),
            &|case| case.title().contains(" in fp8_e5m2"),
            &|case| case.title().contains(" in int8"),
            &|case| case.design.placement.by_slice(),
            &|case| case.design.router.stages == 2,
            &|case| case.design.router.stages == 3,
            &|case| case.plan.descriptors.iter().any(|descriptor| descriptor.append),
            &|case| case.plan.descriptors.windows(2).any(|pair| pair[0].count != pair[1].count),
            &|case| !case.design.mare.enable,
            &|case| !case.design.mare.dedup,
            &|case| case.design.placement.kind == PlacementKind::Hub,
            &|case| case.design.swaps(),
            &|case| !case.design.pe.overlap,
            &|case| case.design.flit.data_width == 512,
            &|case| case.plan.steps == 3,
            &|case| case.plan.pace.stall > 100,
            &|case| case.plan.descriptors.windows(2).any(|pair| pair[0].mapping != pair[1].mapping),
            &|case| case.design.pe.array_rows == 1,
            &|case| case.design.pe.array_rows == 8,
            &|case| case.design.memory.tiles_per_port == 4 && case.design.mesh.cols() == 5,
        ];
        for (at, part) in parts.iter().enumerate() {
            let seen = seen(part);
            assert!((5..295).contains(&seen), "part {at}: {seen} of 300");
        }
    }
}
