//! Runs of the whole device: unruly AXI, errors of every memory, resets, lists, counters.

use super::attention::{job, judged, tensors, LARGE};
use super::bed::{none, Bed, Check};
use crate::cosim::build::BuildForm;
use crate::cosim::dut::clocks::Clocks;
use crate::cosim::hash::mix;
use crate::cosim::memory::{Fault, FaultKind};
use crate::cosim::workloads::attention::{AttentionResult, Job};
use crate::cosim::workloads::device::{Bench, Device, Faults, Notice, Platform};
use crate::cosim::workloads::steps::{decode, Caches, Difference, Schedule, StepsError};
use crate::design::device::registers::{error, COUNTER_GROUPS};
use crate::design::{pad_events, Design, Mapping, Sharing};
use crate::eval::mutate::hasty::TIMEOUT;
use crate::model::datapath::tensors::{Logits, Tensors};

/// Cycles far beyond any run of these jobs.
const MOST: u64 = 60_000;
/// The same of a run with time-outs.
const MOST_WITH_TIMEOUT: u64 = MOST + 4 * TIMEOUT;

/// The checks.
pub(super) fn checks(design: &Design) -> Vec<Check> {
    let form = BuildForm::WholeDevice;
    let mut all = vec![
        Check { name: "device", form, run: |bed| runs(bed, false) },
        Check { name: "unruly device", form, run: |bed| runs(bed, true) },
        Check { name: "reset of the device", form, run: resets },
        Check { name: "errors of the device", form, run: errors },
        Check { name: "silence at the device", form, run: silence },
    ];
    if design.append.is_some() {
        all.push(Check { name: "growing device", form, run: grows });
    }
    all
}

fn open(bed: &Bed, platform: &Platform, clocks: &Clocks) -> Result<Bench, String> {
    let dut = bed.alone()?;
    let device = Device::new(dut, bed.design, platform, clocks).map_err(|why| why.to_string())?;
    let bench = Bench::new(device, bed.design, platform).map_err(|why| why.to_string())?;
    bed.begins();
    Ok(bench)
}

/// Unrelated clocks.
const APART: Clocks = Clocks { noc_mhz: 250.0, pe_mhz: 283.0, jitter: 15, seed: 1 };

/// A run that must succeed.
fn clean(bench: &mut Bench, job: &Job, notice: Notice) -> Result<(), String> {
    let done = bench.run(job, notice, MOST, &mut |_| false).map_err(|why| why.to_string())?;
    none(&bench.driver.device.violations().1)?;
    none(&done.violations)?;
    if !done.bit_exact() {
        return Err("outputs of the device differ from the model".to_owned());
    }
    match bench.driver.device.waiting() {
        0 => Ok(()),
        owed => Err(format!("after a run memory owes {owed} answers")),
    }
}

/// The same by a doorbell: one write of a register, and a record that says what registers do.
fn rung(bench: &mut Bench, job: &Job) -> Result<(), String> {
    let say = |why: &dyn ToString| why.to_string();
    let (done, _, accesses) = bench.call(job, MOST, &mut |_| false).map_err(|why| say(&why))?;
    none(&bench.driver.device.violations().1)?;
    none(&done.violations)?;
    bench.driver.settle(MOST).map_err(|why| say(&why))?;
    let told = bench.driver.outcome().map_err(|why| say(&why))?;
    let runs = bench.driver.read("RUNS").map_err(|why| say(&why))?;
    match (
        done.bit_exact(),
        accesses == [1, 0],
        told.cycles == done.outcome.cycles,
        bench.record().run == runs,
    ) {
        (true, true, true, true) => Ok(()),
        (false, ..) => Err("outputs of a call by the doorbell differ from the model".to_owned()),
        _ => Err(format!(
            "after {accesses:?} writes and reads the record is {:?}: run {runs}, {} cycles",
            bench.record(),
            told.cycles
        )),
    }
}

