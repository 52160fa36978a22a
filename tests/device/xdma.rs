//! The library over the driver of XDMA: on regular files in place of its devices, and on a co-simulated card whose files
//! end transfers early, are interrupted by signals, and map no registers.

use crate::support::device::card::Card;
use crate::support::device::host_build::{roomy, HostBuild};
use crate::support::device::small;
use meshkv::cosim::memory::{Fault, FaultKind};
use meshkv::cosim::workloads::device::Faults;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A source of these tests.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/device").join(name)
}

/// Compiles a program whose card is behind the stand-in for the driver.
fn compile(build: &HostBuild, from: &Path, program: &str) {
    let devices = source("xdma/devices.hpp").display().to_string();
    build.compile(
        from,
        program,
        &["-DMESHKV_XDMA", "-DMESHKV_XDMA_CALLS=fake::Devices", "-include", &devices],
    );
}

fn said(ran: &Output) -> String {
    String::from_utf8_lossy(&[&ran.stdout[..], &ran.stderr].concat()).into_owned()
}

/// Runs a program to its end, which must be good, and returns what it said.
fn run(mut card: Card, build: &HostBuild, program: &str, arguments: &[&str]) -> String {
    let ran = card.serve(build.command(program).args(arguments));
    let said = said(&ran);
    assert!(ran.status.success() && card.freed().1 == 0, "{program} {arguments:?}: {said}");
    assert!(card.freed().0 > 0, "{program} has given nothing back");
    said
}

#[test]
fn a_program_computes_by_xdma_what_it_computes_by_xrt() {
    for append in [false, true] {
        let build = HostBuild::new(roomy(append));
        let attends = source("library_attends.cpp");
        build.compile(&attends, "by_xrt", &[]);
        compile(&build, &attends, "by_xdma");
        let by_xrt = run(Card::new(&build.design), &build, "by_xrt", &[]);
        let by_xdma = run(Card::bare(&build.design), &build, "by_xdma", &[]);
        // Cycles differ: the host's accesses do.
        let error = |said: &str| said.split_once("; worst").map(|(_, error)| error.to_owned());
        assert!(by_xrt.starts_with("as on the host"), "{by_xrt}");
        assert!(by_xdma.starts_with("as on the host") && error(&by_xrt) == error(&by_xdma), "{by_xdma}");
    }
}

#[test]
fn tokens_are_decoded_by_xdma_with_and_without_its_interrupt() {
    let build = HostBuild::new(small());
    compile(&build, Path::new("host/meshkv_generate.cpp"), "meshkv_generate");
    for interrupt in [None, Some("--interrupt")] {
        let card = Card::bare(&build.design);
        let options = ["/dev/xdma0", "--timeout", "600000", "--tokens", "3", "--streams", "2"];
        let all: Vec<_> = options.into_iter().chain(interrupt).collect();
        let said = run(card, &build, "meshkv_generate", &all);
        assert!(said.contains("3 tokens of 2 streams") && said.contains("; equal to"), "{said}");
    }
}

/// What a case of `xdma/files.cpp` says, of files of its own.
fn of_files(build: &HostBuild, case: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let ran = Command::new(build.path("files")).arg(case).current_dir(dir.path()).output().unwrap();
    assert!(ran.status.success(), "{case}: {}", said(&ran));
    let memory = std::fs::metadata(dir.path().join("xdma0_h2c_0")).map_or(0, |about| about.len());
    assert!(memory == 0 || case == "rounds", "{case} has written {memory} bytes");
    said(&ran)
}

const UNLOADED: &str =
    "No such file or directory; the path of a device is the prefix of its files, as /dev/xdma0. \
     Load AMD's driver of XDMA (modprobe xdma), and see with lspci -d 10ee: that the card is there";
const RELOAD: &str =
    "; load the bitstream of the system (make system), scan PCIe again and load the driver again";

#[test]
fn transfers_are_whole_and_what_fails_names_its_file() {
    let build = HostBuild::new(small());
    build.compile(&source("xdma/files.cpp"), "files", &["-DMESHKV_XDMA"]);
    assert_eq!(
        of_files(&build, "rounds"),
        "calm: registers equal in 0 calls, memory equal, 10 calls a way\n\
         shaky: registers equal in 7 calls, memory equal, 29 calls a way\n"
    );
    assert_eq!(
        of_files(&build, "ends"),
        "cannot read xdma0_c2h_0 at 5368709120: the card's memory ends there, or its DMA moves nothing; dmesg has what the driver of XDMA says\n\
         cannot read xdma0_user at 64: 2 bytes of a register of 4; dmesg has what the driver of XDMA says\n\
         cannot write xdma0_h2c_0 at 4096: No space left on device; dmesg has what the driver of XDMA says\n"
    );
    let missing = ["events_0", "c2h_0", "h2c_0", "user"];
    let missing = missing.map(|name| format!("cannot open xdma0_{name}: {UNLOADED}\n"));
    assert_eq!(of_files(&build, "missing"), missing.concat());
    let magic = format!("0x{:08x}", meshkv::design::device::registers::MAGIC);
    assert_eq!(
        of_files(&build, "refused"),
        format!(
            "cannot open xdma0_c2h_0: Permission denied; run as root, or give /dev/xdma* to a group by a rule of udev\n\
             xdma0_user is no character device: some program has written a file there while the driver of XDMA was not loaded; remove it and load the driver\n\
             xdma0_user is in use by another program, or by a device of this one: close that first\n\
             card.xclbin is a bitstream for XRT, and this library is built for the driver of XDMA: name the card, as /dev/xdma0, or use the library of `make host`\n\
             card 1 of xdma0: the path names the card, so leave its number out\n\
             xdma0_user reads 0x00000000 at MAGIC, not {magic}: this is no meshkv{RELOAD}\n\
             xdma0_user reads 0xffffffff at MAGIC, not {magic}: the card does not answer{RELOAD}\n"
        )
    );
    // The interrupt came; it did not; a signal came instead.
    assert_eq!(of_files(&build, "interrupts"), "100\n");
}

