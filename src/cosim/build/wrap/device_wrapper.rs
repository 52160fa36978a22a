//! Generates the *shell* of a device: a module with the harness's names for clocks and resets. It
//! also exposes ports of the core that are internal to the device.

use crate::design::Design;
use crate::emit::{self, Dir, ModuleSpec, PortSpec, Width};

/// Name of the generated module.
pub(in crate::cosim) const SHELL: &str = "meshkv_shell";

/// Input of the shell: the platform's reset of PaD alone.
pub(in crate::cosim) const COMPUTE_RESET: &str = "pe_low";

/// Prefixes of the ports that face host and platform.
const HOST: [&str; 4] = ["s_axi_control_", "m_axi_hbm", "m_axi_io_", "interrupt"];

/// Prefixes of the core's ports that the bench observes, whatever drives the core.
pub(in crate::cosim) const PROBES: [&str; 4] = ["merge_", "stat_", "event_", "pad_"];

fn begins(port: &PortSpec, prefixes: &[&str]) -> bool {
    prefixes.iter().any(|prefix| port.name.starts_with(prefix))
}

fn module<'a>(modules: &'a [ModuleSpec], name: &str) -> &'a ModuleSpec {
    modules.iter().find(|m| m.name == name).expect("every design has these modules")
}

/// The shell's ports: clocks and resets with the harness's names, the separate reset, then
/// `others`.
fn of<'a>(core: &'a ModuleSpec, others: impl Iterator<Item = &'a PortSpec>) -> ModuleSpec {
    let own = ["clk", "rst", "pe_clk", "pe_rst"];
    let single = |p: &PortSpec| PortSpec { width: Width { expr: "1".to_owned(), bits: 1 }, ..p.clone() };
    let own = own
        .iter()
        .map(|name| single(core.ports.iter().find(|p| p.name == *name).expect("the core has clocks")));
    let pulled = own.clone().next_back().map(|p| PortSpec { name: COMPUTE_RESET.to_owned(), ..p });
    ModuleSpec {
        block: emit::Block::Device,
        name: SHELL,
        summary: Vec::new(),
        params: Vec::new(),
        ports: own.chain(pulled).chain(others.cloned()).collect(),
        instances: Vec::new(),
        kept: false,
    }
}

/// Ports of the shell: the device's host and platform ports, and `PROBES` of its core.
pub fn shell(design: &Design) -> ModuleSpec {
    let modules = emit::modules(design);
    let (top, core) = (module(&modules, emit::TOP), module(&modules, emit::CORE));
    let mut host: Vec<PortSpec> = top.ports.iter().filter(|p| begins(p, &HOST)).cloned().collect();
    host.iter_mut().for_each(|p| p.name = outside(&p.name));
    let probes = core.ports.iter().filter(|p| p.dir == Dir::Output && begins(p, &PROBES));
    of(core, host.iter().chain(probes))
}

/// The shell of a whole device, in Verilog.
pub fn whole_shell(design: &Design) -> (ModuleSpec, String) {
    let shell = shell(design);
    let modules = emit::modules(design);
    let top = module(&modules, emit::TOP);
    let pins = top.ports.iter().map(pin);
    let probes = shell.ports.iter().filter(|p| begins(p, &PROBES));
    let assigns = probes.map(|p| format!("    assign {0} = u_top.u_core.{0};\n", p.name)).collect();
    let text = verilog(&shell, &format!("{} u_top", top.name), &mut pins.into_iter(), assigns);
    (shell, text)
}

/// The shell of the front alone, in Verilog. The front's ports to the core become ports of the
/// shell, with its resets for the core renamed.
pub fn front_shell(design: &Design) -> (ModuleSpec, String) {
    let modules = emit::modules(design);
    let (front, core) = (module(&modules, emit::FRONT), module(&modules, emit::CORE));
    let mut others = front.ports.clone();
    others.retain(|p| !p.name.starts_with("ap_"));
    for port in &mut others {
        port.name = outside(&port.name);
    }
    let shell = of(core, others.iter());
    let pins = front.ports.iter().map(pin);
    let text = verilog(&shell, &format!("{} u_front", front.name), &mut pins.into_iter(), String::new());
    (shell, text)
}

/// Name of a port outside the shell.
fn outside(name: &str) -> String {
    match name {
        "rst" | "pe_rst" => format!("core_{name}"),
        // `interrupt` is a name of the C++ library.
        "interrupt" => "irq".to_owned(),
        name => name.to_owned(),
    }
}

/// Connection of a port of the device, or of its front, inside the shell.
fn pin(port: &PortSpec) -> String {
    let name = &port.name;
    let with = match name.as_str() {
        "ap_clk" => "clk".to_owned(),
        "ap_clk_2" => "pe_clk".to_owned(),
        "ap_rst_n" => "~rst".to_owned(),
        "ap_rst_n_2" => format!("~(pe_rst | {COMPUTE_RESET})"),
        name => outside(name),
    };
    format!("        .{name}({with})")
}

fn verilog(
    shell: &ModuleSpec,
    instance: &str,
    pins: &mut dyn Iterator<Item = String>,
    assigns: String,
) -> String {
    let port = |p: &PortSpec| {
        let dir = if p.dir == Dir::Input { "input " } else { "output" };
        format!("    {dir} wire [{}:0] {}", p.width.bits - 1, p.name)
    };
    let ports: Vec<String> = shell.ports.iter().map(port).collect();
    format!(
        "`default_nettype none\nmodule {SHELL} (\n{}\n);\n    {instance} (\n{}\n    );\n{assigns}endmodule\n",
        ports.join(",\n"),
        pins.collect::<Vec<_>>().join(",\n"),
    )
}