fn runs(bed: &Bed, unruly: bool) -> Result<(), String> {
    let design = bed.design;
    let platform = Platform::of(design);
    let (platform, clocks) = if unruly { (platform.unruly(3), APART) } else { (platform, Clocks::IN_STEP) };
    let mut bench = open(bed, &platform, &clocks)?;
    let given = [(61, Logits::Normal, Mapping::RowAligned), (33, Logits::Peaky, Mapping::HeadTile)];
    for (number, (tokens, logits, mapping)) in (1..).zip(given) {
        let tensors = tensors(design, tokens, logits, u64::from(number));
        let job = job(design, &tensors, mapping)?;
        clean(&mut bench, &job, if number == 1 { Notice::Interrupt } else { Notice::Polling })?;
        let counted = bench.driver.read("RUNS").map_err(|why| why.to_string())?;
        if counted != number {
            return Err(format!("RUNS is {counted} after {number} runs"));
        }
    }
    let tensors = tensors(design, 40, Logits::LongTail, 4);
    let job = job(design, &tensors, Mapping::StreamStriped)?;
    // A list of descriptors, as a host of many steps gives it.
    bench.driver.device.set_image(job.given());
    judged(&bench.step(&job, clocks, &mut |_| false).map_err(|why| why.to_string())?)?;
    bench.driver.write("LIST_COUNT", 0).map_err(|why| why.to_string())?;
    let part = job.part(9..30);
    clean(&mut bench, &part, Notice::Interrupt)?;
    rung(&mut bench, &part)?;
    rung(&mut bench, &job)?;
    if unruly {
        return Ok(());
    }
    // Counters are those of all runs since the reset.
    let mut bench = open(bed, &Platform::of(design), &Clocks::IN_STEP)?;
    let seen = bench.watch(&job, Clocks::IN_STEP, 0, &mut |_| false).map_err(|why| why.to_string())?;
    judged(&seen)?;
    counters(&mut bench, design, &seen)
}

/// Counters that a host reads are those that the core has shown.
fn counters(bench: &mut Bench, design: &Design, seen: &AttentionResult) -> Result<(), String> {
    let group = |name: &str| COUNTER_GROUPS.iter().position(|group| group.0 == name).unwrap_or(0) as u32;
    let mut read = |tile: usize, name: &str, index: usize| {
        bench.driver.counter(tile as u32, group(name), index as u32).map_err(|why| why.to_string())
    };
    for tile in 0..design.mesh.tiles() {
        for index in 0..pad_events(design).len() {
            let (read, shown) = (read(tile, "PAD", index)?, seen.pad[tile][index]);
            // What waits for work goes on counting.
            let counts = if (4..7).contains(&index) { read >= shown } else { read == shown };
            if !counts {
                return Err(format!("tile {tile}: PaD's counter {index} is {read} instead of {shown}"));
            }
        }
        for index in [0, 1, 5, 7] {
            for (name, shown) in [("LINK", seen.links[tile][index]), ("EVENT", seen.events[tile][index])] {
                let read = read(tile, name, index)?;
                if read != shown {
                    return Err(format!(
                        "tile {tile}: counter {index} of {name} is {read} instead of {shown}"
                    ));
                }
            }
        }
        if read(tile, "ERRORS", 0)? != 0 {
            return Err(format!("tile {tile} has errors in its counters"));
        }
    }
    Ok(())
}

/// A soft reset at some moments of a run, then one of the platform, each followed by a run that must succeed.
fn resets(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let tensors = tensors(design, 61, Logits::Normal, 5);
    let job = job(design, &tensors, Mapping::RowAligned)?;
    let mut bench = open(bed, &Platform::of(design).unruly(4), &APART)?;
    let done = bench.run(&job, Notice::Interrupt, MOST, &mut |_| false).map_err(|why| why.to_string())?;
    let whole = done.outcome.cycles.max(1);
    for seed in 0..6 {
        let after = mix(seed) % whole;
        let what = |why: String| format!("a reset after {after} of {whole} cycles: {why}");
        cut_off(&mut bench, &job, after, whole).map_err(what)?;
        clean(&mut bench, &job, Notice::Polling).map_err(what)?;
    }
    for seed in 10..13 {
        let after = mix(seed) % whole;
        bench.load(&job).map_err(|why| why.to_string())?;
        bench.start(&job).map_err(|why| why.to_string())?;
        ticks(&mut bench, after)?;
        bench.driver.device.reset(HELD).map_err(|why| why.to_string())?;
        for name in ["ERROR", "RUNS"] {
            match bench.driver.read(name).map_err(|why| why.to_string())? {
                0 => {}
                value => return Err(format!("{name} is {value} after ap_rst_n")),
            }
        }
        bench.driver.settle(MOST).map_err(|why| why.to_string())?;
        clean(&mut bench, &job, Notice::Interrupt)
            .map_err(|why| format!("ap_rst_n after {after} cycles: {why}"))?;
    }
    unloaded(&mut bench, &job)?;
    late(bed, &mut bench, &job)?;
    misaligned(&mut bench, &job)
}

