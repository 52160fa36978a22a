//! Turns a run of attention into an [`AttentionRow`]: errors, cycles by stage, bounds.

use crate::cosim::workloads::attention::{AttentionResult, Job, Saturated};
use crate::design::Bounds;
use crate::emit::{self, TILE_EVENTS};
use crate::eval::rows::compared::Compared;
use crate::eval::rows::widths::{widths, WidthsError};
use crate::eval::time::bounds::{accepted_a_cycle, imbalance, Carried, Phase};
use crate::eval::time::breakdown::{breakdown, Part};
use crate::model::datapath::reference::Error;
use schemars::JsonSchema;
use serde::Serialize;

/// Activity of the stages of the busiest tile, in cycles of the PE clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Stages {
    /// Cycles in which K flits pass through the array.
    pub k_passes: u64,
    /// Cycles in which V flits pass through it.
    pub v_passes: u64,
    /// Cycles in which flits of ones, which make l, pass through it.
    pub ones_passes: u64,
    /// Cycles in which a slice is due and its FIFO is empty.
    pub starved: u64,
    /// Cycles in which a V flit waits for weights.
    pub weights_awaited: u64,
    /// Cycles in which results are read.
    pub reading_results: u64,
}

/// A run of attention.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AttentionRow {
    /// Largest error of an output against f64; null if no numbers were computed.
    #[schemars(with = "Option<f64>")]
    pub max_abs_error: f64,
    /// Root of the mean square error over all outputs; null if no numbers were computed.
    #[schemars(with = "Option<f64>")]
    pub rms_error: f64,
    /// Largest error of FlashAttention-2 style FP16 with FP32 accumulation; null if it is not finite.
    #[schemars(with = "Option<f64>")]
    pub fa2_max_abs_error: f64,
    /// Root of its mean square error over all outputs; null if it is not finite.
    #[schemars(with = "Option<f64>")]
    pub fa2_rms_error: f64,
    /// Heads in which, over all streams, neither error is larger than FlashAttention-2's, which is
    /// finite.
    pub heads_within_fa2: Option<usize>,
    /// Heads in which FlashAttention-2 has no finite error, because an output of its is infinite or
    /// NaN. They are not among `heads_within_fa2`.
    pub heads_fa2_not_finite: Option<usize>,
    /// True if every output equals the model of the datapath, and so do the sums before it; null if no
    /// numbers were computed.
    pub bit_exact: Option<bool>,
    /// Number of output values.
    pub outputs: usize,
    /// Values that differ from the model.
    pub differing: usize,
    /// Heads, by stream, whose m, l or o before division and rounding differ from the model; null
    /// if they were not observed.
    pub differing_sums: Option<usize>,
    /// Query heads.
    pub heads: usize,
    /// Streams.
    pub streams: usize,
    /// Tokens attended to, by the longest stream.
    pub tokens: u32,
    /// Clock of the network in MHz; cycles are its own unless stated otherwise.
    pub noc_mhz: f64,
    /// Clock of PaD in MHz.
    pub pe_mhz: f64,
    /// Jitter of PaD's clock in percent of its period.
    pub jitter_percent: u8,
    /// Cycles from the first descriptor to the last output.
    pub cycles: u64,
    /// Cycles before that, in which queries went in.
    pub query_cycles: u64,
    /// Cycles to the last KV flit in an array.
    pub kv_cycles: u64,
    /// Cycles from start to done: queries go in, KV flows, results are reduced.
    pub total_cycles: u64,
    /// Gigabytes of KV per second, over all of the run.
    pub kv_gbs: f64,
    /// The same as a share of `memory.bandwidth_gbs`.
    pub share: f64,
    /// The same as a share of what refresh leaves of it.
    pub share_left: f64,
    /// Least cycles of the run, by part.
    pub bounds: Bounds,
    /// The same for the time in which KV flows.
    pub kv_phase: Phase,
    /// Parts of the run, one behind the other; their cycles add up to `total_cycles`.
    pub breakdown: Vec<Part>,
    /// Share of the MACs of all tiles that are in use while KV flows.
    pub mac_utilisation: f64,
    /// KV flits accepted per PE cycle in which a tile's FIFO holds one, over all tiles.
    pub accepted_a_cycle: f64,
    /// Share of `kv_cycles` in which FIFOs hold a flit, over all tiles.
    pub fifo_utilisation: f64,
    /// PE cycles by stage.
    pub stages: Stages,
    /// Names of the part with the tightest bound and of those of at least nine tenths of it, the tightest first, with `+` between.
    pub bound_by: String,
    /// `total_cycles` over the larger of the bounds of bytes and arrays.
    pub over_bound: f64,
    /// Beats of the fullest memory port over the mean of all ports that have a home: 1 if all have as many.
    pub imbalance: f64,
    /// Heads with a logit beyond the range of the datapath, with the first such token.
    pub saturated: Vec<Saturated>,
    /// What each choice of widths costs in error, where rows share their multipliers and numbers were computed.
    pub widths: Vec<WidthsError>,
    /// Broken rules.
    pub violations: Vec<String>,
    /// (stream, head) of outputs, or of sums before them, that differ from the model.
    pub wrong_heads: Vec<(u32, u32)>,
}

