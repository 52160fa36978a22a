//! What each choice of widths of packed numbers costs in error, on the numbers of a run.

use crate::config::Narrow;
use crate::cosim::workloads::attention::Job;
use crate::design::Array;
use crate::model::datapath::reference::{exact_sunk, Error};
use crate::model::datapath::{attend_scaled, split, HeadScales, Tokens};
use crate::model::{Datapath, DatapathShape};
use schemars::JsonSchema;
use serde::Serialize;

/// Heads on which the choices are compared, at most.
const HEADS: u32 = 4;

/// Error of a choice of widths, by the model of the datapath.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WidthsError {
    /// The choice: `pe.narrow`, or a host's.
    pub narrow: Narrow,
    /// Root of the mean square error of the outputs against f64, over that of the exact outputs.
    pub rms_share: f64,
    /// True for the choice of this run.
    pub chosen: bool,
}

/// Errors of all choices on some heads of the first stream; none where rows do not share their multipliers, or there are no
/// numbers.
pub fn widths(job: &Job) -> Vec<WidthsError> {
    let design = job.design;
    if !Array::of(design).is_packed() || job.tensors.is_blank() {
        return Vec::new();
    }
    let datapath = Datapath::new(DatapathShape::of(design));
    let tokens = job.attended(0);
    let tiles = split(tokens.len(), design.placement.segment_tokens as usize, design.mesh.rows() as usize);
    let heads = (0..design.model.heads).step_by(design.model.heads.div_ceil(HEADS) as usize);
    let of_heads: Vec<_> = heads
        .map(|head| {
            let (q, (k, v)) = (job.query(head, 0), job.kv(head, tokens.clone()));
            let rows = [q, k, v].map(|rows| job.tensors.of_model(rows));
            let exact =
                exact_sunk(&rows[0], &rows[1], &rows[2], &job.factors(head, tokens.clone()), job.sink(head));
            (head, exact)
        })
        .collect();
    let of = |narrow: Narrow| {
        let mut outputs = Vec::new();
        for (head, _) in &of_heads {
            let ((k, v), scales) = (job.kv(*head, tokens.clone()), job.token_scales(*head, tokens.clone()));
            let tokens = Tokens { k, v, scales: scales.as_deref() };
            let scales = HeadScales { narrow, ..job.scales(*head) };
            let output = attend_scaled(&datapath, job.query(*head, 0), tokens, scales, &tiles);
            outputs.extend(job.tensors.of_model(&output));
        }
        let exact: Vec<f64> = of_heads.iter().flat_map(|(_, exact)| exact).copied().collect();
        let whole = (exact.iter().map(|x| x * x).sum::<f64>() / exact.len() as f64).sqrt();
        let rms_share = Error::of(&outputs, &exact).rms / whole;
        WidthsError { narrow, rms_share, chosen: narrow == job.scales(0).narrow }
    };
    Narrow::ALL.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, KvFormat, Mapping, Sharing};
    use crate::design::Design;
    use crate::eval::rows::widths::*;
    use crate::model::datapath::tensors::{synthetic, Logits, Synthetic};

    #[test]
    fn numbers_of_nine_bits_cost_error_and_those_of_18_none_to_speak_of() {
        let mut config = Config::default();
        (config.kv.format, config.pe.narrow) = (KvFormat::Int8, Narrow::Values);
        (config.kv.segment_tokens, config.pe.array_rows) = (128, 4);
        let design = Design::from_config("packed", &config).unwrap();
        let (heads, kv_heads) = (design.model.heads as usize, design.model.kv_heads as usize);
        let what = Synthetic {
            seed: 3,
            heads,
            kv_heads,
            positions: 1,
            tokens: 200,
            head_dim: 128,
            logits: Logits::Normal,
        };
        let tensors = synthetic(&what).of_design(&design);
        let job = Job::new(&design, &tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead).unwrap();
        let found = widths(&job);
        let [none, keys, values, both] = [0, 1, 2, 3].map(|at: usize| found[at].rms_share);
        assert!(none < 1e-3 && none < keys && none < values && keys.max(values) < both, "{found:?}");
        assert_eq!(found.iter().map(|of| of.chosen).collect::<Vec<_>>(), [false, false, true, false]);
    }
}
