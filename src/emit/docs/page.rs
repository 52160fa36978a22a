//! The documentation of one fabric as configured: `doc/<name>.md`.
//!
//! It renders [`Design`] and the module descriptions in words and tables. Decisions and sums are
//! made here, so that the template only substitutes.

use super::markdown::cell;
use super::modules::{instance_tree, module_section, ModuleSection};
use super::registers::{counters, errors, registers, CounterRow, ErrorRow, RegisterRow};
use crate::design::{index_bits, Class, Design, DestKind, Field};
use crate::emit::rtl::spec::module::ModuleSpec;
use crate::emit::rtl::spec::names::TOP;
use crate::emit::source_file::SourceFile;
use crate::emit::templates::Templates;
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::sync::LazyLock;

const TEMPLATE: &str = include_str!("../../../templates/doc/page.md.tera");

/// Values of the page's template.
#[derive(Serialize)]
struct Page<'a> {
    name: &'a str,
    top: &'static str,
    cols: u32,
    rows: u32,
    facts: Vec<Fact>,
    data_width: u32,
    head_width: u32,
    dest_width: u32,
    column_dest_width: u32,
    dest: Vec<FieldRow>,
    column_dest: FieldRow,
    classes: Vec<ClassSection>,
    vc_depth: u32,
    vcs: Vec<VcRow>,
    registers: Vec<RegisterRow>,
    errors: Vec<ErrorRow>,
    counters: Vec<CounterRow>,
    tree: String,
    modules: Vec<ModuleSection>,
}

#[derive(Serialize)]
struct Fact {
    what: &'static str,
    value: String,
}

#[derive(Serialize)]
struct FieldRow {
    name: &'static str,
    bits: String,
    width: u32,
    doc: String,
}

#[derive(Serialize)]
struct ClassSection {
    name: &'static str,
    rule: String,
    fields: Vec<FieldRow>,
}

#[derive(Serialize)]
struct VcRow {
    index: u32,
    vn: &'static str,
    class: &'static str,
}

/// Renders the page of a design; `modules` in dependency order, the top last.
///
/// # Errors
///
/// If the template uses a missing value.
pub(in crate::emit) fn emit(design: &Design, modules: &[ModuleSpec]) -> Result<SourceFile> {
    let context = tera::Context::from_serialize(page(design, modules))?;
    static PARSED: LazyLock<Templates> = LazyLock::new(|| Templates::parse([("page.md", TEMPLATE)]));
    let text = PARSED.render("page.md", &context).context("template page.md")?;
    Ok(SourceFile { path: format!("doc/{}.md", design.name), text })
}

fn page<'a>(design: &'a Design, modules: &[ModuleSpec]) -> Page<'a> {
    let flit = &design.flit;
    let (dest, column_dest) = destinations(design);
    Page {
        name: &design.name,
        top: TOP,
        cols: design.mesh.cols(),
        rows: design.mesh.rows(),
        facts: facts(design),
        data_width: flit.data_width,
        head_width: flit.head_width,
        dest_width: flit.dest_width,
        column_dest_width: flit.column_dest_width,
        dest,
        column_dest,
        classes: Class::ALL.map(|class| class_section(design, class)).into(),
        vc_depth: design.router.vc_depth,
        vcs: (0..design.router.vcs()).map(|index| vc_row(design, index)).collect(),
        registers: registers(design),
        errors: errors(),
        counters: counters(),
        tree: instance_tree(modules),
        // From the top down.
        modules: modules.iter().rev().map(module_section).collect(),
    }
}

fn facts(design: &Design) -> Vec<Fact> {
    let fact = |what, value: u32| Fact { what, value: value.to_string() };
    let multicast =
        if design.router.multicast { "in the routers (XYM trees)" } else { "none: unicast copies" };
    let blocks = match design.placement.by_slice() {
        true => "slices a tile must be able to hold as home",
        false => "macro-blocks a tile must be able to hold as home",
    };
    vec![
        fact("tiles", design.mesh.tiles() as u32),
        fact("bits of a flit on a row link", design.flit.width()),
        fact("virtual channels of a port", design.router.vcs()),
        fact("flits a virtual channel buffers", design.router.vc_depth),
        Fact { what: "multicast", value: multicast.to_owned() },
        fact("placement stride a", design.takv_a),
        fact(blocks, design.blocks_per_tile),
        Fact {
            what: "queries, outputs and lists under the shell of Vitis",
            value: format!("{} of the {}", design.io_bank(), design.fpga().name),
        },
    ]
}

/// `[hi:lo]` as in the Verilog.
fn bits(offset: u32, width: u32) -> String {
    format!("[{}:{offset}]", offset + width - 1)
}

/// The destination on row links, and on column links.
fn destinations(design: &Design) -> (Vec<FieldRow>, FieldRow) {
    let flit = &design.flit;
    let row = |name, offset, width, doc: String| FieldRow { name, bits: bits(offset, width), width, doc };
    match flit.dest_kind {
        DestKind::Set => {
            let tiles =
                format!("one bit a tile: bit y * {} + x is set if (x, y) receives", design.mesh.cols());
            let rows = "one bit a row of the column".to_owned();
            (vec![row("set", 0, flit.dest_width, tiles)], row("set", 0, flit.column_dest_width, rows))
        }
        DestKind::Coord => {
            let (x, y) = (index_bits(design.mesh.cols()), index_bits(design.mesh.rows()));
            let of_x = row("x", 0, x, "x, the column".to_owned());
            let of_y = row("y", x, y, "y, the row".to_owned());
            (vec![of_x, of_y], row("y", 0, y, "y, the row".to_owned()))
        }
    }
}

