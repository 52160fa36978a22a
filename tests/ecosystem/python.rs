//! The package in Python builds a wheel, drives a co-simulated device through the library in C, and names what is wrong.

use crate::support::device::card::Card;
use crate::support::device::host_build::{roomy, HostBuild};
use crate::support::ecosystem::python;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The wheel, installed into a folder.
pub struct Package {
    dir: TempDir,
}

/// Runs a command and returns what it printed.
pub fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{command:?}:\n{said}");
    said
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

impl Package {
    /// Builds the wheel from a copy of its sources, without a network.
    pub fn new() -> Package {
        let package = Package { dir: tempfile::tempdir().unwrap() };
        copy(&repository().join("python"), &package.path("python"));
        let pip = |arguments: &[&str]| {
            let mut command = Command::new(python());
            command.args(["-m", "pip", "--disable-pip-version-check"]).args(arguments);
            said(command.current_dir(package.dir.path()))
        };
        pip(&["wheel", "-q", "--no-index", "--no-deps", "--no-build-isolation", "-w", ".", "./python"]);
        let wheel = format!("meshkv_host-{}-py3-none-any.whl", env!("CARGO_PKG_VERSION"));
        pip(&["install", "-q", "--no-index", "--no-deps", "--target", "site", &wheel]);
        package
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Python with the installed wheel, in the folder of a host's build.
    pub fn command(&self, build: &HostBuild) -> Command {
        let mut command = Command::new(python());
        command.current_dir(build.dir.path()).env("PYTHONPATH", self.path("site"));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("MESHKV_FAKE_DIR", build.dir.path());
        command
    }
}

/// The library in C of a design whose host or device writes new tokens.
pub fn library(append: bool) -> HostBuild {
    let build = HostBuild::new(roomy(append));
    build.compile(Path::new("host/meshkv_c.cpp"), "libmeshkv.so", &["-shared", "-fPIC"]);
    build
}

#[test]
fn attention_of_a_real_model_on_the_device_is_that_of_numpy() {
    let package = Package::new();
    for append in [true, false] {
        let build = library(append);
        let mut command = package.command(&build);
        command.arg(repository().join("python/examples/attention.py"));
        command.args(["--library", "./libmeshkv.so", "--xclbin", "card.xclbin", "--limit", "600"]);
        command.args(["--tokens", "43", "--tensors"]).arg(repository().join("examples/minilm.safetensors"));
        let ran = Card::new(&build.design).serve(&mut command);
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        assert!(ran.status.success(), "{said}");
        for line in ["42 tokens: ", "43 tokens: ", "43 tokens in two halves, merged: "] {
            assert!(said.lines().any(|one| one.starts_with(line)), "{said}");
        }
    }
    let build = library(false);
    // An error that is too large is found, and tensors that are not there are named.
    let run = |more: &[&str]| {
        let mut command = package.command(&build);
        command.arg(repository().join("python/examples/attention.py"));
        command.args(["--library", "./libmeshkv.so", "--xclbin", "card.xclbin"]);
        command.args(["--tokens", "9", "--tensors"]);
        // The card in the process returns queries.
        let ran = command.arg(repository().join("examples/minilm.safetensors")).args(more).output().unwrap();
        assert_eq!(ran.status.code(), Some(1), "{ran:?}");
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    let wrong = run(&[]);
    assert!(wrong.contains("error: the largest error is "), "{wrong}");
    let missing = run(&["--layer", "7"]);
    assert!(missing.contains("has no tensor layers.7.q, but 3 others; the nearest: layers.0.q"), "{missing}");
}

#[test]
fn what_is_refused_is_an_exception_with_its_reason() {
    let (package, build) = (Package::new(), library(false));
    let script = r#"
import numpy as np, meshkv
def said(kind, act, *args):
    try:
        act(*args)
        print("taken")
    except kind as why:
        print(kind.__name__, why)
def zeros(*shape):
    return np.zeros(shape, np.float32)
said(meshkv.Failed, meshkv.Device, "./libmeshkv.so", "none.xclbin")
with meshkv.Device("./libmeshkv.so", "card.xclbin") as device:
    print(device.shape)
    device.begin(0)
    device.append(1, 0, zeros(3, 5, 32), zeros(3, 5, 32))
    step = lambda streams, heads=6: device.append_and_attend(1, streams, zeros(len(streams), heads, 32), zeros(len(streams), 3, 32), zeros(len(streams), 3, 32))
    said(meshkv.Refused, step, [0, 0])
    said(meshkv.Refused, step, [0], 5)
    said(meshkv.Refused, device.append, 1, 0, zeros(3, 252, 32), zeros(3, 252, 32))
    device.begin(1, prefix=0)
    said(meshkv.Refused, step, [0])
    device.begin(2, copy=0)
    out = step([2, 1])
    print(out.shape, out.dtype, device.length(2, 1), device.length(1, 1), device.length(0, 1), device.cycles)
    l, m, o = device.partials(1, [1], zeros(1, 6, 32))
    print(l.shape, m.shape, o.shape, o.dtype)
    said(meshkv.Refused, device.begin, 3, 0, 1)
said(meshkv.Refused, device.length, 0, 0)
"#;
    let printed = said(package.command(&build).args(["-c", script]));
    let expected = "\
Failed cannot open none.xclbin
Shape(layers=2, query_heads=6, kv_heads=3, head_dim=32, max_streams=4, max_tokens=256, device_appends=0, window=0, element_bytes=2, scaled=0, packed=0, pages=0, page_tokens=8, sinks=0)
Refused stream 0 is twice in the batch
Refused queries have the shape (1, 5, 32), not (1, 6, 32), which is [stream][head][dim]
Refused stream 0 has 5 tokens in layer 1, and with 252 more is beyond max_tokens of the design, 256
Refused stream 0 is the prefix of stream 1, so nothing can be appended to it: a copy is needed, which is a stream of its own
(2, 6, 32) float16 6 6 5 1234
(1, 6) (1, 6) (1, 6, 32) float32
Refused a stream shares a prefix or has a copy, not both
Refused no device is open
";
    assert_eq!(printed, expected);
    // Outputs that are void come with the exception.
    let void = r#"
import numpy as np, meshkv
device = meshkv.Device("./libmeshkv.so", "card.xclbin")
device.begin(0)
one = lambda heads: np.ones((1, heads, 32))
try:
    device.append_and_attend(0, [0], one(6), one(3), one(3))
except meshkv.Void as why:
    print("SATURATED" in str(why), why.outputs.sum(), device.length(0, 0))
"#;
    let printed = said(package.command(&build).env("MESHKV_FAKE_FAULT", "logit").args(["-c", void]));
    assert_eq!(printed, "True 192.0 1\n");
}

#[test]
fn a_number_beyond_fp16_is_refused_with_its_place() {
    let (package, build) = (Package::new(), library(false));
    let script = r#"
import json, struct, warnings, numpy as np, meshkv
warnings.simplefilter("error")
def said(act, *args):
    try:
        print("taken", act(*args))
    except ValueError as why:
        print(type(why).__name__, why)
def tensor(dtype, data):
    header = json.dumps({"k": {"dtype": dtype, "shape": [1, 2, 2], "data_offsets": [0, len(data)]}}).encode()
    with open("k.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)
    return meshkv.load("k.safetensors", ["k"])[0]
# 1, 2, -3 and 99840 as BF16, which are upper halves of floats.
beyond = tensor("BF16", struct.pack("<4H", 0x3f80, 0x4000, 0xc040, 0x47c3))
print(beyond.tolist())
said(meshkv.half, beyond, "keys")
said(meshkv.half, np.array([[1e300, np.inf], [65519, -65520]]), "values")
said(meshkv.half, [1, 70000])
for array in (np.zeros(2, complex), "text", [[1], [1, 2]], None):
    said(meshkv.half, array, "queries")
print(meshkv.half([np.inf, -np.inf, np.nan, 65504, 1e-9], "queries").tolist())
with meshkv.Device("./libmeshkv.so", "card.xclbin") as device:
    device.begin(0)
    keys = np.zeros((3, 5, 32), np.float32)
    keys[2, 4, 31] = -1e5
    said(device.append, 0, 0, keys, np.zeros((3, 5, 32)))
    said(device.append, 0, 0, np.zeros((3, 5, 32)), keys)
    print(device.length(0, 0))
"#;
    let printed = said(package.command(&build).args(["-c", script]));
    let lines: Vec<_> = printed.lines().collect();
    let (place, advice) = (|name: &str| format!("ValueError {name}"), ": FP16 ends at 65504; scale");
    assert_eq!(lines[0], "[[[1.0, 2.0], [-3.0, 99840.0]]]");
    for (line, begins) in [
        (1, place("keys[0, 1, 1] is 99840") + advice),
        (2, place("values[0, 0] is 1e+300, and 1 more") + advice),
        (3, place("array[1] is 70000") + advice),
        (4, place("queries are no array of real numbers: type complex128")),
        (5, place("queries are no array of real numbers")),
        (6, place("queries are no array of real numbers")),
        (7, place("queries are no array of real numbers")),
        (9, format!("Refused keys[2, 4, 31] is -100000{advice}")),
        (10, format!("Refused values[2, 4, 31] is -100000{advice}")),
    ] {
        assert!(lines[line].starts_with(&begins), "{begins}: {printed}");
    }
    assert_eq!((lines[8], lines[11]), ("[inf, -inf, nan, 65504.0, 0.0]", "0"), "{printed}");
}

#[test]
fn an_unsound_file_is_a_value_error_that_names_file_and_rule() {
    let package = Package::new();
    let script = r#"
import json, struct, meshkv
def load(what, header, data=b"", size=None, name="a"):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    with open("file.st", "wb") as file:
        file.write(struct.pack("<Q", len(header) if size is None else size) + header + data)
    try:
        meshkv.load("file.st", [name])
        print(what, "taken")
    except ValueError as why:
        print(what, str(why))
good = {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}
load("size", b"{}", size=1 << 63)
load("size", b"{}", size=5_000_000_000)
load("list", [1])
load("deep", b"[" * 100_000)
load("keys", {"a": {"shape": [2], "data_offsets": [0, 4]}})
load("keys", {"a": 5})
load("utf8", b"\xff\xfe")
load("cut", {"a": good}, b"\0\0")
load("bytes", {"a": {**good, "shape": [3]}}, b"\0" * 4)
load("offsets", {"a": {**good, "data_offsets": [4, 0]}}, b"\0" * 4)
load("offsets", {"a": {**good, "data_offsets": [0, True]}}, b"\0" * 4)
load("shape", {"a": {**good, "shape": [-2, -1]}}, b"\0" * 4)
load("shape", {"a": {**good, "shape": "2"}}, b"\0" * 4)
load("type", {"a": {**good, "dtype": ["F16"]}}, b"\0" * 4)
load("type", {"a": {**good, "dtype": "F8_E5M2"}}, b"\0" * 4)
load("names", {f"tensor.{n}": {**good, "data_offsets": [0, 0], "shape": [0]} for n in range(100_000)})
load("weights", {"model.layers.0.self_attn.q_proj.weight": good}, b"\0" * 4)
load("good", {"a": good}, b"\0" * 4)
open("file.st", "wb").write(b"version https://git-lfs.github.com/spec/v1\n")
try:
    meshkv.load("file.st", ["a"])
except ValueError as why:
    print("lfs", why)
"#;
    let mut command = Command::new(python());
    command.current_dir(package.dir.path()).env("PYTHONPATH", package.path("site")).args(["-c", script]);
    let printed = said(&mut command);
    let says = [
        ("size", "no whole safetensors file: its header has 9223372036854775808 bytes"),
        ("list", "its header is a list, not an object of tensors by name"),
        ("deep", "its header is no JSON"),
        ("keys", "needs dtype, shape and data_offsets, and is 5"),
        ("utf8", "its header is no JSON in UTF-8"),
        ("cut", "tensor a ends at byte 4 of the tensors, and there are 2"),
        ("bytes", "tensor a of shape [3] and type F16 takes 6 bytes, and its data_offsets give 4"),
        ("offsets", "tensor a has the data_offsets [4, 0]"),
        ("shape", "tensor a has the shape [-2, -1]"),
        ("type", "has tensor a of type F8_E5M2: one of F64, "),
        ("names", "has no tensor a, but 100000 others; the nearest: "),
        ("weights", "It seems to have the weights of a model"),
        ("lfs", "file.st is no safetensors file, but a pointer of Git LFS"),
    ];
    for (what, rule) in says {
        assert!(
            printed.lines().any(|line| line.starts_with(what) && line.contains(rule)),
            "{what}: {printed}"
        );
    }
    for line in printed.lines().filter(|line| *line != "good taken") {
        assert!(line.contains(" file.st ") && line.len() < 400, "{line}");
    }
}
