//! Attention of the whole core beside its model, with every output compared in every bit.

use super::bed::{none, patience, Bed, Check};
use crate::cosim::build::BuildForm;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::memory::Behaviour;
use crate::cosim::workloads::attention::{AttentionResult, Bench, Job, Session};
use crate::cosim::workloads::steps::{decode, Caches, Difference, Schedule, StepsError};
use crate::design::{Design, Mapping, Sharing};
use crate::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};
use half::f16;

const MAPPINGS: [Mapping; 3] = [Mapping::RowAligned, Mapping::HeadTile, Mapping::StreamStriped];

const LOOKS: u32 = 2_000;

/// The checks.
pub(super) fn checks(design: &Design) -> Vec<Check> {
    let form = BuildForm::WholeCore;
    let mut all = vec![
        Check {
            name: "attention",
            form,
            run: |bed| [20, 5].into_iter().try_for_each(|tokens| alone(bed, tokens, Logits::Normal, 0)),
        },
        Check { name: "peaky attention", form, run: |bed| alone(bed, 45, Logits::Peaky, 60) },
        Check { name: "extreme logits", form, run: extremes },
        Check { name: "logits 128 apart", form, run: just_apart },
        Check { name: "mappings", form, run: mappings },
        Check { name: "clocks", form, run: clocks },
        Check { name: "steps", form, run: steps },
    ];
    if design.append.is_some() {
        all.push(Check { name: "growing steps", form, run: grows });
    }
    all
}

/// Tensors of so many tokens.
pub(super) fn tensors(design: &Design, tokens: usize, logits: Logits, seed: u64) -> Tensors {
    synthetic(&Synthetic {
        seed,
        heads: design.model.heads as usize,
        kv_heads: design.model.kv_heads as usize,
        positions: design.model.max_streams as usize,
        tokens,
        head_dim: design.pe.head_dim as usize,
        logits,
    })
    .of_design(design)
}

/// The job of all streams, or of as many as the tensors have positions for.
pub(super) fn job<'a>(design: &'a Design, tensors: &'a Tensors, mapping: Mapping) -> Result<Job<'a>, String> {
    let streams = design.model.max_streams;
    Job::new(design, tensors, (0, streams), mapping, Sharing::KvHead).map_err(|why| why.to_string())
}

/// The fault of a result.
pub(super) fn judged(done: &AttentionResult) -> Result<(), String> {
    none(&done.violations)?;
    match done.wrong().first() {
        Some((stream, head)) => Err(format!("head {head} of stream {stream} differs from the model")),
        None if !done.bit_exact() => Err("outputs are missing".to_owned()),
        None => Ok(()),
    }
}

fn run(bed: &Bed, job: &Job, behaviour: Behaviour, clocks: Clocks, stall: u8) -> Result<(), String> {
    let both = bed.beside(Bench::model(bed.design), &Bench::ports(bed.design))?;
    let bench = Bench::on(both, job, behaviour, clocks).map_err(|why| why.to_string())?;
    bed.begins();
    let mut impatient = patience(LOOKS);
    judged(&bench.run(0, stall, &mut |_| impatient()).map_err(|why| why.to_string())?)
}

fn alone(bed: &Bed, tokens: usize, logits: Logits, stall: u8) -> Result<(), String> {
    let tensors = tensors(bed.design, tokens, logits, 3);
    let job = job(bed.design, &tensors, Mapping::RowAligned)?;
    run(bed, &job, Behaviour::of(bed.design), Clocks::IN_STEP, stall)
}

/// 2^15 in FP16: a product of two of them, summed over a row, is beyond the range of logits.
pub(super) const LARGE: u16 = 0x7800;

/// Factors of the keys of tokens, as FP16: logits leap up and down by some hundreds, by about 128, by little.
const LEAPS: [u16; 12] =
    [0x0000, 0x4000, 0x5400, 0xd400, 0x5c00, 0x3c00, 0x6800, 0xe800, 0x0001, 0x4d00, 0x4b00, 0xcb00];