impl AttentionRow {
    /// All of the run.
    pub fn whole_phase(&self) -> Phase {
        let AttentionRow { kv_gbs, share, share_left, bounds, .. } = *self;
        Phase { cycles: self.total_cycles, kv_gbs, share, share_left, bounds }
    }

    /// The row of a run of a job.
    pub fn new(job: &Job, done: &AttentionResult) -> AttentionRow {
        let design = job.design;
        let names = emit::pad_events(design);
        let at = |name: &str| names.iter().position(|n| n == name).expect("a counter of this name");
        let of = |tile: &Vec<u32>, name: &str| u64::from(tile[at(name)]);
        let all = |name: &str| -> u64 { done.pad.iter().map(|tile| of(tile, name)).sum() };
        let busy = |tile: &&Vec<u32>| of(tile, "k_passes") + of(tile, "v_passes") + of(tile, "ones_passes");
        let busiest = done.pad.iter().max_by_key(busy).expect("a mesh has tiles");
        let window = done.kv_cycles.max(1) as f64;
        // The window in cycles of PaD.
        let pe_window = done.clocks.pe_cycles(window);
        let rows = design.pe.array_rows;
        let row_passes: u64 = (0..rows).map(|r| all(&format!("row_{r}_passes"))).sum();
        let (ours, fa2, heads) = errors(job, done);
        let outputs: usize = done.outputs.values().map(Vec::len).sum();
        let differing = done.outputs.iter().map(|(of, output)| {
            let expected = done.expected.get(of).map(Vec::as_slice).unwrap_or_default();
            output.iter().zip(expected).filter(|(a, b)| a != b).count()
        });
        let streamed: Vec<_> = done.events.iter().map(|e| u64::from(e[event("flits_streamed")])).collect();
        let total_cycles = done.query_cycles + done.cycles;
        let carried = Carried {
            links: &done.links,
            streamed: &streamed,
            pad: &done.pad,
            beats: &done.beats,
            io_beats: done.io_beats,
            packets: &done.packets,
            bytes_per_cycle: design.memory.bytes_per_cycle(),
        };
        let [kv_phase, total] = carried.phases(design, done.kv_cycles, total_cycles);
        AttentionRow {
            max_abs_error: ours.max,
            rms_error: ours.rms,
            fa2_max_abs_error: fa2.max,
            fa2_rms_error: fa2.rms,
            heads_within_fa2: heads.map(|heads| heads.within),
            heads_fa2_not_finite: heads.map(|heads| heads.fa2_not_finite),
            bit_exact: done.numbers.then(|| done.bit_exact()),
            outputs,
            differing: differing.sum(),
            differing_sums: done.wrong_sums().map(|wrong| wrong.len()),
            heads: job.tensors.heads,
            streams: job.streams as usize,
            tokens: job.longest(),
            noc_mhz: design.clock.noc_mhz,
            pe_mhz: design.clock.pe_mhz,
            jitter_percent: done.clocks.jitter,
            cycles: done.cycles,
            query_cycles: done.query_cycles,
            kv_cycles: done.kv_cycles,
            total_cycles,
            kv_gbs: total.kv_gbs,
            share: total.share,
            share_left: total.share_left,
            bounds: total.bounds,
            kv_phase,
            breakdown: breakdown(done),
            mac_utilisation: row_passes as f64 / (pe_window * f64::from(rows) * done.pad.len() as f64),
            accepted_a_cycle: accepted_a_cycle(design, &done.pad),
            fifo_utilisation: all("flit_waits_or_passes") as f64 / (pe_window * done.pad.len() as f64),
            stages: Stages {
                k_passes: of(busiest, "k_passes"),
                v_passes: of(busiest, "v_passes"),
                ones_passes: of(busiest, "ones_passes"),
                starved: of(busiest, "starved"),
                weights_awaited: of(busiest, "weights_awaited"),
                reading_results: of(busiest, "reading_results"),
            },
            bound_by: total.bounds.near_tightest(),
            over_bound: total.over_bound(),
            imbalance: imbalance(design, &done.beats),
            saturated: done.saturated.clone(),
            widths: if done.numbers { widths(job) } else { Vec::new() },
            violations: done.violations.clone(),
            wrong_heads: if done.numbers { done.wrong() } else { Vec::new() },
        }
    }
}

