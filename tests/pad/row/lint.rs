//! Verilator, Icarus and Yosys read the array of every shape without a message.

use super::bench::verilator;
use super::outputs::{formatted, scaled};
use meshkv::config::KvFormat;
use meshkv::emit::array;
use meshkv::tools;
use std::fs;
use std::process::Command;

#[test]
fn every_shape_is_read_without_a_warning() {
    let icarus = tools::find(&tools::IVERILOG).expect("this test needs Icarus; run `meshkv doctor`").path;
    let yosys = tools::find(&tools::YOSYS).expect("this test needs Yosys; run `meshkv doctor`").path;
    let (fp16, e4m3, e5m2, int8) = (KvFormat::Fp16, KvFormat::Fp8E4m3, KvFormat::Fp8E5m2, KvFormat::Int8);
    for (format, lanes, head_dim, tokens, slots) in [
        (fp16, 32, 128, 64, 4),
        (fp16, 4, 32, 8, 3),
        (fp16, 64, 32, 256, 64),
        (fp16, 8, 32, 3, 1),
        (fp16, 16, 256, 40, 5),
        (fp16, 4, 256, 64, 64),
        (e4m3, 32, 128, 64, 4),
        (e4m3, 4, 32, 3, 1),
        (e5m2, 32, 128, 64, 4),
        (e5m2, 4, 32, 3, 1),
        (int8, 32, 128, 64, 4),
        (int8, 4, 32, 8, 3),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut paths = Vec::new();
        let design = formatted(format, 16 * lanes, head_dim, tokens);
        for file in array(&if slots == 3 { scaled(&design) } else { design }, slots).unwrap().1 {
            let path = dir.path().join(file.path.rsplit('/').next().unwrap());
            fs::write(&path, &file.text).unwrap();
            paths.push(path);
        }
        let quiet = |command: &mut Command| {
            let said = command.args(&paths).output().unwrap();
            let text = [said.stdout, said.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert!(
                said.status.success() && text.trim().is_empty(),
                "{lanes} {head_dim} {tokens} {slots}: {text}"
            );
        };
        for language in ["1364-2005", "1800-2017"] {
            quiet(Command::new(verilator()).args([
                "--lint-only",
                "-Wall",
                "--language",
                language,
                "--top-module",
                "meshkv_pad_array",
            ]));
        }
        quiet(Command::new(&icarus).args(["-g2005", "-Wall", "-t", "null", "-s", "meshkv_pad_array"]));
        let read = format!(
            "read_verilog {}; hierarchy -check -top meshkv_pad_array",
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
        );
        let said = Command::new(&yosys).args(["-q", "-p", &read]).output().unwrap();
        let text = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success() && text.trim().is_empty(), "{lanes} {head_dim}: {text}");
    }
}