/// Logits that leap from token to token, then from segment to segment, and such as leave the range; infinities.
fn extremes(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let dim = design.pe.head_dim as usize;
    let segment = design.placement.segment_tokens as usize;
    for (at, (tokens, run_of)) in
        [(24, 1), (40, 1), (17, 1), (6 * segment, segment), (9 * segment + 1, segment)]
            .into_iter()
            .enumerate()
    {
        let (shape, mut parts) = tensors(design, tokens, Logits::Normal, 5 + at as u64).into_parts();
        let [q, k, v] = &mut parts;
        for (row, query) in q.chunks_mut(dim).enumerate() {
            // One element counts: the logits are the keys' first elements, some below and some above.
            query.fill(0);
            query[0] = [0x4400, 0x5400, 0xc400, 0x3c00][(row + at) % 4];
        }
        for (token, key) in k.chunks_mut(dim).enumerate() {
            // Where a whole segment has one level, partial results of tiles are far from each other.
            let (token, head) = (token % tokens / run_of, token / tokens);
            key[0] = LEAPS[(token * 5 + token / 7 + head + at) % LEAPS.len()];
        }
        for (element, value) in v.iter_mut().enumerate() {
            // Subnormal numbers, zeros and the largest.
            *value = match element % 23 {
                0 => 0x0001,
                5 => 0x8000,
                11 => 0x7bff,
                17 => 0xfbff,
                _ => *value,
            };
        }
        if at == 1 || at == 4 {
            q[..dim].fill(LARGE);
            k[dim..2 * dim].fill(LARGE);
            // Not in all partial results of a head: some come between the two.
            k[(tokens - 2) * dim..(tokens - 1) * dim].fill(LARGE);
        }
        if at == 3 {
            // An infinity and a number that is none: in one partial result of a head, and in a query.
            k[2 * segment * dim] = 0x7c00;
            v[(tokens - 1) * dim + 3] = 0x7e00;
            let last = q.len() - 1;
            q[last] = 0xfc00;
        }
        let tensors = Tensors::new(shape, parts).of_design(design);
        let job = job(design, &tensors, MAPPINGS[at % MAPPINGS.len()])?;
        run(bed, &job, Behaviour::of(design), Clocks::IN_STEP, 0)?;
    }
    Ok(())
}

/// Partial results of a row exactly 128 below those of another: the last difference at which a shift is not its low bits.
/// Either row may be the first at the root.
fn just_apart(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let (dim, segment) = (design.pe.head_dim as usize, design.placement.segment_tokens as usize);
    let tokens = segment * (design.mesh.rows() as usize).max(2);
    // Of a query of 4: the logit in powers of two is -127.7, and its m -128.
    let far = f16::from_f32(-127.7 * (dim as f32).sqrt() / (4.0 * std::f32::consts::LOG2_E)).to_bits();
    for first in 0..2 {
        let (shape, mut parts) = tensors(design, tokens, Logits::Normal, 11).into_parts();
        let [q, k, _] = &mut parts;
        for query in q.chunks_mut(dim) {
            query.fill(0);
            query[0] = 0x4400;
        }
        for (token, key) in k.chunks_mut(dim).enumerate() {
            key[0] = if (token % tokens / segment) % 2 == first { 0 } else { far };
        }
        let tensors = Tensors::new(shape, parts).of_design(design);
        let job = job(design, &tensors, Mapping::RowAligned)?;
        run(bed, &job, Behaviour::of(design), Clocks::IN_STEP, 0)?;
    }
    Ok(())
}

/// All mappings in one run, memory out of order; then a part of the tokens, whose outputs are partial results.
fn mappings(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let tensors = tensors(design, 70, Logits::LongTail, 9);
    let all = job(design, &tensors, Mapping::HeadTile)?.mapped(&MAPPINGS);
    run(bed, &all, Behaviour::of(design).unruly(5), Clocks::IN_STEP, 100)?;
    let part =
        Job { sharing: Sharing::Segment, ..job(design, &tensors, Mapping::StreamStriped)?.part(9..50) };
    run(bed, &part, Behaviour::of(design), Clocks::IN_STEP, 0)
}

