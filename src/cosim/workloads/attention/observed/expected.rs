//! Expected outputs of a run, by the bit-exact datapath, from the jobs of tiles and the merges of
//! roots.
//!
//! Sums are shifted down when a running maximum rises, so the result depends on the order of
//! segments and of partial results.

use crate::cosim::dut::model_ports::TileJob;
use crate::cosim::workloads::attention::job::Job;
use crate::cosim::workloads::attention::observed::visit_order::{visits_of, Visit};
use crate::cosim::workloads::attention::result::{HeadSums, Saturated};
use crate::cosim::workloads::shared::homes::Homes;
use crate::cosim::workloads::SliceId;
use crate::design::Design;
use crate::model::cycle::pad::Contexts;
use crate::model::cycle::takv::Ask;
use crate::model::datapath::attention::{self, Tokens};
use crate::model::{Datapath, DatapathShape, Root};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::mpsc::Receiver;

/// Segments of a partial result in their order: the first token of each, and its tokens that count.
pub(in crate::cosim::workloads::attention) type Segments = Vec<(u32, Range<u32>)>;

/// Outputs of the model of the datapath for a job.
#[derive(Debug, Default)]
pub(in crate::cosim) struct Expected {
    /// Outputs, by stream and head.
    pub(in crate::cosim) outputs: BTreeMap<(u32, u32), Vec<u16>>,
    /// Sums before division and rounding.
    pub(in crate::cosim::workloads::attention) sums: BTreeMap<(u32, u32), HeadSums>,
    /// Logits beyond the range, the first of each head.
    pub(in crate::cosim) saturated: Vec<Saturated>,
    /// (stream, head) of partial results whose m is beyond FP32's integers.
    pub(in crate::cosim) far: BTreeSet<(u32, u32)>,
}

/// A head as the model of the datapath computes it.
pub(in crate::cosim::workloads::attention) struct Head {
    pub(in crate::cosim::workloads::attention) output: Vec<u16>,
    /// Its sums before division and rounding.
    pub(in crate::cosim::workloads::attention) sums: HeadSums,
    /// The first token whose logit saturates.
    saturated: Option<u32>,
    /// The root reports such a token.
    pub(in crate::cosim::workloads::attention) void: bool,
}

/// A head whose partial results are merged in this order.
pub(in crate::cosim::workloads::attention) fn output<'a>(
    job: &Job,
    datapath: &Datapath,
    (stream, head): (u32, u32),
    partials: impl Iterator<Item = &'a Segments>,
) -> Head {
    let dim = job.design.pe.head_dim as usize;
    let cache = job.cache(stream);
    let (k, v) = job.kv(head, cache.clone());
    let scales = job.scales(head);
    let mut root: Root = datapath.root().scaled(scales.output).sunk(scales.sink.filter(|_| !job.partials));
    let (mut saturated, mut special) = (None, false);
    for segments in partials {
        let mut partial =
            datapath.partial(job.query(head, stream)).scaled(scales.logit).narrowed(scales.narrow);
        for (first, rows) in segments {
            let end = (first + job.design.placement.segment_tokens).min(cache.len() as u32);
            let elements = *first as usize * dim..end as usize * dim;
            let rows = rows.start as usize..rows.end as usize;
            let scales = job.token_scales(head, cache.start + first..cache.start + end);
            let tokens = Tokens { k: &k[elements.clone()], v: &v[elements], scales: scales.as_deref() };
            attention::segment(&mut partial, tokens, rows);
            let beyond = partial.saturated().map(|token| first + token as u32);
            saturated = saturated.into_iter().chain(beyond).min();
        }
        special |= partial.special();
        root.merge(&partial.to_flits());
    }
    let (output, void) = match job.partials {
        true => (root.state().halves(), root.state_is_void()),
        false => (root.output(), root.saturated()),
    };
    Head {
        output,
        sums: HeadSums::of(&root),
        // The output of a head with an infinity or a NaN is NaN, whatever its logits.
        saturated: saturated.filter(|_| !special),
        void,
    }
}

impl Expected {
    /// Compares the heads that were reported as void with those that have a saturated logit.
    pub(in crate::cosim) fn judge(&self, void: &BTreeSet<(u32, u32)>, violations: &mut Vec<String>) {
        let mut saturated: BTreeSet<_> = self.saturated.iter().map(|one| (one.stream, one.head)).collect();
        for (stream, head) in &self.far {
            saturated.insert((*stream, *head));
            violations.push(format!(
                "head {head}, stream {stream}: m is beyond 2^24, so its partial result is void"
            ));
        }
        for of @ (stream, head) in void.symmetric_difference(&saturated) {
            let what = if void.contains(of) { "is reported, and there is none" } else { "is not reported" };
            violations.push(format!("head {head}, stream {stream}: a saturated logit {what}"));
        }
    }
}

