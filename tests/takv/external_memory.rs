//! External memory that is late, out of order, in error, or silent: nothing is lost, and nothing hangs.

use crate::support::decode::{
    plan, run_alone, run_clean, run_on, small, whole_library, FORM, LOAD, MAPPINGS,
};
use crate::support::sources::source_mut;
use crate::support::verilated::library_of;
use meshkv::config::Config;
use meshkv::cosim::build::Library;
use meshkv::cosim::memory::{Behaviour, Fault, FaultKind, Image, Layout};
use meshkv::cosim::workloads::decode::{Bench, DecodeError, Decoded, Plan, Workload};
use meshkv::cosim::workloads::{TileError, TileErrorKind, TIMEOUT};
use meshkv::design::{check, Design, Mapping};
use meshkv::emit::emit;
use std::collections::HashMap;

const ROW_ALIGNED: Workload = Workload { mapping: Mapping::RowAligned, ..LOAD };

#[test]
fn reordering_gaps_and_refusals_change_nothing_but_the_time() {
    let design = small(|_| {});
    let library = whole_library(&design);
    for mapping in MAPPINGS {
        let load = Workload { tokens: 123, batch: 2, prefix: 40, mapping, ..LOAD };
        let calm = plan(&design, &load);
        let quick = run_clean(&library, &design, &calm, "calm");
        for seed in 1..4 {
            let whole_bursts = Behaviour { interleave: false, ..calm.memory.clone().unruly(seed) };
            for memory in [calm.memory.clone().unruly(seed), whole_bursts] {
                let plan = Plan { memory, seed, image: Image::Hash(seed), ..calm.clone() };
                let done = run_clean(&library, &design, &plan, &format!("{mapping:?}, seed {seed}"));
                assert_eq!(done.taken, quick.taken);
                assert!(done.cycles > quick.cycles);
            }
        }
    }
}

/// The small fabric with FIFOs of such a depth that a chunk has two bursts.
fn of_two_bursts() -> Design {
    let design = small(|c| c.pad.fifo_depth = Some(96));
    assert_eq!((design.mare.chunk_flits, design.memory.burst_flits), (32, 16));
    design
}

/// The same with another line in a module.
fn slip(design: &Design, module: &str, from: &str, to: &str) -> Library {
    let mut files = emit(design).unwrap();
    let file = source_mut(&mut files, module);
    assert_eq!(file.text.matches(from).count(), 1, "{from}");
    file.text = file.text.replace(from, to);
    library_of(FORM, design, &files)
}

#[test]
fn bursts_of_a_chunk_may_overtake_each_other_while_it_is_streamed() {
    let design = of_two_bursts();
    let library = whole_library(&design);
    let load = Workload { tokens: 123, batch: 2, prefix: 40, ..ROW_ALIGNED };
    let unruly = |seed| {
        let calm = plan(&design, &load);
        Plan { memory: calm.memory.clone().unruly(seed), seed, image: Image::Hash(seed), ..calm }
    };
    for seed in 1..4 {
        run_clean(&library, &design, &unruly(seed), &format!("seed {seed}"));
    }
    // A home that reads bursts on their way.
    let wrong = slip(&design, "meshkv_filler", "(|under_way | ahead)", "(ahead)");
    let found =
        (1..4).any(|seed| run_alone(&wrong, &design, &unruly(seed)).map_or(true, |done| done.violations > 0));
    assert!(found, "it is not found");
}

#[test]
fn a_slice_is_streamed_while_it_is_filled() {
    // All slices of the only segment have one home.
    let (design, _) = Design::load(std::path::Path::new("configs/u280_4x8_strided.toml")).unwrap();
    let plan = plan(&design, &Workload { tokens: 64, ..ROW_ALIGNED });
    let done = Bench::on_model(&design).run(&plan, &mut |_| false).unwrap();
    assert_eq!(done.violations, 0, "{:#?}", done.violation_list);
    let beats = done.ports.iter().map(|port| port.beats).max().unwrap() as f64;
    let filled = beats * 64.0 / plan.memory.mean_bytes_per_cycle();
    // A home that waits for the whole of its last slice has all of its flits to send after that.
    let flits = f64::from(design.mare.slice_flits);
    assert!((done.kv_cycles as f64) < filled + flits, "{} cycles, filled in {filled}", done.kv_cycles);
}