fn class_section(design: &Design, class: Class) -> ClassSection {
    let vcs = design.router.vcs_of_class(class);
    let channels = match vcs.len() {
        1 => format!("channel {}", vcs.start),
        _ => format!("channels {} to {}", vcs.start, vcs.end - 1),
    };
    let rule = match class {
        Class::Part => {
            "Partial result on its way to the reduce root: unicast, XY, wormhole. \
             A packet keeps its channel from `first` to `last`"
        }
        Class::KvFetch => "Request for a slice: unicast, XY, one flit",
        Class::KvData if design.router.multicast => {
            "K or V elements: along the row, then along the columns (XYM), replicated where the tree \
             branches and switched flit by flit"
        }
        Class::KvData => "K or V elements: unicast, XY, switched flit by flit",
    };
    let field = |f: &Field| FieldRow {
        name: f.name,
        bits: bits(f.offset, f.width),
        width: f.width,
        doc: cell(f.doc),
    };
    ClassSection {
        name: class.name(),
        rule: format!("{rule}. Travels on {channels}."),
        fields: design.flit.fields(class).iter().map(field).collect(),
    }
}

fn vc_row(design: &Design, index: u32) -> VcRow {
    let class = design.router.class_of_vc(index);
    let vn = if class == Class::Part { "VN0" } else { "VN1" };
    VcRow { index, vn, class: class.name() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::emit::{Block, Dir, ParamSpec, PortSpec, Width};

    fn modules() -> Vec<ModuleSpec> {
        let mut fifo = ModuleSpec::bare(Block::Common, "meshkv_fifo", &[]);
        fifo.summary = ["Flits of one channel.", "", "Never loses one."].map(str::to_owned).to_vec();
        fifo.params = vec![ParamSpec {
            name: "FLIT_WIDTH".to_owned(),
            range: String::new(),
            literal: "128".to_owned(),
            doc: "Bits of a flit.".to_owned(),
        }];
        let port = |dir, name: &str, width, doc: &str, group: &str| PortSpec {
            dir,
            name: name.to_owned(),
            width: Width::of(width, &fifo.params).unwrap(),
            doc: doc.to_owned(),
            group: group.to_owned(),
        };
        fifo.ports = vec![
            port(Dir::Input, "clk", "1", "", ""),
            port(Dir::Input, "rst", "1", "", ""),
            port(Dir::Input, "rx_flit", "FLIT_WIDTH", "head | data", "From the link."),
            port(Dir::Output, "rx_credit", "1", "", ""),
        ];
        let router = ModuleSpec::bare(Block::Network, "meshkv_router", &["meshkv_fifo"]);
        let mut top = ModuleSpec::bare(Block::Device, TOP, &["meshkv_fifo", "meshkv_router"]);
        top.summary = vec!["The mesh.".to_owned()];
        vec![fifo, router, top]
    }

    fn text(config: &Config) -> String {
        let design = Design::from_config("tiny", config).unwrap();
        emit(&design, &modules()).unwrap().text
    }

    #[test]
    fn every_field_of_every_class_stands_at_its_bits() {
        let config = Config::default();
        let page = text(&config);
        let design = Design::from_config("tiny", &config).unwrap();
        for class in Class::ALL {
            let start = page.find(&format!("### {}\n", class.name())).unwrap();
            for f in design.flit.fields(class) {
                let row = format!("| `{}` | `[{}:{}]` |", f.name, f.offset + f.width - 1, f.offset);
                assert!(page[start..].contains(&row), "{} {row}", class.name());
            }
        }
    }

    #[test]
    fn destination_is_described_as_configured() {
        let mut config = Config::default();
        assert!(text(&config).contains("| `[63:0]` | one bit a tile: bit y * 8 + x"));
        config.mare.multicast = false;
        let page = text(&config);
        assert!(page.contains("| `[2:0]` | x, the column |\n| `[5:3]` | y, the row |"), "{page}");
    }

    #[test]
    fn ports_show_their_width_as_configured_and_as_written() {
        let page = text(&Config::default());
        assert!(page.contains("| `rx_flit` | input | 128 | `FLIT_WIDTH` | head \\| data |"), "{page}");
        assert!(page.contains("| *From the link.* | | | | |\n| `rx_flit`"), "{page}");
        assert!(page.contains("| `clk` | input | 1 | | Clock. |"), "{page}");
        assert!(page.contains("| `rx_credit` | output | 1 | | One pulse a slot freed"), "{page}");
    }

    #[test]
    fn tables_are_whole() {
        let page = text(&Config::default());
        let mut columns = None;
        for line in page.lines() {
            // A blank line ends a table; inside one every row has the columns of the first.
            let count = line.starts_with('|').then(|| line.replace("\\|", "").matches('|').count());
            if let (Some(a), Some(b)) = (columns, count) {
                assert_eq!(a, b, "{line}");
            }
            columns = count;
        }
        assert!(!page.contains("\n\n\n"), "{page}");
    }
}
