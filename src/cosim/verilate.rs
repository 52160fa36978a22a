//! From emitted Verilog to a shared library that [`super::dut::Dut`] drives.
//!
//! Two cache entries make one library: the runtime (Verilator's own code and the part of the
//! shim that knows no design), compiled once for each tool version, and the fabric, compiled
//! once for each content. Knows nothing of traffic; does not look for Verilator.

use super::cache::{io_error, Cache, Key};
use super::ffi::Library;
use super::recipe::Recipe;
use super::tile;
use super::toolchain::{run, run_all, Toolchain};
use crate::design::Design;
use crate::emit::SourceFile;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// What is verilated: the network by itself, or the fabric with all that its tiles hold; at once, or
/// one piece that is run many times. Both ways show the same in the same cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The whole network: checks its wiring, and can write waves.
    Mesh,
    /// One router, which the harness runs once for each of the mesh and joins itself: builds in
    /// seconds whatever the size of the mesh, and runs on two cores.
    Tile,
    /// The whole fabric with its tiles; for [`super::pins::Pins`].
    Full,
    /// One router with its tile, run once for each of the mesh; for [`super::pins::Pins`].
    Node,
}

impl Form {
    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Form::Mesh => "mesh",
            Form::Tile => "tile",
            Form::Full => "full",
            Form::Node => "node",
        }
    }
}

/// How long the library will run, which decides what is worth compiling for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunLength {
    /// Tests and short runs: compiles fastest.
    Quick,
    /// Sweeps and benchmarks: runs fastest.
    Long,
    /// Reruns of a failure: writes FST waves.
    Trace {
        /// Levels of hierarchy in the wave file, counted from the top; `None` for all.
        depth: Option<u32>,
    },
}

/// What a build is made with.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Verilator and compiler, asked for their versions.
    pub toolchain: Toolchain,
    /// What is verilated.
    pub form: Form,
    /// Chooses the flags.
    pub run: RunLength,
    /// Where built libraries are kept; `None` for `MESHKV_CACHE`, `XDG_CACHE_HOME/meshkv` or `~/.cache/meshkv`.
    pub cache_dir: Option<PathBuf>,
}

/// What a build is doing, for whoever waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Another process builds the same.
    Waiting,
    /// A cache entry is damaged and built again; `why` is a clause that names it.
    Rebuilding {
        /// What is wrong with which entry.
        why: &'a str,
    },
    /// Verilator translates the fabric.
    Verilating,
    /// `done` of `total` C++ units are compiled.
    Compiling {
        /// Units finished.
        done: usize,
        /// Units of this step.
        total: usize,
    },
    /// The library is linked.
    Linking,
}

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Verilator does not run.
    #[error("cannot run Verilator ({path}): co-simulation needs version 5.006 or later; `meshkv doctor` says how to install it")]
    VerilatorMissing {
        /// What was tried.
        path: PathBuf,
    },
    /// The C++ compiler does not run.
    #[error("cannot run the C++ compiler ({path}): co-simulation compiles the verilated fabric; install g++ or set CXX")]
    CompilerMissing {
        /// What was tried.
        path: PathBuf,
    },
    /// Waves need zlib's header.
    #[error("waves need zlib to compile: install zlib1g-dev\n{log}")]
    ZlibMissing {
        /// What the compiler said.
        log: String,
    },
    /// Waves were asked of a tile.
    #[error("a tile as model has no waves: they need the whole mesh")]
    TileWaves,
    /// A tool ran and reported errors.
    #[error("{program} failed on the generated fabric ({status}):\n{log}")]
    Failed {
        /// The tool.
        program: String,
        /// How it ended: by itself, or killed by the system.
        status: ExitStatus,
        /// Its first errors.
        log: String,
    },
    /// The library was built and does not load.
    #[error("cannot load the compiled fabric: {0}")]
    Load(String),
    /// The caller did not want to wait any longer; nothing is left of the build.
    #[error("the build was stopped")]
    Stopped,
    /// No environment variable says where a cache could be.
    #[error("nowhere to keep compiled fabrics: set MESHKV_CACHE to a folder")]
    NoCache,
    /// A file operation failed.
    #[error("{what}")]
    Io {
        /// What was tried, with its path.
        what: String,
        /// The system's answer.
        source: io::Error,
    },
}

