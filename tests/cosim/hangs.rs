//! A run in which nothing moves is given up soon: long before a home would give up waiting for memory, if
//! memory owes nothing.

use crate::support;
use crate::support::attention::{small, tensors};
use crate::support::verilated::library_of;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::ports::DutPorts;
use meshkv::cosim::dut::verilated::split_device::SplitDevice;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::cosim::dut::DutError;
use meshkv::cosim::memory::{Behaviour, Fault, FaultKind};
use meshkv::cosim::workloads::attention::{AttentionError, Bench, Job, Session};
use meshkv::cosim::workloads::device::{Device, Platform};
use meshkv::cosim::workloads::{decode, device, fetch, TIMEOUT};
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::emit;
use meshkv::model::datapath::tensors::Logits;

/// A fabric that neither sees nor takes a descriptor.
#[derive(Debug)]
struct Stuck {
    model: Box<dyn DutPorts>,
    valid: usize,
    ready: usize,
    /// What is written to the port that it does not see.
    unseen: [u32; 1],
}

impl Stuck {
    fn of(mut model: Box<dyn DutPorts>) -> Box<Stuck> {
        let [valid, ready] =
            ["desc_valid", "desc_ready"].map(|port| model.find(port).expect("a fabric takes descriptors"));
        Box::new(Stuck { model, valid, ready, unseen: [0] })
    }
}

impl DutPorts for Stuck {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.model.find(name)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        if port == self.ready {
            return &[0];
        }
        self.model.words(port, bits)
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        if port == self.valid {
            return &mut self.unseen;
        }
        self.model.words_mut(port, bits)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        self.model.tick(rst)
    }

    fn payload_bits(&self) -> u32 {
        self.model.payload_bits()
    }
}

#[test]
fn attention_that_does_not_begin_is_given_up_before_a_home_would_be() {
    let design = small(|_| {});
    let tensors = tensors(&design, 64, 2, Logits::Normal, 5);
    let job = Job::new(&design, &tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead).unwrap();
    let given_up = |behaviour: Behaviour| {
        let bench = Bench::on(Stuck::of(Bench::model(&design)), &job, behaviour, Clocks::IN_STEP).unwrap();
        match bench.run(0, 0, &mut |_| false) {
            Err(AttentionError::Stuck { cycles, .. }) => cycles,
            other => panic!("{other:?}"),
        }
    };
    let quiet = Behaviour::of(&design);
    assert!(given_up(quiet.clone()) < TIMEOUT / 2);
    // A memory that may not answer is waited for, as a home does.
    let faults = vec![Fault::of_port(0, FaultKind::Deaf)];
    assert!(given_up(Behaviour { faults, ..quiet }) > 2 * TIMEOUT);
}

/// A step of so many tokens.
fn decode_load(tokens: u32) -> decode::Workload {
    decode::Workload {
        tokens,
        batch: 1,
        prefix: 0,
        mapping: Mapping::RowAligned,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 1,
        stride: 1,
        append: false,
    }
}

/// At the speed of the Verilog of the fabric for the U280, 3 000 cycles a second, in ten seconds.
#[test]
fn a_decode_step_that_does_not_begin_is_given_up_in_30_000_cycles() {
    let path = std::path::Path::new("configs/u280_4x8.toml");
    let design = Design::load(path).unwrap().0;
    let load = decode_load(256);
    let plan = decode::Plan::new(&design, decode::step(&design, &load).unwrap().descriptors, 1);
    let bench = decode::Bench::on(Stuck::of(decode::Bench::model(&design)), &design).unwrap();
    match bench.run(&plan, &mut |_| false) {
        Err(decode::DecodeError::Stuck { cycles, .. }) => assert!(cycles < 30_000, "{cycles}"),
        other => panic!("{other:?}"),
    }
}

/// A fabric that does not see some of its inputs, and shows some outputs at any time: it moves for ever.
#[derive(Debug)]
struct Restless {
    model: Box<dyn DutPorts>,
    hidden: Vec<usize>,
    shown: Vec<usize>,
    unseen: Vec<u32>,
    ones: Vec<u32>,
    zeros: Vec<u32>,
    /// What is shown stands in one cycle of so many.
    period: u64,
    cycle: u64,
}

impl Restless {
    fn of(mut model: Box<dyn DutPorts>, hidden: &[&str], shown: &[&str]) -> Box<Restless> {
        let mut find = |names: &[&str]| -> Vec<usize> {
            names.iter().map(|name| model.find(name).expect("a port of the model")).collect()
        };
        let (hidden, shown) = (find(hidden), find(shown));
        let (unseen, zeros, ones) = (vec![0; 64], vec![0; 64], vec![u32::MAX; 64]);
        Box::new(Restless { model, hidden, shown, unseen, ones, zeros, period: 1, cycle: 0 })
    }

    /// Shows it in one cycle of so many, so that memory has answered before the next request.
    fn once_in(mut self: Box<Restless>, period: u64) -> Box<Restless> {
        self.period = period;
        self
    }
}

impl DutPorts for Restless {
    fn find(&mut self, name: &str) -> Option<usize> {
        self.model.find(name)
    }

    fn words(&self, port: usize, bits: u32) -> &[u32] {
        if self.shown.contains(&port) {
            return if self.cycle.is_multiple_of(self.period) { &self.ones } else { &self.zeros };
        }
        self.model.words(port, bits)
    }

