//! Runs through the registers of the front with the model of the core, where beats and heads differ in size.

use crate::support::attention::small;
use crate::support::device::{hasty, job, modelled_of, run_clean, tensors};
use meshkv::config::Config;
use meshkv::cosim::dut::clocks::Clocks;
use meshkv::cosim::workloads::device::{Notice, Platform};
use meshkv::design::Mapping;

/// Runs two steps on 2 x 2 tiles and checks every byte of queries and outputs in memory.
fn steps_are_right(change: impl FnOnce(&mut Config)) {
    let design = small(|c| {
        (c.mesh.cols, c.mesh.rows) = (2, 2);
        change(c);
    });
    let tensors = tensors(&design, 29, 7);
    let job = job(&design, &tensors, Mapping::HeadTile);
    let platform = Platform::of(&design).unruly(1);
    let mut bench = modelled_of(&hasty(&design), &job, &platform, &Clocks::IN_STEP).unwrap();
    for step in 0..2 {
        run_clean(&mut bench, &job, Notice::Polling, &format!("step {step}"));
        run_clean(&mut bench, &job.part(job.rows.clone()), Notice::Polling, &format!("part, step {step}"));
    }
}

#[test]
fn two_heads_share_a_beat_and_a_beat_is_shared_by_two_streams() {
    // Five heads of 64 bytes in beats of 128.
    steps_are_right(|c| {
        (c.noc.flit_width, c.kv.uram_per_tile, c.pe.head_dim) = (1024, 15, 32);
        (c.model.heads, c.model.kv_heads) = (5, 5);
    });
}

#[test]
fn an_output_is_written_in_several_bursts() {
    // 512 bytes in beats of 8: four bursts of 16.
    steps_are_right(|c| {
        c.pe.head_dim = 256;
        (c.model.heads, c.model.kv_heads) = (3, 1);
    });
}
