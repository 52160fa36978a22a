//! The bench that plays a record, and its verdict.

use super::recorder::Record;
use super::twins::Twin;
use meshkv::cosim::build::wrap::device_wrapper::whole_shell;
use meshkv::design::Design;
use meshkv::emit::{Dir, PortSpec, SourceFile};
use meshkv::tools;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Differences that a bench prints before it ends.
const MOST: usize = 40;
/// Periods after which every stage without a reset has what was put into it under reset.
const PASSED: u32 = 20;

/// Whether emitted files get monitors, with which they run at a fifth of the speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Monitors {
    In,
    Out,
}

/// What a run in Icarus said.
#[derive(Debug)]
pub struct Replay {
    /// Outputs that differ, or are X where they must not be: period, port and value.
    pub wrong: Vec<String>,
    /// Places at which a monitor saw an X.
    pub unknown: Vec<String>,
}

impl Replay {
    /// Plays a record to emitted files.
    pub fn of(record: &Record, design: &Design, files: &[SourceFile], monitors: Monitors) -> Replay {
        Replay::beside(record, design, files, monitors, &[])
    }

    /// The same with netlists beside some instances.
    pub fn beside(
        record: &Record,
        design: &Design,
        files: &[SourceFile],
        monitors: Monitors,
        twins: &[Twin],
    ) -> Replay {
        assert!(record.periods.len() > 100, "a run was recorded");

        let dir = tempfile::tempdir().unwrap();
        let mut sources = Vec::new();
        for file in files.iter().filter(|file| file.path.starts_with("rtl/") && file.path.ends_with(".v")) {
            let path = dir.path().join(Path::new(&file.path).file_name().unwrap());
            fs::write(&path, &file.text).unwrap();
            sources.push(path);
        }
        // Monitors look at sources only.
        let sites = if monitors == Monitors::In { monitor(dir.path(), &sources) } else { Vec::new() };
        fs::write(dir.path().join("shell.v"), whole_shell(design).1).unwrap();
        fs::write(dir.path().join("bench.v"), bench(record, twins)).unwrap();
        for twin in twins {
            let path = dir.path().join(Path::new(&twin.netlist.path).file_name().unwrap());
            fs::write(&path, &twin.netlist.text).unwrap();
            sources.push(path);
        }
        fs::write(dir.path().join("record.hex"), lines(record)).unwrap();
        let iverilog =
            tools::find(&tools::IVERILOG).expect("this test needs Icarus; run `meshkv doctor`").path;
        let mut compile = Command::new(iverilog);
        compile.current_dir(dir.path()).args([
            "-g2005",
            "-s",
            "bench",
            "-o",
            "bench.vvp",
            "bench.v",
            "shell.v",
        ]);
        let said = compile.args(&sources).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let said = Command::new("vvp").current_dir(dir.path()).arg("bench.vvp").output().unwrap();
        let text = String::from_utf8_lossy(&said.stdout);
        let errors = String::from_utf8_lossy(&said.stderr);
        assert!(said.status.success() && text.contains("PLAYED"), "{text}{errors}");
        let of = |mark: &'static str| text.lines().filter_map(move |line| line.strip_prefix(mark));
        let named = |told: &str| {
            let (site, place) = told.split_once(' ').expect("a number and a place");
            format!("{} {place}", sites[site.parse::<usize>().expect("its number")])
        };
        Replay {
            wrong: of("WRONG ").map(str::to_owned).collect(),
            unknown: of("UNKNOWN ").map(named).collect(),
        }
    }

    /// Asserts that all outputs are equal and no monitor saw an X.
    pub fn assert_equal(&self, what: &str) {
        assert!(self.wrong.is_empty(), "{what}:\n{}", self.wrong.join("\n"));
        assert!(self.unknown.is_empty(), "{what}:\n{}", self.unknown.join("\n"));
    }
}

/// Puts monitors into files; returns what each looks at.
fn monitor(dir: &Path, sources: &[PathBuf]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/four_state/monitors.py");
    let slang = tools::find(&tools::SLANG).expect("this test needs slang; run `meshkv doctor`").path;
    let python = if tools::is_python(&slang) { slang } else { PathBuf::from("python3") };
    let said = Command::new(python).arg(script).arg(dir.join("sites")).args(sources).output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let sites = fs::read_to_string(dir.join("sites")).unwrap();
    let sites: Vec<String> = sites.lines().map(|line| line.replace('\t', " ")).collect();
    assert!(sites.len() > 500, "{} monitors", sites.len());
    sites
}

