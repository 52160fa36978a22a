//! What the tests of the device share: a small design, a platform, a driver, jobs.

#![allow(dead_code)] // Each test uses some of it.

#[path = "../attend/mod.rs"]
pub mod attend;

pub mod any_host;
pub mod reference;

use attend::fabric::library_of;
use meshkv::cosim::attention::Job;
use meshkv::cosim::clocks::Clocks;
use meshkv::cosim::device::joined::Joined;
use meshkv::cosim::device::{Bench, Device, DeviceError, Finished, Notice, Outcome, Platform};
use meshkv::cosim::socket::verilated;
use meshkv::cosim::verilate::Form;
use meshkv::design::registers;
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::{emit, SourceFile};
use meshkv::model::tensors::{Logits, Tensors};

/// Far beyond what any run of these jobs takes, time-outs of memory aside.
pub const MOST: u64 = 60_000;
/// The same with time-outs of 2^16 cycles and what follows them.
pub const MOST_WITH_TIMEOUT: u64 = 300_000;

/// Clocks that have nothing to do with each other.
pub fn apart(seed: u64) -> Clocks {
    Clocks { noc_mhz: 250.0, pe_mhz: 283.0, jitter: 15, seed }
}

/// 3 x 2 tiles of narrow flits, four ports to memory, all of which hold some of a layer.
pub fn small() -> Design {
    attend::small(|c| c.takv.column_stride = 1)
}

/// Queries, keys and values of a layer.
pub fn tensors(design: &Design, tokens: usize, seed: u64) -> Tensors {
    attend::tensors(design, tokens, 2, Logits::Normal, seed)
}

/// Attention of two streams.
pub fn job<'a>(design: &'a Design, tensors: &'a Tensors, mapping: Mapping) -> Job<'a> {
    Job::new(design, tensors, (0, 2), mapping, Sharing::KvHead).unwrap()
}

/// The whole device of emitted files, patched or not.
pub fn whole_of(
    files: &[SourceFile],
    design: &Design,
    platform: &Platform,
    clocks: &Clocks,
) -> Result<Bench, DeviceError> {
    let library = library_of(Form::Device, design, files);
    let device = Device::new(verilated(&library, clocks.seed)?, design, platform, clocks)?;
    Bench::new(device, design, platform)
}

/// The whole device, verilated at once.
pub fn whole(design: &Design, platform: &Platform, clocks: &Clocks) -> Bench {
    whole_of(&emit(design).unwrap(), design, platform, clocks).unwrap()
}

/// Its front, of emitted files, patched or not, before a core in pieces as it is emitted.
pub fn joined_of(
    files: &[SourceFile],
    design: &Design,
    platform: &Platform,
    clocks: &Clocks,
) -> Result<Bench, DeviceError> {
    let form = if clocks.in_step() { Form::Core } else { Form::Clocks };
    let front = verilated(&library_of(Form::Front, design, files), clocks.seed)?;
    let core = verilated(&library_of(form, design, &emit(design).unwrap()), clocks.seed)?;
    let joined = Joined::new(front, core, design)?;
    let device = Device::new(Box::new(joined), design, platform, clocks)?;
    Bench::new(device, design, platform)
}

/// The front before a core in pieces.
pub fn joined(design: &Design, platform: &Platform, clocks: &Clocks) -> Bench {
    joined_of(&emit(design).unwrap(), design, platform, clocks).unwrap()
}

/// Runs a job that nothing may go wrong with.
pub fn run_clean(bench: &mut Bench, job: &Job, notice: Notice, what: &str) -> Finished {
    let done = bench.run(job, notice, MOST, &mut |_| false).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_clean(bench, &done, what);
    done
}

/// All outputs are the model's, no rule of AXI was broken, and memory owes nothing.
pub fn assert_clean(bench: &Bench, done: &Finished, what: &str) {
    assert_rules(bench, what);
    assert_eq!(done.violations, [""; 0], "{what}");
    let wrong: Vec<_> = done.outputs.iter().filter(|(of, out)| done.expected.get(of) != Some(out)).collect();
    assert!(done.bit_exact(), "{what}: {} of {} outputs differ: {wrong:x?}", wrong.len(), done.outputs.len());
    assert_eq!(bench.driver.device.waiting(), 0, "{what}: memory owes answers");
}

/// No rule of AXI was broken so far.
pub fn assert_rules(bench: &Bench, what: &str) {
    let (count, first) = bench.driver.device.violations();
    assert_eq!((count, first), (0, Vec::new()), "{what}");
}

/// The run ended with this error alone. Gives where.
pub fn assert_error(outcome: &Outcome, name: &str, what: &str) -> u32 {
    assert_eq!(outcome.error, 1 << registers::error(name).bit, "{what}: {}", outcome.errors());
    let (first, place) = outcome.first.unwrap();
    assert_eq!(first, name, "{what}");
    place
}
