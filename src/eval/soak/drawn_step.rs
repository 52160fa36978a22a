//! Decode steps of drawn configurations, to set forecasts beside cycles: shapes that nobody chose.

use super::Draw;
use crate::config::{Config, Spread};
use crate::cosim::workloads::decode::step;
use crate::cosim::workloads::decode::{default_segments, Bench, DecodeError, Plan, Workload};
use crate::design::{Choice, Design, Forecast, Mapping, Sharing};

/// Draws of a configuration: an illegal one is drawn again.
const DRAWS: usize = 1000;

/// Router-cycles of a run, about and at most, so that it takes seconds.
const MOST_CYCLES: u64 = 120_000;

/// Tokens of a context, at least.
const LEAST_TOKENS: u32 = 64;

/// Query heads of common models.
const HEADS: [u32; 8] = [8, 12, 14, 16, 24, 28, 32, 40];

/// A design, and a decode step of a layer of it.
#[derive(Debug, Clone)]
pub struct DrawnStep {
    /// Seed of the draw.
    pub seed: u64,
    /// The design.
    pub design: Design,
    /// The step. Its mapping is any: [`DrawnStep::found`] runs it under each.
    pub load: Workload,
}

/// A mapping of a step, before and after its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The mapping.
    pub mapping: Mapping,
    /// Forecast cycles.
    pub forecast: u64,
    /// Cycles that its tightest part needs at least.
    pub least: u64,
    /// Cycles of the model.
    pub cycles: u64,
}

impl Found {
    /// Error of the forecast as a share of the cycles: above 0 where it is too high.
    pub fn error(&self) -> f64 {
        self.forecast as f64 / self.cycles as f64 - 1.0
    }
}

impl DrawnStep {
    /// The step of a seed.
    ///
    /// # Panics
    /// If no draw is legal, which no seed is known to cause.
    pub fn of(seed: u64) -> DrawnStep {
        let mut draw = Draw::new(seed);
        let legal = |draw: &mut Draw| {
            let design = Design::from_config("drawn", &config(draw)).ok()?;
            let load = load(draw, &design)?;
            Some(DrawnStep { seed, design, load })
        };
        (0..DRAWS).find_map(|_| legal(&mut draw)).expect("a legal design is drawn")
    }

    /// The step in a few words.
    pub fn title(&self) -> String {
        let (design, load) = (&self.design, &self.load);
        let (mesh, model, pe) = (design.mesh, &design.model, &design.pe);
        let prefix = if load.prefix > 0 { format!(", {} shared", load.prefix) } else { String::new() };
        format!(
            "{} x {} of {} bits, {} heads of {} KV heads of {}, {} rows, {} x {} tokens{prefix}",
            mesh.cols(),
            mesh.rows(),
            design.flit.data_width,
            model.heads,
            model.kv_heads,
            pe.head_dim,
            pe.array_rows,
            load.batch,
            load.tokens
        )
    }

    /// Choice of a mapping by forecasts.
    ///
    /// # Panics
    /// Never: a drawn step is one that the design holds.
    pub fn choice(&self) -> Choice {
        Choice::new(&self.design, &step(&self.design, &self.load).expect("it is legal").descriptors)
    }

    /// Runs the step on the model under each mapping that has a forecast.
    ///
    /// # Errors
    /// If a run gets stuck.
    pub fn found(&self, choice: &Choice) -> Result<Vec<Found>, DecodeError> {
        let known = choice
            .forecasts
            .iter()
            .filter_map(|(mapping, forecast)| Some((*mapping, *forecast.as_ref().ok()?)));
        let found = |(mapping, forecast): (Mapping, Forecast)| {
            let (least, cycles) = (forecast.bounds.tightest().1, self.cycles(mapping)?);
            Ok(Found { mapping, forecast: forecast.cycles, least, cycles })
        };
        known.map(found).collect()
    }

    /// Cycles on the model.
    fn cycles(&self, mapping: Mapping) -> Result<u64, DecodeError> {
        let load = Workload { mapping, ..self.load };
        let step = step(&self.design, &load).expect("it is legal");
        let plan = Plan::new(&self.design, step.descriptors, self.seed);
        Ok(Bench::on_model(&self.design).run(&plan, &mut |_| false)?.cycles)
    }
}