fn event(name: &str) -> usize {
    TILE_EVENTS.iter().position(|event| *event == name).expect("tiles count it")
}

/// Numbers of heads by their errors beside FlashAttention-2's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Heads {
    /// Ours are no larger than its finite ones.
    within: usize,
    /// It has no finite one.
    fa2_not_finite: usize,
}

impl Heads {
    /// Counts a head with our error and FlashAttention-2's. No error is larger than one that is not
    /// finite, so such a head says nothing about ours.
    fn count(&mut self, ours: &Error, fa2: &Error) {
        let finite = fa2.max.is_finite() && fa2.rms.is_finite();
        self.within += usize::from(finite && ours.within(fa2));
        self.fa2_not_finite += usize::from(!finite);
    }
}

/// Our errors and FlashAttention-2's over all outputs, and the heads, each over all streams. `None`
/// if no numbers were computed.
fn errors(job: &Job, done: &AttentionResult) -> (Error, Error, Option<Heads>) {
    if !done.numbers {
        let unknown = Error { max: f64::NAN, rms: f64::NAN };
        return (unknown, unknown, None);
    }
    let mut all = Compared::default();
    let mut heads = Heads::default();
    for head in 0..job.tensors.heads as u32 {
        let mut one = Compared::default();
        for stream in 0..job.streams {
            one.add(job, (stream, head), &done.outputs[&(stream, head)]);
        }
        heads.count(&one.ours(), &one.theirs());
        all.extend(one);
    }
    (all.ours(), all.theirs(), Some(heads))
}

#[cfg(test)]
mod tests {
    use crate::eval::rows::attention::*;

    const fn error(max: f64, rms: f64) -> Error {
        Error { max, rms }
    }

    #[test]
    fn a_head_without_a_finite_error_of_flash_attention_is_counted_apart() {
        let mut heads = Heads::default();
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for (ours, fa2) in [
            (error(1.0, 0.5), error(1.0, 0.5)),
            (error(1.0, 0.6), error(1.0, 0.5)),
            (error(1.0, 0.5), error(inf, inf)),
            (error(1.0, 0.5), error(nan, nan)),
            (error(nan, nan), error(nan, nan)),
            (error(nan, nan), error(1.0, 0.5)),
        ] {
            heads.count(&ours, &fa2);
        }
        assert_eq!(heads, Heads { within: 1, fa2_not_finite: 3 });
    }

    #[test]
    fn the_better_block_size_is_one_that_has_an_error() {
        for errors in [[error(f64::NAN, f64::NAN), error(2.0, 1.0)], [error(2.0, 1.0), error(f64::NAN, 3.0)]]
        {
            assert_eq!(Error::least(errors), error(2.0, 1.0));
        }
    }
}
