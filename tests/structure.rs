//! The order of the source: no circle of files, and no arrow against the order of layers, rooms and blocks.
//!
//! The graph is read from the sources: every `use`, and every other path that starts with `crate`, `super`, `self` or
//! an imported name. A `pub use` adds no arrow: a path through it leads to the file that defines the item.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Layers that each layer may use, in addition to itself. `kernels` use neither configuration nor design: a
/// kernel is the same text for all. `model` and `emit` do not use each other.
const LAYERS: &[(&str, &[&str])] = &[
    ("tools", &[]),
    ("config", &["tools"]),
    ("design", &["config"]),
    ("kernels", &[]),
    ("emit", &["config", "design", "kernels", "tools"]),
    ("model", &["config", "design", "kernels"]),
    ("cosim", &["config", "design", "emit", "model", "tools"]),
    ("synth", &["config", "design", "emit", "tools"]),
    ("eval", &["config", "design", "emit", "model", "cosim", "synth", "tools"]),
    ("cli", &["config", "design", "kernels", "emit", "model", "cosim", "synth", "eval", "tools"]),
];

/// Rooms of `cosim`: each uses only itself and those before it. Files directly in `cosim` come before all rooms.
const ROOMS: &[&str] = &["build", "dut", "traffic", "checks", "memory", "faults", "workloads", "views"];

/// Blocks of the hardware, in each folder of `OF_BLOCKS`: each uses only itself and those before it.
const BLOCKS: &[&str] = &["common", "network", "mare", "takv", "reduce", "pad", "fabric", "board", "device"];
const OF_BLOCKS: &[&str] = &["emit/rtl/", "model/cycle/"];

/// Sources by the path of their module: `cosim/build/form` of `src/cosim/build/form.rs`.
pub type Sources = BTreeMap<String, String>;

/// One import: its path as absolute segments, and the name that it gives to the item.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Import {
    path: Vec<String>,
    name: String,
    public: bool,
}

/// The paths of a file that lead to others.
#[derive(Debug, Default)]
struct Outline {
    imports: Vec<Import>,
    /// Paths in the code itself.
    paths: Vec<Vec<String>>,
    /// Words of the code itself.
    words: BTreeSet<String>,
}

fn read(folder: &Path) -> Sources {
    let mut folders = vec![folder.to_owned()];
    let mut sources = Sources::new();
    while let Some(here) = folders.pop() {
        for entry in fs::read_dir(here).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let below = path.strip_prefix(folder).unwrap().with_extension("");
                let module = below.to_str().unwrap().trim_end_matches("/mod").to_owned();
                sources.insert(module, fs::read_to_string(&path).unwrap());
            }
        }
    }
    sources
}

/// Code without comments, strings, and the tests at its end.
fn code_of(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut code = String::new();
    let mut quoted = false;
    for line in text.lines() {
        let mut last = ' ';
        for c in line.chars() {
            match c {
                '"' if last != '\\' && last != '\'' => quoted = !quoted,
                '/' if !quoted && last == '/' => {
                    code.pop();
                    break;
                }
                _ if !quoted => code.push(c),
                _ => {}
            }
            last = if last == '\\' { ' ' } else { c };
        }
        code.push('\n');
    }
    code
}

/// Code without the scopes of `pub(in ...)`, which use nothing.
fn without_scopes(code: &str) -> String {
    let mut parts = code.split("pub(in ");
    let mut open = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        open.push_str("pub");
        open.push_str(part.split_once(')').map_or("", |(_, after)| after));
    }
    open
}

