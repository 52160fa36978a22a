//! The host's library on a co-simulated device: it decodes, and refuses what it must before anything is written.

use crate::support::device::card::{stand_in, Card};
use crate::support::device::host_build::{roomy, HostBuild};
use crate::support::device::{small, TIMEOUT};
use meshkv::config::{KvFormat, KvScales, LayerGroup, Spread};
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::device::Faults;
use meshkv::design::Design;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Devices whose host writes new tokens, and with `true` those that write them themselves (`kv.append`).
const APPENDS: [bool; 2] = [false, true];

/// A program of these tests.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device").join(name)
}

/// Runs a program on a co-simulated device and returns what it printed. It must succeed.
fn run(build: &HostBuild, program: &str, arguments: &[&str]) -> String {
    run_on(Card::new(&build.design), build, program, arguments)
}

fn run_on(mut card: Card, build: &HostBuild, program: &str, arguments: &[&str]) -> String {
    let ran = card.serve(build.command(program).args(arguments));
    let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    assert!(ran.status.success(), "{program} {arguments:?}: {said}");
    said
}

/// Compiles the example and decodes with it.
fn generate(design: Design, arguments: &[&str]) -> String {
    let build = HostBuild::new(design);
    build.compile(Path::new("host/meshkv_generate.cpp"), "meshkv_generate", &[]);
    let limit = ["card.xclbin", "--timeout", "600000"];
    run(&build, "meshkv_generate", &[&limit[..], arguments].concat())
}

#[test]
fn tokens_decoded_on_the_device_are_those_of_attention_on_the_host() {
    let said = generate(small(), &["--tokens", "3", "--streams", "2"]);
    assert!(said.contains("3 tokens of 2 streams") && said.contains("; equal to"), "{said}");
}

#[test]
fn sixty_four_tokens_of_streams_that_come_and_go_are_those_of_the_host() {
    for append in APPENDS {
        let said = generate(roomy(append), &["--streams", "3", "--interrupt"]);
        assert!(said.contains("64 tokens of 3 streams") && said.contains("; equal to"), "{said}");
        println!("{said}");
    }
}

#[test]
fn streams_that_grow_share_and_begin_again_attend_to_their_own_tokens() {
    for append in APPENDS {
        let build = HostBuild::new(roomy(append));
        build.compile(&source("library_attends.cpp"), "library_attends", &[]);
        let said = run(&build, "library_attends", &[]);
        assert!(said.starts_with("as on the host"), "{said}");
    }
}

/// With queries and outputs in the memory of the host there is no transfer in a call, and no register is read.
#[test]
fn host_memory_needs_no_transfer_and_polls_no_register() {
    for append in APPENDS {
        let build = HostBuild::new(roomy(append));
        build.compile(&source("library_attends.cpp"), "library_attends", &[]);
        let ran = Card::new(&build.design)
            .serve(build.command("library_attends").env("MESHKV_CARD_HOST_MEMORY", "1"));
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert!(ran.status.success() && said.starts_with("as on the host"), "{said}");
    }
}

/// A call is one write of a register where the host's memory is shared; else there is a transfer each way.
#[test]
fn a_call_is_one_write_and_threads_take_turns() {
    let build = HostBuild::new(roomy(true));
    build.compile(&source("library_calls.cpp"), "library_calls", &[]);
    let said = |host: bool, fault: Option<&str>| {
        let mut command = build.command("library_calls");
        host.then(|| command.env("MESHKV_CARD_HOST_MEMORY", "1"));
        fault.map(|fault| command.env("MESHKV_FAKE_FAULT", fault));
        let ran = command.output().unwrap();
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert!(ran.status.success(), "{said}");
        said
    };
    let lines = said(true, None);
    let layers = "layer 0: 1 writes, 0 reads\nlayer 1: 1 writes, 0 reads\n";
    assert_eq!(lines, format!("1 writes, 0 reads; 1, 0\n{layers}threads have their own outputs\n"));
    let lines = said(false, None);
    assert!(lines.contains("threads have their own outputs"), "{lines}");
    for host in [true, false] {
        let lines = said(host, Some("hang"));
        assert!(lines.starts_with("in its limit: the run took longer than 300 ms"), "{lines}");
    }
}

/// Seven streams on a pool that does not hold all of them, four at once.
fn paged(append: bool) -> Design {
    let mut config = roomy(append).configuration().clone();
    (config.kv.pages, config.kv.caches, config.kv.page_count) = (true, Some(7), Some(70));
    Design::from_config("paged", &config).unwrap()
}