/// The record, one hexadecimal number a period: outputs, inputs, the reset.
fn lines(record: &Record) -> String {
    let digits = (record.bits() + 1).div_ceil(4) as usize;
    let mut text = String::new();
    for (rst, words) in &record.periods {
        let mut line = String::with_capacity(digits);
        let bit = |at: usize| match at.checked_sub(1) {
            None => u32::from(*rst),
            Some(at) => words.get(at / 32).map_or(0, |word| word >> (at % 32) & 1),
        };
        for digit in (0..digits).rev() {
            let value = (0..4).fold(0, |value, i| value | bit(4 * digit + i) << i);
            line.push(char::from_digit(value, 16).expect("four bits"));
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// The valid of a payload: the one with which it shares most letters. A handshake has none, nor has an event or a count.
fn valid_of<'a>(ports: &'a [PortSpec], port: &PortSpec) -> Option<&'a PortSpec> {
    let outputs = ports.iter().filter(|p| p.dir == Dir::Output && p.name.ends_with("valid"));
    let begins = |valid: &&PortSpec| {
        let stem = valid.name.trim_end_matches("valid");
        stem.len() > 1 && port.name.starts_with(stem)
    };
    let shakes = port.name.ends_with("valid") || port.name.ends_with("ready");
    outputs.filter(begins).filter(|_| !shakes).max_by_key(|valid| valid.name.len())
}

/// The parts of an output, and when each is wrong. A payload is compared while it is valid, written bytes where their
/// strobe selects them, anything else always.
fn parts(ports: &[PortSpec], port: &PortSpec) -> Vec<(String, String)> {
    let name = &port.name;
    let Some(valid) = valid_of(ports, port) else {
        return vec![(String::new(), format!("{name} !== {name}_want"))];
    };
    if let Some(stem) = name.strip_suffix("wdata") {
        let selected = format!("bytes({stem}wstrb)");
        let wrong = format!("({name} & {selected}) !== ({name}_want & {selected})");
        return vec![(String::new(), format!("{} === 1'b1 && {wrong}", valid.name))];
    }
    let width = port.width.bits / valid.width.bits;
    // m accompanies l, the first of the merged numbers.
    let also = if name == "merge_sum_max" { "merge_sum_first" } else { valid.name.as_str() };
    let part = |i: u32| {
        let bits = format!("[{}+:{width}]", i * width);
        let wrong =
            format!("({}[{i}] & {also}[{i}]) === 1'b1 && {name}{bits} !== {name}_want{bits}", valid.name);
        (bits, wrong)
    };
    (0..valid.width.bits).map(part).collect()
}

fn bench(record: &Record, twins: &[Twin]) -> String {
    let bits = record.bits();
    let fs = |mhz: f64| ((0.5e9 / mhz).round() as u64).max(1) * 2;
    let (noc, pe) = (fs(record.clocks.noc_mhz), fs(record.clocks.pe_mhz));
    assert_eq!(record.clocks.jitter, 0, "a bench has even clocks");
    let phase =
        if record.clocks.in_step() { noc / 2 } else { meshkv::cosim::hash::mix(record.clocks.seed) % pe };
    let (mut wires, mut pins, mut checks, mut at) = (String::new(), String::new(), String::new(), 1);
    for port in &record.ports {
        let (name, width) = (&port.name, port.width.bits);
        writeln!(pins, "        .{name}({name}),").unwrap();
        if port.dir == Dir::Input {
            writeln!(wires, "    wire [{}:0] {name} = now[{at}+:{width}];", width - 1).unwrap();
        } else {
            writeln!(
                wires,
                "    wire [{0}:0] {name};\n    wire [{0}:0] {name}_want = now[{at}+:{width}];",
                width - 1
            )
            .unwrap();
            for (part, asked) in parts(&record.ports, port) {
                writeln!(
                    checks,
                    "            if ({asked}) tell(\"{name}\", {name}{part}, {name}_want{part});"
                )
                .unwrap();
            }
        }
        at += width;
    }
    for (beside, compared) in twins.iter().map(Twin::placed) {
        wires.push_str(&beside);
        checks.push_str(&compared);
    }
    format!(
        "`timescale 1fs/1fs
module bench;
    reg [{bits}:0] periods [0:{last}];
    reg [{bits}:0] now = 0;
    reg clk = 1, pe_clk = 0, rst = 1, pe_rst = 1, monitored = 0, passed = 0;
    integer period = 0, told = 0;
{wires}
    meshkv_shell dut (
{pins}        .clk(clk), .rst(rst), .pe_clk(pe_clk), .pe_rst(pe_rst)
    );
    // A bit for each byte that a strobe selects.
    function [1023:0] bytes(input [127:0] strobes);
        integer i;
        for (i = 0; i < 1024; i = i + 1) bytes[i] = strobes[i/8];
    endfunction
    // Whether a bit that is wanted is another.
    function differs(input [1023:0] is, want);
        integer i;
        begin
            differs = 0;
            for (i = 0; i < 1024; i = i + 1) if (want[i] !== 1'bx && is[i] !== want[i]) differs = 1;
        end
    endfunction
    task tell(input [8*48-1:0] name, input [1023:0] is, input [1023:0] want);
        begin
            $display(\"WRONG period %0d: %0s is %0h, not %0h\", period, name, is, want);
            told = told + 1;
            if (told == {MOST}) begin
                $display(\"PLAYED\");
                $finish;
            end
        end
    endtask
    initial begin
        #{phase};
        forever begin
            pe_clk = 0;
            pe_rst = rst;
            #({pe} / 2) pe_clk = 1;
            #({pe} / 2);
        end
    end
    initial begin
        $readmemh(\"record.hex\", periods);
        for (period = 0; period < {count}; period = period + 1) begin
            #1 now = periods[period];
            rst = now[0];
            if (!rst) monitored = 1;
            if (period == {PASSED}) passed = 1;
            #({noc} / 2 - 1) clk = 0;
            #({noc} / 2 - 1);
            if (monitored & !rst) begin
{checks}            end
            #1 clk = 1;
        end
        $display(\"PLAYED\");
        $finish;
    end
endmodule
",
        last = record.periods.len() - 1,
        count = record.periods.len(),
    )
}
