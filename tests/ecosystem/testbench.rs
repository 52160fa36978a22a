//! The bench in plain Verilog, in simulators of others: what `meshkv run --vectors` writes passes, and what is wrong fails.

use assert_cmd::Command as Program;
use meshkv::tools;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The emitted files of `tiny`, compiled by Icarus.
struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench { dir: tempfile::tempdir().unwrap() };
        Program::cargo_bin("meshkv")
            .unwrap()
            .args(["generate", "configs/tiny.toml", "-q", "-o"])
            .arg(bench.path("gen"))
            .assert()
            .success();
        let iverilog =
            tools::find(&tools::IVERILOG).expect("this test needs Icarus; run `meshkv doctor`").path;
        let said = Command::new(iverilog)
            .current_dir(bench.path("gen"))
            .args([
                "-g2005",
                "-Wall",
                "-Wno-timescale",
                "-s",
                "meshkv_tb",
                "-c",
                "tiny.f",
                "bench/tb.v",
                "-o",
            ])
            .arg(bench.path("tb.vvp"))
            .output()
            .unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes the files of a run.
    fn vectors(&self, name: &str, options: &[&str]) -> PathBuf {
        let folder = self.path(name);
        let mut run = Program::cargo_bin("meshkv").unwrap();
        run.args(["sim", "run", "configs/tiny.toml", "-q", "--vectors"]).arg(&folder).args(options);
        run.assert().success();
        folder
    }

    /// The last line of the bench.
    fn verdict(&self, vectors: &Path, more: &str) -> String {
        let said = Command::new("vvp")
            .arg(self.path("tb.vvp"))
            .arg(format!("+vectors={}", vectors.display()))
            .arg(more)
            .output()
            .unwrap();
        String::from_utf8(said.stdout).unwrap().lines().last().unwrap_or_default().to_owned()
    }
}

#[test]
fn a_run_of_the_model_passes_in_a_simulator_with_four_states_and_a_wrong_output_does_not() {
    let bench = Bench::new();
    let vectors = bench.vectors("vectors", &["--tokens", "5", "--mapping", "head-tile"]);
    let verdict = bench.verdict(&vectors, "");
    assert_eq!(verdict, "PASS: 192 outputs, 192 equal in every bit, largest difference 0.000000");
    assert!(bench.verdict(&bench.path("none"), "").starts_with("FAIL: no file "));
    // One output is 65 504.
    let path = vectors.join("expected.hex");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("7bff{}", &text[4..])).unwrap();
    assert_eq!(bench.verdict(&vectors, ""), "FAIL: 1 findings, 192 outputs");
}

#[test]
fn every_mapping_and_memories_that_pause_pass() {
    let bench = Bench::new();
    for options in [
        ["--tokens", "29", "--mapping", "row-aligned"],
        ["--tokens", "29", "--mapping", "stream-striped"],
        ["--lengths", "9,21", "--mapping", "row-aligned"],
    ] {
        let vectors = bench.vectors(options[3], &options);
        for gaps in ["+gaps=0", "+gaps=90"] {
            let verdict = bench.verdict(&vectors, gaps);
            assert!(verdict.starts_with("PASS: "), "{options:?} {gaps}: {verdict}");
        }
    }
}