impl BuildError {
    /// A tool or a library that the user can install is not there.
    pub fn is_missing_tool(&self) -> bool {
        use BuildError::{CompilerMissing, VerilatorMissing, ZlibMissing};
        matches!(self, VerilatorMissing { .. } | CompilerMissing { .. } | ZlibMissing { .. })
    }
}

/// The shim's sources; compiled where Verilator's headers are.
const SHIM: [(&str, &str); 18] = [
    ("bits.h", include_str!("../../sim/bits.h")),
    ("ending.cpp", include_str!("../../sim/ending.cpp")),
    ("ending.h", include_str!("../../sim/ending.h")),
    ("generated.h", include_str!("../../sim/generated.h")),
    ("geometry.h", include_str!("../../sim/geometry.h")),
    ("harness.cpp", include_str!("../../sim/harness.cpp")),
    ("harness.h", include_str!("../../sim/harness.h")),
    ("hooks.h", include_str!("../../sim/hooks.h")),
    ("mesh.cpp", include_str!("../../sim/mesh.cpp")),
    ("model.h", include_str!("../../sim/model.h")),
    ("pins.cpp", include_str!("../../sim/pins.cpp")),
    ("queue.h", include_str!("../../sim/queue.h")),
    ("shim.cpp", include_str!("../../sim/shim.cpp")),
    ("shim.h", include_str!("../../sim/shim.h")),
    ("team.cpp", include_str!("../../sim/team.cpp")),
    ("team.h", include_str!("../../sim/team.h")),
    ("tile.cpp", include_str!("../../sim/tile.cpp")),
    ("wiring.h", include_str!("../../sim/wiring.h")),
];

/// The part of the shim that build.rs has compiled; empty if it found no compiler.
const PREBUILT: [(&str, &[u8]); 5] = [
    ("ending", include_bytes!(concat!(env!("OUT_DIR"), "/ending.o"))),
    ("harness", include_bytes!(concat!(env!("OUT_DIR"), "/harness.o"))),
    ("pins", include_bytes!(concat!(env!("OUT_DIR"), "/pins.o"))),
    ("shim", include_bytes!(concat!(env!("OUT_DIR"), "/shim.o"))),
    ("team", include_bytes!(concat!(env!("OUT_DIR"), "/team.o"))),
];
const PREBUILT_CXX: &str = env!("MESHKV_SHIM_CXX");

/// Exports the C surface and nothing else: two libraries in one process must not share a symbol.
const EXPORTS: &str = "{ global: meshkv_*; local: *; };\n";
const LIBRARY: &str = "libdut.so";

/// Raised with every change of what is done to generated code, so that it is built again.
const REWRITING: &str = "1";

