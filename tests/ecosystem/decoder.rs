//! A decoder of a public library before the co-simulated card: `python/examples/decoder.py`, as `make decoder` runs it.

use crate::support::device::host_build::HostBuild;
use crate::support::verilated::cache;
use assert_cmd::Command;
use meshkv::config;
use meshkv::design::Design;
use std::path::{Path, PathBuf};

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Python with torch and transformers.
fn python() -> PathBuf {
    let python = repository(".tools/decoder/bin/python3");
    assert!(python.exists(), "torch is missing: run `sh scripts/tools.sh decoder`");
    python
}

/// Runs Python in a folder with the package, and returns exit code and output.
fn run(mut command: Command, folder: &Path) -> (Option<i32>, String) {
    command.current_dir(folder).env("PYTHONPATH", repository("python")).env("PYTHONDONTWRITEBYTECODE", "1");
    let ran = command.output().unwrap();
    (ran.status.code(), String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned())
}

#[test]
fn sixty_four_tokens_of_three_streams_are_those_of_the_librarys_own_attention() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::cargo_bin("meshkv").unwrap();
    command.env("MESHKV_CACHE", cache()).arg("card").arg(repository("python/examples/decoder.toml"));
    command.arg("--").arg(python()).arg(repository("python/examples/decoder.py"));
    let (code, said) = run(command, folder.path());
    println!("{said}");
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "streams of 68, 74, 80 tokens in 2 layers: ",
        "64 tokens of 3 streams: equal to those of the library's attention in FP32",
        "least distance of the first logit from the second: ",
        "without attention 19",
    ] {
        assert!(said.lines().any(|one| one.starts_with(line)), "{line}: {said}");
    }
}

/// The library of the example's design, before the card in its process, whose outputs are the queries.
fn library() -> HostBuild {
    let text = std::fs::read_to_string(repository("python/examples/decoder.toml")).unwrap();
    let config: config::Config = toml::from_str(&text).unwrap();
    let build = HostBuild::new(Design::from_config("decoder", &config).unwrap());
    build.compile(Path::new("host/meshkv_c.cpp"), "libmeshkv.so", &["-shared", "-fPIC"]);
    build
}

#[test]
fn attention_that_is_wrong_changes_a_token_and_is_found() {
    let build = library();
    let mut command = Command::new(python());
    command.arg(repository("python/examples/decoder.py")).env("MESHKV_FAKE_DIR", build.dir.path());
    command.args(["--library", "./libmeshkv.so", "--xclbin", "card.xclbin", "--tokens", "4"]);
    let (code, said) = run(command, build.dir.path());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(" on the device, and ") && said.contains("error: token 1 of stream "), "{said}");
}

#[test]
fn tensors_of_pytorch_are_read_and_written_without_a_copy() {
    let build = library();
    let script = r#"
import torch, meshkv
from meshkv import arrays
def tried(act, *args, **how):
    try:
        act(*args, **how)
        print("taken")
    except ValueError as why:
        print(type(why).__name__, why)
with meshkv.Device("./libmeshkv.so", "card.xclbin") as device:
    device.begin(0)
    keys = torch.randn(3, 5, 32).half()
    print(arrays.given(keys, "keys", (3, 5, 32), "").ctypes.data == keys.data_ptr())
    device.append(0, 0, keys, torch.randn(3, 5, 32))
    q, out = torch.randn(1, 6, 32).half(), torch.zeros(1, 6, 32).half()
    print(arrays.taken(out, "out", (1, 6, 32), "").ctypes.data == out.data_ptr())
    print(device.attend(0, [0], q, out=out) is out, torch.equal(out, q))
    tried(device.append, 0, 0, keys.transpose(0, 1).contiguous().transpose(0, 1), keys)
    tried(device.attend, 0, [0], q, out=torch.zeros(1, 6, 64).half()[..., ::2])
    tried(device.append, 0, 0, keys.bfloat16(), keys)
    tried(device.append, 0, 0, torch.nn.Parameter(keys), keys)
    tried(device.attend, 0, [0], torch.empty(1, 6, 32, device="meta"))
"#;
    let mut command = Command::new(python());
    command.args(["-c", script]).env("MESHKV_FAKE_DIR", build.dir.path());
    let (code, said) = run(command, build.dir.path());
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines[..4], ["True", "True", "True True", "taken"], "{said}");
    assert!(
        lines[4].starts_with("Refused out has gaps, and results lie without; give numpy.empty("),
        "{said}"
    );
    for (line, why) in [(5, "BFloat16"), (6, "requires grad")] {
        assert!(
            lines[line].starts_with("Refused keys are no array of real numbers: ")
                && lines[line].contains(why),
            "{said}"
        );
    }
    assert!(lines[7].starts_with("Refused queries are in no memory that is known: "), "{said}");
}