#[test]
fn streams_with_pages_do_all_that_those_without_do() {
    for append in APPENDS {
        let build = HostBuild::new(paged(append));
        build.compile(&source("library_attends.cpp"), "library_attends", &[]);
        let said = run(&build, "library_attends", &[]);
        assert!(said.starts_with("as on the host"), "{said}");
    }
}

/// Operations in an order that is drawn, beside plain arrays.
fn as_in_plain_arrays(design: Design, card: fn(&Design) -> Card, operations: usize, seed: u64) {
    let card = card(&design);
    let build = HostBuild::new(design);
    build.compile(&source("library_pages.cpp"), "library_pages", &[]);
    let said = run_on(card, &build, "library_pages", &[&operations.to_string(), &seed.to_string()]);
    println!("{said}");
    assert!(said.starts_with("as in plain arrays"), "{said}");
}

/// Two transfers a slice would be 192. Where slices have homes of their own, a home has those of a layer side by side.
#[test]
fn a_long_prompt_goes_to_the_card_in_a_transfer_a_home() {
    for design in [roomy(false), paged(false), paged(true)] {
        let mut config = design.configuration().clone();
        (config.takv.spread, config.takv.column_stride, config.takv.swap_epoch) = (Spread::Slice, 0, None);
        let build = HostBuild::new(Design::from_config("by_slice", &config).unwrap());
        build.compile(&source("library_bulk.cpp"), "library_bulk", &[]);
        let ran = build.command("library_bulk").output().unwrap();
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert_eq!(said, "6 transfers\nthe same bytes\n");
        assert!(ran.status.success());
    }
}

#[test]
fn streams_fork_at_any_token_and_grow_apart() {
    for append in APPENDS {
        as_in_plain_arrays(paged(append), Card::new, 80, 3);
    }
}

#[test]
fn seven_thousand_operations_leave_every_stream_its_tokens() {
    of_one_layer(true, 7_000, 11);
}

#[test]
fn three_thousand_operations_leave_every_stream_its_tokens_that_the_host_writes() {
    of_one_layer(false, 3_000, 12);
}

fn of_one_layer(append: bool, operations: usize, seed: u64) {
    let mut config = paged(append).configuration().clone();
    config.model.layers = 1;
    let design = Design::from_config("paged", &config).unwrap();
    as_in_plain_arrays(design, Card::lasting, operations, seed);
}

#[test]
fn prefixes_that_are_cached_by_content_are_those_of_plain_maps() {
    let build = HostBuild::new(paged(false));
    build.compile(&source("library_prefixes.cpp"), "library_prefixes", &[]);
    for (operations, seed) in [("2000", "7"), ("1000", "8")] {
        let ran = build.command("library_prefixes").args([operations, seed]).output().unwrap();
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        println!("{said}");
        assert!(ran.status.success() && said.starts_with("as in plain maps"), "{said}");
    }
}

#[test]
fn a_cache_of_eight_bits_is_quantised_by_the_factors_of_its_layer() {
    let (e4m3, e5m2, int8) = (KvFormat::Fp8E4m3, KvFormat::Fp8E5m2, KvFormat::Int8);
    for (format, append) in [(e4m3, false), (e4m3, true), (e5m2, true), (int8, true)] {
        as_on_the_host(format, KvScales::Head, append);
    }
}

#[test]
fn a_cache_of_eight_bits_is_quantised_by_scales_of_its_tokens() {
    for (format, append) in [(KvFormat::Int8, false), (KvFormat::Int8, true), (KvFormat::Fp8E4m3, true)] {
        as_on_the_host(format, KvScales::Token, append);
    }
}

fn as_on_the_host(format: KvFormat, scales: KvScales, append: bool) {
    let mut config = roomy(false).configuration().clone();
    (config.kv.format, config.kv.scales, config.kv.append) = (format, scales, append);
    let build = HostBuild::new(Design::from_config("eight", &config).unwrap());
    build.compile(&source("library_attends.cpp"), "library_attends", &[]);
    let said = run(&build, "library_attends", &[]);
    assert!(said.starts_with("as on the host"), "{}: {said}", format.name());
}