/// Queries of before a soft reset are gone: a run on those that are kept is refused.
fn unloaded(bench: &mut Bench, job: &Job) -> Result<(), String> {
    let say = |why: &dyn ToString| why.to_string();
    bench.driver.write("SOFT_RESET", 1).map_err(|why| say(&why))?;
    bench.driver.settle(MOST_WITH_TIMEOUT).map_err(|why| say(&why))?;
    bench.driver.clear().map_err(|why| say(&why))?;
    bench.load(job).map_err(|why| say(&why))?;
    bench.push(job).map_err(|why| say(&why))?;
    bench.driver.write("QUERY_STREAMS", 0).map_err(|why| say(&why))?;
    refused(bench, ("START_UNLOADED", job.streams - 1))?;
    // A run that is refused leaves its descriptors.
    bench.driver.write("SOFT_RESET", 1).map_err(|why| say(&why))?;
    bench.driver.settle(MOST_WITH_TIMEOUT).map_err(|why| say(&why))?;
    clean(bench, job, Notice::Polling)
}

/// Two arguments that are not aligned: the first is named.
fn misaligned(bench: &mut Bench, job: &Job) -> Result<(), String> {
    let say = |why: &dyn ToString| why.to_string();
    bench.driver.clear().map_err(|why| say(&why))?;
    bench.load(job).map_err(|why| say(&why))?;
    bench.push(job).map_err(|why| say(&why))?;
    let list = bench.driver.design().list_argument();
    for argument in [list, list - 1] {
        bench.driver.argument(argument, 0x1_0001_f040).map_err(|why| say(&why))?;
    }
    refused(bench, ("ARGUMENT", list - 1))
}

/// Starts a run that must be refused with this error and place.
fn refused(bench: &mut Bench, due: (&str, u32)) -> Result<(), String> {
    let say = |why: &dyn ToString| why.to_string();
    bench.driver.start().map_err(|why| say(&why))?;
    let ended = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).map_err(|why| say(&why))?;
    match ended.first == Some(due) {
        true => Ok(()),
        false => Err(format!("{} {} was due, and ERROR has `{}`", due.0, due.1, ended.errors())),
    }
}

/// Cycles of a reset by the platform.
const HELD: u64 = 64;

fn ticks(bench: &mut Bench, count: u64) -> Result<(), String> {
    (0..count).try_for_each(|_| bench.driver.device.tick()).map_err(|why| why.to_string())
}

/// A soft reset so many cycles after the start of a run, whose length is known, or is no matter.
fn cut_off(bench: &mut Bench, job: &Job, after: u64, whole: u64) -> Result<(), String> {
    let say = |why: &dyn ToString| why.to_string();
    bench.driver.clear().map_err(|why| say(&why))?;
    bench.load(job).map_err(|why| say(&why))?;
    bench.start(job).map_err(|why| say(&why))?;
    ticks(bench, after)?;
    bench.driver.write("SOFT_RESET", 1).map_err(|why| say(&why))?;
    let ended = bench.driver.wait(Notice::Polling, MOST_WITH_TIMEOUT, &mut |_| false);
    let ended = ended.map_err(|why| say(&why))?;
    // The last cycles of a run may be over before the reset is told.
    let over = ended.error == 0 && after + 200 > whole;
    if !over && ended.error != 1 << error("RESET").bit {
        return Err(format!("it ended the run with `{}`", ended.errors()));
    }
    bench.driver.settle(MOST_WITH_TIMEOUT).map_err(|why| say(&why))?;
    none(&bench.driver.device.violations().1)
}

