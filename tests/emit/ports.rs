//! What the reader of headers finds is what Verilator sees: names, directions and widths of all ports of every module.
//!
//! Verilator reads the headers alone: bodies say nothing of ports, and would all be elaborated once for each instance.

use meshkv::design::Design;
use meshkv::emit::{emit, modules, Dir, ModuleSpec, SourceFile};
use meshkv::synth::lint::passes::{lay_out, Depth, Linters};
use meshkv::tools::interrupt::Interrupt;
use std::path::Path;

/// A module that instantiates each of the others once, every port connected by name to as many bits as were read.
const AROUND: &str = "around_all";

/// The connections of a port: inputs to a constant, which no output may have, outputs to a wire, which drives no input.
fn wired(modules: &[ModuleSpec]) -> String {
    let mut text = format!(
        "/* verilator lint_off UNUSEDSIGNAL */ /* verilator lint_off WIDTHCONCAT */\nmodule {AROUND};\n"
    );
    for module in modules {
        let name = module.name;
        let mut pins = Vec::new();
        for port in &module.ports {
            let (port_name, bits) = (&port.name, port.width.bits);
            match port.dir {
                Dir::Input => pins.push(format!("    .{port_name}({{{bits}{{1'b0}}}})")),
                Dir::Output => {
                    text += &format!("wire [{}:0] {name}_{port_name};\n", bits - 1);
                    pins.push(format!("    .{port_name}({name}_{port_name})"));
                }
            }
        }
        let params: Vec<_> =
            module.params.iter().map(|p| format!("    .{}({})", p.name, p.literal)).collect();
        let params = if params.is_empty() { String::new() } else { format!(" #(\n{})", params.join(",\n")) };
        text += &format!("{name}{params} u_{name} (\n{}\n);\n", pins.join(",\n"));
    }
    text + "endmodule\n"
}

/// A module without its body.
fn header(file: &SourceFile) -> SourceFile {
    let (header, _) = file.text.split_once("\n);\n").expect("a header has an end");
    SourceFile { path: file.path.clone(), text: format!("{header}\n);\nendmodule\n") }
}

/// What Verilator says of these connections.
fn said(files: &[SourceFile], modules: &[ModuleSpec]) -> Vec<String> {
    let linters = Linters::find().expect("lint needs its tools; run `meshkv doctor`");
    let dir = tempfile::tempdir().unwrap();
    let path = format!("rtl/{AROUND}.v");
    let around = SourceFile { path: path.clone(), text: wired(modules) };
    let modules = files.iter().filter(|file| file.path.starts_with("rtl/") && file.path.ends_with(".v"));
    let files: Vec<_> = modules.map(header).chain([around]).collect();
    let sources = lay_out(&files, dir.path()).unwrap();
    let passes = linters.passes(&sources, AROUND, Depth::Places);
    let pass = passes.iter().find(|pass| pass.tool.name == "verilator").unwrap();
    let found = pass.run(dir.path(), &Interrupt::default()).unwrap().into_iter().map(|message| message.text);
    found.filter(|text| text.contains(&path)).collect()
}

fn named(name: &str) -> Design {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
    Design::load(&path).unwrap().0
}

#[test]
fn verilator_sees_the_ports_that_were_read() {
    // Between them: routers of two and of three stages, both spreads, appending, with and without a shell.
    for name in ["tiny", "cent", "grow_4x4", "parity_3x3", "u280_4x8", "u280_shell"] {
        let design = named(name);
        let said = said(&emit(&design).unwrap(), &modules(&design));
        assert_eq!(said, [""; 0], "{name}");
    }
}

#[test]
fn a_port_that_was_read_otherwise_is_found() {
    let design = named("tiny");
    let files = emit(&design).unwrap();
    let fifo = modules(&design).into_iter().find(|module| module.name == "meshkv_fifo").unwrap();
    type Change = fn(&mut ModuleSpec);
    let otherwise: [(&str, Change); 4] = [
        ("PINMISSING", |fifo| drop(fifo.ports.pop())),
        ("PINNOTFOUND", |fifo| fifo.ports[2].name += "_other"),
        ("WIDTH", |fifo| fifo.ports.last_mut().unwrap().width.bits += 1),
        ("PORTSHORT", |fifo| {
            let output = fifo.ports.iter_mut().find(|port| port.dir == Dir::Output).unwrap();
            output.dir = Dir::Input;
        }),
    ];
    assert_eq!(said(&files, std::slice::from_ref(&fifo)), [""; 0]);
    for (finding, change) in otherwise {
        let mut read = fifo.clone();
        change(&mut read);
        let said = said(&files, &[read]);
        assert!(said.iter().any(|text| text.contains(finding)), "{finding}: {said:?}");
    }
}