    fn words_mut(&mut self, port: usize, bits: u32) -> &mut [u32] {
        if self.hidden.contains(&port) {
            return &mut self.unseen;
        }
        self.model.words_mut(port, bits)
    }

    fn tick(&mut self, rst: bool) -> Result<(), DutError> {
        self.cycle += 1;
        self.model.tick(rst)
    }

    fn set_clocks(&mut self, clocks: &Clocks) -> Result<(), DutError> {
        self.model.set_clocks(clocks)
    }

    fn payload_bits(&self) -> u32 {
        self.model.payload_bits()
    }
}

/// Asserts that a livelock was ended by a bound, which is named with what still moves.
fn assert_endless(said: &str, moves: &str) {
    for words in [
        "has not ended by cycle",
        "4 times the sum of",
        "in its last 1024 cycles",
        moves,
        "awaited",
        "help: ",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// Ports that make memory read for ever, for nobody.
const READS: (&[&str], &[&str]) = (&["desc_valid", "m_axi_rvalid"], &["m_axi_arvalid"]);

#[test]
fn attention_that_reads_memory_for_ever_ends_at_its_bound() {
    let design = small(|_| {});
    let tensors = tensors(&design, 24, 2, Logits::Normal, 5);
    let job = Job::new(&design, &tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead).unwrap();
    let restless = || Restless::of(Bench::model(&design), READS.0, READS.1);
    let behaviour = Behaviour::of(&design);
    let bench = Bench::on(restless(), &job, behaviour.clone(), Clocks::IN_STEP).unwrap();
    let ended = bench.run(0, 0, &mut |_| false);
    assert!(matches!(&ended, Err(AttentionError::Endless { .. })), "{ended:?}");
    assert_endless(&ended.unwrap_err().to_string(), "memory port 0 took");
    // A step of a session has the same bound.
    let mut session = Session::on(restless(), &design, job.image(), behaviour, Clocks::IN_STEP).unwrap();
    let ended = session.step(&job, 0, &mut || false);
    assert_endless(&ended.unwrap_err().to_string(), "memory port 0 took");
}

#[test]
fn a_decode_step_that_reads_memory_for_ever_ends_at_its_bound() {
    let design = small(|_| {});
    let plan = support::decode::plan(&design, &decode_load(24));
    let bench =
        decode::Bench::on(Restless::of(decode::Bench::model(&design), READS.0, READS.1), &design).unwrap();
    let ended = bench.run(&plan, &mut |_| false);
    assert!(matches!(&ended, Err(decode::DecodeError::Endless { .. })), "{ended:?}");
    assert_endless(&ended.unwrap_err().to_string(), "memory port 0 took");
}

#[test]
fn flits_that_come_for_ever_end_fetches_at_their_bound() {
    let design = small(|_| {});
    let mut plan = support::fetch::plan(&design, 1);
    plan.commands[1].push(support::fetch::chunk(&design, 0, 0, 0, 0, 1));
    let restless = Restless::of(fetch::Bench::model(&design), &["cmd_valid"], &["kv_valid"]);
    let ended = fetch::Bench::on(restless, &design).unwrap().run(&plan, &mut |_, _| false);
    assert!(matches!(&ended, Err(fetch::FetchError::Endless { .. })), "{ended:?}");
    assert_endless(
        &ended.unwrap_err().to_string(),
        "no memory, no router and no counter of a tile has moved",
    );
}

#[test]
fn a_device_that_reads_memory_for_ever_ends_at_its_bound() {
    let design = support::device::small();
    let tensors = support::device::tensors(&design, 8, 5);
    let job = support::device::job(&design, &tensors, Mapping::RowAligned);
    let front = verilated(&library_of(BuildForm::FrontAlone, &design, &emit(&design).unwrap()), 5).unwrap();
    // A port has as many bursts under way as its guard counts, not more.
    let core = Restless::of(Bench::model(&design), READS.0, READS.1).once_in(256);
    let device = Box::new(SplitDevice::new(front, core, &design).unwrap());
    let platform = Platform::of(&design);
    let device = Device::new(device, &design, &platform, &Clocks::IN_STEP).unwrap();
    let mut bench = device::Bench::new(device, &design, &platform).unwrap();
    let ended = bench.watch(&job, Clocks::IN_STEP, 0, &mut |_| false);
    let said = ended.unwrap_err().to_string();
    for words in [
        "has not ended for",
        "STATUS is",
        "4 times the sum of",
        "in its last 1024 cycles: memory port 0 took",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// Runs end far below their bound: the model's, with a memory at its worst.
#[test]
fn no_run_comes_near_its_bound() {
    let design = small(|_| {});
    for tokens in [1, 24, 64] {
        let tensors = tensors(&design, tokens, 2, Logits::Normal, 5);
        let job = Job::new(&design, &tensors, (0, 1), Mapping::RowAligned, Sharing::KvHead).unwrap();
        let behaviour = Behaviour::of(&design).unruly(3);
        let bound = job.bound(&behaviour, 200, Clocks::IN_STEP).cycles();
        let bench = Bench::on_model(&job, behaviour, Clocks::IN_STEP, false).unwrap();
        let cycles = bench.run(0, 200, &mut |_| false).unwrap().cycles;
        assert!(4 * cycles < bound, "{tokens} tokens: {cycles} cycles of {bound}");
    }
}