/// Memory that answers only after resets in each epoch: until then a run is refused, and afterwards it succeeds.
fn late(bed: &Bed, bench: &mut Bench, job: &Job) -> Result<(), String> {
    let say = |why: &dyn ToString| why.to_string();
    let late = |port: usize| Fault::of_port(port, FaultKind::Late(6 * TIMEOUT as u32));
    let hbm = (0..bed.design.memory.ports as usize).map(late).collect();
    bench.driver.device.set_faults(Faults { hbm, ..Faults::default() });
    for _ in 0..4 {
        cut_off(bench, job, TIMEOUT / 4, u64::MAX)?;
    }
    bench.driver.device.set_faults(Faults::default());
    let owed = bench.driver.device.waiting();
    bench.load(job).map_err(|why| say(&why))?;
    bench.push(job).map_err(|why| say(&why))?;
    for left in [owed / 2, 0] {
        bench.driver.clear().map_err(|why| say(&why))?;
        bench.driver.start().map_err(|why| say(&why))?;
        let ended = bench.driver.wait(Notice::Polling, MOST, &mut |_| false).map_err(|why| say(&why))?;
        none(&bench.driver.device.violations().1)?;
        if ended.first != Some(("RESET", 1)) {
            return Err(format!("with answers owed a run ended with `{}`", ended.errors()));
        }
        while bench.driver.device.waiting() > left {
            bench.driver.device.tick().map_err(|why| say(&why))?;
        }
    }
    bench.driver.write("SOFT_RESET", 1).map_err(|why| say(&why))?;
    bench.driver.settle(MOST_WITH_TIMEOUT).map_err(|why| say(&why))?;
    clean(bench, job, Notice::Polling)
}

/// A run that fails with this error alone, and another that does not.
fn fails(bench: &mut Bench, job: &Job, faults: Faults, name: &str) -> Result<u32, String> {
    let say = |why: &dyn ToString| why.to_string();
    bench.driver.device.set_faults(faults);
    bench.driver.clear().map_err(|why| say(&why))?;
    bench.driver.enable(Notice::Interrupt).map_err(|why| say(&why))?;
    bench.load(job).map_err(|why| say(&why))?;
    bench.start(job).map_err(|why| say(&why))?;
    let ended = bench.driver.wait(Notice::Interrupt, MOST_WITH_TIMEOUT, &mut |_| false);
    let ended = ended.map_err(|why| say(&why))?;
    bench.driver.device.set_faults(Faults::default());
    let place = match ended.first {
        Some((first, place)) if first == name && ended.error == 1 << error(name).bit => place,
        _ => return Err(format!("{name} was due, and ERROR has `{}`", ended.errors())),
    };
    bench.driver.settle(MOST_WITH_TIMEOUT).map_err(|why| say(&why))?;
    none(&bench.driver.device.violations().1)?;
    let done = bench.run(job, Notice::Interrupt, MOST, &mut |_| false);
    let done = done.map_err(|why| format!("after {name}: {why}"))?;
    none(&bench.driver.device.violations().1)?;
    match done.bit_exact() {
        true => Ok(place),
        false => Err(format!("after {name}: outputs differ from the model")),
    }
}

/// The tile that an error names must read through the port.
fn of_port(design: &Design, tile: u32, port: usize) -> Result<(), String> {
    let (x, y) = (tile % design.mesh.cols(), tile / design.mesh.cols());
    match design.memory.port(x, y) as usize == port {
        true => Ok(()),
        false => Err(format!("port {port} failed, and tile ({x}, {y}) is named")),
    }
}

/// Ports of which a run requests several bursts: one at least. Not every port has slices of a short context.
fn used(bench: &mut Bench, job: &Job) -> Result<Vec<usize>, String> {
    clean(bench, job, Notice::Polling)?;
    let requests = bench.driver.device.requests().0;
    let used: Vec<usize> = (0..requests.len()).filter(|port| requests[*port] > 2).collect();
    match used.is_empty() {
        true => Err("no port of memory is used".to_owned()),
        false => Ok(used),
    }
}

/// A logit beyond the range: the outputs of one head are void, and ERROR says so.
fn saturates(bed: &Bed, bench: &mut Bench) -> Result<(), String> {
    let design = bed.design;
    let dim = design.pe.head_dim as usize;
    let (shape, mut parts) = tensors(design, 33, Logits::Normal, 5).into_parts();
    let [q, k, _] = &mut parts;
    // The query of the last head and stream, and a token of its KV head.
    let (row, token) = (q.len() - dim, k.len() - 3 * dim);
    q[row..].fill(LARGE);
    k[token..token + dim].fill(LARGE);
    let tensors = Tensors::new(shape, parts).of_design(design);
    let job = job(design, &tensors, Mapping::RowAligned)?;
    let done = bench.run(&job, Notice::Interrupt, MOST, &mut |_| false).map_err(|why| why.to_string())?;
    none(&bench.driver.device.violations().1)?;
    none(&done.violations)?;
    match (done.bit_exact(), done.saturated.is_empty()) {
        (true, false) => Ok(()),
        (false, _) => Err("with a logit beyond the range the other outputs differ from the model".to_owned()),
        (_, true) => Err("no logit is beyond the range".to_owned()),
    }
}