/// Jobs and merges of a model of the design, which computes no numbers.
#[derive(Debug)]
pub(in crate::cosim::workloads::attention) struct Numbers {
    contexts: Vec<Contexts>,
    datapath: Datapath,
    jobs: Receiver<TileJob>,
    /// Segments that a tile has been given since its last partial result.
    open: BTreeMap<Visit, Segments>,
    /// Partial results that are due or under way.
    closed: BTreeMap<Visit, VecDeque<Segments>>,
    /// Merged partial results, by stream and head.
    merged: BTreeMap<(u32, u32), Vec<Segments>>,
}

impl Numbers {
    /// Collects the jobs that arrive on this channel.
    pub(in crate::cosim::workloads::attention) fn new(design: &Design, jobs: Receiver<TileJob>) -> Numbers {
        let tiles = design.mesh.nodes().map(|node| design.mesh.coords(node));
        Numbers {
            contexts: tiles.map(|(x, y)| Contexts::new(design, x, y)).collect(),
            datapath: Datapath::new(DatapathShape::of(design)),
            jobs,
            open: BTreeMap::new(),
            closed: BTreeMap::new(),
            merged: BTreeMap::new(),
        }
    }

    /// Forgets everything, like a reset of the jobs' source.
    pub(in crate::cosim::workloads::attention) fn forget(&mut self) {
        while self.jobs.try_recv().is_ok() {}
        self.open.clear();
        self.closed.clear();
        self.merged.clear();
    }

    /// Takes the jobs given so far.
    fn hear(&mut self, design: &Design) {
        while let Ok((tile, ask)) = self.jobs.try_recv() {
            self.note(design, tile, &ask);
        }
    }

    fn note(&mut self, design: &Design, tile: usize, ask: &Ask) {
        let node = design.mesh.nodes().nth(tile).expect("a tile of the mesh");
        let first_head = design.heads.of_column(design.mesh.coords(node).0).start;
        let first = SliceId::of_tag(design, ask.tag).segment * design.placement.segment_tokens;
        for of in self.contexts[tile].wanted(ask) {
            let visit = Visit { tile: node, stream: of.stream, head: first_head + of.head };
            let segments = self.open.entry(visit).or_default();
            if ask.close {
                self.closed.entry(visit).or_default().push_back(std::mem::take(segments));
            } else {
                segments.push((first, ask.rows.0..ask.rows.1 + 1));
            }
        }
    }

    /// Notes that a root begins to merge the partial result of a tile. False if there is none.
    pub(in crate::cosim::workloads::attention) fn merge(&mut self, design: &Design, visit: Visit) -> bool {
        self.hear(design);
        let Some(segments) = self.closed.get_mut(&visit).and_then(VecDeque::pop_front) else { return false };
        self.merged.entry((visit.stream, visit.head)).or_default().push(segments);
        true
    }

    /// A head, all of whose partial results are merged.
    pub(in crate::cosim::workloads::attention) fn output(&mut self, job: &Job, of: (u32, u32)) -> Head {
        let partials = self.merged.remove(&of).unwrap_or_default();
        output(job, &self.datapath, of, partials.iter())
    }
}

/// Expected outputs and all that goes with them, if no home has swapped. Tiles visit segments in the order of the
/// controllers; roots merge in the observed order.
pub(in crate::cosim) fn expected(
    job: &Job,
    merged: &BTreeMap<(u32, u32), Vec<u32>>,
    violations: &mut Vec<String>,
) -> Expected {
    expected_at(job, &Homes::new(job.design), merged, violations)
}

/// The same with homes that may have swapped.
pub(in crate::cosim::workloads::attention) fn expected_at(
    job: &Job,
    homes: &Homes,
    merged: &BTreeMap<(u32, u32), Vec<u32>>,
    violations: &mut Vec<String>,
) -> Expected {
    let design = job.design;
    let datapath = Datapath::new(DatapathShape::of(design));
    let mut of_tiles: BTreeMap<Visit, Segments> = BTreeMap::new();
    for descriptor in job.descriptors().expect("the job was checked") {
        for (visit, segments) in visits_of(design, homes, &descriptor) {
            of_tiles.entry(visit).or_default().extend(segments);
        }
    }
    let mut expected = Expected::default();
    for stream in 0..job.streams {
        for head in 0..design.model.heads {
            let rows = merged.get(&(stream, head)).map(Vec::as_slice).unwrap_or_default();
            let mut left: Vec<Visit> =
                of_tiles.keys().filter(|v| (v.stream, v.head) == (stream, head)).copied().collect();
            let in_order = rows.iter().filter_map(|&y| {
                let tile = design.mesh.node(design.heads.column(head), y);
                let at = left.iter().position(|v| Some(v.tile) == tile)?;
                Some(&of_tiles[&left.swap_remove(at)])
            });
            let of_head = output(job, &datapath, (stream, head), in_order);
            if !left.is_empty() {
                violations.push(format!(
                    "head {head}, stream {stream}: {} partial results were not merged",
                    left.len()
                ));
            }
            expected.outputs.insert((stream, head), of_head.output);
            if of_head.void && of_head.saturated.is_none() {
                expected.far.insert((stream, head));
            }
            expected.sums.insert((stream, head), of_head.sums);
            expected.saturated.extend(of_head.saturated.map(|token| Saturated { stream, head, token }));
        }
    }
    expected
}
