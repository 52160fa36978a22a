//! The queries of a head: their exact outputs, and the errors of computations.

use meshkv::config::{KvFormat, Narrow};
use meshkv::model::datapath::numbers::element::quantised;
use meshkv::model::datapath::reference::{
    exact_tokens, flash_attention2_scaled, flash_attention2_tokens, flash_attention3, Error, FLASH_BLOCKS,
};
use meshkv::model::datapath::tensors::Tensors;
use meshkv::model::datapath::Tokens;
use meshkv::model::{attend_scaled, split, Datapath, HeadScales, Scale};

/// P, and tiles that share a head.
const SEGMENT: usize = 64;
const TILES: usize = 8;

/// Expected outputs of a head's queries, and the error of other computations.
pub struct Set<'a> {
    pub tensors: &'a Tensors,
    head: usize,
    /// Of the keys and values as they are in the cache, times their factors.
    pub exact: Vec<f64>,
    pub flash: Error,
    /// The exact outputs rounded to FP16, the best possible.
    pub least: Error,
}

/// Factors of the keys and the values of each token: those of the head times those of the token.
fn factors(tensors: &Tensors, head: usize) -> Vec<[f64; 2]> {
    let of_head = tensors.scales(head).map(f64::from);
    let value = |bits: u16| half::f16::from_bits(bits).to_f64();
    match tensors.token_scales(head) {
        None => vec![of_head; tensors.tokens],
        Some(scales) => scales.iter().map(|of| [0, 1].map(|at| value(of[at]) * of_head[at])).collect(),
    }
}

/// Rows of keys, which are part 0, or of values in E4M3, and the factor that makes the largest of them the largest number.
fn in_e4m3<'a>(
    rows: impl Iterator<Item = &'a [u16]> + Clone,
    factors: &[[f64; 2]],
    part: usize,
) -> (Vec<u16>, f32) {
    const MOST: f64 = 448.0;
    let value = |bits: u16, of: &[f64; 2]| half::f16::from_bits(bits).to_f64() * of[part];
    let all = rows.clone().zip(factors).flat_map(|(row, of)| row.iter().map(move |&bits| (bits, of)));
    let most = all.clone().map(|(bits, of)| value(bits, of).abs()).fold(0.0, f64::max);
    let scale = (if most > 0.0 { most / MOST } else { 1.0 }) as f32;
    let codes =
        all.map(|(bits, of)| quantised(KvFormat::Fp8E4m3, bits, (of[part] / f64::from(scale)) as f32));
    (codes.collect(), scale)
}

impl Set<'_> {
    pub fn of(tensors: &Tensors, head: usize) -> Set<'_> {
        let (k, v, scales) = (tensors.keys(head), tensors.values(head), tensors.scales(head));
        let factors = factors(tensors, head);
        let singles: Vec<[f32; 2]> = factors.iter().map(|of| of.map(|factor| factor as f32)).collect();
        let queries = || (0..tensors.positions).map(|position| tensors.query(head, position));
        let exact: Vec<f64> = queries().flat_map(|q| exact_tokens(q, k, v, &factors)).collect();
        let of_block = |block| {
            let one = |q| match tensors.token_scales(head) {
                Some(_) => flash_attention2_tokens(q, k, v, &singles, block),
                None => flash_attention2_scaled(q, k, v, scales.into(), block),
            };
            Error::of(&queries().flat_map(one).collect::<Vec<u16>>(), &exact)
        };
        let flash = Error::least(FLASH_BLOCKS.map(of_block));
        let rounded: Vec<u16> = exact.iter().map(|&x| half::f16::from_f64(x).to_bits()).collect();
        let least = Error::of(&rounded, &exact);
        Set { tensors, head, exact, flash, least }
    }

    /// Error of FlashAttention-3 in FP8, which brings what the cache holds into E4M3 by a factor of K's and of V's. A cache
    /// in E4M3 without scales of tokens stays what it is.
    pub fn flash3(&self) -> Error {
        let t = self.tensors;
        let [(k, k_scale), (v, v_scale)] = [(t.keys(self.head), 0), (t.values(self.head), 1)]
            .map(|(rows, part)| in_e4m3(rows.chunks(t.head_dim), &factors(t, self.head), part));
        let one = |p| flash_attention3(t.query(self.head, p), &k, &v, (k_scale, v_scale));
        Error::of(&(0..t.positions).flat_map(one).collect::<Vec<u16>>(), &self.exact)
    }

    /// Error of a datapath whose numbers have all their bits.
    pub fn ours(&self, datapath: &Datapath) -> Error {
        self.narrowed(datapath, Narrow::None)
    }

    /// Error of a datapath, with packed numbers of these widths.
    pub fn narrowed(&self, datapath: &Datapath, narrow: Narrow) -> Error {
        let (t, head, shape) = (self.tensors, self.head, datapath.shape);
        let [k_scale, output] = t.scales(head);
        // Formats of sixteen bits have the constant.
        let logit = match shape.format.bytes() {
            1 => {
                let root = std::f64::consts::LOG2_E / f64::from(shape.model_dim).sqrt();
                Scale::given(root * f64::from(k_scale), shape.format).expect("a scale of the range")
            }
            _ => datapath.scale,
        };
        let tokens = Tokens { k: t.keys(head), v: t.values(head), scales: t.token_scales(head) };
        let split = split(t.tokens, SEGMENT, TILES);
        let one = |p| {
            attend_scaled(
                datapath,
                t.query(head, p),
                tokens,
                HeadScales { logit, output, narrow, sink: None },
                &split,
            )
        };
        Error::of(&(0..t.positions).flat_map(one).collect::<Vec<u16>>(), &self.exact)
    }
}
