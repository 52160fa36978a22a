//! Builds a library that the cache does not have: runs Verilator, the compiler and the linker in a
//! temporary folder.

use super::error::BuildError;
use super::progress::Progress;
use super::recipe::{Piece, Recipe, FOLDERS, SLIGHTLY, UNOPTIMISED};
use super::toolchain::{run, run_all, Toolchain};
use crate::emit::SourceFile;
use crate::tools::cache::Key;
use crate::tools::{io_error, WorkError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sources of the shim, compiled where Verilator's headers are.
const SHIM: [(&str, &str); 19] = [
    ("bits.h", include_str!("../../../sim/bits.h")),
    ("clocks.h", include_str!("../../../sim/clocks.h")),
    ("generated.h", include_str!("../../../sim/generated.h")),
    ("geometry.h", include_str!("../../../sim/geometry.h")),
    ("harness.cpp", include_str!("../../../sim/harness.cpp")),
    ("harness.h", include_str!("../../../sim/harness.h")),
    ("mesh.cpp", include_str!("../../../sim/mesh.cpp")),
    ("model.h", include_str!("../../../sim/model.h")),
    ("pieces.cpp", include_str!("../../../sim/pieces.cpp")),
    ("pins.cpp", include_str!("../../../sim/pins.cpp")),
    ("queue.h", include_str!("../../../sim/queue.h")),
    ("shim.cpp", include_str!("../../../sim/shim.cpp")),
    ("shim.h", include_str!("../../../sim/shim.h")),
    ("termination.cpp", include_str!("../../../sim/termination.cpp")),
    ("termination.h", include_str!("../../../sim/termination.h")),
    HOOKS,
    ("wiring.h", include_str!("../../../sim/wiring.h")),
    ("worker_pair.cpp", include_str!("../../../sim/worker_pair.cpp")),
    ("worker_pair.h", include_str!("../../../sim/worker_pair.h")),
];

/// Included before everything else, Verilator's own sources too.
const HOOKS: (&str, &str) = ("verilator_hooks.h", include_str!("../../../sim/verilator_hooks.h"));

/// Units of the shim that build.rs has compiled; empty if it found no compiler.
const PREBUILT: [(&str, &[u8]); 5] = [
    ("harness", include_bytes!(concat!(env!("OUT_DIR"), "/harness.o"))),
    ("pins", include_bytes!(concat!(env!("OUT_DIR"), "/pins.o"))),
    ("shim", include_bytes!(concat!(env!("OUT_DIR"), "/shim.o"))),
    ("termination", include_bytes!(concat!(env!("OUT_DIR"), "/termination.o"))),
    ("worker_pair", include_bytes!(concat!(env!("OUT_DIR"), "/worker_pair.o"))),
];
const PREBUILT_CXX: &str = env!("MESHKV_SHIM_CXX");

/// Headers that every unit of a fabric includes after `verilator_hooks.h`. The compiler reads them
/// in a second, or in a tenth of that if precompiled.
const HEADERS: &str = "\
#include <algorithm>
#include <atomic>
#include <thread>
#include <type_traits>
#include <vector>

#include \"verilated.h\"
#if VM_TRACE_FST
#include \"verilated_fst_c.h\"
#endif
";
/// File name of these headers in their cache entry.
const PREFIX: &str = "prefix.h";

/// Exports only the C surface: two libraries in one process must not share a symbol.
const EXPORTS: &str = "{ global: meshkv_*; local: *; };\n";
/// File name of the library in its cache entry.
pub(in crate::cosim) const LIBRARY: &str = "libdut.so";

/// Folder of headers that a caller puts beside the emitted files: all C++ of a library includes them first.
pub const BESIDE: &str = "beside/";

/// Version of the edits of generated code. Raise it with every change of them, so that libraries
/// are built again.
const REWRITING: &str = "5";

/// One fabric and the way to compile it.
pub(in crate::cosim) struct Fabric<'a> {
    pub(in crate::cosim) files: &'a [SourceFile],
    pub(in crate::cosim) recipe: Recipe,
    pub(in crate::cosim) toolchain: &'a Toolchain,
    pub(in crate::cosim) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Fabric<'_> {
    /// Headers that all C++ includes first.
    fn beside(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.path.starts_with(BESIDE))
    }

    fn sources<'s>(&'s self, piece: &'s Piece) -> impl Iterator<Item = &'s SourceFile> {
        self.files.iter().filter(|f| piece.uses(f))
    }

    /// Sources of all pieces without `%m`, which would make the code of every router different. See
    /// `sim/generated.h`.
    fn shareable(&self) -> impl Iterator<Item = (&str, String)> {
        let used = |f: &&SourceFile| self.recipe.pieces.iter().any(|piece| piece.uses(f));
        let text = |f: &SourceFile| match self.recipe.doubted {
            true => f.text.replace("module meshkv_synchronizer ", "module meshkv_synchronizer_itself "),
            false => f.text.clone(),
        };
        self.files.iter().filter(used).map(move |f| (f.path.as_str(), text(f).replace("%m: ", "")))
    }

    /// Key of the runtime: everything that its objects depend on.
    pub(in crate::cosim) fn runtime_key(&self) -> String {
        let mut key = self.tools_key("-O2");
        for (name, text) in SHIM {
            key.add(name, text);
        }
        format!("runtime-{}", key.finish())
    }

    /// Key of the headers precompiled for units of this optimisation.
    pub(in crate::cosim) fn headers_key(&self, optimise: &str) -> String {
        format!("headers-{}", self.tools_key(optimise).add(PREFIX, Self::prefix()).finish())
    }

    fn tools_key(&self, optimise: &str) -> Key {
        let mut key = Key::new();
        key.add("verilator", &self.toolchain.verilator_version)
            .add("include", self.toolchain.include.to_string_lossy().as_bytes())
            .add("cxx", &self.toolchain.cxx_version)
            .add("flags", self.cxx_flags(Path::new("."), optimise).join(" "));
        key
    }

    /// Key of the library.
    pub(in crate::cosim) fn key(&self, runtime_key: &str) -> String {
        let mut key = Key::new();
        key.add("runtime", runtime_key)
            .add("cxx flags", self.recipe.optimise)
            .add("model", self.recipe.model)
            .add("rewriting", REWRITING)
            .add("exports", EXPORTS);
        for (name, text) in &self.recipe.files {
            key.add(name, text);
        }
        for header in self.beside() {
            key.add(&header.path, &header.text);
        }
        for piece in &self.recipe.pieces {
            key.add("verilator flags", piece.arguments.join(" "));
            for file in self.sources(piece) {
                key.add(&file.path, &file.text);
            }
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
        // Paths may contain spaces, so each is an argument of its own.
        .chain([format!("-I{}", shim.display()), format!("-I{include}"), format!("-I{include}/vltstd")])
        .chain(FOLDERS.map(|folder| format!("-I{folder}")))
        .collect()
    }

    /// Runs Verilator for one piece. Paths are relative: they appear in messages of $stop and must
    /// not name this machine.
    fn verilate(&self, build: &Path, piece: &Piece) -> Command {
        let mut verilator = self.toolchain.verilator.command();
        verilator.current_dir(build).args(&piece.arguments);
        if self.beside().next().is_some() {
            // Calls of such a header hide from Verilator that parts of a word do not depend on each other.
            verilator.arg("-Wno-UNOPTFLAT");
        }
        verilator.args(self.sources(piece).map(|f| format!("src/{}", f.path)));
        verilator
    }

    /// Compiles a unit that begins with the header `prefix`.
    fn compile(&self, work: &Path, prefix: &Path, source: &Path, object: &str, optimise: &str) -> Command {
        let mut command = self.toolchain.cxx.command();
        command.current_dir(work).args(self.cxx_flags(Path::new("sim"), optimise));
        command.arg("-include").arg(prefix).arg("-c").arg(source).arg("-o").arg(object);
        command
    }

    fn prefix() -> String {
        [HOOKS.1, HEADERS].concat()
    }

    /// Precompiles the headers where the compiler accepts them from any path. Clang's are bound to
    /// the path they were made at.
    pub(in crate::cosim) fn build_headers(
        &self,
        work: &Path,
        optimise: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), BuildError> {
        write_all(work, [(PREFIX, Self::prefix())])?;
        if self.toolchain.cxx_version.contains("clang") {
            return Ok(());
        }
        let mut command = self.toolchain.cxx.command();
        command.current_dir(work).args(self.cxx_flags(Path::new("."), optimise));
        command.args(["-x", "c++-header", PREFIX, "-o"]).arg(format!("{PREFIX}.gch"));
        run_all(vec![command], self.stop, progress).map_err(name_zlib)
    }

    /// Compiles Verilator's runtime and the fixed part of the shim to objects.
    pub(in crate::cosim) fn build_runtime(
        &self,
        work: &Path,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), BuildError> {
        write_all(&work.join("sim"), SHIM)?;
        let hooks = Path::new("sim").join(HOOKS.0);
        let mut jobs = Vec::new();
        let mut units = vec!["verilated", "verilated_threads"];
        if self.recipe.traced {
            units.push("verilated_fst_c");
        }
        for unit in units {
            let source = self.toolchain.include.join(format!("{unit}.cpp"));
            if source.is_file() {
                jobs.push(self.compile(work, &hooks, &source, &format!("{unit}.o"), "-O2"));
            }
        }
        for (unit, object) in PREBUILT {
            let name = format!("{unit}.o");
            if !object.is_empty() && PREBUILT_CXX == self.toolchain.cxx_version {
                fs::write(work.join(&name), object).map_err(io_error("cannot write", &work.join(&name)))?;
            } else {
                let source = PathBuf::from(format!("sim/{unit}.cpp"));
                jobs.push(self.compile(work, &hooks, &source, &name, "-O2"));
            }
        }
        run_all(jobs, self.stop, progress).map_err(name_zlib)?;
        remove(&work.join("sim"))
    }

    /// Builds the library from the fabric's sources, the runtime's objects and precompiled headers
    /// for each of [`Self::levels`].
    pub(in crate::cosim) fn build(
        &self,
        work: &Path,
        runtime: &Path,
        headers: &[(&str, PathBuf)],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), BuildError> {
        let build = work.join("build");
        write_all(&build.join("sim"), SHIM)?;
        write_all(&build.join("src"), self.shareable())?;
        write_all(&build, self.beside().map(|file| (&file.path, &file.text)))?;
        write_all(&build.join("sim"), self.recipe.files.iter().map(|(name, text)| (*name, text)))?;
        write_all(&build.join("sim"), [("exports.map", EXPORTS)])?;

        progress(Progress::Verilating);
        let verilator = self.recipe.pieces.iter().map(|piece| self.verilate(&build, piece));
        run_all(verilator.collect(), self.stop, &mut |_| {})?;

        let units = self.write_units(&build)?;
        let compile = |(unit, optimise): &(String, &str)| {
            let (source, object) = (format!("{unit}.cpp"), format!("{unit}.o"));
            let (_, entry) = headers.iter().find(|(level, _)| level == optimise).expect("one for each level");
            self.compile(&build, &entry.join(PREFIX), Path::new(&source), &object, optimise)
        };
        let jobs = units.iter().map(compile).collect();
        run_all(jobs, self.stop, progress).map_err(name_zlib)?;

        progress(Progress::Linking);
        let mut link = self.toolchain.cxx.command();
        link.current_dir(&build).args([
            "-shared",
            "-pthread",
            "-Wl,--version-script=sim/exports.map",
            "-Wl,-z,defs",
        ]);
        link.args(["-o", LIBRARY]).args(units.iter().map(|(unit, _)| format!("{unit}.o")));
        link.args(objects(runtime)?);
        if self.recipe.traced {
            link.arg("-lz");
        }
        run(link, self.stop)?;
        let library = build.join(LIBRARY);
        fs::rename(&library, work.join(LIBRARY)).map_err(io_error("cannot move", &library))?;
        remove(&build)
    }

    /// Optimisation levels of the units: one for code that runs every cycle, one for code that runs
    /// once. A single unit has one level.
    pub(in crate::cosim) fn levels(&self) -> Vec<&'static str> {
        let Recipe { optimise, traced, ref pieces, .. } = self.recipe;
        // Traced pieces have names in common.
        let one = [SLIGHTLY, UNOPTIMISED].contains(&optimise) && !(traced && pieces.len() > 1);
        if one {
            vec![optimise]
        } else {
            vec![optimise, UNOPTIMISED]
        }
    }

    /// Writes the units to compile, each with its optimisation level. Code that runs every cycle
    /// and code that runs once are two units, or everything is one.
    fn write_units(&self, build: &Path) -> Result<Vec<(String, &'static str)>, BuildError> {
        let optimise = self.recipe.optimise;
        let beside: String = self.beside().map(|file| format!("#include \"{}\"\n", file.path)).collect();
        let model = format!("{beside}#include \"sim/{}.cpp\"\n", self.recipe.model);
        let generated = format!("{beside}#include \"sim/generated.h\"\n");
        let mut units = vec![("model".to_owned(), optimise, model)];
        for piece in &self.recipe.pieces {
            let [fast, slow] = includes(build, piece.folder)?;
            units.push((format!("{}_fast", piece.folder), optimise, format!("{generated}{fast}")));
            units.push((format!("{}_slow", piece.folder), UNOPTIMISED, format!("{generated}{slow}")));
        }
        if self.levels().len() == 1 {
            // Code that runs once comes last, so that GCC can be told not to optimise it. Clang
            // ignores the pragma.
            let (once, often): (Vec<_>, Vec<_>) =
                units.into_iter().partition(|(_, level, _)| *level == UNOPTIMISED);
            let text =
                |units: Vec<(String, &str, String)>| units.into_iter().map(|unit| unit.2).collect::<String>();
            let all = [&text(often), "#pragma GCC optimize (\"O0\")\n", &text(once)].concat();
            units = vec![("all".to_owned(), optimise, all)];
        }
        write_all(build, units.iter().map(|(name, _, text)| (format!("{name}.cpp"), text)))?;
        Ok(units.into_iter().map(|(name, optimise, _)| (name, optimise)).collect())
    }
}

/// Names zlib as the missing library: the only one that FST needs and a system with g++ may lack.
fn name_zlib(error: BuildError) -> BuildError {
    match error {
        BuildError::Work(WorkError::Failed { log, .. }) if log.contains("zlib.h") => {
            BuildError::ZlibMissing { log }
        }
        other => other,
    }
}

/// The files of one run of Verilator as includes, split into code that runs every cycle and code
/// that runs once.
fn includes(build: &Path, folder: &str) -> Result<[String; 2], BuildError> {
    let [mut fast, mut slow] = [String::new(), String::new()];
    for path in list(&build.join(folder), "cpp")? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let once = name.contains("Slow") || name.contains("Syms");
        if once { &mut slow } else { &mut fast }.push_str(&format!("#include \"{folder}/{name}\"\n"));
    }
    Ok([fast, slow])
}

fn objects(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    list(folder, "o")
}

/// Files with an extension, sorted, so that the order does not depend on the file system.
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
    Ok(fs::remove_dir_all(folder).map_err(io_error("cannot remove", folder))?)
}
