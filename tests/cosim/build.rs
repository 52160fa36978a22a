//! The shim on a fabric small enough to compile in seconds: `loopback.v` returns each flit to its sender, and
//! misbehaves when a payload orders it to.

use meshkv::config::Config;
use meshkv::cosim::build::toolchain::Toolchain;
use meshkv::cosim::build::verilate::{build, BuildOptions};
use meshkv::cosim::build::{BuildError, BuildForm, Library, Progress, RunLength};
use meshkv::cosim::dut::network::{Injection, StepStatus};
use meshkv::cosim::dut::verilated::verilated_mesh::VerilatedMesh;
use meshkv::cosim::dut::DutError;
use meshkv::design::{Class, Design, NodeId, Port};
use meshkv::emit::{emit, SourceFile};
use meshkv::tools::WorkError;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const STOP: u32 = 0xdead_0001;
const FINISH: u32 = 0xdead_0002;
const LOSE: u32 = 0xdead_0003;
const CREDIT_TWICE: u32 = 0xdead_0004;
const IGNORE_CREDIT: u32 = 0xdead_0005;

fn design() -> Design {
    let mut config = Config::default();
    config.mesh.cols = 2;
    config.mesh.rows = 2;
    config.noc.flit_width = 64;
    Design::from_config("loopback", &config).unwrap()
}

/// The fixture with the design's widths in place of its own.
fn sources(design: &Design) -> Vec<SourceFile> {
    let mut text = fs::read_to_string("tests/cosim/loopback.v").unwrap();
    for (of_fixture, of_design) in [
        ("parameter VCS        = 4", format!("parameter VCS = {}", design.router.vcs())),
        ("parameter VC_DEPTH   = 8", format!("parameter VC_DEPTH = {}", design.router.vc_depth)),
        ("parameter DEST_WIDTH = 4", format!("parameter DEST_WIDTH = {}", design.flit.dest_width)),
        ("parameter HEAD_WIDTH = 32", format!("parameter HEAD_WIDTH = {}", design.flit.head_width)),
    ] {
        assert!(text.contains(of_fixture), "{of_fixture}");
        text = text.replace(of_fixture, &of_design);
    }
    vec![SourceFile { path: "rtl/loopback.v".to_owned(), text }]
}

fn verilator() -> PathBuf {
    std::env::var_os("MESHKV_VERILATOR").map_or_else(|| "verilator".into(), PathBuf::from)
}

fn options(run: RunLength, cache: &Path) -> BuildOptions {
    let toolchain = Toolchain::probe(&verilator(), Toolchain::default_cxx()).unwrap();
    BuildOptions { toolchain, form: BuildForm::WholeMesh, run, cache_dir: Some(cache.to_owned()) }
}

/// One cache for all tests of this file, kept under target/ so that a second run is quick.
fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("cosim_build")
}

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let design = design();
        build(&sources(&design), &design, &options(RunLength::Quick, &cache()), &mut |_| {}).unwrap()
    })
}

/// An instance with the credits and headers that sending needs.
struct Bench {
    design: Design,
    dut: VerilatedMesh,
}

impl Bench {
    fn new() -> Bench {
        let design = design();
        let dut = VerilatedMesh::open(library(), &design, 1).unwrap();
        Bench { design, dut }
    }

    fn tile(&self, index: usize) -> NodeId {
        self.design.mesh.node_at(index).unwrap()
    }

    /// Sends one flit whose first payload word is `word`.
    fn send(&mut self, tile: usize, class: Class, ready_cycle: u64, last: bool, word: u32) {
        let vcs = self.design.router.vcs_of_class(class);
        let head_words = self.design.flit.head_width.div_ceil(32) as usize;
        let tile = self.tile(tile);
        let flit = Injection {
            tile,
            class,
            vc_mask: vcs.map(|vc| 1 << vc).sum(),
            ready_cycle,
            last,
            dest: &self.design.flit.dest_words(self.design.mesh, &[tile]),
            head: &vec![word & 0x7f; head_words],
            data: &[word, !word],
        };
        self.dut.inject(&flit).unwrap();
    }

