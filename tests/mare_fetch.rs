//! What a tile asks for comes: home agents, coalescing, multicast, on the verilated fabric.

mod mare;

use mare::fabric::design;
use mare::{chunk, plan, random_plan, run_clean};

#[test]
fn one_tile_fetches_one_chunk_from_another() {
    let design = design(3, 2, |_| {});
    let mut plan = plan(&design, 6);
    plan.commands[4].push(chunk(&design, 0, 0, 0, 1, 1));
    let done = run_clean(&design, &plan);
    let flits = u64::from(design.mare.chunk_flits);
    assert_eq!((done.delivered, done.commands), (flits, 1));
    assert_eq!(done.data_links, 2 * flits, "two links from tile 0 to tile 4");
}

#[test]
fn random_fetches_bring_every_head_every_flit_once() {
    let design = design(3, 2, |_| {});
    for (seed, gap, stall) in [(1, 40, 0), (2, 5, 60)] {
        let mut plan = random_plan(&design, seed, 500, gap, 12);
        plan.stall = stall;
        let done = run_clean(&design, &plan);
        for (i, name) in meshkv::emit::TILE_EVENTS.iter().enumerate() {
            println!("{name} {}", done.events.iter().map(|e| e[i]).sum::<u32>());
        }
        println!("{} {}", done.cycles, done.commands);
    }
}
