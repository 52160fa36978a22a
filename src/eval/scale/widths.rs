//! What a choice of widths of packed numbers saves on cards, and what it costs.

use crate::config::{Mapping, Narrow, Sharing};
use crate::cosim::workloads::attention::Job;
use crate::design::{Array, Design};
use crate::eval::rows::widths::{widths, WidthsError};
use crate::eval::scale::{plan_cards, Load};
use crate::model::datapath::tensors::{synthetic, Logits, Synthetic};
use schemars::JsonSchema;
use serde::Serialize;

/// A choice of widths of packed numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WidthsPlan {
    /// The choice: `pe.narrow`, or a host's.
    pub narrow: Narrow,
    /// Expected microseconds of a step by the best way; null if none is possible.
    pub step_us: Option<f64>,
    /// RMS error of outputs on drawn inputs, over the RMS of the outputs.
    pub rms_share: f64,
}

/// Tokens of the drawn inputs on which choices of widths are compared.
const DRAWN_TOKENS: u32 = 256;

/// What each choice of widths of packed numbers costs: time of a step by the best way, and error on drawn inputs. None where
/// rows do not share their multipliers.
pub fn plan_widths(design: &Design, load: &Load) -> Vec<WidthsPlan> {
    if !Array::of(design).is_packed() {
        return Vec::new();
    }
    let model = &design.model;
    let inputs = synthetic(&Synthetic {
        seed: 1,
        heads: model.heads as usize,
        kv_heads: model.kv_heads as usize,
        positions: 1,
        tokens: DRAWN_TOKENS.min(model.max_tokens) as usize,
        head_dim: model.head_dim as usize,
        logits: Logits::Normal,
    })
    .of_design(design);
    let Ok(job) = Job::new(design, &inputs, (0, 1), Mapping::RowAligned, Sharing::KvHead) else {
        return Vec::new();
    };
    let of = |error: WidthsError| {
        let mut config = design.configuration().clone();
        config.pe.narrow = error.narrow;
        let planned = Design::from_config(&design.name, &config).ok().map(|design| plan_cards(&design, load));
        let best = planned.iter().flat_map(|plan| plan.ways.iter().filter(|way| Some(way.way) == plan.best));
        WidthsPlan {
            narrow: error.narrow,
            step_us: best.filter_map(|way| way.time.map(|time| time.expected_us)).next(),
            rms_share: error.rms_share,
        }
    };
    widths(&job).into_iter().map(of).collect()
}
