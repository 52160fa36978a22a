//! Runs over disjoint tokens, merged as a host merges the partial results of several cards.

use crate::cosim::workloads::attention::{AttentionResult, Job};
use crate::eval::AttentionRow;
use crate::model::datapath::reference::exact_sunk;
use crate::model::State;
use schemars::JsonSchema;
use serde::Serialize;

/// A run over some of the tokens.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartRow {
    /// Its first token.
    pub first: u32,
    /// Its tokens.
    pub tokens: u32,
    /// Cycles from the first descriptor to the last partial result.
    pub cycles: u64,
    /// True if m, l and o of every head equal the model of the datapath in every bit.
    pub bit_exact: bool,
}

/// Partial results of several runs, merged.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PartialsRow {
    /// The runs, by their tokens.
    pub runs: Vec<PartRow>,
    /// True if every run is bit-exact.
    pub bit_exact: bool,
    /// Largest error of a merged output, in FP32, against attention in f64 over all tokens.
    #[schemars(with = "Option<f64>")]
    pub max_abs_error: f64,
    /// Root of its mean square error over all outputs.
    #[schemars(with = "Option<f64>")]
    pub rms_error: f64,
    /// Largest difference of a merged output from that of the one run over all tokens, which is in FP16.
    #[schemars(with = "Option<f64>")]
    pub max_difference: f64,
    /// Bound of `max_abs_error`: the larger of that of the one run over all tokens and of FlashAttention-2.
    #[schemars(with = "Option<f64>")]
    pub bound: f64,
    /// True if `max_abs_error` is at most the bound.
    pub within_bound: bool,
    /// Broken rules of any of the runs.
    pub violations: Vec<String>,
}

impl PartialsRow {
    /// Merges the runs of parts of a job; `whole` and `row` are the run over all its tokens.
    ///
    /// # Panics
    /// If a run lacks a head.
    pub fn new(
        job: &Job,
        whole: &AttentionResult,
        row: &AttentionRow,
        parts: &[(Job, AttentionResult)],
    ) -> PartialsRow {
        let dim = job.tensors.head_dim;
        let (mut most, mut square, mut apart, mut outputs) = (0_f64, 0_f64, 0_f64, 0);
        for (&(stream, head), one_run) in &whole.outputs {
            let states = parts.iter().map(|(_, done)| State::of_halves(&done.outputs[&(stream, head)]));
            let scales = job.scales(head);
            let merged = states.fold(State::of_sink(scales.sink, dim), |all, more| all.merge(&more)).output();
            let (k, v) = job.kv(head, job.attended(stream));
            let [q, k, v] = [job.query(head, stream), k, v].map(|rows| job.tensors.of_model(rows));
            let factors = job.factors(head, job.attended(stream));
            let exact = exact_sunk(&q, &k, &v, &factors, job.sink(head));
            for ((merged, exact), half) in merged.iter().zip(exact).zip(one_run) {
                // A host applies the factor of the values, as the root does to outputs.
                let merged = merged * scales.output;
                let error = (f64::from(merged) - exact).abs();
                most = larger(most, error);
                square += error * error;
                apart = larger(apart, (f64::from(merged) - half::f16::from_bits(*half).to_f64()).abs());
                outputs += 1;
            }
        }
        let fa2 = row.fa2_max_abs_error;
        let bound = if fa2.is_finite() { larger(row.max_abs_error, fa2) } else { row.max_abs_error };
        let runs: Vec<PartRow> = parts
            .iter()
            .map(|(part, done)| PartRow {
                first: part.rows.start,
                tokens: part.rows.end - part.rows.start,
                cycles: done.cycles,
                bit_exact: done.bit_exact(),
            })
            .collect();
        PartialsRow {
            bit_exact: runs.iter().all(|run| run.bit_exact),
            runs,
            max_abs_error: most,
            rms_error: (square / f64::from(outputs.max(1))).sqrt(),
            max_difference: apart,
            bound,
            // A head with an infinity or a NaN is NaN in both.
            within_bound: most <= bound || most.is_nan() && bound.is_nan(),
            violations: parts.iter().flat_map(|(_, done)| done.violations.iter().cloned()).collect(),
        }
    }

    /// True if all checks hold.
    pub fn is_good(&self) -> bool {
        self.bit_exact && self.within_bound && self.violations.is_empty()
    }
}

/// The larger of two, NaN if either is.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b {
        a
    } else {
        b
    }
}