    /// The flits that have left: cycle, tile, VC, first payload word.
    fn ejected(&mut self) -> Vec<(u64, usize, u32, u32)> {
        self.dut.drain_ejections().map(|e| (e.cycle, e.tile.index(), e.vc, e.data[0])).collect()
    }
}

#[test]
fn a_flit_is_on_the_wires_in_its_ready_cycle_and_comes_back_whole() {
    let mut bench = Bench::new();
    bench.dut.record(true, true);
    bench.send(3, Class::KvData, 10, true, 0x1234_5678);
    assert_eq!(bench.dut.step(30), Ok(StepStatus::Done));
    assert_eq!(bench.dut.cycle(), 30);

    let entries: Vec<_> = bench.dut.drain_entries().collect();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].cycle, entries[0].sequence, entries[0].class), (10, 0, Class::KvData));
    // Buffered at the end of period 10, sent at the end of period 11: on the wires in period 12.
    let flits: Vec<_> = bench.dut.drain_ejections().collect();
    assert_eq!(flits.len(), 1);
    assert_eq!((flits[0].cycle, flits[0].tile.index(), flits[0].vc), (12, 3, entries[0].vc));
    assert_eq!(flits[0].data, [0x1234_5678, !0x1234_5678]);
    assert_eq!(flits[0].head[0], 0x78);
    assert_eq!(flits[0].head.len(), bench.design.flit.head_width.div_ceil(32) as usize);
    drop(flits);
    assert_eq!(bench.ejected(), [], "taken once");
    assert!(bench.dut.drained() && bench.dut.credits_home());
}

#[test]
fn single_steps_and_one_long_step_see_the_same() {
    let run = |chunk: u64| {
        let mut bench = Bench::new();
        for i in 0..200 {
            bench.send(i % 4, Class::ALL[i % 3], i as u64 / 5, i % 3 != 0 || i % 2 == 0, i as u32);
        }
        let mut seen = Vec::new();
        while bench.dut.cycle() < 240 {
            bench.dut.step(chunk).unwrap();
            seen.extend(bench.ejected());
        }
        seen
    };
    let single = run(1);
    assert_eq!(single.len(), 200);
    assert_eq!(single, run(240));
}

#[test]
fn a_tile_offers_one_flit_a_cycle_its_queues_in_turn() {
    let mut bench = Bench::new();
    bench.dut.record(false, true);
    for i in 0..4 {
        for class in Class::ALL {
            bench.send(0, class, 0, true, i);
        }
    }
    bench.dut.step(12).unwrap();
    let entries: Vec<_> = bench.dut.drain_entries().collect();
    let cycles: Vec<_> = entries.iter().map(|e| e.cycle).collect();
    assert_eq!(cycles, (0..12).collect::<Vec<_>>());
    for (i, entry) in entries.iter().enumerate() {
        assert_eq!((entry.class, entry.sequence), (Class::ALL[i % 3], i as u64 / 3));
    }
}

#[test]
fn a_packet_stays_on_one_vc_and_the_next_may_take_another() {
    let mut bench = Bench::new();
    bench.dut.record(false, true);
    for packet in 0..6 {
        for flit in 0..4 {
            bench.send(1, Class::Part, 0, flit == 3, packet * 4 + flit);
        }
    }
    bench.dut.step(100).unwrap();
    let vcs: Vec<_> = bench.dut.drain_entries().map(|e| e.vc).collect();
    assert_eq!(vcs.len(), 24);
    assert!(vcs.chunks(4).all(|packet| packet.iter().all(|vc| *vc == packet[0])), "{vcs:?}");
    assert!(vcs.contains(&0) && vcs.contains(&1), "both VCs of PART are used: {vcs:?}");
}

