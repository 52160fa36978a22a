//! A verilated array of one row, driven cycle by cycle.

use meshkv::design::{Design, SECOND_SUM};
use meshkv::emit::{array, Dir, PortSpec, SourceFile};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Inputs of one cycle by name; those that are not named are zero.
pub type Inputs = BTreeMap<&'static str, Vec<u32>>;

/// An output of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// The answer to a READ: the words of the sum, those of the next one, m, and whether a logit saturated.
    Sum { cycle: usize, words: Vec<u32>, next: Vec<u32>, max: i32, saturated: bool },
    /// A tail.
    Done { cycle: usize, token: u32 },
}

pub struct Row {
    dir: TempDir,
    inputs: Vec<PortSpec>,
}

/// Verilates the array of a design, of which `change` may change the Verilog.
pub fn build(design: &Design, slots: u32, change: impl Fn(&mut SourceFile)) -> Row {
    let dir = tempfile::tempdir().unwrap();
    let mut verilator = Command::new(verilator());
    let options = ["--cc", "-Wno-fatal", "--Mdir", "obj", "--top-module", "meshkv_pad_array"];
    verilator.current_dir(dir.path()).args(options);
    let (modules, files) = array(design, slots).unwrap();
    for mut file in files {
        change(&mut file);
        let name = file.path.rsplit('/').next().unwrap().to_owned();
        fs::write(dir.path().join(&name), &file.text).unwrap();
        verilator.arg(name);
    }
    let ports = &modules.last().unwrap().ports;
    let inputs: Vec<_> = ports.iter().filter(|p| p.dir == Dir::Input && p.name != "clk").cloned().collect();
    let sum = ports.iter().find(|p| p.name == "sum_data").unwrap();
    fs::write(dir.path().join("main.cpp"), main_cpp(&inputs, words(sum))).unwrap();
    succeeds(&mut verilator);
    // One unit, and the runtime that all rows have: most of the time would go into compiling that.
    let generated = fs::read_dir(dir.path().join("obj")).unwrap().map(|file| file.unwrap().path());
    let units = generated.filter(|path| path.extension().is_some_and(|e| e == "cpp"));
    let all: String = units.map(|path| format!("#include \"{}\"\n", path.display())).collect();
    fs::write(dir.path().join("all.cpp"), all).unwrap();
    let mut compiler = compiler();
    compiler.current_dir(dir.path()).args(["-O0", "all.cpp", "main.cpp", "-o", "row", "-Iobj"]);
    succeeds(compiler.args(runtime()));
    Row { dir, inputs }
}