/// A configuration as a user may have it: a mesh, a width and a model, the rest by default or near it.
fn config(draw: &mut Draw) -> Config {
    let mut c = Config::default();
    (c.mesh.cols, c.mesh.rows) = (draw.from(2, 8), draw.from(2, 8));
    c.noc.flit_width = draw.of(&[128, 256, 512]);
    c.takv.column_stride = draw.from(0, 1);
    (c.pe.head_dim, c.pe.array_rows) = (draw.of(&[64, 128]), draw.of(&[1, 2, 4, 8]));
    c.kv.segment_tokens = draw.of(&[16, 32, 64]);
    c.kv.uram_per_tile = draw.of(&[4, 8]);
    c.model.heads = draw.of(&HEADS);
    // MHA to eight heads of a KV head.
    let groups: Vec<_> =
        [1, 2, 4, 8].into_iter().filter(|group| c.model.heads.is_multiple_of(*group)).collect();
    c.model.kv_heads = c.model.heads / draw.of(&groups);
    (c.model.layers, c.model.max_tokens) = (draw.of(&[8, 16, 28, 36]), 4096);
    c.model.max_streams = draw.of(&[1, 4, 16]);
    c.memory.capacity_gib = 8.0;
    if c.model.kv_heads.is_multiple_of(c.mesh.cols) && !draw.one_in(3) {
        (c.takv.spread, c.takv.column_stride) = (Spread::Slice, 0);
    }
    c
}

/// A step that takes no longer than seconds; none if the design holds none.
fn load(draw: &mut Draw, design: &Design) -> Option<Workload> {
    let model = &design.model;
    let tokens = draw.from(LEAST_TOKENS, model.max_tokens);
    let load = Workload {
        tokens,
        batch: draw.from(1, model.max_streams),
        prefix: if draw.one_in(4) { tokens / draw.from(1, 4) } else { 0 },
        mapping: Mapping::RowAligned,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 1,
        stride: 1,
        append: false,
    };
    // Shorter contexts, then fewer streams.
    let mut shorter = vec![load];
    while let Some(load @ Workload { tokens, prefix, batch, .. }) = shorter.last().copied() {
        shorter.push(match (tokens, batch) {
            (tokens, _) if tokens >= 2 * LEAST_TOKENS => {
                Workload { tokens: tokens / 2, prefix: prefix / 2, ..load }
            }
            (_, 1) => break,
            (_, batch) => Workload { batch: batch / 2, ..load },
        });
    }
    let short = |load: &Workload| cycles(design, load).is_some_and(|cycles| cycles <= MOST_CYCLES);
    let load = shorter.into_iter().find(short)?;
    Some(Workload { segments: Some(default_segments(design, &load).ok()?), ..load })
}

/// Cycles of a step, times the routers of the mesh, about: flits of the ports that read a layer, once for each row to
/// which heads of a KV head may spread.
fn cycles(design: &Design, load: &Workload) -> Option<u64> {
    let segments = default_segments(design, load).ok()?;
    let step = step(design, &Workload { segments: Some(segments), ..*load }).ok()?;
    let slices: u64 = step.descriptors.iter().map(|d| u64::from(d.count)).sum();
    let model = &design.model;
    let copies = model.group_heads().min(design.mesh.rows());
    let flits = slices * u64::from(model.kv_heads * design.mare.slice_flits * copies);
    Some(flits * design.mesh.tiles() as u64 / design.ports_of_layer() as u64)
}

#[cfg(test)]
mod tests {
    use crate::eval::soak::drawn_step::*;
    use std::collections::BTreeSet;

    #[test]
    fn steps_follow_from_their_seed_and_reach_all_shapes() {
        let steps: Vec<_> = (0..60).map(DrawnStep::of).collect();
        assert_eq!(format!("{:?}", steps[7]), format!("{:?}", DrawnStep::of(7)));
        let seen = |what: &dyn Fn(&DrawnStep) -> u32| steps.iter().map(what).collect::<BTreeSet<_>>();
        let model = |step: &DrawnStep| step.design.model;
        assert_eq!(seen(&|step| step.design.mesh.cols()).len(), 7);
        assert_eq!(seen(&|step| step.design.mesh.rows()).len(), 7);
        assert_eq!(seen(&|step| step.design.flit.data_width).len(), 3);
        assert_eq!(seen(&|step| model(step).group_heads()), BTreeSet::from([1, 2, 4, 8]));
        let streams = seen(&|step| step.load.batch);
        assert!(streams.contains(&1) && streams.iter().any(|streams| *streams > 4), "{streams:?}");
        let tokens = seen(&|step| step.load.tokens);
        assert!(tokens.iter().any(|tokens| *tokens > 1000), "{tokens:?}");
        assert!(steps.iter().any(|step| step.load.prefix > 0));
    }
}
