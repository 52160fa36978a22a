//! Errors of attention against f64 on drawn tensors: ours, and those of FlashAttention-2.

use super::plan::SEEDS;
use crate::eval::Spread;
use crate::model::datapath::reference::{exact, flash_attention2, Error, FLASH_BLOCKS};
use crate::model::datapath::tensors::{synthetic, Logits, Synthetic};
use crate::model::{attend, split, Datapath, DatapathShape};

/// Tokens of a context.
const TOKENS: [usize; 3] = [1000, 4096, 32_768];
/// Elements of a head, and of a flit of 512 bits.
const SHAPE: DatapathShape = DatapathShape::whole(128, 32);
/// P, and tiles that share a head.
const SEGMENT: usize = 64;
const TILES: usize = 8;

/// Tensors that are drawn: the spread of logits, the tokens, the seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draw {
    logits: Logits,
    tokens: usize,
    seed: u32,
}

impl Draw {
    /// All of them, the longest first.
    pub fn all() -> Vec<Draw> {
        let of = |tokens: usize| {
            let seeds = move |logits: Logits| SEEDS.map(|seed| Draw { logits, tokens, seed });
            Logits::ALL.into_iter().flat_map(seeds)
        };
        TOKENS.into_iter().rev().flat_map(of).collect()
    }

    /// Computes one query of one head.
    pub fn errors(self) -> Errors {
        let (positions, head_dim) = (1, SHAPE.head_dim as usize);
        let what = Synthetic {
            seed: u64::from(self.seed),
            heads: 1,
            kv_heads: 1,
            positions,
            tokens: self.tokens,
            head_dim,
            logits: self.logits,
        };
        let tensors = synthetic(&what);
        let (q, k, v) = (tensors.query(0, 0), tensors.keys(0), tensors.values(0));
        let exact = exact(q, k, v);
        let ours = attend(&Datapath::new(SHAPE), q, k, v, &split(self.tokens, SEGMENT, TILES));
        let flash = FLASH_BLOCKS.map(|block| Error::of(&flash_attention2(q, k, v, block), &exact));
        Errors { draw: self, ours: Error::of(&ours, &exact), flash: Error::least(flash) }
    }
}

/// Errors of one draw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    draw: Draw,
    /// Ours.
    ours: Error,
    /// FlashAttention-2's, with the better size of its blocks.
    flash: Error,
}

/// What five seeds of one kind gave.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Accuracy {
    pub(super) logits: Logits,
    pub(super) tokens: usize,
    /// Maximum and RMS, ours.
    pub(super) ours: [Spread; 2],
    /// The same of FlashAttention-2.
    pub(super) flash: [Spread; 2],
    /// Ours over FlashAttention-2's, RMS.
    pub(super) ratio: Spread,
}

/// The errors by kind, those that have all seeds.
pub(super) fn accuracy(errors: &[Errors]) -> Vec<Accuracy> {
    let kinds = TOKENS.into_iter().flat_map(|tokens| Logits::ALL.map(|logits| (logits, tokens)));
    let of = |(logits, tokens): (Logits, usize)| {
        // By seed, in whatever order they were computed: a sum of floats depends on its order.
        let of_seed = |seed: &u32| errors.iter().find(|e| e.draw == Draw { logits, tokens, seed: *seed });
        let all: Vec<&Errors> = SEEDS.iter().filter_map(of_seed).collect();
        let spread =
            |figure: fn(&Errors) -> f64| Spread::of(&all.iter().map(|e| figure(e)).collect::<Vec<_>>());
        (all.len() == SEEDS.len()).then(|| Accuracy {
            logits,
            tokens,
            ours: [spread(|e| e.ours.max), spread(|e| e.ours.rms)],
            flash: [spread(|e| e.flash.max), spread(|e| e.flash.rms)],
            ratio: spread(|e| e.ours.rms / e.flash.rms),
        })
    };
    kinds.filter_map(of).collect()
}