/// The C++ compiler with the options that generated code needs.
fn compiler() -> Command {
    let toolchain = crate::support::verilated::toolchain();
    let mut command = toolchain.cxx.command();
    command.args(["-std=c++17", "-pthread", "-w", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TRACE=0"]);
    command.args(["-DVM_TRACE_FST=0", "-DVM_TRACE_VCD=0"]);
    command.arg("-I").arg(&toolchain.include).arg("-I").arg(toolchain.include.join("vltstd"));
    command
}

/// Verilator's own code, compiled once.
fn runtime() -> &'static [PathBuf] {
    static OBJECTS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    OBJECTS.get_or_init(|| {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pad_row");
        fs::create_dir_all(&dir).unwrap();
        let object = |unit: &&str| {
            let source = crate::support::verilated::toolchain().include.join(format!("{unit}.cpp"));
            let object = dir.join(format!("{unit}.o"));
            succeeds(compiler().args(["-O1", "-c", "-o"]).arg(&object).arg(source));
            object
        };
        ["verilated", "verilated_threads"].iter().map(object).collect()
    })
}

fn succeeds(command: &mut Command) {
    let said = command.output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
}

/// The Verilator program, of a version that is known to work.
pub fn verilator() -> std::path::PathBuf {
    crate::support::verilated::toolchain().verilator.path.clone()
}

fn words(port: &PortSpec) -> usize {
    port.width.bits.div_ceil(32) as usize
}

impl Row {
    /// Runs the cycles, the first of which are reset.
    pub fn run(&self, cycles: &[Inputs]) -> Vec<Output> {
        let mut bytes = Vec::new();
        let quiet = Inputs::new();
        let reset = |i: usize| u32::from(i < 4);
        for (i, cycle) in (0..4).map(|_| &quiet).chain(cycles).enumerate() {
            for port in &self.inputs {
                let given = cycle.get(port.name.as_str());
                for word in 0..words(port) {
                    let value = match port.name.as_str() {
                        "rst" => reset(i),
                        _ => given.and_then(|g| g.get(word)).copied().unwrap_or_default(),
                    };
                    bytes.extend(value.to_le_bytes());
                }
            }
            let known = |name: &&str| self.inputs.iter().any(|port| port.name == **name);
            assert!(cycle.keys().all(known), "{cycle:?}");
        }
        let inputs = self.dir.path().join("inputs");
        fs::write(&inputs, bytes).unwrap();
        let said = Command::new(self.dir.path().join("row")).arg(inputs).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        outputs(&String::from_utf8(said.stdout).unwrap())
    }
}

/// The outputs of the lines of a run. The second sum of a READ has a line of its own, later than the first.
fn outputs(said: &str) -> Vec<Output> {
    let words_of = |line: &str| -> Vec<u32> {
        line.split(' ').skip(1).map(|word| u32::from_str_radix(word, 16).unwrap()).collect()
    };
    let mut seconds = said.lines().filter(|line| line.starts_with('N')).map(words_of);
    let firsts = said.lines().filter(|line| !line.starts_with('N'));
    let output = |line: &str| {
        let words = words_of(line);
        let cycle = words[0] as usize - 4;
        match line.as_bytes()[0] {
            b'S' => {
                let (max, saturated) = (words[1] as i32, words[2] == 1);
                let next = seconds.next().expect("a second sum of each READ");
                Output::Sum { cycle, max, saturated, words: words[3..].to_vec(), next }
            }
            b'D' => Output::Done { cycle, token: words[1] },
            other => panic!("{other} {line}"),
        }
    };
    firsts.map(output).collect()
}

/// A C++ program that reads the words of all inputs for each cycle and prints the outputs.
fn main_cpp(inputs: &[PortSpec], sum_words: usize) -> String {
    let mut set = String::new();
    for port in inputs {
        let name = &port.name;
        match words(port) {
            1 => writeln!(set, "        top.{name} = next();").unwrap(),
            2 => writeln!(set, "        low = next(); top.{name} = uint64_t(next()) << 32 | low;").unwrap(),
            n => writeln!(set, "        for (int i = 0; i < {n}; i++) top.{name}[i] = next();").unwrap(),
        }
    }
    let sum = |name: &str| match sum_words {
        1 | 2 => {
            format!("printf(\" %x %x\", (uint32_t)top.{name}, (uint32_t)((uint64_t)top.{name} >> 32));")
        }
        n => format!("for (int i = 0; i < {n}; i++) printf(\" %x\", top.{name}[i]);"),
    };
    let (sum, next_sum) = (sum("sum_data"), sum("sum_next"));
    format!(
        r#"#include "Vmeshkv_pad_array.h"
#include <cstdint>
#include <cstdio>
#include <vector>
double sc_time_stamp() {{ return 0; }}
int main(int, char** argv) {{
    std::vector<uint32_t> words;
    FILE* file = fopen(argv[1], "rb");
    uint32_t word, low;
    while (fread(&word, 4, 1, file) == 1) words.push_back(word);
    size_t at = 0;
    auto next = [&]() {{ return words[at++]; }};
    static Vmeshkv_pad_array top;
    unsigned comes = 0;
    for (unsigned cycle = 0; at < words.size(); cycle++) {{
        top.clk = 0;
{set}        top.eval();
        top.clk = 1;
        top.eval();
        if (top.sum_valid) {{
            printf("S %x %x %x", cycle, top.sum_max, top.sum_saturated);
            {sum}
            puts("");
        }}
        comes = comes << 1 | (top.sum_valid != 0);
        if (comes >> {SECOND_SUM} & 1) {{
            printf("N");
            {next_sum}
            puts("");
        }}
        if (top.k_done) printf("D %x %x\n", cycle, top.k_done_token);
    }}
}}
"#
    )
}
