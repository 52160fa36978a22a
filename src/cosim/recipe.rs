//! What a build is made of beside the emitted Verilog: flags, and the files generated for a design.

use super::tile;
use super::verilate::{BuildError, Form, RunLength};
use crate::design::Design;
use crate::emit::{self, ModuleSpec, SourceFile, TILE, TOP};

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
        let mut files = vec![("dut_config.h", config_header(design, trace))];
        let model = match form {
            Form::Fabric => {
                // Look-up tables get a name for each use, so that no two routers share code.
                verilator.extend(["-fno-table", "--top-module", TOP, "sim/share.vlt"].map(str::to_owned));
                files.push(("share.vlt", SHARE.to_owned()));
                "fabric"
            }
            Form::Tile if trace.is_some() => return Err(BuildError::TileWaves),
            Form::Tile => {
                verilator.extend(["--top-module", tile::SOCKET, "sim/socket.v"].map(str::to_owned));
                let modules = emit::modules(design);
                let (tile, mesh) = (module(&modules, TILE), module(&modules, TOP));
                files.push(("socket.v", tile::socket(tile)));
                files.push(("tile_ports.h", tile::ports_header(tile, mesh)));
                alone = Some(tile.clone());
                "tile"
            }
        };
        if let Some(depth) = trace {
            verilator.push("--trace-fst".to_owned());
            verilator.extend(depth.iter().flat_map(|depth| ["--trace-depth".to_owned(), depth.to_string()]));
        }
        Ok(Recipe { verilator, optimise, traced: trace.is_some(), model, files, tile: alone })
    }

    /// Whether what is verilated needs this emitted file.
    pub(super) fn uses(&self, file: &SourceFile) -> bool {
        let is_top = file.path == format!("rtl/{TOP}.v");
        file.path.ends_with(".v") && !(is_top && self.tile.is_some())
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

fn module<'a>(modules: &'a [ModuleSpec], name: &str) -> &'a ModuleSpec {
    modules.iter().find(|m| m.name == name).expect("every design has a tile and a mesh")
}

/// What the shim must know of a design at compile time.
fn config_header(design: &Design, trace: Option<Option<u32>>) -> String {
    let values = [
        ("COLS", design.mesh.cols()),
        ("ROWS", design.mesh.rows()),
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
