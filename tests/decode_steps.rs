//! Every flit of every slice reaches the tiles that need it, once, on the verilated fabric.

mod decode;

use decode::{plan, run_clean, small, whole_library, LOAD, MAPPINGS, SHARINGS};
use meshkv::cosim::decode::Workload;

#[test]
fn a_first_step() {
    let design = small(|_| {});
    let library = whole_library(&design);
    for mapping in MAPPINGS {
        for sharing in SHARINGS {
            let load = Workload { mapping, sharing, ..LOAD };
            let done = run_clean(&library, &design, &plan(&design, &load), &format!("{load:?}"));
            println!("{load:?}: {} cycles, {} jobs, {} packets, {} overtake", done.cycles, done.jobs, done.packets, done.overtaking);
        }
    }
}
