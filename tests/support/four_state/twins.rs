//! Netlists beside the modules that they were made of: each gets the inputs of one instance, and must have its outputs.

use meshkv::emit::SourceFile;
use meshkv::tools;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

/// Memories that Yosys maps to cells of which it has no behaviour: they stay as they are, and begin as X.
const BEHAVIOURAL: &str = "meshkv_staging_memory";

/// A netlist of a module, and the instance that it stands beside.
#[derive(Debug, Clone)]
pub struct Twin {
    /// Verilog of the netlist: Yosys' cells, each as Yosys models it.
    pub netlist: SourceFile,
    module: String,
    instance: String,
}

impl Twin {
    /// Maps `module` to the card's cells. `instance` is its path below the bench.
    ///
    /// # Panics
    /// If Yosys fails.
    pub fn of(files: &[SourceFile], module: &str, instance: &str) -> Twin {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("rtl")).unwrap();
        for file in files.iter().filter(|file| file.path.starts_with("rtl/") && file.path.ends_with(".v")) {
            fs::write(dir.path().join("rtl").join(file.path.rsplit('/').next().unwrap()), &file.text)
                .unwrap();
        }
        let script = format!(
            "read_verilog rtl/*.v; hierarchy -top {module}; blackbox *{BEHAVIOURAL}; proc; \
             synth_xilinx -family xcup -noiopad -flatten -top {module}; setattr -mod -unset keep_hierarchy; \
             setattr -unset keep_hierarchy; flatten; read_verilog -overwrite +/xilinx/cells_sim.v; \
             hierarchy -top {module}; proc; flatten; clean; rename -top twin_{module}; \
             write_verilog -noattr twin.v"
        );
        let yosys = tools::find(&tools::YOSYS).expect("this test needs Yosys; run `meshkv doctor`").path;
        let said = Command::new(yosys).args(["-q", "-p", &script]).current_dir(dir.path()).output().unwrap();
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        let text = plain(&fs::read_to_string(dir.path().join("twin.v")).unwrap());
        let netlist = SourceFile { path: format!("rtl/twin_{module}.v"), text };
        Twin { netlist, module: module.to_owned(), instance: instance.to_owned() }
    }

    /// The netlist beside its instance, and what compares their outputs. A bit that is X at the instance may be anything.
    pub(super) fn placed(&self) -> (String, String) {
        let (module, instance) = (&self.module, &self.instance);
        let (mut wires, mut pins, mut checks) = (String::new(), Vec::new(), String::new());
        for (output, range, name) in self.ports() {
            if !output {
                pins.push(format!(".{name}({instance}.{name})"));
                continue;
            }
            let (own, of_instance) = (format!("{module}_{name}"), format!("{instance}.{name}"));
            writeln!(wires, "    wire {range}{own};").unwrap();
            pins.push(format!(".{name}({own})"));
            writeln!(
                checks,
                "            if ({own} !== {of_instance} && differs({own}, {of_instance})) \
                 tell(\"{own}\", {own}, {of_instance});"
            )
            .unwrap();
        }
        (format!("{wires}    twin_{module} twin_of_{module} ({});\n", pins.join(", ")), checks)
    }

    /// Ports: whether it is an output, its range as it is declared, its name.
    fn ports(&self) -> Vec<(bool, &str, &str)> {
        self.netlist.text.lines().filter_map(declared).collect()
    }
}

/// The port that a line declares: `  output [3:0] tx_n_dest;`.
fn declared(line: &str) -> Option<(bool, &str, &str)> {
    let (kind, rest) = line.trim().strip_suffix(';')?.split_once(' ')?;
    let name = rest.rfind(' ').map_or(0, |space| space + 1);
    matches!(kind, "input" | "output").then(|| (kind == "output", &rest[..name], &rest[name..]))
}

/// The netlist with the names of the memories that it leaves out as they are in their sources. Their parameters are the
/// default ones.
fn plain(netlist: &str) -> String {
    let line = |line: &str| match line.split_once(BEHAVIOURAL) {
        Some((before, after)) if before.trim_start().starts_with("\\$paramod") => {
            format!("{BEHAVIOURAL}{after}\n")
        }
        _ => format!("{line}\n"),
    };
    netlist.lines().map(line).collect()
}