#[test]
fn a_stalled_tile_delays_flits_and_loses_none() {
    let mut bench = Bench::new();
    let slow = bench.tile(2);
    bench.dut.stall(slow, 0.75, 7);
    for i in 0..100 {
        bench.send(2, Class::KvData, 0, true, i);
    }
    bench.dut.step(150).unwrap();
    let early = bench.ejected().len();
    assert!(early < 90, "a quarter of full rate, but {early} of 100 left");
    bench.dut.step(1000).unwrap();
    assert_eq!(early + bench.ejected().len(), 100);
    assert!(bench.dut.drained());
}

#[test]
fn the_watchdog_names_the_vcs_that_are_blocked() {
    let mut bench = Bench::new();
    let blocked = bench.tile(1);
    bench.dut.stall(blocked, 1.0, 0);
    bench.dut.watchdog(50);
    for i in 0..40 {
        bench.send(1, Class::KvFetch, 0, true, i);
    }
    assert_eq!(bench.dut.step(1000), Ok(StepStatus::Stuck));
    assert!(bench.dut.cycle() < 120, "{}", bench.dut.cycle());
    let vc = bench.design.router.vcs_of_class(Class::KvFetch).start;
    assert_eq!(bench.dut.busy_vcs(), [(blocked, Port::Local, vc)]);
    assert_eq!(bench.dut.credit(blocked, vc), 0);
    assert!(!bench.dut.credits_home());
    // What the tile and the buffer hold is in; the rest waits outside.
    let totals = bench.dut.totals();
    assert_eq!((totals.entered, totals.left), (16, 8));
    assert_eq!(totals.queued, 24);
}

#[test]
fn the_watchdog_is_quiet_while_nothing_is_inside() {
    let mut bench = Bench::new();
    bench.dut.watchdog(50);
    bench.send(1, Class::KvFetch, 900, true, 1);
    assert_eq!(bench.dut.step(1000), Ok(StepStatus::Done));
}

#[test]
fn stop_becomes_an_error_with_the_cycle_and_what_was_printed() {
    let mut bench = Bench::new();
    bench.send(2, Class::KvData, 5, true, STOP);
    let error = bench.dut.step(100).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("in cycle 5: $stop at src/rtl/loopback.v:"), "{text}");
    assert!(text.contains("tile 2 was told to stop"), "{text}");
    assert_eq!(bench.dut.step(1), Err(error.clone()), "a stopped model stays stopped");
    assert_eq!(bench.dut.reset(), Err(error));
}

#[test]
fn finish_becomes_an_error_too() {
    let mut bench = Bench::new();
    bench.send(0, Class::KvData, 0, true, FINISH);
    assert!(matches!(bench.dut.step(10), Err(DutError::Stopped(text)) if text.contains("$finish")));
}

#[test]
fn a_lost_flit_keeps_a_credit_away() {
    let mut bench = Bench::new();
    bench.send(0, Class::KvData, 0, true, LOSE);
    bench.dut.step(100).unwrap();
    assert_eq!(bench.ejected(), []);
    assert!(!bench.dut.credits_home() && !bench.dut.drained());
}

#[test]
fn a_credit_too_many_breaks_the_protocol_and_a_reset_mends_it() {
    let mut bench = Bench::new();
    bench.send(0, Class::KvData, 0, true, CREDIT_TWICE);
    let error = bench.dut.step(100).unwrap_err();
    assert!(
        matches!(&error, DutError::Protocol(text) if text.contains("tile 0 got back more credits on VC 3")),
        "{error}"
    );
    bench.dut.reset().unwrap();
    assert_eq!(bench.dut.cycle(), 0);
    bench.send(0, Class::KvData, 0, true, 1);
    bench.dut.step(20).unwrap();
    assert_eq!(bench.ejected().len(), 1);
}

#[test]
fn a_flit_without_a_credit_breaks_the_protocol() {
    let mut bench = Bench::new();
    let blocked = bench.tile(0);
    bench.dut.stall(blocked, 1.0, 0);
    bench.send(0, Class::KvFetch, 0, true, IGNORE_CREDIT);
    for i in 0..20 {
        bench.send(0, Class::KvFetch, 0, true, i);
    }
    let error = bench.dut.step(100).unwrap_err();
    assert!(error.to_string().contains("tile 0 was sent a flit on VC 2 without a credit"), "{error}");
}

