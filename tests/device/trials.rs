//! What hosts and memories must not do: seeds of soak lead to every rare state of a device, each error is read, and the runs
//! before and after it are right.

use crate::support::verilated::library_of;
use meshkv::cosim::build::BuildForm;
use meshkv::cosim::dut::verilated::verilated_ports::verilated;
use meshkv::emit::emit;
use meshkv::eval::{SoakDevice, SOAKED_BY_DEVICES};
use meshkv::model::cycle::common::{Rare, Reached, RARE};

/// Seeds that are tried at most.
const SEEDS: u64 = 800;

/// Rare states of a device, and those of its core that only a device reaches.
fn empty(reached: &Reached) -> Vec<Rare> {
    let of_device = |rare: &&Rare| rare.block() == "device" || SOAKED_BY_DEVICES.contains(rare);
    RARE.iter().filter(of_device).copied().filter(|&rare| reached.of(rare) == 0).collect()
}

#[test]
fn seeds_of_soak_lead_to_every_rare_state_of_a_device() {
    let mut all = Reached::default();
    for seed in (6..SEEDS).step_by(8) {
        let case = SoakDevice::of(seed);
        let missing = empty(&all);
        if missing.is_empty() {
            return;
        }
        if !case.leads_to(&missing) {
            continue;
        }
        let library = library_of(BuildForm::FrontAlone, &case.design, &emit(&case.design).unwrap());
        let job = case.job();
        for &trial in &case.trials {
            let mut bench = case.bench(verilated(&library, seed).unwrap(), &job).unwrap();
            let (reached, wrong) =
                bench.try_out(&job, trial, &mut |_| false).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(wrong, None, "seed {seed}, {}", case.title());
            all.add(&reached);
        }
    }
    panic!("no seed below {SEEDS} reaches {:?}", empty(&all));
}
