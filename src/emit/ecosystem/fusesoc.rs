//! The FuseSoC core, in its CAPI2 format: lint, simulation, and synthesis by Vivado and Yosys.

use super::bench;
use crate::design::Design;
use crate::emit::card::CARD_DEFINES;
use crate::emit::filelist::WAIVERS_PATH;
use crate::emit::rtl::spec::module::ModuleSpec;
use crate::emit::rtl::spec::names::TOP;
use crate::emit::source_file::SourceFile;
use crate::emit::templates::Templates;
use anyhow::{Context as _, Result};
use std::sync::LazyLock;
use tera::Context;

const TEMPLATE: [(&str, &str); 1] = [("core", include_str!("../../../templates/ecosystem/core.tera"))];

/// Constraints of the top alone, in the order in which Vivado reads them. The floorplan is that of a whole system.
pub(super) const CONSTRAINTS: [&str; 3] =
    ["constraints/clocks.xdc", "constraints/hierarchy.xdc", "constraints/crossings.xdc"];

pub(super) fn emit(design: &Design, modules: &[ModuleSpec]) -> Result<SourceFile> {
    static PARSED: LazyLock<Templates> = LazyLock::new(|| Templates::parse(TEMPLATE));
    let mut context = Context::new();
    context.insert("name", &design.name);
    context.insert("core", &identifier(&design.name));
    context.insert("version", env!("CARGO_PKG_VERSION"));
    context.insert("cols", &design.mesh.cols());
    context.insert("rows", &design.mesh.rows());
    context.insert("top", TOP);
    context.insert("part", design.fpga().part);
    context.insert("defines", &CARD_DEFINES);
    context.insert("sources", &modules.iter().map(ModuleSpec::path).collect::<Vec<_>>());
    context.insert("waivers", WAIVERS_PATH);
    context.insert("constraints", &CONSTRAINTS);
    context.insert("bench", &bench::MODULES);
    let text = PARSED.render(TEMPLATE[0].0, &context).context("template core")?;
    Ok(SourceFile { path: format!("{}.core", design.name), text })
}

/// A design's name as a part of an identifier. A colon in a part would split it, and a blank would end it.
pub(super) fn identifier(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::emit::Block;

    #[test]
    fn core_is_named_by_its_configuration() {
        let design = Design::from_config("my-mesh_2", &Config::default()).unwrap();
        let modules = [ModuleSpec::bare(Block::Device, TOP, &[])];
        let core = emit(&design, &modules).unwrap();
        assert_eq!(core.path, "my-mesh_2.core");
        assert!(core.text.starts_with("CAPI=2:\n"), "FuseSoC looks for this first line");
        let name = format!("name: meshkv:fabric:my-mesh_2:{}\n", env!("CARGO_PKG_VERSION"));
        assert!(core.text.contains(&name), "{}", core.text);
        assert!(core.text.contains("      - rtl/device/meshkv_top.v\n"), "{}", core.text);
    }
}
