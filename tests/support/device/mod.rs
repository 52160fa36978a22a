//! The device, for tests: a small design, a platform, a driver, jobs.

pub mod any_host;
pub mod card;
pub mod host_build;
pub mod register_file;

use crate::support::attention;
use crate::support::sources::source_mut;
use crate::support::verilated::{lasting_library_of, library_of};
use meshkv::cosim::build::{BuildForm, Library};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::ports::DutPorts;
use meshkv::cosim::dut::verilated::split_device::SplitDevice;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::attention::{Job, ModelCore};
use meshkv::cosim::workloads::device::{
    Bench, Device, DeviceError, Faults, Finished, Notice, Outcome, Platform,
};
use meshkv::design::device::registers;
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::{emit, SourceFile};
use meshkv::model::datapath::tensors::{Logits, Tensors};

/// A limit in cycles far beyond any run of these jobs, time-outs of memory aside.
pub const MOST: u64 = 60_000;
/// Cycles after which the device under test gives up on a memory; 2^16 in the emitted device.
pub const TIMEOUT: u32 = 1 << 12;
/// A limit far beyond any run with time-outs and their consequences.
pub const MOST_WITH_TIMEOUT: u64 = MOST + 4 * TIMEOUT as u64;

/// Unrelated clocks.
pub fn apart(seed: u64) -> Clocks {
    Clocks { noc_mhz: 250.0, pe_mhz: 283.0, jitter: 15, seed }
}

/// 3 x 2 tiles of narrow flits and four memory ports, each of which holds a part of a layer.
pub fn small() -> Design {
    attention::small(|c| c.takv.column_stride = 1)
}

/// The same with a cache that runs can write.
pub fn growing() -> Design {
    attention::small(|c| {
        c.takv.column_stride = 1;
        c.kv.append = true;
    })
}

/// Queries, keys and values of a layer.
pub fn tensors(design: &Design, tokens: usize, seed: u64) -> Tensors {
    attention::tensors(design, tokens, 2, Logits::Normal, seed)
}

/// Attention of two streams.
pub fn job<'a>(design: &'a Design, tensors: &'a Tensors, mapping: Mapping) -> Job<'a> {
    Job::new(design, tensors, (0, 2), mapping, Sharing::KvHead).unwrap()
}

/// The emitted files of a device with a short memory time-out, so that tests need not wait for it.
pub fn hasty(design: &Design) -> Vec<SourceFile> {
    let mut files = emit(design).unwrap();
    let (from, to) = ("parameter TIMEOUT_WIDTH = 16", "parameter TIMEOUT_WIDTH = 12");
    let patched = files.iter_mut().filter(|f| f.text.contains(from));
    assert!(patched.map(|f| f.text = f.text.replace(from, to)).count() > 5);
    files
}

/// The same with one text of a module replaced, which must occur once.
pub fn mutant(files: &[SourceFile], module: &str, from: &str, to: &str) -> Vec<SourceFile> {
    let mut files = files.to_vec();
    let file = source_mut(&mut files, module);
    assert_eq!(file.text.matches(from).count(), 1, "{module} has not one `{from}`");
    file.text = file.text.replace(from, to);
    files
}

/// The whole device of emitted files, patched or not.
pub fn whole_of(
    files: &[SourceFile],
    design: &Design,
    platform: &Platform,
    clocks: &Clocks,
) -> Result<Bench, DeviceError> {
    whole_in(&library_of(BuildForm::WholeDevice, design, files), design, platform, clocks)
}

fn whole_in(
    library: &Library,
    design: &Design,
    platform: &Platform,
    clocks: &Clocks,
) -> Result<Bench, DeviceError> {
    let device = Device::new(verilated(library, clocks.seed)?, design, platform, clocks)?;
    Bench::new(device, design, platform)
}

/// The whole device for a test that runs long enough for optimisation to pay.
pub fn lasting_whole(design: &Design, platform: &Platform, clocks: &Clocks) -> Bench {
    let library = lasting_library_of(BuildForm::WholeDevice, design, &hasty(design));
    whole_in(&library, design, platform, clocks).unwrap()
}

/// The whole device, verilated at once.
pub fn whole(design: &Design, platform: &Platform, clocks: &Clocks) -> Bench {
    whole_of(&hasty(design), design, platform, clocks).unwrap()
}

/// The front from emitted files, patched or not, with the emitted core in pieces.
pub fn joined_of(
    files: &[SourceFile],
    design: &Design,
    platform: &Platform,
    clocks: &Clocks,
) -> Result<Bench, DeviceError> {
    let form = if clocks.in_step() { BuildForm::CorePieces } else { BuildForm::CorePiecesTwoClocks };
    let front = verilated(&library_of(BuildForm::FrontAlone, design, files), clocks.seed)?;
    let core = verilated(&library_of(form, design, &hasty(design)), clocks.seed)?;
    before(front, core, design, platform, clocks)
}

/// The front from emitted files with the model of the core, for one job.
pub fn modelled_of(
    files: &[SourceFile],
    job: &Job,
    platform: &Platform,
    clocks: &Clocks,
) -> Result<Bench, DeviceError> {
    let front = verilated(&library_of(BuildForm::FrontAlone, job.design, files), clocks.seed)?;
    before(front, Box::new(ModelCore::new(job)), job.design, platform, clocks)
}

