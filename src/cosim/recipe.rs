//! What a build is made of beside the emitted Verilog: flags, and the files generated for a design.

use super::tile;
use super::verilate::{BuildError, Form, RunLength};
use crate::design::Design;
use crate::emit::{self, ModuleSpec, PortSpec, SourceFile, MESH, ROUTER, TOP, TRANSPORT};
use std::collections::BTreeSet;

const SHARE: &str = include_str!("../../sim/share.vlt");

/// Everything that depends on form, length of the run and design.
pub(super) struct Recipe {
    /// Arguments of Verilator before the emitted sources.
    pub(super) verilator: Vec<String>,
    /// Optimisation of the code that runs every cycle.
    pub(super) optimise: &'static str,
    /// Whether waves can be written.
    pub(super) traced: bool,
    /// The unit of the shim that makes a model of what is verilated.
    pub(super) model: &'static str,
    /// Files to stand beside the shim, with their texts.
    pub(super) files: Vec<(&'static str, String)>,
    /// Modules of the design that what is verilated is not built of.
    unused: BTreeSet<String>,
    /// The tile, where it is verilated by itself.
    pub(super) tile: Option<ModuleSpec>,
}

impl Recipe {
    /// # Errors
    /// [`BuildError::TileWaves`] if waves are asked of a tile.
    pub(super) fn new(form: Form, run: RunLength, design: &Design) -> Result<Recipe, BuildError> {
        let (optimise, trace) = match run {
            RunLength::Quick => ("-O1", None),
            RunLength::Long => ("-O2", None),
            RunLength::Trace { depth } => ("-O1", Some(depth)),
        };
        let mut verilator = common_arguments();
        let mut alone = None;
        let modules = emit::modules(design);
        let spec = |name: &str| module(&modules, name);
        let whole = form == Form::Full;
        let mut files = vec![("dut_config.h", config_header(design, trace, whole))];
        // What is put into a socket, the fabric whose ports it shows, and what shows them as the edge saw them.
        let mut in_socket = |piece: &ModuleSpec, fabric: &ModuleSpec, held: &dyn Fn(&PortSpec) -> bool| {
            verilator.extend(["--top-module", tile::SOCKET, "sim/socket.v"].map(str::to_owned));
            files.push(("socket.v", tile::socket(piece, held)));
            files.push(("tile_ports.h", tile::ports_header(piece, fabric)));
        };
        let (root, model) = match form {
            Form::Tile | Form::Node | Form::Full if trace.is_some() => return Err(BuildError::TileWaves),
            Form::Mesh => {
                // Look-up tables get a name for each use, so that no two routers share code.
                verilator.extend(["-fno-table", "--top-module", MESH, "sim/share.vlt"].map(str::to_owned));
                files.push(("share.vlt", SHARE.to_owned()));
                ([MESH].as_slice(), "mesh")
            }
            Form::Tile => {
                in_socket(spec(ROUTER), spec(MESH), &|_| false);
                alone = Some(spec(ROUTER).clone());
                ([ROUTER].as_slice(), "tile")
            }
            Form::Full => {
                in_socket(spec(TOP), spec(TOP), &|_| true);
                ([TOP].as_slice(), "tile")
            }
            Form::Node => {
                let node = tile::node(spec(ROUTER), spec(TRANSPORT));
                let outside = tile::side_by_side(&node, design.mesh.tiles() as u32);
                let local = |port: &PortSpec| outside.ports.iter().any(|p| p.name == port.name);
                in_socket(&node, &outside, &local);
                files.push(("node.v", tile::node_body(&node, spec(ROUTER), spec(TRANSPORT))));
                verilator.push("sim/node.v".to_owned());
                ([ROUTER, TRANSPORT].as_slice(), "tile")
            }
        };
        let needed = reachable(&modules, root);
        let unused =
            modules.iter().map(|m| m.name.to_owned()).filter(|name| !needed.contains(name)).collect();
        if let Some(depth) = trace {
            verilator.push("--trace-fst".to_owned());
            verilator.extend(depth.iter().flat_map(|depth| ["--trace-depth".to_owned(), depth.to_string()]));
        }
        Ok(Recipe { verilator, optimise, traced: trace.is_some(), model, files, unused, tile: alone })
    }

    /// Whether what is verilated needs this emitted file.
    pub(super) fn uses(&self, file: &SourceFile) -> bool {
        let name = file.path.strip_prefix("rtl/").and_then(|path| path.strip_suffix(".v"));
        file.path.ends_with(".v") && name.is_none_or(|name| !self.unused.contains(name))
    }
}

fn common_arguments() -> Vec<String> {
    [
        "--cc",
        "--prefix",
        "Vdut",
        "-Mdir",
        "obj",
        "--language",
        "1364-2005",
        // With the seed of the run: registers hold noise until they are reset.
        "--x-initial",
        "unique",
        // `meshkv lint` is where warnings are for; a combinational loop would ruin the speed unseen.
        "-Wno-lint",
        "-Wno-style",
        "-Werror-UNOPTFLAT",
    ]
    .map(str::to_owned)
    .into()
}

/// The modules below `roots`, themselves included.
fn reachable(modules: &[ModuleSpec], roots: &[&str]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = roots.iter().map(|&r| r.to_owned()).collect();
    // Every module stands after those it instantiates.
    for m in modules.iter().rev() {
        if found.contains(m.name) {
            found.extend(m.instances.iter().map(|&name| name.to_owned()));
        }
    }
    found
}

fn module<'a>(modules: &'a [ModuleSpec], name: &str) -> &'a ModuleSpec {
    modules.iter().find(|m| m.name == name).expect("every design has these modules")
}

/// Ports of [`Form::Node`]: those of a router with its transport, as many times as there are tiles.
pub(super) fn node_ports(design: &Design) -> ModuleSpec {
    let modules = emit::modules(design);
    let node = tile::node(module(&modules, ROUTER), module(&modules, TRANSPORT));
    tile::side_by_side(&node, design.mesh.tiles() as u32)
}

/// What the shim must know of a design at compile time.
fn config_header(design: &Design, trace: Option<Option<u32>>, whole: bool) -> String {
    let (cols, rows) = if whole { (1, 1) } else { (design.mesh.cols(), design.mesh.rows()) };
    let values = [
        // How often what is verilated stands side by side.
        ("COLS", cols),
        ("ROWS", rows),
        ("TILES", design.mesh.tiles() as u32),
        ("VCS", design.router.vcs()),
        ("VC_DEPTH", design.router.vc_depth),
        ("DEST_WIDTH", design.flit.dest_width),
        ("HEAD_WIDTH", design.flit.head_width),
        ("FLIT_WIDTH", design.flit.data_width),
        ("TRACED", u32::from(trace.is_some())),
        // 99 levels tell the wave writer to follow what Verilator kept.
        ("TRACE_DEPTH", trace.flatten().unwrap_or(99)),
    ];
    values.iter().map(|(name, value)| format!("#define MESHKV_{name} {value}u\n")).collect()
}
