//! Benches for simulators of others: one for cocotb, the same for every fabric, which reads the C headers, and one in
//! plain Verilog.

use crate::design::Design;
use crate::emit::rtl::spec::module::ModuleSpec;
use crate::emit::rtl::spec::names::TOP;
use crate::emit::source_file::SourceFile;
use crate::emit::templates::Templates;
use anyhow::{Context as _, Result};
use std::sync::LazyLock;
use tera::Context;

const TEMPLATE: [(&str, &str); 1] = [("tb", include_str!("../../../templates/bench/tb.v.tera"))];

/// Address at which the bench in Verilog expects outputs; beyond external memory, as far as a configuration may reach.
pub const BENCH_OUTPUTS: u64 = 2 << 48;

/// Modules of Python, by name; `run.py` starts them without FuseSoC.
pub(super) const MODULES: [&str; 3] = ["meshkv_bench", "meshkv_cache", "meshkv_headers"];

/// Paths below the output folder, and texts.
const FILES: [(&str, &str); 4] = [
    ("bench/meshkv_bench.py", include_str!("../../../templates/bench/meshkv_bench.py")),
    ("bench/meshkv_cache.py", include_str!("../../../templates/bench/meshkv_cache.py")),
    ("bench/meshkv_headers.py", include_str!("../../../templates/bench/meshkv_headers.py")),
    ("bench/run.py", include_str!("../../../templates/bench/run.py")),
];

pub(super) fn emit(design: &Design, modules: &[ModuleSpec]) -> Result<Vec<SourceFile>> {
    let files = FILES.map(|(path, text)| SourceFile { path: path.to_owned(), text: text.to_owned() });
    Ok(files.into_iter().chain([testbench(design, modules)?]).collect())
}

/// The bench in Verilog. A list of modules without the top has none of its ports.
fn testbench(design: &Design, modules: &[ModuleSpec]) -> Result<SourceFile> {
    static PARSED: LazyLock<Templates> = LazyLock::new(|| Templates::parse(TEMPLATE));
    let ports = || modules.iter().filter(|module| module.name == TOP).flat_map(|module| &module.ports);
    let with = |end: &str| -> Vec<String> {
        let stems = ports().filter_map(|port| port.name.strip_suffix(end));
        stems.filter(|stem| stem.starts_with("m_axi_")).map(str::to_owned).collect()
    };
    let bits = |name: &str| ports().find(|port| port.name == name).map_or(1, |port| port.width.bits);
    let half_ns = |mhz: f64| format!("{:.3}", 500.0 / mhz);
    let clock = &design.clock;
    let mut context = Context::new();
    context.insert("name", &design.name);
    context.insert("latency", &design.memory.latency_cycles);
    context.insert("width", &design.flit.data_width);
    context.insert("id_width", &bits("m_axi_io_arid"));
    context.insert("address_bits", &bits("s_axi_control_awaddr"));
    context.insert("ports", &design.memory.ports);
    context.insert("outputs_at", &format!("64'h{BENCH_OUTPUTS:x}"));
    context.insert("noc_half_ns", &half_ns(clock.noc_mhz));
    context.insert("pe_half_ns", &half_ns(clock.pe_mhz));
    context.insert("readers", &with("_arvalid"));
    context.insert("writers", &with("_awvalid"));
    let text = PARSED.render(TEMPLATE[0].0, &context).context("template tb")?;
    Ok(SourceFile { path: "bench/tb.v".to_owned(), text })
}
