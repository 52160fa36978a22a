//! The DSP slice by its name, which synthesis takes, against the description of it, which simulation takes.

mod block;

use block::{sources, Bench};
use meshkv::emit::SourceFile;
use meshkv::tools;
use std::fs;
use std::process::Command;

/// `meshkv_dsp` with its slice named, as one flat module `slice`.
fn named(text: &str, source: u32) -> SourceFile {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("dsp.v"), text).unwrap();
    let slice = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/dsp48e2.v");
    let script = format!(
        "read_verilog -DMESHKV_DSP48E2 dsp.v {slice}; read_verilog +/xilinx/cells_sim.v; \
         hierarchy -top meshkv_dsp -chparam SOURCE {source}; proc; flatten; opt_clean; \
         rename -top slice; write_verilog -noattr slice.v"
    );
    let yosys = tools::find(&tools::YOSYS).expect("this test needs Yosys; run `meshkv doctor`").path;
    let said = Command::new(yosys).args(["-q", "-p", &script]).current_dir(dir.path()).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    SourceFile {
        path: "rtl/slice.v".to_owned(),
        text: fs::read_to_string(dir.path().join("slice.v")).unwrap(),
    }
}

fn said(source: u32, from: &str, to: &str) -> String {
    let described = sources("meshkv_dsp");
    let [dsp] = described.as_slice() else { panic!("{} files", described.len()) };
    assert!(dsp.text.contains(from), "no {from}");
    let slice = named(&dsp.text.replace(from, to), source);
    Bench::of(&[dsp.clone(), slice], "dsp_slice_tb", &[("SOURCE", source)]).run("", &[])
}

#[test]
fn the_named_slice_does_what_its_description_does() {
    for source in 0..4 {
        assert_eq!(said(source, "", ""), "3991 cycles\n", "SOURCE {source}");
    }
}

#[test]
fn a_register_too_few_and_a_wrong_operand_show() {
    for (source, from, to) in [
        (1, ".CREG(1), .DREG(0), .ADREG(0), .MREG(1)", ".CREG(1), .DREG(0), .ADREG(0), .MREG(0)"),
        (3, ".CREG(1)", ".CREG(0)"),
        (2, "SOURCE == 2 ? 3'b101", "SOURCE == 2 ? 3'b001"),
        (0, "{2{negative_q}}", "{2{negative}}"),
    ] {
        assert_ne!(said(source, from, to), "3991 cycles\n", "{to}");
    }
}