/// Verilates and compiles `files`, or takes the result from the cache.
///
/// # Errors
/// [`BuildError`] says which tool is missing or what it reported.
pub fn build(
    files: &[SourceFile],
    design: &Design,
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Library, BuildError> {
    build_until(&|| false, files, design, options, progress)
}

/// [`build`] that is given up, and everything it runs ended, once `stop` says so.
///
/// # Errors
/// As [`build`], and [`BuildError::Stopped`].
pub fn build_until(
    stop: &(dyn Fn() -> bool + Sync),
    files: &[SourceFile],
    design: &Design,
    options: &BuildOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Library, BuildError> {
    let cache = Cache::open(options.cache_dir.as_deref(), stop)?;
    let recipe = Recipe::new(options.form, options.run, design)?;
    let fabric = Fabric { files, recipe, toolchain: &options.toolchain, stop };
    let runtime_key = fabric.runtime_key();
    let key = fabric.key(&runtime_key);

    for attempt in 0.. {
        let entry = cache.entry(&key, progress, |work, progress| {
            let runtime =
                cache.entry(&runtime_key, progress, |work, progress| fabric.build_runtime(work, progress))?;
            fabric.build(work, &runtime, progress)
        })?;
        match Library::load(&entry.join(LIBRARY)) {
            // Intact and still not loadable: the system's libraries have changed since it was linked.
            Err(BuildError::Load(why)) if attempt == 0 => {
                progress(Progress::Rebuilding { why: &why });
                cache.evict(&key, progress)?;
                cache.evict(&runtime_key, progress)?;
            }
            result => return result,
        }
    }
    unreachable!("the second attempt returns")
}

/// One fabric and how it is to be compiled.
struct Fabric<'a> {
    files: &'a [SourceFile],
    recipe: Recipe,
    toolchain: &'a Toolchain,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Fabric<'_> {
    fn sources(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|f| self.recipe.uses(f))
    }

    /// The sources without `%m`, which would give every router code of its own; see `sim/generated.h`.
    fn shareable(&self) -> impl Iterator<Item = (&str, String)> {
        self.sources().map(|f| (f.path.as_str(), f.text.replace("%m: ", "")))
    }

    /// Everything the runtime's objects depend on.
    fn runtime_key(&self) -> String {
        let mut key = Key::new();
        key.add("verilator", &self.toolchain.verilator_version)
            .add("include", self.toolchain.include.to_string_lossy().as_bytes())
            .add("cxx", &self.toolchain.cxx_version)
            .add("flags", self.cxx_flags(Path::new("."), "-O2").join(" "));
        for (name, text) in SHIM {
            key.add(name, text);
        }
        format!("runtime-{}", key.finish())
    }

    /// Everything the library depends on.
    fn key(&self, runtime_key: &str) -> String {
        let mut key = Key::new();
        key.add("runtime", runtime_key)
            .add("verilator flags", self.recipe.verilator.join(" "))
            .add("cxx flags", self.recipe.optimise)
            .add("model", self.recipe.model)
            .add("rewriting", REWRITING)
            .add("exports", EXPORTS);
        for (name, text) in &self.recipe.files {
            key.add(name, text);
        }
        for file in self.sources() {
            key.add(&file.path, &file.text);
        }
        format!("dut-{}", key.finish())
    }

    fn cxx_flags(&self, shim: &Path, optimise: &str) -> Vec<String> {
        let include = self.toolchain.include.display();
        let traced = u32::from(self.recipe.traced);
        [
            format!("-std=c++17 -fPIC -fvisibility=hidden -pthread -w {optimise}"),
            format!("-DVM_COVERAGE=0 -DVM_SC=0 -DVM_TRACE={traced} -DVM_TRACE_FST={traced} -DVM_TRACE_VCD=0"),
        ]
        .iter()
        .flat_map(|line| line.split(' ').map(str::to_owned))
        // Paths may hold spaces, so they are arguments of their own.
        .chain([
            format!("-I{}", shim.display()),
            "-Iobj".to_owned(),
            format!("-I{include}"),
            format!("-I{include}/vltstd"),
            "-include".to_owned(),
            shim.join("hooks.h").display().to_string(),
        ])
        .collect()
    }

    fn compile(&self, work: &Path, source: &Path, object: &str, optimise: &str) -> Command {
        let mut command = Command::new(&self.toolchain.cxx);
        command.current_dir(work).args(self.cxx_flags(Path::new("sim"), optimise));
        command.arg("-c").arg(source).arg("-o").arg(object);
        command
    }

    /// Verilator's runtime and the shim's fixed part, as objects.
    fn build_runtime(&self, work: &Path, progress: &mut dyn FnMut(Progress)) -> Result<(), BuildError> {
        write_all(&work.join("sim"), SHIM)?;
        let mut jobs = Vec::new();
        let mut units = vec!["verilated", "verilated_threads"];
        if self.recipe.traced {
            units.push("verilated_fst_c");
        }
        for unit in units {
            let source = self.toolchain.include.join(format!("{unit}.cpp"));
            if source.is_file() {
                jobs.push(self.compile(work, &source, &format!("{unit}.o"), "-O2"));
            }
        }
        for (unit, object) in PREBUILT {
            let name = format!("{unit}.o");
            if !object.is_empty() && PREBUILT_CXX == self.toolchain.cxx_version {
                fs::write(work.join(&name), object).map_err(io_error("cannot write", &work.join(&name)))?;
            } else {
                jobs.push(self.compile(work, Path::new(&format!("sim/{unit}.cpp")), &name, "-O2"));
            }
        }
        run_all(jobs, self.stop, progress).map_err(name_zlib)?;
        remove(&work.join("sim"))
    }

    /// The fabric's library, from its sources and the runtime's objects.
    fn build(
        &self,
        work: &Path,
        runtime: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), BuildError> {
        let build = work.join("build");
        write_all(&build.join("sim"), SHIM)?;
        write_all(&build.join("src"), self.shareable())?;
        write_all(&build.join("sim"), self.recipe.files.iter().map(|(name, text)| (*name, text)))?;
        write_all(&build.join("sim"), [("exports.map", EXPORTS)])?;

        progress(Progress::Verilating);
        // Relative paths only: they end up in the messages of $stop and must not name this machine.
        let mut verilator = Command::new(&self.toolchain.verilator);
        verilator.current_dir(&build).args(&self.recipe.verilator);
        verilator.args(self.sources().map(|f| format!("src/{}", f.path)));
        run(verilator, self.stop)?;

        // One unit each for fast and slow code: every generated file costs 0.4 s of headers alone.
        write_units(&build)?;
        if let Some(tile) = &self.recipe.tile {
            rewrite(&build.join("obj"), |generated| tile::evaluate_once(generated, tile))?;
        }
        let model = format!("sim/{}.cpp", self.recipe.model);
        let jobs = vec![
            self.compile(&build, Path::new("fast.cpp"), "fast.o", self.recipe.optimise),
            self.compile(&build, Path::new(&model), "model.o", self.recipe.optimise),
            self.compile(&build, Path::new("slow.cpp"), "slow.o", "-O0"),
        ];
        run_all(jobs, self.stop, progress).map_err(name_zlib)?;

        progress(Progress::Linking);
        let mut link = Command::new(&self.toolchain.cxx);
        link.current_dir(&build).args([
            "-shared",
            "-pthread",
            "-Wl,--version-script=sim/exports.map",
            "-Wl,-z,defs",
        ]);
        link.args(["-o", LIBRARY, "fast.o", "slow.o", "model.o"]).args(objects(runtime)?);
        if self.recipe.traced {
            link.arg("-lz");
        }
        run(link, self.stop)?;
        let library = build.join(LIBRARY);
        fs::rename(&library, work.join(LIBRARY)).map_err(io_error("cannot move", &library))?;
        remove(&build)
    }
}

/// The only library that FST needs and that a system with g++ may lack.
fn name_zlib(error: BuildError) -> BuildError {
    match error {
        BuildError::Failed { log, .. } if log.contains("zlib.h") => BuildError::ZlibMissing { log },
        other => other,
    }
}

/// Sorts Verilator's files into `fast.cpp`, which runs every cycle, and `slow.cpp`, which runs once.
fn write_units(build: &Path) -> Result<(), BuildError> {
    let obj = build.join("obj");
    let (mut fast, mut slow) = (Vec::new(), Vec::new());
    for path in list(&obj, "cpp")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let once = name.contains("Slow") || name.contains("Syms");
        if once { &mut slow } else { &mut fast }.push(format!("#include \"obj/{name}\"\n"));
    }
    let unit = |includes: Vec<String>| format!("#include \"sim/generated.h\"\n{}", includes.concat());
    write_all(build, [("fast.cpp", unit(fast)), ("slow.cpp", unit(slow))])
}