fn before(
    front: Box<dyn DutPorts>,
    core: Box<dyn DutPorts>,
    design: &Design,
    platform: &Platform,
    clocks: &Clocks,
) -> Result<Bench, DeviceError> {
    let joined = SplitDevice::new(front, core, design)?;
    let device = Device::new(Box::new(joined), design, platform, clocks)?;
    Bench::new(device, design, platform)
}

/// The front with a core in pieces.
pub fn joined(design: &Design, platform: &Platform, clocks: &Clocks) -> Bench {
    joined_of(&hasty(design), design, platform, clocks).unwrap()
}

/// Runs a job that must succeed.
pub fn run_clean(bench: &mut Bench, job: &Job, notice: Notice, what: &str) -> Finished {
    let done = bench.run(job, notice, MOST, &mut |_| false).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_clean(bench, &done, what);
    done
}

/// Asserts that all outputs are the model's, no AXI rule was broken, and memory owes nothing.
pub fn assert_clean(bench: &Bench, done: &Finished, what: &str) {
    assert_rules(bench, what);
    assert_eq!(done.violations, [""; 0], "{what}");
    let wrong: Vec<_> = done.outputs.iter().filter(|(of, out)| done.expected.get(of) != Some(out)).collect();
    assert!(done.bit_exact(), "{what}: {} of {} outputs differ: {wrong:x?}", wrong.len(), done.outputs.len());
    assert_eq!(bench.driver.device.waiting(), 0, "{what}: memory owes answers");
}

/// Asserts that no AXI rule was broken so far.
pub fn assert_rules(bench: &Bench, what: &str) {
    assert_rules_of(&bench.driver.device, what);
}

/// The same of a device.
pub fn assert_rules_of(device: &Device, what: &str) {
    let (count, first) = device.violations();
    assert_eq!((count, first), (0, Vec::new()), "{what}");
}

/// Asserts that the run ended with this error alone, and returns its place.
pub fn assert_error(outcome: &Outcome, name: &str, what: &str) -> u32 {
    assert_eq!(outcome.error, 1 << registers::error(name).bit, "{what}: {}", outcome.errors());
    let (first, place) = outcome.first.unwrap();
    assert_eq!(first, name, "{what}");
    place
}

/// Delay of answers in cycles, during which four resets pass, each of which waits for them.
const STAY_AWAY: u32 = 6 * TIMEOUT;

/// External memory that answers after four resets have passed.
pub fn late_memory(design: &Design) -> Faults {
    let late = |port: usize| Fault::of_port(port, FaultKind::Late(STAY_AWAY)).after(0);
    Faults { hbm: (0..design.memory.ports as usize).map(late).collect(), ..Faults::default() }
}

/// The same of the memory of queries.
pub fn late_queries() -> Faults {
    Faults { reads: vec![Fault::of_port(0, FaultKind::Late(STAY_AWAY)).after(0)], ..Faults::default() }
}

/// Cuts off a run in each of the four epochs, so that a late memory owes answers to all, and starts another. That run
/// is refused until the answers have arrived. Returns the bursts that were owed, or the first fault.
pub fn owe_four_epochs(bench: &mut Bench, jobs: [&Job; 2], late: Faults) -> Result<usize, String> {
    let say = |why: DeviceError| why.to_string();
    let broken = |bench: &Bench| match bench.driver.device.violations() {
        (0, _) => Ok(()),
        (_, first) => Err(first.join("\n")),
    };
    bench.driver.device.set_faults(late);
    for round in 0..4 {
        let owed = bench.driver.device.waiting();
        bench.driver.clear().map_err(say)?;
        bench.load(jobs[0]).map_err(say)?;
        bench.start(jobs[0]).map_err(say)?;
        for _ in 0..TIMEOUT / 4 {
            bench.driver.device.tick().map_err(|why| why.to_string())?;
        }
        assert!(bench.driver.device.waiting() > owed, "round {round}: nothing was asked");
        bench.driver.write("SOFT_RESET", 1).map_err(say)?;
        let outcome = bench.driver.wait(Notice::Polling, MOST_WITH_TIMEOUT, &mut |_| false).map_err(say)?;
        assert_error(&outcome, "RESET", "a reset");
        bench.driver.settle(MOST_WITH_TIMEOUT).map_err(say)?;
        broken(bench)?;
    }
    bench.driver.device.set_faults(Faults::default());
    let owed = bench.driver.device.waiting();
    bench.driver.clear().map_err(say)?;
    bench.load(jobs[1]).map_err(say)?;
    bench.push(jobs[1]).map_err(say)?;
    // It is refused until the last answer has arrived, also when most have. Its descriptors wait.
    for left in [owed / 2, 0] {
        bench.driver.clear().map_err(say)?;
        bench.driver.start().map_err(say)?;
        let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).map_err(say)?;
        broken(bench)?;
        match outcome.first {
            Some(("RESET", 1)) => {}
            _ => return Err(format!("with answers owed a run ended with `{}`", outcome.errors())),
        }
        while bench.driver.device.waiting() > left {
            bench.driver.device.tick().map_err(|why| why.to_string())?;
        }
    }
    bench.driver.clear().map_err(say)?;
    bench.driver.start().map_err(say)?;
    let outcome = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).map_err(say)?;
    let done = bench.take(jobs[1], outcome);
    assert_clean(bench, &done, "after all answers");
    Ok(owed)
}
