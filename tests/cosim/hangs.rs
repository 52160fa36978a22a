//! A run in which nothing moves is given up soon: long before a home would give up waiting for memory, if
//! memory owes nothing.

use crate::support::attention::{small, tensors};
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::dut::ports::DutPorts;
use meshkv::cosim::dut::DutError;
use meshkv::cosim::memory::{Behaviour, Fault, FaultKind};
use meshkv::cosim::workloads::attention::{AttentionError, Bench, Job};
use meshkv::cosim::workloads::{decode, TIMEOUT};
use meshkv::design::{Design, Mapping, Sharing};
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

/// At the speed of the Verilog of the fabric for the U280, 3 000 cycles a second, in ten seconds.
#[test]
fn a_decode_step_that_does_not_begin_is_given_up_in_30_000_cycles() {
    let path = std::path::Path::new("configs/u280_4x8.toml");
    let design = Design::load(path).unwrap().0;
    let load = decode::Workload {
        tokens: 256,
        batch: 1,
        prefix: 0,
        mapping: Mapping::RowAligned,
        sharing: Sharing::KvHead,
        segments: None,
        layers: 1,
        stride: 1,
        append: false,
    };
    let plan = decode::Plan::new(&design, decode::step(&design, &load).unwrap().descriptors, 1);
    let bench = decode::Bench::on(Stuck::of(decode::Bench::model(&design)), &design).unwrap();
    match bench.run(&plan, &mut |_| false) {
        Err(decode::DecodeError::Stuck { cycles, .. }) => assert!(cycles < 30_000, "{cycles}"),
        other => panic!("{other:?}"),
    }
}