/// Changes the generated C++.
fn rewrite(folder: &Path, change: impl FnOnce(&mut [String])) -> Result<(), BuildError> {
    let paths = list(folder, "cpp")?;
    let read = |path: &PathBuf| fs::read_to_string(path).map_err(io_error("cannot read", path));
    let mut texts: Vec<String> = paths.iter().map(read).collect::<Result<_, _>>()?;
    change(&mut texts);
    for (path, text) in paths.iter().zip(texts) {
        fs::write(path, text).map_err(io_error("cannot write", path))?;
    }
    Ok(())
}

fn objects(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    list(folder, "o")
}

/// Files with an extension, in an order that does not depend on the file system.
fn list(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, BuildError> {
    let read = |folder: &Path| -> io::Result<Vec<PathBuf>> {
        let paths = fs::read_dir(folder)?.map(|item| Ok(item?.path()));
        paths.filter(|p| p.as_ref().map_or(true, |p| p.extension().is_some_and(|e| e == extension))).collect()
    };
    let mut paths = read(folder).map_err(io_error("cannot read", folder))?;
    paths.sort();
    Ok(paths)
}

fn write_all<N: AsRef<str>, T: AsRef<str>>(
    folder: &Path,
    files: impl IntoIterator<Item = (N, T)>,
) -> Result<(), BuildError> {
    for (name, text) in files {
        let path = folder.join(name.as_ref());
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(io_error("cannot create", parent))?;
        fs::write(&path, text.as_ref()).map_err(io_error("cannot write", &path))?;
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<(), BuildError> {
    fs::remove_dir_all(folder).map_err(io_error("cannot remove", folder))
}
