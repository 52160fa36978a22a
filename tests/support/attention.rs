//! Attention on the whole design, for tests: small configurations, tensors for them, and a run.

use crate::support::verilated::{self, beside, emitted, library_of};
use meshkv::config::Config;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::memory::Behaviour;
use meshkv::cosim::workloads::attention::{AttentionError, AttentionResult, Bench, Job};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::SourceFile;
use meshkv::model::datapath::tensors::{synthetic, Logits, Synthetic, Tensors};

/// 3 x 2 tiles, 6 heads of 3 KV heads, segments of 8 tokens, rows of 32 elements, flits of 4.
pub fn small(change: impl FnOnce(&mut Config)) -> Design {
    verilated::design(3, 2, |c| {
        (c.noc.flit_width, c.noc.vc_depth) = (64, 4);
        (c.kv.segment_tokens, c.kv.uram_per_tile, c.kv.banks) = (8, 1, 2);
        (c.pe.head_dim, c.pad.fifo_depth) = (32, Some(16));
        (c.model.layers, c.model.heads, c.model.kv_heads) = (1, 6, 3);
        (c.model.max_tokens, c.model.max_streams) = (256, 2);
        change(c);
    })
}

pub fn tensors(design: &Design, tokens: usize, positions: usize, logits: Logits, seed: u64) -> Tensors {
    synthetic(&Synthetic {
        seed,
        heads: design.model.heads as usize,
        kv_heads: design.model.kv_heads as usize,
        positions,
        tokens,
        head_dim: design.pe.head_dim as usize,
        logits,
    })
    .of_design(design)
}

/// Most looks at a run, of 256 cycles each.
const MOST_LOOKS: u32 = 100;

/// Disturbances of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Trouble {
    pub stall: u8,
    pub unruly: bool,
    /// Seed of the contents of registers before the reset.
    pub noise: u64,
}

pub fn attend(
    design: &Design,
    tensors: &Tensors,
    streams: u32,
    mapping: Mapping,
    trouble: Trouble,
) -> AttentionResult {
    let job = Job::new(design, tensors, (0, streams), mapping, Sharing::KvHead).unwrap();
    run(&job, trouble)
}

pub fn run(job: &Job, trouble: Trouble) -> AttentionResult {
    run_with(job, trouble, BuildForm::CorePieces, Clocks::IN_STEP)
}

/// The same in a form with the given clocks.
pub fn run_with(job: &Job, trouble: Trouble, form: BuildForm, clocks: Clocks) -> AttentionResult {
    let done = try_run(&emitted(job.design), job, trouble, form, clocks).unwrap();
    assert_eq!(done.violations, [""; 0]);
    done
}

/// The same for emitted files, patched or not; gives up far beyond the length of any such run.
pub fn try_run(
    files: &[SourceFile],
    job: &Job,
    trouble: Trouble,
    form: BuildForm,
    clocks: Clocks,
) -> Result<AttentionResult, AttentionError> {
    let library = library_of(form, job.design, files);
    let bench = Bench::on(verilated(&library, trouble.noise)?, job, behaviour(job, trouble), clocks)?;
    bench.run(0, trouble.stall, &mut patience())
}

/// Runs Verilog and model in lockstep until they differ.
pub fn lockstep(
    files: &[SourceFile],
    job: &Job,
    trouble: Trouble,
    clocks: Clocks,
) -> Result<AttentionResult, AttentionError> {
    let form = if clocks.in_step() { BuildForm::CorePieces } else { BuildForm::CorePiecesTwoClocks };
    let library = library_of(form, job.design, files);
    let model = Bench::model(job.design);
    let both = beside(&library, trouble.noise, model, &Bench::ports(job.design), job.design);
    let bench = Bench::on(both?, job, behaviour(job, trouble), clocks)?;
    bench.run(0, trouble.stall, &mut patience())
}

/// Runs the model by itself and records every cycle of its tiles.
pub fn on_model(job: &Job, trouble: Trouble, clocks: Clocks, numbers: bool) -> AttentionResult {
    let bench = Bench::on_model(job, behaviour(job, trouble), clocks, numbers).unwrap();
    bench.run(1 << 20, trouble.stall, &mut patience()).unwrap()
}

fn behaviour(job: &Job, trouble: Trouble) -> Behaviour {
    let behaviour = Behaviour::of(job.design);
    if trouble.unruly {
        behaviour.unruly(7)
    } else {
        behaviour
    }
}

/// Stops a run that takes far longer than any of these does.
fn patience() -> impl FnMut(usize) -> bool {
    let mut looks = 0;
    move |_| {
        looks += 1;
        looks > MOST_LOOKS
    }
}

/// Asserts that every output equals the model's in every bit.
pub fn assert_exact(done: &AttentionResult, what: &str) {
    let wrong: Vec<_> =
        done.outputs.iter().filter(|(of, output)| done.expected.get(of) != Some(output)).collect();
    let (of, output) = wrong.first().map_or((None, None), |(of, output)| (Some(**of), Some(output)));
    assert!(
        done.bit_exact(),
        "{what}: {} of {} outputs differ; first {of:?}: {output:x?} instead of {:x?}",
        wrong.len(),
        done.expected.len(),
        of.map(|of| &done.expected[&of]),
    );
}
