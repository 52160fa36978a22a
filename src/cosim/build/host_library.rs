//! The host's library of a design, compiled against a stand-in for XRT whose card answers at a socket.

use super::error::BuildError;
use super::progress::Progress;
use super::toolchain::run;
use crate::emit::SourceFile;
use crate::tools::cache::{Cache, Key};
use crate::tools::{io_error, Program};
use std::path::{Path, PathBuf};

/// The stand-in: headers of XRT's names.
const XRT: [(&str, &str); 6] = [
    ("xrt/fake.hpp", include_str!("../../../sim/xrt/fake.hpp")),
    ("xrt/remote.hpp", include_str!("../../../sim/xrt/remote.hpp")),
    ("xrt/experimental/xrt_ip.h", include_str!("../../../sim/xrt/experimental/xrt_ip.h")),
    ("xrt/experimental/xrt_xclbin.h", include_str!("../../../sim/xrt/experimental/xrt_xclbin.h")),
    ("xrt/xrt/xrt_bo.h", include_str!("../../../sim/xrt/xrt/xrt_bo.h")),
    ("xrt/xrt/xrt_device.h", include_str!("../../../sim/xrt/xrt/xrt_device.h")),
];

const LIBRARY: &str = "libmeshkv.so";
/// A file in place of a bitstream, which a host names to open the card.
const XCLBIN: &str = "card.xclbin";

const FLAGS: [&str; 9] =
    ["-std=c++17", "-O2", "-shared", "-fPIC", "-pthread", "-w", "-Isw", "-Ihost", "-Ixrt"];

/// A folder with the library and all that a program in C++ is compiled with: `host/`, `sw/` and `xrt/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostLibrary {
    /// The folder, in the cache.
    pub folder: PathBuf,
}

impl HostLibrary {
    /// Compiles the library among the emitted files, or takes it from the cache. `version` is the compiler's.
    ///
    /// # Errors
    /// [`BuildError`] carries the report of the compiler.
    pub fn build(
        files: &[SourceFile],
        (cxx, version): (&Program, &str),
        cache_dir: Option<&Path>,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(Progress),
    ) -> Result<HostLibrary, BuildError> {
        let cache = Cache::open(cache_dir, stop)?.for_libraries()?;
        let emitted = files.iter().filter(|file| ["host/", "sw/"].iter().any(|of| file.path.starts_with(of)));
        let sources: Vec<(&str, &str)> =
            emitted.map(|file| (file.path.as_str(), file.text.as_str())).chain(XRT).collect();
        let mut key = Key::new();
        key.add("cxx", version).add("flags", FLAGS.join(" "));
        for (path, text) in &sources {
            key.add(path, text);
        }
        let folder = cache.entry(&format!("host-{}", key.finish()), progress, |work, progress| {
            for (path, text) in sources.iter().chain(&[(XCLBIN, "")]) {
                write(&work.join(path), text)?;
            }
            progress(Progress::Compiling { done: 0, total: 1 });
            let mut command = cxx.command();
            command.current_dir(work).args(FLAGS).args([
                "-Ihost",
                "-Ixrt",
                "host/meshkv_c.cpp",
                "-o",
                LIBRARY,
            ]);
            run(command, stop)
        })?;
        Ok(HostLibrary { folder })
    }

    /// The library.
    pub fn library(&self) -> PathBuf {
        self.folder.join(LIBRARY)
    }

    /// Arguments of a compiler of C++ for a program with the headers.
    pub fn cxxflags(&self) -> String {
        let folder = |name: &str| format!(" -I{}", self.folder.join(name).display());
        ["host", "sw", "xrt"]
            .map(folder)
            .into_iter()
            .fold("-std=c++17 -pthread".to_owned(), |all, one| all + &one)
    }

    /// The file to name in place of a bitstream.
    pub fn xclbin(&self) -> PathBuf {
        self.folder.join(XCLBIN)
    }
}

fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(io_error("cannot create", folder))?;
    Ok(std::fs::write(path, text).map_err(io_error("cannot write", path))?)
}
