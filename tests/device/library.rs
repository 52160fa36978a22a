//! The host's library on a co-simulated device: it decodes, and refuses what it must before anything is written.

use crate::support::device::card::Card;
use crate::support::device::host_build::HostBuild;
use crate::support::device::{roomy, small};
use meshkv::design::Design;
use std::path::{Path, PathBuf};

/// Devices whose host writes new tokens, and with `true` those that write them themselves (`kv.append`).
const APPENDS: [bool; 1] = [false];

/// A program of these tests.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device").join(name)
}

/// Runs a program on a co-simulated device and returns what it printed. It must succeed.
fn run(build: &HostBuild, program: &str, arguments: &[&str]) -> String {
    let ran = Card::new(&build.design).serve(build.command(program).args(arguments));
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
        ("design", "it was generated from another configuration"),
        ("aligned", "which is no multiple of 4096"),
    ] {
        let ran = build.command("library_refuses").env("MESHKV_FAKE_FAULT", fault).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && said.contains(says), "{fault}: {said}");
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