#[test]
fn a_slow_memory_sets_the_pace() {
    let design = small(|_| {});
    let library = whole_library(&design);
    let mut plan = plan(&design, &ROW_ALIGNED);
    // A flit of 8 bytes every 32 cycles.
    (plan.memory.bytes_per_cycle, plan.memory.refresh) = (0.25, None);
    let done = run_clean(&library, &design, &plan, "slow");
    let busiest = done.ports.iter().map(|p| p.beats).max().unwrap();
    let least = busiest * 32;
    assert!((least..least + 1000).contains(&done.cycles), "{} cycles for {busiest} beats", done.cycles);
}

/// The least legal bandwidth of a design that `change` makes, in GB/s, as the refusal of less advises it.
fn least_bandwidth(change: &dyn Fn(&mut Config)) -> f64 {
    let mut config = small(change).configuration().clone();
    config.memory.bandwidth_gbs = 1e-6;
    let found = check("test", &config);
    let refused = found.iter().find(|f| f.key == "memory.bandwidth_gbs").expect("it is refused");
    let advised = refused.advice.first().expect("it advises a value");
    advised.set[0].value.as_f64().expect("a number")
}

#[test]
fn the_slowest_memory_that_is_legal_serves_a_step_and_a_slower_one_is_given_up() {
    for tiles in [1, 2] {
        let shape = |c: &mut Config| c.memory.tiles_per_port = Some(tiles);
        let least = least_bandwidth(&shape);
        let design = small(|c| {
            shape(c);
            c.memory.bandwidth_gbs = least;
        });
        let mut plan = plan(&design, &Workload { tokens: 16, ..ROW_ALIGNED });
        let run = |plan: &Plan| Bench::on_model(&design).run(plan, &mut |_| false);
        assert_eq!(run(&plan).map(|done| done.violations), Ok(0), "{tiles} tiles a port, {least} GB/s");
        plan.memory = plan.memory.unruly(3);
        assert_eq!(
            run(&plan).map(|done| done.violations),
            Ok(0),
            "{tiles} tiles a port, {least} GB/s, unruly"
        );
        // Less than a flit in the time for which a home waits.
        plan.memory.bytes_per_cycle = 7.0 / f64::from(1 << 16);
        assert!(matches!(run(&plan), Err(DecodeError::Reported { .. })), "{tiles} tiles a port");
    }
}

#[test]
fn what_is_fetched_is_what_the_image_holds() {
    let design = small(|_| {});
    let library = whole_library(&design);
    let mut plan = plan(&design, &Workload { tokens: 16, ..LOAD });
    let bytes = |g: u64, s: u64| (0..1024).map(|i| (i * 7 + g * 31 + s * 101) as u8).collect::<Vec<_>>();
    let slices = (0..3).flat_map(|g| (0..2).map(move |s| (g, s)));
    let image = slices.map(|(g, s)| (design.slice_number(0, 0, s, g), bytes(g.into(), s.into())));
    plan.image = Image::Slices(image.collect::<HashMap<_, _>>());
    run_clean(&library, &design, &plan, "slices");
}

/// The home of segment 3, and the address of its slice of KV head 1.
fn victim(design: &Design) -> ((u32, u32), u64) {
    (design.mesh.coords(design.placement.home(0, 3)), design.slice_address(0, 0, 3, 1))
}

/// The faults that end a run, on the Verilog and on the model. The two run separately, since the data in place of a
/// missing answer is whatever the memory held.
fn faults(library: &Library, design: &Design, faults: Vec<Fault>) -> Vec<TileError> {
    let mut plan = plan(design, &ROW_ALIGNED);
    plan.memory.faults = faults;
    let sorted = |run: Result<Decoded, DecodeError>| match run {
        Err(DecodeError::Reported { mut all, .. }) => {
            all.sort_unstable();
            all
        }
        Err(other) => panic!("{other}"),
        Ok(done) => panic!("it ended well: {:?}", done.violation_list),
    };
    let found = sorted(run_alone(library, design, &plan));
    assert_eq!(sorted(Bench::on_model(design).run(&plan, &mut |_| false)), found, "the model's faults");
    found
}

#[test]
fn an_error_response_names_the_home_that_read() {
    let design = small(|_| {});
    let library = whole_library(&design);
    let (tile, address) = victim(&design);
    for kind in [FaultKind::SlaveError, FaultKind::DecodeError] {
        // One beat in the middle of the slice.
        let fault = Fault { port: None, addresses: address + 80..address + 88, from: 0, to: u64::MAX, kind };
        assert_eq!(faults(&library, &design, vec![fault]), [TileError { tile, kind: TileErrorKind::Memory }]);
    }
    let mut plan = plan(&design, &ROW_ALIGNED);
    plan.image = Image::Slices(HashMap::new());
    let error = run_on(&library, &design, &plan).unwrap_err().to_string();
    assert!(error.contains("was answered with an error, and") && error.contains("help:"), "{error}");
}