/// Clocks that drift past each other, in both directions, the second with jitter, which the model does not have.
fn clocks(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let tensors = tensors(design, 37, Logits::Peaky, 13);
    let job = job(design, &tensors, Mapping::HeadTile)?;
    let clocks = |pe_mhz, jitter| Clocks { noc_mhz: 250.0, pe_mhz, jitter, seed: 3 };
    run(bed, &job, Behaviour::of(design).unruly(8), clocks(283.0, 0), 40)?;
    let bench = Bench::on(bed.alone()?, &job, Behaviour::of(design).unruly(8), clocks(161.0, 20));
    let bench = bench.map_err(|why| why.to_string())?;
    bed.begins();
    let mut impatient = patience(LOOKS);
    judged(&bench.run(0, 40, &mut |_| impatient()).map_err(|why| why.to_string())?)
}

/// Steps one after the other on caches of their own, after which homes may swap; some on the queries of the step before.
fn steps(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let lengths: Vec<u32> = (0..design.model.max_streams).map(|b| 37 + 16 * b).collect();
    let tokens: u32 = lengths.iter().sum();
    let tensors = tensors(design, tokens as usize, Logits::Normal, 17);
    let of = |mapping: &Mapping| Job::ragged(design, &tensors, 0, &lengths, *mapping, Sharing::KvHead);
    let jobs: Vec<Job> = MAPPINGS.iter().map(of).collect::<Result<_, _>>().map_err(|why| why.to_string())?;
    let both = bed.beside(Bench::model(design), &Bench::ports(design))?;
    let behaviour = Behaviour::of(design).unruly(2);
    let session = Session::on(both, design, jobs[0].image(), behaviour, Clocks::IN_STEP);
    let mut session = session.map_err(|why| why.to_string())?;
    bed.begins();
    let mut impatient = patience(LOOKS);
    for (step, mapping) in [0, 0, 1, 2, 0, 1, 1].into_iter().enumerate() {
        let done = match step {
            1 | 6 => session.step_on_kept_queries(&jobs[mapping], 0, &mut impatient),
            _ => session.step(&jobs[mapping], 20, &mut impatient),
        };
        judged(&done.map_err(|why| why.to_string())?)?;
    }
    Ok(())
}

/// The same with a new token in each step.
fn grows(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let say = |why: StepsError| why.to_string();
    let segment = design.placement.segment_tokens;
    let lengths: Vec<u32> = (0..design.model.max_streams).map(|b| 3 * segment + 1 + 2 * b).collect();
    let schedule = Schedule::new(&lengths, segment, segment + 2, &[], &[]).map_err(say)?;
    let tensors = schedule.tensors(design, 21, Logits::Normal);
    let mut caches = Caches::new(design, &schedule).map_err(say)?;
    let image = caches.image(&tensors, 1);
    let both = bed.beside(Bench::model(design), &Bench::ports(design))?;
    let behaviour = Behaviour::of(design).unruly(2);
    let mut session =
        Session::on(both, design, image, behaviour, Clocks::IN_STEP).map_err(|why| why.to_string())?;
    bed.begins();
    let mut impatient = patience(LOOKS);
    let mut verdict = Ok(());
    let mut one =
        |job: &Job| session.step(job, 20, &mut || impatient()).map_err(|why| Fault(why.to_string()));
    let how = (Mapping::RowAligned, Sharing::KvHead);
    let ended = decode(&mut caches, &schedule, &tensors, how, &mut one, &mut |stepped| {
        if verdict.is_ok() {
            verdict = judged(stepped.done);
        }
    });
    ended.map_err(|Fault(why)| why)?;
    verdict?;
    match Difference::of(session.image(), &caches.image(&tensors, 1)) {
        Difference { differing: 0, .. } => Ok(()),
        other => Err(format!("memory differs from what was appended: {other:?}")),
    }
}

/// The words of a fault.
struct Fault(String);

impl From<StepsError> for Fault {
    fn from(why: StepsError) -> Fault {
        Fault(why.to_string())
    }
}
