//! The named DSP slice, used by synthesis, against its behavioural description, used by simulation.

use crate::support::icarus::Bench;
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::{emit_block, SourceFile};
use meshkv::tools;
use std::fs;
use std::process::Command;

/// A module with the named slice, flattened into one module `slice`.
fn named(module: &str, text: &str, parameters: &[(&str, u32)]) -> SourceFile {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("dsp.v"), text).unwrap();
    let slice = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pad/dsp48e2.v");
    let given: String = parameters.iter().map(|(name, value)| format!(" -chparam {name} {value}")).collect();
    let script = format!(
        "read_verilog -DMESHKV_DSP48E2 dsp.v {slice}; read_verilog +/xilinx/cells_sim.v; \
         hierarchy -top {module}{given}; proc; flatten; opt_clean; \
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

/// The output of the bench of `module` when its named slice has `to` for `from`.
fn said(module: &str, parameters: &[(&str, u32)], from: &str, to: &str) -> String {
    let mut config = Config::default();
    config.pe.array_rows = 1;
    let design = Design::from_config("test", &config).expect("a legal configuration");
    let described = emit_block(&design, module).expect("it is emitted");
    let [dsp] = described.as_slice() else { panic!("{} files", described.len()) };
    assert!(dsp.text.contains(from), "no {from}");
    let slice = named(module, &dsp.text.replace(from, to), parameters);
    let bench = if module == "meshkv_dsp" { "pad/dsp_slice_tb" } else { "pad/preadd_slice_tb" };
    Bench::of(&[dsp.clone(), slice], bench, parameters).run("", &[])
}

const ALL: &str = "3991 cycles\n";

#[test]
fn the_named_slice_does_what_its_description_does() {
    for source in 0..4 {
        assert_eq!(said("meshkv_dsp", &[("SOURCE", source)], "", ""), ALL, "SOURCE {source}");
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
        assert_ne!(said("meshkv_dsp", &[("SOURCE", source)], from, to), ALL, "{to}");
    }
}

#[test]
fn the_named_slice_chooses_as_its_description_does() {
    for (source, registered) in [(0, 0), (1, 1)] {
        let parameters = [("SOURCE", source), ("REGISTERED", registered)];
        assert_eq!(said("meshkv_preadd_dsp", &parameters, "", ""), ALL, "{parameters:?}");
    }
    for (from, to) in [
        (".PREG(REGISTERED)", ".PREG(1 - REGISTERED)"),
        (".INMODE(inmode)", ".INMODE({inmode[4:2], 2'b00})"),
        (".INMODEREG(1)", ".INMODEREG(0)"),
        (".DREG(1)", ".DREG(0)"),
    ] {
        assert_ne!(said("meshkv_preadd_dsp", &[("SOURCE", 1), ("REGISTERED", 1)], from, to), ALL, "{to}");
    }
}
