//! The model of the whole design, what computes and all, shows at every port in every cycle what the Verilog shows.

mod attend;

use attend::{assert_exact, lockstep, on_model, small, tensors, Trouble};
use meshkv::config::Config;
use meshkv::cosim::attention::{Attended, Job};
use meshkv::cosim::clocks::Clocks;
use meshkv::design::{Design, Mapping, Sharing};
use meshkv::emit::emit;
use meshkv::model::tensors::{Logits, Tensors};

const CALM: Trouble = Trouble { stall: 0, unruly: false, noise: 3 };
const ROUGH: Trouble = Trouble { stall: 200, unruly: true, noise: 77 };

fn drawn(design: &Design, tokens: usize, streams: u32) -> Tensors {
    tensors(design, tokens, streams as usize, Logits::Normal, 5)
}

/// Runs both; then the model by itself, which must come to the same numbers.
fn same(job: &Job, trouble: Trouble, clocks: Clocks, what: &str) -> Attended {
    let what = format!("{what}, {:?}, {} streams, {trouble:?}, {clocks:?}", job.mapping, job.streams);
    let files = emit(job.design).expect("every legal design is emitted");
    let rtl = lockstep(&files, job, trouble, clocks).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_exact(&rtl, &what);
    let model = on_model(job, trouble, clocks, true);
    assert_eq!(model.outputs, rtl.outputs, "{what}");
    assert_eq!((model.cycles, model.kv_cycles, &model.pad), (rtl.cycles, rtl.kv_cycles, &rtl.pad), "{what}");
    assert_eq!((&model.events, &model.links, &model.beats), (&rtl.events, &rtl.links, &rtl.beats), "{what}");
    assert_eq!((rtl.violations.len(), model.violations.len()), (0, 0), "{what}");
    rtl
}

#[test]
fn every_mapping_takes_the_cycles_of_the_verilog() {
    let design = small(|_| {});
    for mapping in [Mapping::RowAligned, Mapping::HeadTile, Mapping::StreamStriped] {
        for (tokens, streams) in [(64, 1), (61, 2), (3, 2)] {
            let tensors = drawn(&design, tokens, streams);
            let job = Job::new(&design, &tensors, (0, streams), mapping, Sharing::KvHead).unwrap();
            same(&job, CALM, Clocks::IN_STEP, &format!("{tokens} tokens"));
            same(&job, ROUGH, Clocks::IN_STEP, &format!("{tokens} tokens"));
        }
    }
}

type Change = fn(&mut Config);
