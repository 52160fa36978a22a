//! Errors of attention over caches in other formats than FP16.
//!
//! Ours is the error against f64 on what the cache holds, beside that of FlashAttention-2 in FP16 on the same and of
//! FlashAttention-3 in FP8; that of the format is f64 on what the cache holds against f64 on the FP16 inputs. All are RMS
//! over the queries of a head, as a share of the RMS of its exact outputs.

use super::figure::{Figure, Goal};
use super::heads::Set;
use super::numbers::{captured, excess};
use anyhow::Result;
use half::f16;
use meshkv::config::{KvFormat, KvScales, Narrow};
use meshkv::model::datapath::reference::exact;
use meshkv::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};
use meshkv::model::{Datapath, DatapathShape};
use rand_pcg::rand_core::Rng;
use rand_pcg::Pcg64;

/// Seeds of drawn inputs.
const SEEDS: std::ops::Range<u64> = 100..104;
/// A head is no worse than FlashAttention-2 within this share.
const SLACK: f64 = 0.01;
/// What the RMS of narrow numbers is to be of FlashAttention-3's: on captured inputs, and on drawn ones.
const OF_FLASH3: [f64; 2] = [0.47, 0.5];
/// What measures all of it.
const COMMAND: &str = "cargo bench --bench figures -- formats";
/// Name of the captured inputs.
const CAPTURED: &str = "MiniLM";

pub fn measure() -> Result<Vec<Figure>> {
    let mut kinds = vec![(CAPTURED.to_owned(), captured()?)];
    if kinds[0].1.is_empty() {
        kinds.clear();
    }
    let all = |of: &dyn Fn(u64) -> Tensors| SEEDS.map(of).collect::<Vec<_>>();
    kinds.extend(
        Logits::ALL.map(|logits| (logits.name().to_owned(), all(&|seed| synthetic(&drawn(seed, logits))))),
    );
    kinds.push(("outliers".to_owned(), all(&|seed| outliers(seed))));
    let formats = [
        (KvFormat::Bf16, KvScales::Head),
        (KvFormat::Fp8E4m3, KvScales::Head),
        (KvFormat::Fp8E5m2, KvScales::Head),
        (KvFormat::Int8, KvScales::Head),
        (KvFormat::Int8, KvScales::Token),
        (KvFormat::Fp8E4m3, KvScales::Token),
    ];
    let each = formats.into_iter().flat_map(|format| kinds.iter().map(move |kind| (format, kind)));
    let mut figures: Vec<Figure> =
        each.map(|(format, (name, inputs))| of_format(format, name, inputs)).collect();
    let widths = [Narrow::Keys, Narrow::Values, Narrow::Both];
    let each = widths.into_iter().flat_map(|narrow| kinds.iter().map(move |kind| (narrow, kind)));
    figures.extend(each.map(|(narrow, (name, inputs))| of_widths(narrow, name, inputs)));
    Ok(figures)
}

fn drawn(seed: u64, logits: Logits) -> Synthetic {
    Synthetic { seed, heads: 12, kv_heads: 6, positions: 8, tokens: 512, head_dim: 128, logits }
}

/// Tensors with channels far above the others: a sixteenth of those of K has a large constant part, a thirty-second of
/// those of q is eight times as large, and two of V are ten times as large.
fn outliers(seed: u64) -> Tensors {
    let (shape, [q, k, v]) = synthetic(&drawn(seed, Logits::Normal)).into_parts();
    let [.., tokens, dim] = shape;
    let mut rng = Pcg64::new(u128::from(seed), 2);
    let mut channels =
        |count: usize| -> Vec<usize> { (0..count).map(|_| (rng.next_u64() % dim as u64) as usize).collect() };
    let (of_q, of_k, of_v) = (channels(dim / 32), channels(dim / 16), channels(2));
    let mut signs = || if rng.next_u64() >> 63 == 1 { -1.0 } else { 1.0 };
    let offsets: Vec<f64> = (0..k.len() / tokens).map(|at| signs() * (8.0 + (at % 13) as f64)).collect();
    let changed = |rows: Vec<u16>, of: &dyn Fn(usize, usize, f64) -> f64| -> Vec<u16> {
        let value = |(at, bits): (usize, u16)| of(at, at % dim, f16::from_bits(bits).to_f64());
        rows.into_iter().enumerate().map(|one| f16::from_f64(value(one)).to_bits()).collect()
    };
    let q = changed(q, &|_, channel, x| if of_q.contains(&channel) { 16.0 * x } else { 2.0 * x });
    let k = changed(k, &|at, channel, x| match of_k.contains(&channel) {
        true => 2.0 * x + offsets[at / (tokens * dim) * dim + channel],
        false => x,
    });
    let v = changed(v, &|_, channel, x| if of_v.contains(&channel) { 10.0 * x } else { x });
    Tensors::new(shape, [q, k, v])
}

/// Errors of a head, as shares of the RMS of its exact outputs.
struct Errors {
    ours: f64,
    flash: f64,
    flash3: Option<f64>,
    format: f64,
    /// How far ours is above FlashAttention-2's, in maximum or RMS.
    excess: f64,
    excess_rms: f64,
}

/// The datapath of a cache in a format.
fn datapath(format: KvFormat, inputs: &Tensors) -> Datapath {
    Datapath::new(DatapathShape {
        format,
        ..DatapathShape::whole(inputs.head_dim as u32, 64 / format.bytes())
    })
}

fn root_mean_square(of: &mut dyn Iterator<Item = f64>) -> f64 {
    let (count, square) = of.fold((0, 0.0), |(count, square), x| (count + 1, square + x * x));
    (square / f64::from(count)).sqrt()
}

