//! Rare states of the blocks: seeds of soak lead to every one of them; `device::trials` has those of a device.

use meshkv::eval::{SoakFabric, SoakStorm, BEYOND_SOAK, SOAKED_BY_DEVICES};
use meshkv::model::cycle::common::{Rare, Reached, RARE};

/// Seeds that are tried at most.
const SEEDS: u64 = 960;

#[test]
fn seeds_of_soak_lead_to_every_rare_state() {
    let (mut all, mut first) = (Reached::default(), vec![None; RARE.len()]);
    // Queries come beside slices in a device only.
    let beyond = |rare: &Rare| {
        BEYOND_SOAK.contains(rare) || SOAKED_BY_DEVICES.contains(rare) || rare.block() == "device"
    };
    for seed in (2..SEEDS).step_by(2).filter(|seed| seed % 8 != 6) {
        let reached = match seed % 4 {
            0 => SoakStorm::of(seed).foreseen(&mut || false).map_err(|e| e.to_string()),
            _ => SoakFabric::of(seed).foreseen(&mut || false).map_err(|e| e.to_string()),
        };
        let reached = reached.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for (at, (_, count)) in reached.iter().enumerate().filter(|(_, (_, count))| *count > 0) {
            first[at].get_or_insert((seed, count));
        }
        all.add(&reached);
        if all.empty().iter().all(beyond) {
            return;
        }
    }
    let first = RARE.iter().zip(first).map(|(rare, first)| format!("{}: {first:?}", rare.name()));
    let names: Vec<_> = all.empty().iter().map(|rare| rare.name()).collect();
    panic!("no seed below {SEEDS} reaches {names:?}\n{}", first.collect::<Vec<_>>().join("\n"));
}
