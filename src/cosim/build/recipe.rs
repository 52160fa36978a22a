//! The inputs of a build other than the emitted Verilog: flags, and files generated for a design.

use super::error::BuildError;
use super::form::{BuildForm, RunLength};
use crate::cosim::build::wrap::device_wrapper;
use crate::cosim::build::wrap::glue::PieceGlue;
use crate::cosim::build::wrap::piece_ports::{endpoint_ports, module, node_ports};
use crate::cosim::build::wrap::wrapper;
use crate::design::{Design, Port};
use crate::emit::{
    self, ModuleSpec, PortSpec, SourceFile, CORE, FABRIC, FRONT, MESH, PAD, PERIPHERY, ROOT, ROUTER, TILE,
    TOP, TRANSPORT,
};
use std::collections::BTreeSet;

const SHARE: &str = include_str!("../../../sim/share.vlt");
const SYNCHRONIZER: &str = include_str!("../../../sim/synchronizer.v");

/// For code that runs once, and for short waves, whose code mostly writes them.
pub(in crate::cosim) const UNOPTIMISED: &str = "-O0";
/// For short runs: compiles a third longer than `-O0` and runs twice as fast.
pub(in crate::cosim) const SLIGHTLY: &str = "-Og";

/// Everything that depends on form, run length and design.
pub(in crate::cosim) struct Recipe {
    /// The verilated pieces.
    pub(in crate::cosim) pieces: Vec<Piece>,
    /// Optimisation of the code that runs every cycle.
    pub(in crate::cosim) optimise: &'static str,
    /// True if waves can be written.
    pub(in crate::cosim) traced: bool,
    /// True if bits pass `sim/synchronizer.v` on their way to a synchroniser.
    pub(in crate::cosim) doubted: bool,
    /// The unit of the shim that makes a model of the pieces.
    pub(in crate::cosim) model: &'static str,
    /// Files to write next to the shim, with their texts.
    pub(in crate::cosim) files: Vec<(&'static str, String)>,
}

/// One run of Verilator.
pub(in crate::cosim) struct Piece {
    /// Folder of its C++; with a V before it, the prefix of the classes.
    pub(in crate::cosim) folder: &'static str,
    /// Arguments before the emitted sources.
    pub(in crate::cosim) arguments: Vec<String>,
    /// Modules of the design that it does not use.
    unused: BTreeSet<String>,
}

/// Folders of pieces: the piece of every place, or the whole; and the periphery.
pub(in crate::cosim) const FOLDERS: [&str; 2] = ["dut", "periphery"];

impl Recipe {
    /// # Errors
    /// [`BuildError::TileWaves`] if waves are asked of a piece of the network alone.
    pub(in crate::cosim) fn new(
        form: BuildForm,
        run: RunLength,
        design: &Design,
    ) -> Result<Recipe, BuildError> {
        let (optimise, trace) = match run {
            RunLength::Brief => (SLIGHTLY, None),
            RunLength::Quick => ("-O1", None),
            RunLength::Long => ("-O2", None),
            RunLength::Trace { depth, brief } => (if brief { UNOPTIMISED } else { "-O1" }, Some(depth)),
        };
        let modules = emit::modules(design);
        let mut files = vec![("dut_config.h", config_header(design, trace, form))];
        let (mut pieces, model) = match form {
            BuildForm::WholeMesh => {
                files.push(("share.vlt", SHARE.to_owned()));
                // Look-up tables get a name per use, which would keep routers from sharing code.
                let arguments = ["-fno-table", "--top-module", MESH, "sim/share.vlt"];
                (vec![Piece::new("dut", &modules, &[MESH], &arguments)], "mesh")
            }
            BuildForm::OneRouter | BuildForm::NetworkEndpoints if trace.is_some() => {
                return Err(BuildError::TileWaves)
            }
            _ => (pieces_of(form, design, &modules, &mut files), "pieces"),
        };
        if let Some(depth) = trace {
            // Neither the wrapper nor the shell is a level of the design.
            let extra = u32::from(form != BuildForm::WholeMesh) + u32::from(form == BuildForm::WholeDevice);
            for piece in &mut pieces {
                piece.arguments.push("--trace-fst".to_owned());
                let levels = depth.map(|depth| (depth + extra).to_string());
                let levels = levels.into_iter().flat_map(|levels| ["--trace-depth".to_owned(), levels]);
                piece.arguments.extend(levels);
            }
        }
        if [SLIGHTLY, UNOPTIMISED].contains(&optimise) {
            // A module with several instances is then compiled once, which saves more than calls
            // between modules cost.
            pieces.iter_mut().for_each(|piece| piece.arguments.push("-fno-inline".to_owned()));
        }
        let doubted = form.clocks() == 2;
        Ok(Recipe { pieces, optimise, traced: trace.is_some(), doubted, model, files })
    }
}

impl Piece {
    fn new(folder: &'static str, modules: &[ModuleSpec], roots: &[&str], arguments: &[&str]) -> Piece {
        let prefix = format!("V{folder}");
        let own = ["--prefix", &prefix, "-Mdir", folder];
        let needed = reachable(modules, roots);
        let unused = modules.iter().map(|m| m.name.to_owned()).filter(|name| !needed.contains(name));
        Piece {
            folder,
            arguments: [&COMMON[..], &own, arguments].concat().into_iter().map(str::to_owned).collect(),
            unused: unused.collect(),
        }
    }