/// Layers in turn with a window of 20 tokens and sinks, and with neither.
#[test]
fn layers_of_two_kinds_and_what_a_call_has_in_their_place_are_those_of_the_host() {
    for (append, pages) in [(true, false), (false, true)] {
        let mut config = roomy(append).configuration().clone();
        let near = LayerGroup { count: 1, window: Some(20), sinks: true };
        config.model.groups = Some(vec![near, LayerGroup { window: None, sinks: false, ..near }]);
        (config.kv.scales, config.kv.pages) = (KvScales::Head, pages);
        let build = HostBuild::new(Design::from_config("kinds", &config).unwrap());
        build.compile(&source("library_kinds.cpp"), "library_kinds", &[]);
        let said = run(&build, "library_kinds", &[]);
        println!("{said}");
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines[0], "layer 0 has sinks, and nobody gave their logits: call sinks before");
        assert_eq!(lines.len(), 6, "{said}");
        assert!(lines[1].contains("sink") && lines[2] == "sinks are missing", "{said}");
        assert!(lines[3..5].iter().all(|line| line.starts_with("the scale of logits")), "{said}");
        assert!(lines[5].starts_with("as on the host"), "{said}");
    }
}

#[test]
fn a_call_that_fails_is_named_and_may_be_repeated() {
    let build = HostBuild::new(roomy(false));
    build.compile(&source("library_attends.cpp"), "library_attends", &[]);
    let all = |kind| (0..build.design.memory.ports as usize).map(move |port| Fault::of_port(port, kind));
    let (none, io) = (Faults::default(), Fault::of_port(0, FaultKind::SlaveError));
    for (faults, says) in [
        (Faults { hbm: all(FaultKind::SlaveError).collect(), ..none.clone() }, "MEMORY (A read of external"),
        (Faults { hbm: all(FaultKind::Late(3 * TIMEOUT)).collect(), ..none.clone() }, "MEMORY_TIMEOUT ("),
        (Faults { reads: vec![io.clone()], ..none.clone() }, "LIST_READ ("),
        (Faults { writes: vec![io], ..none }, "OUTPUT_WRITE ("),
    ] {
        let mut card = Card::new(&build.design);
        card.break_memory(faults);
        let ran = card.serve(build.command("library_attends").arg("--fails"));
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        let lines: Vec<_> = said.lines().collect();
        assert!(ran.status.success() && lines.len() == 2, "{says}: {said}");
        assert!(lines[0].contains(says) && lines[0].ends_with("; 11 tokens"), "{says}: {said}");
        assert_eq!(lines[1], "as on the host", "{says}");
    }
}

#[test]
fn what_is_refused_is_named_and_nothing_is_written() {
    let build = HostBuild::new(roomy(false));
    build.compile(&source("library_refuses.cpp"), "library_refuses", &["host/meshkv_c.cpp"]);
    let ran = build.command("library_refuses").output().unwrap();
    let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    let expected = "\
stream 0 has not begun
stream 0 has begun already: end it first
stream 4: 0 to 3 are possible
stream 0 has no token in layer 0 to attend to: append one
lengths 6 1
stream 0 is twice in the batch
the batch has no stream
layer 2: 0 to 1 are possible
stream 1 has 256 tokens in layer 0, and with 1 more is beyond max_tokens of the design, 256
stream 0 has 6 tokens in layer 0, and with 4294967295 more is beyond max_tokens of the design, 256
stream 1 has not begun
stream 0 is the prefix of stream 2, so nothing can be appended to it: a copy is needed, which is a stream of its own
stream 0 is the prefix of stream 2, so nothing can be appended to it: a copy is needed, which is a stream of its own
stream 0 is the prefix of stream 2: end that first
stream 2 shares the prefix of stream 0 and cannot be one itself: a copy of it is needed, or share stream 0
lengths 6 7 8
queries are not aligned: numbers of FP16 begin at even addresses
outputs overlap queries: give them a buffer of their own
outputs overlap values: give them a buffer of their own
keys are missing
queries are missing
2 no device is open
1 cannot open none.xclbin
2 3 layers: the design has room for 1 to 2
0
0
2 stream 0 is twice in the batch
0
0
length 1
";
    assert_eq!(said, expected);
    // Before a bitstream of another design, or buffers that lie wrong, nothing begins.
    for (fault, says) in [
        ("design", "DESIGN is 0x"),
        ("design", "generated from another configuration than this library"),
        ("heads", "HEADS.QUERY is 7, not 6 (Query heads); generate both again"),
        ("layout", "generated by another release, whose bytes lie elsewhere: LAYOUT is 0x"),
        ("aligned", "which is no multiple of 4096"),
    ] {
        let ran = build.command("library_refuses").env("MESHKV_FAKE_FAULT", fault).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && said.contains(says), "{fault}: {said}");
    }
}