#[test]
fn buffers_lie_apart_in_their_channels_and_what_does_not_fit_is_named() {
    let build = HostBuild::new(small());
    build.compile(&source("xdma/files.cpp"), "files", &["-DMESHKV_XDMA"]);
    let said = of_files(&build, "places");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    let way_out = "lower model.max_tokens, model.max_streams or model.layers of the configuration";
    for (line, begins) in [
        (lines[0], "a buffer takes "),
        (lines[1], "the part of the cache of the last port takes 8388608 KiB, and its pseudo-channels "),
    ] {
        assert!(line.starts_with(begins) && line.contains(way_out), "{line}");
    }
    assert_eq!(lines[2], "all apart");
}

#[test]
fn make_host_xdma_builds_the_library_and_the_examples_without_xrt() {
    let build = HostBuild::new(small());
    let mut make = Command::new("make");
    make.args(["-C", "scripts", "host-xdma"]).env_remove("XILINX_XRT");
    let made = make.current_dir(build.dir.path()).output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    assert!(build.path("build/libmeshkv_xdma.so").exists());
    for name in ["meshkv_host_xdma", "meshkv_generate_xdma"] {
        let mut command = build.command(&format!("build/{name}"));
        let ran = command.args(["/no/such/xdma0", "--streams", "1"]).output().unwrap();
        assert!(!ran.status.success() && said(&ran).starts_with("error: "), "{name}: {}", said(&ran));
    }
    let list = Command::new("make").args(["-C", "scripts"]).current_dir(build.dir.path()).output().unwrap();
    assert!(
        said(&list).contains("make host-xdma The same for the system without a shell"),
        "{}",
        said(&list)
    );
}

/// What a program says that leaves its device while memory owes answers for so many cycles, and what it has given back:
/// buffers, and those too early.
fn leaves(build: &HostBuild, program: &str, arguments: [&str; 2], late: u32) -> (String, (usize, usize)) {
    let mut card = if program == "by_xdma" { Card::bare(&build.design) } else { Card::new(&build.design) };
    let of_port = |port| Fault::of_port(port, FaultKind::Late(late));
    let hbm = (0..build.design.memory.ports as usize).map(of_port).collect();
    card.break_memory(Faults { hbm, ..Faults::default() });
    let ran = card.serve(build.command(program).args(arguments));
    assert!(ran.status.success(), "{arguments:?}: {}", said(&ran));
    (said(&ran), card.freed())
}

/// Cycles for which memory is late: beyond the device's patience.
const LATE: u32 = 3 * crate::support::device::TIMEOUT;

#[test]
fn a_device_that_is_left_in_a_run_gives_nothing_back_before_memory_has_answered() {
    let build = HostBuild::new(roomy(false));
    build.compile(&source("library_leaves.cpp"), "by_xrt", &[]);
    compile(&build, &source("library_leaves.cpp"), "by_xdma");
    for program in ["by_xrt", "by_xdma"] {
        for how in ["throws", "exits"] {
            let (said, (freed, early)) = leaves(&build, program, [how, "600000"], LATE);
            assert!(
                said.starts_with("the device reports MEMORY_TIMEOUT (") && said.lines().count() == 1,
                "{said}"
            );
            assert!(freed > 0 && early == 0, "{program} {how}: {early} of {freed} too early");
        }
        // Patience ends, and memory stays the device's.
        let (said, (freed, _)) = leaves(&build, program, ["throws", "300"], 1 << 24);
        assert!(said.contains("\nmeshkv: the device has not come to rest within 300 ms"), "{said}");
        assert_eq!(freed, 0, "{program}: {said}");
    }
}

#[test]
fn a_device_that_gives_its_buffers_back_at_once_is_found() {
    for (file, from, to) in [
        ("host/meshkv.hpp", "if (driver_.quiet()) return;", "return;"),
        (
            "host/meshkv_driver.hpp",
            "while (io_.read(MESHKV_STATUS) & BUSY)",
            "while (io_.read(MESHKV_STATUS) & BUSY & 0)",
        ),
    ] {
        let build = HostBuild::new(roomy(false));
        let text = std::fs::read_to_string(build.path(file)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{file} has not one `{from}`");
        std::fs::write(build.path(file), text.replace(from, to)).unwrap();
        build.compile(&source("library_leaves.cpp"), "by_xrt", &[]);
        let (_, (_, early)) = leaves(&build, "by_xrt", ["throws", "600000"], LATE);
        assert!(early > 0, "{to}");
    }
}
