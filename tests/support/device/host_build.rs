//! The host's library and programs of a design, built against the stand-in for XRT.

use super::card::stand_in;
use crate::support::attention;
use meshkv::design::Design;
use meshkv::emit::emit;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Two layers of four streams. Homes that do not swap: each port has a buffer of its own.
pub fn roomy(append: bool) -> Design {
    attention::small(|c| {
        (c.takv.column_stride, c.takv.swap_epoch) = (1, Some(0));
        (c.model.layers, c.model.max_streams, c.kv.append) = (2, 4, append);
    })
}

/// The emitted sources of a design in a folder of their own, and a file to pass for a bitstream.
pub struct HostBuild {
    pub design: Design,
    pub dir: TempDir,
}

impl HostBuild {
    pub fn new(design: Design) -> HostBuild {
        let dir = tempfile::tempdir().unwrap();
        for file in emit(&design).unwrap() {
            if ["host/", "sw/", "scripts/Makefile"].iter().any(|of| file.path.starts_with(of)) {
                let path = dir.path().join(&file.path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, &file.text).unwrap();
            }
        }
        std::fs::write(dir.path().join("card.xclbin"), "").unwrap();
        HostBuild { design, dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles a program, without a warning.
    pub fn compile(&self, source: &Path, program: &str, more: &[&str]) {
        let cxx = meshkv::tools::find(&meshkv::tools::CXX).expect("the host's sources need a C++ compiler");
        let built = cxx
            .command()
            .args(["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-Isw", "-Ihost"])
            .arg(format!("-I{}", stand_in().display()))
            .args(more)
            .arg(source)
            .args(["-o", program])
            .current_dir(self.dir.path())
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    }

    /// A compiled program, in the folder.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.path(program));
        command.current_dir(self.dir.path()).env("MESHKV_FAKE_DIR", self.dir.path());
        command
    }
}