#[test]
fn an_answer_that_never_comes_is_a_time_out_and_not_a_hang() {
    let design = small(|_| {});
    let library = whole_library(&design);
    let (tile, address) = victim(&design);
    let late = FaultKind::Late(TIMEOUT as u32 + 2000);
    for kind in [FaultKind::Mute, late] {
        let fault = Fault { port: None, addresses: address..address + 1, from: 0, to: u64::MAX, kind };
        assert_eq!(
            faults(&library, &design, vec![fault])[0],
            TileError { tile, kind: TileErrorKind::Timeout },
            "{kind:?}"
        );
    }
}

#[test]
fn a_burst_that_never_comes_ends_the_run_of_a_slice_that_is_streamed_already() {
    let design = of_two_bursts();
    let library = whole_library(&design);
    let (tile, address) = victim(&design);
    // The second burst of K, and the last one of V: eight bursts of 128 bytes.
    for byte in [128, 896] {
        for kind in [FaultKind::Mute, FaultKind::Late(TIMEOUT as u32 + 2000)] {
            let addresses = address + byte..address + byte + 8;
            let fault = Fault { port: None, addresses, from: 0, to: u64::MAX, kind };
            let first = faults(&library, &design, vec![fault])[0];
            assert_eq!(first, TileError { tile, kind: TileErrorKind::Timeout }, "byte {byte}, {kind:?}");
        }
    }
    // A home that goes on waiting for what was given up.
    let waits = slip(&design, "meshkv_filler", "stream_valid & ~broken_q & (", "stream_valid & (");
    let mut plan = plan(&design, &ROW_ALIGNED);
    let addresses = address + 128..address + 136;
    plan.memory.faults = vec![Fault { port: None, addresses, from: 0, to: u64::MAX, kind: FaultKind::Mute }];
    let stuck = run_alone(&waits, &design, &plan);
    assert!(matches!(stuck, Err(DecodeError::Stuck { .. })), "{stuck:?}");
}

#[test]
fn a_port_that_takes_nothing_is_a_time_out_of_its_homes() {
    let design = small(|_| {});
    let library = whole_library(&design);
    let (x, y) = victim(&design).0;
    let port = design.memory.port(x, y) as usize;
    for kind in [FaultKind::Deaf, FaultKind::Mute] {
        let found = faults(&library, &design, vec![Fault::of_port(port, kind)]);
        assert!(!found.is_empty() && found.iter().all(|f| f.kind == TileErrorKind::Timeout), "{found:?}");
        let of_port = |f: &TileError| design.memory.port(f.tile.0, f.tile.1) as usize == port;
        assert!(found.iter().all(of_port), "{found:?}");
    }
}

/// A layer of the fabric for the card, on the model: the gigabytes of KV a second while it flows.
fn gbs_of_the_card(change: &dyn Fn(&mut Behaviour)) -> f64 {
    let (design, _) = Design::load(std::path::Path::new("configs/u280_4x8.toml")).unwrap();
    let load = Workload { tokens: 4096, ..ROW_ALIGNED };
    let mut plan = Plan { seed: 1, ..plan(&design, &load) };
    change(&mut plan.memory);
    let done = Bench::on_model(&design).run(&plan, &mut |_| false).unwrap();
    assert_eq!(done.violations, 0, "{:#?}", done.violation_list);
    let bytes = done.ports.iter().map(|port| port.beats).sum::<u64>() as f64 * 64.0;
    bytes / (done.kv_cycles as f64 * 4e-9) / 1e9
}

#[test]
fn homes_side_by_side_have_all_of_the_bandwidth_and_two_in_a_channel_half() {
    let own = gbs_of_the_card(&|memory| memory.refresh = None);
    assert!((450.0..=460.0).contains(&own), "{own} GB/s");
    let with_refresh = gbs_of_the_card(&|_| {});
    assert!((0.97..=1.0).contains(&(with_refresh / (460.0 * 0.9333))), "{with_refresh} GB/s");
    // One flat buffer: home after home, two of 128 MiB in each channel, and half of the channels idle.
    let flat = gbs_of_the_card(&|memory| {
        memory.refresh = None;
        let Layout::Parts(parts) = &mut memory.layout else { panic!("homes have channels") };
        parts.channels = (0..32).map(|home| (home / 2, 1)).collect();
    });
    // KV begins to flow a little later than memory gives it.
    assert!((215.0..=232.0).contains(&flat), "{flat} GB/s");
}