/// Memories that answer with errors: those of KV, of queries and of outputs. Then a logit beyond the range.
fn errors(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let tensors = tensors(design, 61, Logits::Normal, 5);
    let job = job(design, &tensors, Mapping::RowAligned)?;
    let mut bench = open(bed, &Platform::of(design).unruly(5), &APART)?;
    let used = used(&mut bench, &job)?;
    for (at, kind) in [FaultKind::SlaveError, FaultKind::DecodeError].into_iter().enumerate() {
        let port = used[at % used.len()];
        let taken = bench.driver.device.requests().0[port];
        let hbm = vec![Fault::of_port(port, kind).after(taken + 1)];
        let tile = fails(&mut bench, &job, Faults { hbm, ..Faults::default() }, "MEMORY")?;
        of_port(design, tile, port)?;
        let taken = bench.driver.device.requests().1;
        let reads = vec![Fault::of_port(0, kind).after(taken + at as u64)];
        fails(&mut bench, &job, Faults { reads, ..Faults::default() }, "QUERY_READ")?;
        let taken = bench.driver.device.requests().2;
        let writes = vec![Fault::of_port(0, kind).after(taken + 4 * at as u64)];
        fails(&mut bench, &job, Faults { writes, ..Faults::default() }, "OUTPUT_WRITE")?;
    }
    saturates(bed, &mut bench)?;
    clean(&mut bench, &job, Notice::Interrupt)
}

/// Memories that do not answer.
fn silence(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let tensors = tensors(design, 33, Logits::Normal, 6);
    let job = job(design, &tensors, Mapping::HeadTile)?;
    let used = used(&mut open(bed, &Platform::of(design), &Clocks::IN_STEP)?, &job)?;
    for (port, kind) in [(used[0], FaultKind::Mute), (used[used.len() - 1], FaultKind::Deaf)] {
        let mut bench = open(bed, &Platform::of(design), &Clocks::IN_STEP)?;
        let hbm = vec![Fault::of_port(port, kind).after(1)];
        let tile = fails(&mut bench, &job, Faults { hbm, ..Faults::default() }, "MEMORY_TIMEOUT")?;
        of_port(design, tile, port)?;
    }
    Ok(())
}

/// Steps that append tokens, through a device.
fn grows(bed: &Bed) -> Result<(), String> {
    let design = bed.design;
    let say = |why: StepsError| why.to_string();
    let segment = design.placement.segment_tokens;
    let lengths: Vec<u32> = (0..design.model.max_streams).map(|b| 2 * segment - 2 + 3 * b).collect();
    let schedule = Schedule::new(&lengths, 0, 4, &[], &[]).map_err(say)?;
    let tensors = schedule.tensors(design, 31, Logits::Normal);
    let mut caches = Caches::new(design, &schedule).map_err(say)?;
    let mut bench = open(bed, &Platform::of(design).unruly(6), &Clocks::IN_STEP)?;
    bench.driver.device.set_image(caches.image(&tensors, 1));
    let mut verdict = Ok(());
    let mut one =
        |job: &Job| bench.step(job, Clocks::IN_STEP, &mut |_| false).map_err(|why| Words(why.to_string()));
    let how = (Mapping::RowAligned, Sharing::KvHead);
    let ended = decode(&mut caches, &schedule, &tensors, how, &mut one, &mut |stepped| {
        if verdict.is_ok() {
            verdict = judged(stepped.done);
        }
    });
    ended.map_err(|Words(why)| why)?;
    verdict?;
    match Difference::of(bench.driver.device.image(), &caches.image(&tensors, 1)) {
        Difference { differing: 0, .. } => Ok(()),
        other => Err(format!("memory differs from what was appended: {other:?}")),
    }
}

/// The words of a fault.
struct Words(String);

impl From<StepsError> for Words {
    fn from(why: StepsError) -> Words {
        Words(why.to_string())
    }
}