/// Collects the paths of a `use` tree, each with the name that it gives.
fn leaves(tree: &str, before: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let tree = tree.trim();
    let (path, rest) = tree.split_at(tree.find('{').unwrap_or(tree.len()));
    let (path, alias) = path.split_once(" as ").map_or((path, None), |(path, alias)| (path, Some(alias)));
    let mut all = before.to_vec();
    all.extend(path.split("::").map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned));
    if rest.is_empty() {
        if all.len() > 1 && all.last().is_some_and(|s| s == "self") {
            all.pop();
        }
        let name = alias.map_or_else(|| all.last().cloned().unwrap_or_default(), |s| s.trim().to_owned());
        found.push((all, name));
        return;
    }
    let list = rest.trim_start_matches('{');
    let list = &list[..list.rfind('}').unwrap_or(list.len())];
    let (mut depth, mut item) = (0, String::new());
    for c in list.chars().chain([',']) {
        match c {
            ',' if depth == 0 => {
                let item = std::mem::take(&mut item);
                if !item.trim().is_empty() {
                    leaves(&item, &all, found);
                }
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        item.push(c);
    }
}

/// The segments from the root of the crate, if a path in this module stays inside the crate.
fn absolute(module: &str, path: &[String], children: &BTreeSet<String>) -> Option<Vec<String>> {
    let mut here: Vec<String> = module.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect();
    match path.first()?.as_str() {
        "crate" => return Some(path[1..].to_vec()),
        "self" => here.extend_from_slice(&path[1..]),
        "super" => {
            let up = path.iter().take_while(|s| *s == "super").count();
            here.truncate(here.len().checked_sub(up)?);
            here.extend_from_slice(&path[up..]);
        }
        child if children.contains(child) => here.extend_from_slice(path),
        _ => return None,
    }
    Some(here)
}

fn outline(module: &str, text: &str) -> Outline {
    let code = without_scopes(&code_of(text));
    let mut outline = Outline::default();
    let declared = code.lines().filter_map(|line| {
        let name = line.trim().strip_suffix(';')?.rsplit_once("mod ")?.1;
        name.chars().all(|c| c.is_alphanumeric() || c == '_').then(|| name.to_owned())
    });
    let children: BTreeSet<String> = declared.collect();
    let mut rest = String::new();
    let mut statement: Option<(bool, String)> = None;
    for line in code.lines() {
        let begun = line.trim_start();
        let visible = begun.starts_with("pub");
        let after =
            if visible { begun.trim_start_matches(|c| c != ' ' && c != '(').trim_start() } else { begun };
        let after = match after.strip_prefix('(') {
            Some(scope) if visible => scope.split_once(')').map_or(after, |(_, rest)| rest.trim_start()),
            _ => after,
        };
        match (&mut statement, after.strip_prefix("use ")) {
            (Some((_, text)), _) => text.push_str(line),
            (None, Some(tree)) => statement = Some((visible, tree.to_owned())),
            (None, None) => {
                rest.push_str(line);
                rest.push('\n');
            }
        }
        if statement.as_ref().is_some_and(|(_, text)| text.contains(';')) {
            let (public, text) = statement.take().unwrap();
            let mut found = Vec::new();
            leaves(text.split(';').next().unwrap(), &[], &mut found);
            for (path, name) in found {
                if let Some(path) = absolute(module, &path, &children) {
                    outline.imports.push(Import { path, name, public });
                }
            }
        }
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    outline.words = rest.split(|c| c == ':' || !is_word(c)).map(str::to_owned).collect();
    for word in rest.split(|c| !is_word(c)).filter(|word| word.contains("::")) {
        let path: Vec<String> =
            word.trim_end_matches(':').split("::").map(|s| s.trim_matches(':').to_owned()).collect();
        if ["crate", "super", "self"].contains(&path[0].as_str()) || children.contains(&path[0]) {
            outline.paths.extend(absolute(module, &path, &children));
        } else if let Some(import) = outline.imports.iter().find(|import| import.name == path[0]) {
            // A path that starts with an imported name.
            outline.paths.push([&import.path[..], &path[1..]].concat());
        }
    }
    outline
}

/// Files that each file uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

fn is_of_tests(module: &str) -> bool {
    module.rsplit('/').next().is_some_and(|name| name == "tests" || name.ends_with("_tests"))
}

fn graph(sources: &Sources) -> Graph {
    let outlines: BTreeMap<&str, Outline> = sources
        .iter()
        .filter(|(module, _)| !is_of_tests(module))
        .map(|(module, text)| {
            // The module of the crate itself has no name.
            let module = if module == "lib" { "" } else { module.as_str() };
            (module, outline(module, text))
        })
        .collect();
    let mut graph = Graph::new();
    for (&module, outline) in &outlines {
        let arrows = graph.entry(module.to_owned()).or_default();
        // A re-export alone is no use.
        let used = |import: &&Import| !import.public || outline.words.contains(&import.name);
        let imported = outline.imports.iter().filter(used).map(|import| &import.path);
        for path in imported.chain(&outline.paths) {
            for file in defined_in(&outlines, path, 0) {
                if file != module {
                    arrows.insert(file);
                }
            }
        }
    }
    graph
}

/// The files that a path leads to: past every `pub use` on its way.
fn defined_in(outlines: &BTreeMap<&str, Outline>, path: &[String], depth: u32) -> Vec<String> {
    // The longest module at the beginning of the path; an item of it follows.
    let lengths = (0..=path.len()).rev();
    let Some((module, length)) =
        lengths.map(|n| (path[..n].join("/"), n)).find(|(module, _)| outlines.contains_key(module.as_str()))
    else {
        return Vec::new();
    };
    let outline = &outlines[module.as_str()];
    let passes = |import: &&Import| import.public || depth > 0;
    match path.get(length) {
        Some(item) if depth < 8 && item != "*" => {
            let named = outline.imports.iter().filter(passes).find(|import| import.name == *item);
            match named {
                Some(import) if import.path != path => {
                    let mut further = import.path.clone();
                    further.extend_from_slice(&path[length + 1..]);
                    defined_in(outlines, &further, depth + 1)
                }
                _ => vec![module],
            }
        }
        // A whole module; paths into it are followed where they are used.
        _ => vec![module],
    }
}

/// Sets of files that use each other in a circle, each in the order of names.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reach = |from: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.to_owned()]);
        while let Some(file) = open.pop() {
            for next in graph.get(&file).into_iter().flatten() {
                if seen.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<String>> = graph.keys().map(|f| (f.as_str(), reach(f))).collect();
    let mut found: BTreeSet<Vec<String>> = BTreeSet::new();
    for (&file, others) in reached.iter().filter(|(file, others)| others.contains(**file)) {
        let back = |other: &&String| reached.get(other.as_str()).is_some_and(|all| all.contains(file));
        found.insert(others.iter().filter(back).cloned().collect());
    }
    found.into_iter().collect()
}

/// Arrows against the order of layers, of rooms in `cosim`, and of blocks.
fn against_the_order(graph: &Graph) -> Vec<String> {
    let rules: BTreeMap<_, _> = LAYERS.iter().copied().collect();
    let layer = |file: &str| file.split('/').next().unwrap_or_default().to_owned();
    let place =
        |names: &[&str], below: &str| names.iter().position(|name| below.split('/').next() == Some(name));
    let room = |file: &str| Some(place(ROOMS, file.strip_prefix("cosim/")?).map_or(0, |at| at + 1));
    let mut wrong = Vec::new();
    for (file, others) in graph.iter().filter(|(file, _)| !["", "main"].contains(&file.as_str())) {
        let here = layer(file);
        let allowed = rules.get(here.as_str()).unwrap_or_else(|| {
            panic!("layer {here} has no place in the order: give it one in tests/structure.rs")
        });
        for other in others.iter().filter(|other| !other.is_empty()) {
            let there = layer(other);
            if here != there && !allowed.contains(&there.as_str()) {
                wrong.push(format!("{file} uses {other}: {here} must not use {there}"));
            }
            if let (Some(own), Some(used)) = (room(file), room(other)) {
                if used > own {
                    wrong.push(format!("{file} uses {other}, of a room that comes later"));
                }
            }
            for folder in OF_BLOCKS {
                let block = |file: &str| place(BLOCKS, file.strip_prefix(folder)?);
                if let (Some(own), Some(used)) = (block(file), block(other)) {
                    if used > own {
                        wrong.push(format!("{file} uses {other}, of a block that comes later"));
                    }
                }
            }
        }
    }
    wrong
}

pub fn src() -> Sources {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let graph = graph(&src());
    let arrows: usize = graph.values().map(BTreeSet::len).sum();
    assert!(arrows > 500, "only {arrows} arrows were found: the sources are read wrongly");
    let found: Vec<String> = circles(&graph).iter().map(|circle| circle.join(" ")).collect();
    assert!(found.is_empty(), "files that use each other in a circle:\n{}", found.join("\n"));
}

#[test]
fn layers_rooms_and_blocks_use_only_those_before_them() {
    let wrong = against_the_order(&graph(&src()));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Sources of a test: the path of each module, and its text.
fn made(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|&(module, text)| (module.to_owned(), text.to_owned())).collect()
}

#[test]
fn a_circle_that_is_put_there_is_found() {
    let mut sources = src();
    let form = sources.get_mut("cosim/build/form").expect("this file is there");
    form.insert_str(0, "use super::verilate::BuildOptions;\n");
    let found = circles(&graph(&sources));
    let circle = found.iter().find(|circle| circle.contains(&"cosim/build/form".to_owned()));
    let circle = circle.expect("form and verilate use each other");
    assert!(circle.contains(&"cosim/build/verilate".to_owned()), "{circle:?}");
}

#[test]
fn a_circle_through_a_facade_is_found_and_a_facade_alone_is_none() {
    let facade = "mod left;\nmod right;\npub use left::Left;\npub use right::{Right, other as Second};\n";
    let right = "pub struct Right;\npub fn other() {}\n";
    let sound = made(&[
        ("cosim/room", facade),
        ("cosim/room/left", "use super::Right;\n"),
        ("cosim/room/right", right),
    ]);
    assert_eq!(circles(&graph(&sound)), Vec::<Vec<String>>::new());
    for back in [
        "use crate::cosim::room::Left;",
        "fn f() { super::left::g() }",
        "use crate::{cosim::room::{Left as L}};",
    ] {
        let text = format!("{back}\n{right}");
        let tied = made(&[
            ("cosim/room", facade),
            ("cosim/room/left", "use super::Second;\n"),
            ("cosim/room/right", &text),
        ]);
        assert_eq!(circles(&graph(&tied)), [["cosim/room/left", "cosim/room/right"]], "{back}");
    }
}

#[test]
fn a_type_in_the_file_of_the_parent_ties_parent_and_child() {
    let parent = "mod child;\nuse child::Child;\npub struct Shared(Child);\n";
    let tied = made(&[("design/area", parent), ("design/area/child", "use super::Shared;\n")]);
    assert_eq!(circles(&graph(&tied)), [["design/area", "design/area/child"]]);
}

#[test]
fn an_arrow_against_the_order_is_found() {
    let layers = made(&[("design/a", "use crate::cli::b::B;\n"), ("cli/b", "")]);
    assert_eq!(against_the_order(&graph(&layers)), ["design/a uses cli/b: design must not use cli"]);
    let rooms = made(&[
        ("cosim/build/a", "use crate::cosim::dut::b::B;\n"),
        ("cosim/dut/b", "use crate::cosim::bits::c;\n"),
        ("cosim/bits", ""),
    ]);
    assert_eq!(
        against_the_order(&graph(&rooms)),
        ["cosim/build/a uses cosim/dut/b, of a room that comes later"]
    );
    let blocks = made(&[
        ("model/cycle/network/a", "use crate::model::cycle::takv;\nfn f() { takv::b::g() }\n"),
        ("model/cycle/takv", "pub mod b;\n"),
        ("model/cycle/takv/b", "use crate::model::cycle::network::a::A;\n"),
    ]);
    assert_eq!(
        against_the_order(&graph(&blocks)),
        ["takv", "takv/b"]
            .map(|b| format!("model/cycle/network/a uses model/cycle/{b}, of a block that comes later"))
    );
}

#[test]
fn an_arrow_between_blocks_that_is_put_there_is_found() {
    let mut sources = src();
    let tables = sources.get_mut("emit/rtl/takv/tables").expect("this file is there");
    tables.insert_str(0, "use crate::emit::rtl::pad::row::Rows;\n");
    assert_eq!(
        against_the_order(&graph(&sources)),
        ["emit/rtl/takv/tables uses emit/rtl/pad/row, of a block that comes later"]
    );
}

#[test]
fn the_scope_of_a_visibility_makes_no_arrow() {
    let scoped =
        made(&[("emit/rtl", "mod a;\nuse a::A;\n"), ("emit/rtl/a", "pub(in crate::emit::rtl) struct A;\n")]);
    assert_eq!(circles(&graph(&scoped)), Vec::<Vec<String>>::new());
}

#[test]
fn every_form_of_use_is_seen() {
    let text = "use crate::design::{Mesh, NodeId};\n\
                pub(in crate::cosim) use super::form::{self,\n    RunLength};\n\
                // use crate::cli;\n\
                use crate::{config::Config, tools as t};\n\
                const TEXT: &str = \"use crate::synth;\";\n\
                let x = crate::eval::measure();\n";
    let outline = outline("cosim/build/verilate", text);
    let imports: Vec<_> =
        outline.imports.iter().map(|i| (i.path.join("::"), i.name.as_str(), i.public)).collect();
    let import = |path: &str, name, public| (path.to_owned(), name, public);
    assert_eq!(
        imports,
        [
            import("design::Mesh", "Mesh", false),
            import("design::NodeId", "NodeId", false),
            import("cosim::build::form", "form", true),
            import("cosim::build::form::RunLength", "RunLength", true),
            import("config::Config", "Config", false),
            import("tools", "t", false),
        ]
    );
    assert_eq!(outline.paths, [["eval", "measure"]]);
}
