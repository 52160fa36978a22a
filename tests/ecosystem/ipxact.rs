//! The component is valid IP-XACT, by the public schema, and its registers are those of the table.

use crate::support::ecosystem::Output;
use meshkv::design::device::registers::{Access, REGISTERS};

/// Prints what the schema says of a component, or the registers of a valid one.
fn validate(output: &Output, path: &str) -> Result<String, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ecosystem/validate.py");
    let ended = output.command("python3").args([script, path]).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if ended.status.success() {
        Ok(text(&ended.stdout))
    } else {
        Err(text(&ended.stderr))
    }
}

#[test]
fn the_component_is_valid_by_the_public_schema() {
    for name in ["tiny", "u280_8x8"] {
        let output = Output::new(name);
        let said = validate(&output, "out/ipxact/meshkv_top.xml").unwrap();
        let expected = REGISTERS.iter().map(|r| {
            // CTRL's first field is set by writing 1, and reads.
            let access = match r.access {
                Access::ReadOnly => "read-only",
                Access::WriteOnly => "write-only",
                _ => "read-write",
            };
            format!("{} {} {access}\n", r.name, r.offset)
        });
        assert_eq!(said, expected.collect::<String>(), "{name}");
    }
}

#[test]
fn a_component_with_a_slip_is_refused() {
    let output = Output::new("tiny");
    let text = output.read("out/ipxact/meshkv_top.xml");
    for (from, to, says) in [
        ("<ipxact:range>4096</ipxact:range>", "", "range"),
        ("memoryMapRef=\"s_axi_control\"", "memoryMapRef=\"nowhere\"", "nowhere"),
        ("<ipxact:access>read-only<", "<ipxact:access>readonly<", "readonly"),
    ] {
        assert!(text.contains(from), "{from}");
        std::fs::write(output.path("slip.xml"), text.replacen(from, to, 1)).unwrap();
        let said = validate(&output, "slip.xml").unwrap_err();
        assert!(said.contains(says), "{from}: {said}");
    }
}