    /// True if it needs this emitted file.
    pub(in crate::cosim) fn uses(&self, file: &SourceFile) -> bool {
        let name = file.path.rsplit('/').next().and_then(|name| name.strip_suffix(".v"));
        // Files in `board/` are for the card and use primitives of Vivado; those in `bench/` are of a bench.
        let beside = ["board/", "bench/"].iter().any(|folder| file.path.starts_with(folder));
        let verilog = file.path.ends_with(".v") && !beside;
        verilog && name.is_none_or(|name| !self.unused.contains(name))
    }
}

/// The pieces that `sim/pieces.cpp` runs: one for every place of the mesh, or the whole, and the
/// periphery.
fn pieces_of(
    form: BuildForm,
    design: &Design,
    modules: &[ModuleSpec],
    files: &mut Vec<(&'static str, String)>,
) -> Vec<Piece> {
    let spec = |name: &str| module(modules, name);
    let beside: Vec<&str> = match form {
        BuildForm::TransportPieces | BuildForm::TransportAlone => vec![TRANSPORT],
        BuildForm::CorePieces | BuildForm::CorePiecesTwoClocks => vec![TILE, PAD, ROOT],
        _ => vec![TILE],
    };
    let others: Vec<_> = beside.iter().map(|name| spec(name)).collect();
    let apart = form.clocks() == 2;
    let node = || wrapper::node(spec(ROUTER), &others, apart);
    let of_node = || [&[ROUTER][..], &beside].concat();
    let (tile, fabric, roots) = match form {
        BuildForm::OneRouter => (spec(ROUTER).clone(), spec(MESH).clone(), vec![ROUTER]),
        BuildForm::TransportPieces => (node(), node_ports(design), of_node()),
        BuildForm::FabricPieces => (node(), spec(FABRIC).clone(), of_node()),
        BuildForm::NetworkEndpoints => (spec(TILE).clone(), endpoint_ports(design), vec![TILE]),
        BuildForm::CorePieces | BuildForm::CorePiecesTwoClocks => (node(), spec(CORE).clone(), of_node()),
        BuildForm::TransportAlone => (spec(TRANSPORT).clone(), spec(TRANSPORT).clone(), vec![TRANSPORT]),
        BuildForm::WholeCore => (spec(CORE).clone(), spec(CORE).clone(), vec![CORE]),
        BuildForm::WholeDevice | BuildForm::FrontAlone => {
            let whole = form == BuildForm::WholeDevice;
            let (shell, text) =
                if whole { device_wrapper::whole_shell(design) } else { device_wrapper::front_shell(design) };
            files.push(("shell.v", text));
            (shell.clone(), shell, vec![if whole { TOP } else { FRONT }])
        }
        BuildForm::WholeFabric | BuildForm::WholeMesh => {
            (spec(FABRIC).clone(), spec(FABRIC).clone(), vec![FABRIC])
        }
    };
    // Outputs of the fabric are sampled as the edge sees them. Routers have registered outputs
    // only.
    let sampled = |port: &PortSpec| {
        form != BuildForm::OneRouter && fabric.ports.iter().any(|shown| shown.name == port.name)
    };
    let in_wrapper = |file: &'static str| ["--top-module", wrapper::WRAPPER, file];
    files.push(("dut.v", wrapper::wrapper(&tile, &sampled, apart)));
    let mut piece = Piece::new("dut", modules, &roots, &in_wrapper("sim/dut.v"));
    if roots.len() > 1 {
        files.push(("node.v", wrapper::node_body(&tile, spec(ROUTER), &others)));
        piece.arguments.push("sim/node.v".to_owned());
    }
    if files.iter().any(|(name, _)| *name == "shell.v") {
        // The names it would warn about in C++ are inside the shell.
        piece.arguments.extend(["-Wno-SYMRSVDWORD", "sim/shell.v"].map(str::to_owned));
    }
    if apart {
        files.push(("synchronizer.v", SYNCHRONIZER.to_owned()));
        piece.arguments.push("sim/synchronizer.v".to_owned());
    }
    let mut pieces = vec![piece];
    let periphery = matches!(
        form,
        BuildForm::FabricPieces
            | BuildForm::NetworkEndpoints
            | BuildForm::CorePieces
            | BuildForm::CorePiecesTwoClocks
    )
    .then(|| spec(PERIPHERY));
    if let Some(periphery) = periphery {
        files.push(("periphery.v", wrapper::wrapper(periphery, &sampled, false)));
        let mut piece = Piece::new("periphery", modules, &[PERIPHERY], &in_wrapper("sim/periphery.v"));
        // It would build a wide port out of parts by copying the whole before each part.
        piece.arguments.push("-fno-dfg".to_owned());
        pieces.push(piece);
    }
    files.push(("glue.h", PieceGlue { tile: &tile, periphery, fabric: &fabric }.header()));
    pieces
}

/// Arguments of every run of Verilator.
const COMMON: [&str; 8] = [
    "--cc",
    "--language",
    "1364-2005",
    // Takes the seed of the run: registers hold noise until they are reset.
    "--x-initial",
    "unique",
    // Warnings are for `meshkv lint`. A combinational loop would only show as lost speed.
    "-Wno-lint",
    "-Wno-style",
    "-Werror-UNOPTFLAT",
];

/// The modules below `roots`, themselves included.
fn reachable(modules: &[ModuleSpec], roots: &[&str]) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = roots.iter().map(|&r| r.to_owned()).collect();
    // The list has every module after those it instantiates.
    for m in modules.iter().rev() {
        if found.contains(m.name) {
            found.extend(m.instances.iter().map(|&name| name.to_owned()));
        }
    }
    found
}

/// Constants of the design that the shim needs at compile time.
fn config_header(design: &Design, trace: Option<Option<u32>>, form: BuildForm) -> String {
    let (cols, rows) = if matches!(
        form,
        BuildForm::TransportAlone
            | BuildForm::WholeFabric
            | BuildForm::WholeCore
            | BuildForm::WholeDevice
            | BuildForm::FrontAlone
    ) {
        (1, 1)
    } else {
        (design.mesh.cols(), design.mesh.rows())
    };
    let values = [
        // Number of pieces side by side.
        ("COLS", cols),
        ("ROWS", rows),
        // Bit y: registers between rows y and y + 1.
        ("CROSSINGS", design.crossings()),
        ("TILES", design.mesh.tiles() as u32),
        ("PORTS", Port::ALL.len() as u32),
        ("VCS", design.router.vcs()),
        ("VC_DEPTH", design.router.vc_depth),
        ("DEST_WIDTH", design.flit.dest_width),
        ("HEAD_WIDTH", design.flit.head_width),
        ("FLIT_WIDTH", design.flit.carried_width()),
        ("TRACED", u32::from(trace.is_some())),
        ("CLOCKS", form.clocks()),
        // 99 levels make the wave writer follow everything that Verilator kept.
        ("TRACE_DEPTH", trace.flatten().unwrap_or(99)),
    ];
    values.iter().map(|(name, value)| format!("#define MESHKV_{name} {value}u\n")).collect()
}
