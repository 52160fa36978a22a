//! The files of a real design, compared with each other.

use crate::support::sources::source;
use meshkv::config::Config;
use meshkv::design::Design;
use meshkv::emit::{emit, modules, SourceFile, TOP};
use std::collections::BTreeSet;

/// The default design with a mesh of the given size and multicast on or off.
fn design(cols: u32, rows: u32, multicast: bool) -> Design {
    let mut config = Config::default();
    (config.mesh.cols, config.mesh.rows) = (cols, rows);
    config.mare.multicast = multicast;
    Design::from_config("tiny", &config).unwrap()
}

fn text<'a>(files: &'a [SourceFile], path: &str) -> &'a str {
    &files.iter().find(|f| f.path == path).unwrap_or_else(|| panic!("no {path}")).text
}

#[test]
fn same_design_gives_the_same_bytes() {
    let design = design(3, 5, true);
    let files = emit(&design).unwrap();
    assert_eq!(files, emit(&design).unwrap());
    assert!(files.windows(2).all(|f| f[0].path < f[1].path), "sorted, each once");
    for file in &files {
        assert!(file.text.ends_with('\n') && !file.text.contains('\r'), "{}", file.path);
    }
}

#[test]
fn file_lists_name_every_module_after_what_it_instantiates() {
    let design = design(4, 4, true);
    let files = emit(&design).unwrap();
    let listed: Vec<_> = text(&files, "tiny.f").lines().filter(|l| !l.starts_with("//")).collect();
    let of_fabric = |p: &&str| p.starts_with("rtl/") && p.ends_with(".v");
    let emitted: BTreeSet<_> = files.iter().map(|f| f.path.as_str()).filter(of_fabric).collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), emitted);
    assert_eq!(listed.len(), emitted.len());
    assert_eq!(listed.last(), Some(&format!("rtl/device/{TOP}.v").as_str()));

    let position = |name: &str| listed.iter().position(|path| path.ends_with(&format!("/{name}.v"))).unwrap();
    for module in modules(&design) {
        for child in &module.instances {
            assert!(position(child) < position(module.name), "{child} before {}", module.name);
        }
    }
    let core = text(&files, "tiny.core");
    for path in listed {
        assert!(core.contains(&format!("      - {path}\n")), "{path}");
    }
}

#[test]
fn stated_instances_are_those_of_the_source() {
    let design = design(4, 4, true);
    let files = emit(&design).unwrap();
    let modules = modules(&design);
    for module in &modules {
        let source = &source(&files, module.name).text;
        for other in modules.iter().filter(|other| other.name != module.name) {
            let opens = |line: &str| {
                let rest = line.trim_start().strip_prefix(other.name);
                rest.is_some_and(|r| r.starts_with([' ', '#']))
            };
            let stated = module.instances.contains(&other.name);
            assert_eq!(source.lines().any(opens), stated, "{} in {}", other.name, module.name);
        }
    }
}

#[test]
fn a_block_instantiates_only_itself_and_blocks_before_it() {
    let modules = modules(&design(4, 4, true));
    let block = |name: &str| modules.iter().find(|m| m.name == name).unwrap().block;
    for module in &modules {
        for child in &module.instances {
            assert!(block(child) <= module.block, "{} of {:?} holds {child}", module.name, module.block);
        }
    }
}

#[test]
fn page_documents_every_module_parameter_and_port() {
    // All modules and ports: with and without multicast, and with new tokens.
    for (multicast, append) in [(true, false), (false, false), (true, true)] {
        let mut config = design(2, 16, multicast).configuration().clone();
        config.kv.append = append;
        let design = Design::from_config("tiny", &config).unwrap();
        let files = emit(&design).unwrap();
        let page = text(&files, "doc/tiny.md");
        for module in modules(&design) {
            let start = page.find(&format!("\n### {}\n", module.name)).unwrap();
            let section = page[start + 1..].split("\n### ").next().unwrap();
            for param in &module.params {
                assert!(
                    section.contains(&format!("| `{}` | {} |", param.name, param.literal)),
                    "{}",
                    param.name
                );
            }
            for port in &module.ports {
                let row = section.lines().find(|line| line.starts_with(&format!("| `{}` |", port.name)));
                let row = row.unwrap_or_else(|| panic!("{} has no row for {}", module.name, port.name));
                let meaning = row.trim_end_matches('|').rsplit('|').next().unwrap().trim();
                assert!(!meaning.is_empty(), "{}: nothing is said of {}", module.name, port.name);
            }
        }
        assert!(page.contains("](tiny.svg)"));
        assert!(text(&files, "doc/tiny.svg").ends_with("</svg>\n"));
    }
}

#[test]
fn picture_renders_at_both_ends_of_the_range() {
    for side in [2, 16] {
        let files = emit(&design(side, side, true)).unwrap();
        let png = meshkv::eval::svg_to_png(text(&files, "doc/tiny.svg")).unwrap();
        assert!(png.starts_with(b"\x89PNG"));
    }
}

/// First words after each attribute of a block or statement. Only Yosys passes such an attribute on to registers.
fn misplaced_attributes(verilog: &str) -> Vec<String> {
    let code: Vec<_> = verilog.lines().map(|line| line.split("//").next().unwrap_or_default()).collect();
    let code = code.join("\n");
    // `@(*)` is no attribute.
    let attributes = code.match_indices("*)").filter(|(at, _)| !code[..*at].ends_with('('));
    let followed = attributes.map(|(at, _)| code[at + 2..].split_whitespace().next().unwrap_or_default());
    let wrong = ["always", "assign", "initial", "begin", "if", "case", "for", "generate"];
    followed.filter(|word| wrong.iter().any(|w| word.starts_with(w))).map(str::to_owned).collect()
}

#[test]
fn attributes_are_on_declarations_and_modules() {
    assert_eq!(misplaced_attributes("(* keep *) always @(*) x = y;"), ["always"]);
    assert_eq!(misplaced_attributes("(* keep = \"true\" *)\n  assign y = x; // (* a *) if"), ["assign"]);
    assert_eq!(misplaced_attributes("(* keep *) reg x;\nalways @(*) begin"), [""; 0]);
    let sources = ["tiny", "u280_8x8"].map(|name| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.toml"));
        emit(&Design::load(&path).unwrap().0).unwrap()
    });
    for file in sources.iter().flatten().filter(|file| file.path.ends_with(".v")) {
        assert_eq!(misplaced_attributes(&file.text), [""; 0], "{}", file.path);
    }
}