#[test]
fn counters_are_read_from_the_scan() {
    let mut bench = Bench::new();
    bench.dut.step(70).unwrap();
    let counters = bench.dut.counters();
    for (tile, row) in counters.iter().enumerate() {
        // The fixture's registers are one period apart, so slot i shows i.
        let expected: Vec<u32> = (0..32).map(|i| tile as u32 * 100 + if i == 0 { 32 } else { i }).collect();
        assert_eq!(row[..], expected[..], "tile {tile}");
    }
}

#[test]
fn bare_mode_counts_and_records_nothing() {
    let mut bench = Bench::new();
    bench.dut.record(false, false);
    for i in 0..10 {
        bench.send(0, Class::KvData, 0, true, i);
    }
    bench.dut.step(50).unwrap();
    assert_eq!(bench.ejected(), []);
    assert_eq!(bench.dut.totals().left, 10);
}

#[test]
fn instances_of_one_library_run_on_several_threads() {
    let threads: Vec<_> = (0..3u32)
        .map(|id| {
            std::thread::spawn(move || {
                let mut bench = Bench::new();
                for i in 0..50 {
                    bench.send(0, Class::KvData, 0, true, if i == 49 && id == 1 { STOP } else { i });
                }
                (bench.dut.step(100).is_err(), bench.dut.totals().left)
            })
        })
        .collect();
    let results: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert_eq!(results[0], (false, 50));
    assert!(results[1].0);
    assert_eq!(results[2], (false, 50));
}

#[test]
fn a_library_of_another_design_is_refused() {
    let mut config = design().configuration().clone();
    config.noc.vc_depth = 4;
    let other = Design::from_config("other", &config).unwrap();
    assert!(matches!(VerilatedMesh::open(library(), &other, 1), Err(DutError::Mismatch(_))));
}

#[test]
fn a_second_build_comes_from_the_cache_and_a_damaged_one_is_rebuilt() {
    library();
    let design = design();
    let options = options(RunLength::Quick, &cache());
    let mut steps = 0;
    build(&sources(&design), &design, &options, &mut |_| steps += 1).unwrap();
    assert_eq!(steps, 0, "nothing to do");

    // A copy, because the other tests use the shared one.
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(cache()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        let to = copy.path().join(entry.file_name().unwrap());
        fs::create_dir(&to).unwrap();
        // What others build meanwhile may go away again; the entry that counts stays.
        for file in fs::read_dir(&entry).into_iter().flatten().flatten().map(|file| file.path()) {
            let Ok(bytes) = fs::read(&file) else { continue };
            let is_library = file.extension().is_some_and(|e| e == "so");
            // Half a library, as a full disk would leave it.
            let kept = if is_library { &bytes[..bytes.len() / 2] } else { &bytes[..] };
            fs::write(to.join(file.file_name().unwrap()), kept).unwrap();
        }
    }
    let options = BuildOptions { cache_dir: Some(copy.path().to_owned()), ..options };
    let mut notes = Vec::new();
    let rebuilt = build(&sources(&design), &design, &options, &mut |p| {
        if let Progress::Rebuilding { why } = p {
            notes.push(why.to_owned());
        }
    });
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("libdut.so is not what was built"), "{notes:?}");
    VerilatedMesh::open(&rebuilt.unwrap(), &design, 1).unwrap();
}

#[test]
fn waves_are_written_by_a_traced_build_and_refused_by_another() {
    let design = design();
    let run = RunLength::Trace { depth: Some(1), brief: true };
    let traced = build(&sources(&design), &design, &options(run, &cache()), &mut |_| {}).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.fst");
    let mut dut = VerilatedMesh::open(&traced, &design, 1).unwrap();
    dut.wave_start(&path).unwrap();
    dut.step(100).unwrap();
    dut.wave_stop();
    assert!(fs::metadata(&path).unwrap().len() > 200);
    let error = dut.wave_start(Path::new("/nonexistent/run.fst")).unwrap_err();
    assert!(error.to_string().contains("/nonexistent/run.fst"), "{error}");

    let mut bare = VerilatedMesh::open(library(), &design, 1).unwrap();
    assert!(matches!(bare.wave_start(&path), Err(DutError::Wave(text)) if text.contains("without waves")));
}

