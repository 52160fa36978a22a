//! `meshkv card` runs a user's program before the co-simulated device: its environment, its exit code, its mistakes.

use crate::support::sandbox::{said, Said, Sandbox, LEAST};
use serde_json::Value;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::with_fabric();
    sandbox.file("small.toml", LEAST);
    sandbox
}

/// Runs a script of a shell before the card, with these options.
fn before(sandbox: &Sandbox, options: &str, script: &str) -> Said {
    let mut command = sandbox.meshkv(&format!("card small.toml {options} --"));
    said(command.args(["sh", "-c", script]))
}

#[test]
fn the_example_decodes_before_the_card_and_every_access_reaches_the_verilog() {
    let sandbox = sandbox();
    let script = "c++ $MESHKV_CXXFLAGS -O1 $MESHKV_HOST/host/meshkv_generate.cpp -o generate && \
                  ./generate $MESHKV_XCLBIN --tokens 3 --streams 1 --timeout 600000";
    let ran = before(&sandbox, "--unruly-memory --json", script);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("3 tokens of 1 stream, ") && ran.err.contains("; equal to"), "{}", ran.err);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    let counts = &value["ran"];
    assert_eq!((&counts["exit_code"], &counts["violations"]), (&0.into(), &0.into()), "{value}");
    assert!(
        counts["cycles"].as_u64() > Some(1000) && counts["register_accesses"].as_u64() > Some(100),
        "{value}"
    );
}

#[test]
fn the_exit_code_is_the_programs_and_its_output_is_all_that_is_printed() {
    let sandbox = sandbox();
    let ran = before(&sandbox, "", "ls $MESHKV_HOST && test -f $MESHKV_LIBRARY && echo said && exit 7");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(7), "card.xclbin\nhost\nlibmeshkv.so\nmanifest.json\nsw\nxrt\nsaid\n"),
        "{}",
        ran.err
    );
    assert_eq!(before(&sandbox, "-q", "kill -9 $$").code, Some(137));
    let gone = said(&mut sandbox.meshkv("card small.toml -- ./gone"));
    assert_eq!(gone.code, Some(2), "{}", gone.err);
    assert!(
        gone.err.contains("cannot run ./gone") && gone.err.contains("help: write the program"),
        "{}",
        gone.err
    );
}

#[test]
fn what_a_program_asks_of_the_card_and_cannot_have_is_named() {
    let sandbox = sandbox();
    // A byte that begins no request, and bytes that are in no buffer.
    for (bytes, says) in [
        ("?", "the socket of the card: a request begins with byte 63"),
        (
            "G\\\\x10\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\x04\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0",
            "a host names 4 bytes from address 0x10 on",
        ),
    ] {
        let script = format!(
            "exec python3 -c \"import os, socket, time; s = socket.socket(socket.AF_UNIX); s.connect(os.environ['MESHKV_CARD_SOCKET']); \
             s.sendall(b'{bytes}'.decode('unicode_escape').encode('latin-1')); time.sleep(60)\""
        );
        let ran = before(&sandbox, "", &script);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(says), "{}", ran.err);
    }
}

#[test]
fn a_library_without_its_card_is_refused() {
    let sandbox = sandbox();
    let built = sandbox.run("card small.toml --library-only --json");
    let value: Value = serde_json::from_str(&built.out).unwrap();
    let script = format!(
        "c++ {} -O1 {1}/host/meshkv_host.cpp -o host && ./host {1}/card.xclbin --tokens 1 --streams 1 --queries q --keys q --values q --outputs o",
        value["cxxflags"].as_str().unwrap(),
        value["host"].as_str().unwrap()
    );
    sandbox.file("q", &"\0".repeat(128));
    let mut command = std::process::Command::new("sh");
    let ran = said(command.args(["-c", &script]).current_dir(sandbox.path(".")));
    assert!(
        ran.code == Some(1) && ran.err.contains("run the program by `meshkv card CONFIG -- PROGRAM`"),
        "{}",
        ran.err
    );
}