/// Inputs as a cache in a format has them.
fn cached((format, scales): (KvFormat, KvScales), inputs: &Tensors) -> Tensors {
    match scales {
        KvScales::Token => inputs.clone().quantised_by_token(format),
        _ => inputs.clone().quantised(format),
    }
}

fn heads((format, scales): (KvFormat, KvScales), inputs: &[Tensors]) -> Vec<Errors> {
    let of_inputs = |inputs: &Tensors| {
        let cached = cached((format, scales), inputs);
        let datapath = datapath(format, inputs);
        (0..inputs.heads).map(|head| of_head(&datapath, inputs, &cached, head)).collect::<Vec<_>>()
    };
    inputs.iter().flat_map(of_inputs).collect()
}

fn of_head(datapath: &Datapath, inputs: &Tensors, cached: &Tensors, head: usize) -> Errors {
    let set = Set::of(cached, head);
    let ours = set.ours(datapath);
    let whole = root_mean_square(&mut set.exact.iter().copied());
    let (k, v) = (inputs.keys(head), inputs.values(head));
    let of_inputs = (0..inputs.positions).flat_map(|p| exact(inputs.query(head, p), k, v));
    let format = root_mean_square(&mut of_inputs.zip(&set.exact).map(|(x, y)| x - y));
    // Its scheme has a factor a head.
    let is_e4m3 = datapath.shape.format == KvFormat::Fp8E4m3 && cached.token_scales(head).is_none();
    Errors {
        ours: ours.rms / whole,
        flash: set.flash.rms / whole,
        flash3: is_e4m3.then(|| set.flash3().rms / whole),
        format: format / whole,
        excess: excess(&ours, &set.flash),
        excess_rms: (ours.rms / set.flash.rms - 1.0).max(0.0),
    }
}

fn range(of: &mut dyn Iterator<Item = f64>) -> String {
    let (least, most) = of.fold((f64::INFINITY, 0f64), |(least, most), x| (least.min(x), most.max(x)));
    format!("{least:.1e} to {most:.1e}")
}

fn of_format((format, scales): (KvFormat, KvScales), name: &str, inputs: &[Tensors]) -> Figure {
    let heads_of = heads((format, scales), inputs);
    let above = |of: &[Errors]| of.iter().filter(|head| head.excess > 0.0).count();
    let (count, today) = (heads_of.len(), above(&heads((KvFormat::Fp16, KvScales::Head), inputs)));
    let range = |of: &dyn Fn(&Errors) -> f64| range(&mut heads_of.iter().map(of));
    let worst = heads_of.iter().map(|head| head.excess_rms).fold(0.0, f64::max);
    let worse = above(&heads_of);
    let flash3 = match heads_of[0].flash3 {
        Some(_) => {
            let ratio = |head: &Errors| head.ours / head.flash3.unwrap_or(f64::NAN);
            let most = heads_of.iter().map(ratio).fold(0.0, f64::max);
            format!("; at most {most:.4} of FlashAttention-3's in FP8")
        }
        None => String::new(),
    };
    let value = format!(
        "{} (FlashAttention-2: {}); max or RMS above it in {worse} of {count} heads ({today} in FP16), RMS by {:.2} % at most{flash3}; \
         the format's own: {}",
        range(&|head| head.ours),
        range(&|head| head.flash),
        100.0 * worst,
        range(&|head| head.format),
    );
    let met = worst <= SLACK && worse <= today;
    Figure {
        what: format!(
            "RMS error on what a cache in {}{} holds, over the RMS of outputs: {name}",
            format.name(),
            if scales == KvScales::Token { " with scales of tokens" } else { "" }
        ),
        value,
        goal: Goal::Met(met, "no RMS above by more than 1 %, no more heads above than in FP16".to_owned()),
        command: COMMAND.to_owned(),
    }
}

/// INT8 with narrow numbers beside FlashAttention-3 in FP8: of the same cache, both against f64 on what that holds; and of a
/// cache in E4M3, against f64 on what that one holds.
fn of_widths(narrow: Narrow, name: &str, inputs: &[Tensors]) -> Figure {
    let of_inputs = |inputs: &Tensors| {
        let int8 = cached((KvFormat::Int8, KvScales::Token), inputs);
        let e4m3 = cached((KvFormat::Fp8E4m3, KvScales::Head), inputs);
        let datapath = datapath(KvFormat::Int8, inputs);
        let of_head = |head| {
            let (ours, other) = (Set::of(&int8, head), Set::of(&e4m3, head));
            let whole = |set: &Set| root_mean_square(&mut set.exact.iter().copied());
            let flash3 = |set: &Set| set.flash3().rms / whole(set);
            [ours.narrowed(&datapath, narrow).rms / whole(&ours), flash3(&ours), flash3(&other)]
        };
        (0..inputs.heads).map(of_head).collect::<Vec<_>>()
    };
    let heads: Vec<[f64; 3]> = inputs.iter().flat_map(of_inputs).collect();
    let most = |of: usize| heads.iter().map(|head| head[0] / head[of]).fold(0.0, f64::max);
    let limit = OF_FLASH3[usize::from(name != CAPTURED)];
    Figure {
        what: format!(
            "RMS error of INT8 with scales of tokens and pe.narrow = \"{}\": {name}",
            narrow.name()
        ),
        value: format!(
            "{} (FlashAttention-3 in FP8 of the same cache: {}); at most {:.3} of it in {} heads, {:.3} of its error with a \
             cache in E4M3",
            range(&mut heads.iter().map(|head| head[0])),
            range(&mut heads.iter().map(|head| head[1])),
            most(1),
            heads.len(),
            most(2),
        ),
        goal: Goal::Met(most(1) <= limit, format!("{limit} of it")),
        command: COMMAND.to_owned(),
    }
}