#[test]
fn a_missing_tool_is_named() {
    let missing = Path::new("/nonexistent/tool");
    let error = Toolchain::probe(missing, Toolchain::default_cxx()).unwrap_err();
    assert!(matches!(&error, BuildError::VerilatorMissing { path } if path == missing));
    assert!(error.is_missing_tool() && error.to_string().contains("5.006"), "{error}");
    let error = Toolchain::probe(&verilator(), missing).unwrap_err();
    assert!(matches!(&error, BuildError::CompilerMissing { path } if path == missing));
    assert!(error.is_missing_tool() && error.to_string().contains("g++"), "{error}");
}

#[test]
fn broken_verilog_shows_verilators_first_error_and_leaves_no_entry() {
    let design = design();
    let broken =
        [SourceFile { path: "rtl/bad.v".to_owned(), text: "module meshkv_mesh(; endmodule\n".to_owned() }];
    let folder = tempfile::tempdir().unwrap();
    // The runtime is not needed to find the error, so its objects are borrowed.
    library();
    for entry in fs::read_dir(cache()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        std::os::unix::fs::symlink(&entry, folder.path().join(entry.file_name().unwrap())).unwrap();
    }
    let before = fs::read_dir(folder.path()).unwrap().filter(|e| e.as_ref().unwrap().path().is_dir()).count();
    let error = build(&broken, &design, &options(RunLength::Quick, folder.path()), &mut |_| {}).unwrap_err();
    assert!(
        matches!(&error, BuildError::Work(WorkError::Failed { log, .. }) if log.contains("src/rtl/bad.v:1")),
        "{error}"
    );
    let after = fs::read_dir(folder.path()).unwrap().filter(|e| e.as_ref().unwrap().path().is_dir()).count();
    assert_eq!(before, after);
}

/// Routers of a mesh share code. With a copy for each router, an 8 x 8 mesh of 512 bits takes minutes to build and
/// runs at a quarter of the speed.
#[test]
fn routers_of_a_mesh_share_code() {
    let mut config = design().configuration().clone();
    (config.mesh.cols, config.mesh.rows) = (4, 4);
    (config.noc.vc_depth, config.noc.vn0_vcs, config.noc.vn1_vcs, config.mare.enable) = (2, 1, 2, false);
    let mesh = Design::from_config("mesh", &config).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(verilator());
    command.args(["--cc", "--language", "1364-2005", "--x-initial", "unique", "-Wno-lint", "-Wno-style"]);
    command.args(["-fno-table", "--top-module", "meshkv_mesh", "--prefix", "Vdut", "-Mdir", "dut"]);
    command.arg(fs::canonicalize("sim/share.vlt").unwrap());
    for file in emit(&mesh).unwrap().iter().filter(|file| file.path.starts_with("rtl/")) {
        let name = file.path.rsplit('/').next().unwrap();
        fs::write(folder.path().join(name), file.text.replace("%m: ", "")).unwrap();
        command.arg(name);
    }
    assert!(command.current_dir(folder.path()).status().unwrap().success());
    let mut evaluations = BTreeSet::new();
    for file in fs::read_dir(folder.path().join("dut")).unwrap().map(|f| f.unwrap().path()) {
        let text = fs::read_to_string(file).unwrap();
        let heads = text.lines().filter(|line| line.contains("___nba_sequent__") && line.ends_with(" {"));
        evaluations.extend(heads.filter(|line| line.contains("u_router__0(")).map(str::to_owned));
    }
    // One for each place at an edge, where neighbours are missing, and one for all others.
    assert!((1..=12).contains(&evaluations.len()), "{}: {evaluations:#?}", evaluations.len());
}