#[test]
fn a_batch_is_as_few_runs_as_name_no_slice_twice() {
    let build = HostBuild::new(roomy(false));
    build.compile(&source("library_plans.cpp"), "library_plans", &[]);
    let ran = build.command("library_plans").output().unwrap();
    let expected = "\
first tokens
  0:1,0>0+1c 3:1,0>3+1c | 0 3
a token that opens a segment
  0:2,0>0+1c | 0
the last layer
  0:1,2>0+1c 3:1,0>3+1cs | 0 3
three that attend to the same
  0:1,7>0+3cp | 0 1 2
two that do not follow each other
  0:1,7>0+1c | 0
  0:1,7>2+1c | 2
own tokens after a prefix
  0:1,7>1+2 1:1,0>1+1c 2:1,0>2+1c | 1 2
one with own tokens, beside the owner
  0:1,7>0+1c | 0
  0:1,7>1+1 1:1,0>1+1c | 1
  0:1,7>2+1c | 2
two with own tokens
  0:1,7>1+2 1:1,0>1+1cp 2:2,0>2+1cp | 1 2
";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
}

/// XRT in a folder as its setup script names it, with nothing to link.
fn xrt(build: &HostBuild) -> PathBuf {
    let xrt = build.path("xrt");
    std::fs::create_dir_all(xrt.join("lib")).unwrap();
    std::os::unix::fs::symlink(stand_in(), xrt.join("include")).unwrap();
    std::fs::write(build.path("empty.cpp"), "").unwrap();
    build.compile(Path::new("empty.cpp"), "xrt/lib/libxrt_coreutil.so", &["-shared", "-fPIC"]);
    xrt
}

#[test]
fn make_host_builds_the_library_and_the_examples() {
    let build = HostBuild::new(small());
    let xrt = xrt(&build);
    let mut make = Command::new("make");
    make.args(["-C", "scripts", "host"]).arg(format!("XILINX_XRT={}", xrt.display()));
    let made = make.current_dir(build.dir.path()).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let ran =
        build.command("build/meshkv_generate").env("LD_LIBRARY_PATH", xrt.join("lib")).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert_eq!((ran.status.code(), said.as_str()), (Some(2), "error: which XCLBIN?\n"));
    for name in ["libmeshkv.so", "meshkv_host"] {
        assert!(build.path("build").join(name).exists(), "{name}");
    }
    // An option that is wrong is named before the card is opened.
    for (option, says) in [
        (["--tokens", "300"], "--tokens is \"300\": 1 to 249 are possible"),
        (["--streams", "x"], "--streams is \"x\": 1 to 2 are possible"),
        (["--speed", "1"], "--speed is no option"),
    ] {
        let mut command = build.command("build/meshkv_generate");
        command
            .env("LD_LIBRARY_PATH", xrt.join("lib"))
            .arg("none.xclbin")
            .args(["--streams", "2"])
            .args(option);
        let ran = command.output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(2) && said.contains(says), "{said}");
    }
}

#[test]
fn make_host_without_xrt_says_what_is_missing() {
    let build = HostBuild::new(small());
    for place in ["", "/no/such/xrt"] {
        let mut make = Command::new("make");
        make.args(["-C", "scripts", "host"]).env("XILINX_XRT", place);
        let made = make.current_dir(build.dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(!made.status.success() && !said.contains("g++"), "{said}");
        let missing =
            format!("error: there is no XRT at XILINX_XRT = '{place}': include/xrt/xrt_device.h is missing");
        assert!(said.contains(&missing) && said.contains("source /opt/xilinx/xrt/setup.sh"), "{said}");
    }
}

#[test]
fn a_device_that_appends_gets_new_tokens_beside_the_queries() {
    let build = HostBuild::new(roomy(true));
    let headers = ["sw/meshkv_registers.h", "sw/meshkv_shape.h"]
        .map(|name| std::fs::read_to_string(build.path(name)).unwrap());
    // Constants that designs will have.
    let constants = ["MESHKV_APPEND=1", "MESHKV_TOKENS_AT=4096", "MESHKV_TOKEN_STREAMS=0x868u"];
    let constants = [&constants[..], &["MESHKV_DESC_PUSH_APPEND_SHIFT=12u"]].concat();
    let missing = |constant: &&str| {
        let define = format!("#define {} ", constant.split_once('=').unwrap().0);
        !headers.iter().any(|text| text.contains(&define))
    };
    let flags: Vec<_> = constants.into_iter().filter(missing).map(|one| format!("-D{one}")).collect();
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    build.compile(&source("library_appends.cpp"), "library_appends", &flags);
    let ran = build.command("library_appends").output().unwrap();
    let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    let expected = "\
0 numbers are wrong
2 queries, 2 tokens, 2 listed
cache 00000001, 1 segments, rows 00000000, append 1
cache 00010001, 2 segments, rows 00000000, append 1
0 tokens, append 0; lengths 1 9
";
    assert_eq!(said, expected);
}
