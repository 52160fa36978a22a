//! Designs in which no tool found anything, kept by content in the build cache: they are not read again.
//!
//! Only clean designs are kept. A finding may come from a tool that was short of memory, and is looked for again.

use crate::emit::SourceFile;
use crate::synth::lint::passes::{Depth, Linters};
use crate::tools::cache::{Cache, Key};
use crate::tools::WorkError;
use std::fs;

/// Digest of the checks: the sources of `lint`, its waivers and its stand-ins. `build.rs` computes it.
const CHECKS: &str = env!("MESHKV_LINT_CHECKS");

/// Folders of the files that tools read.
const READ: [&str; 4] = ["rtl/", "board/", "constraints/", "scripts/"];

/// The place of a design among those that are kept.
pub(super) struct Kept<'a> {
    /// None where nothing can be kept: then everything is read.
    cache: Option<Cache<'a>>,
    entry: String,
}

impl<'a> Kept<'a> {
    /// The place of the files, read by these tools to this depth.
    pub(super) fn of(
        files: &[SourceFile],
        linters: &Linters,
        depth: Depth,
        stop: &'a (dyn Fn() -> bool + Sync),
    ) -> Kept<'a> {
        let mut key = Key::new();
        key.add("checks", CHECKS).add("depth", format!("{depth:?}"));
        for tool in linters.tools() {
            key.add(tool.name, format!("{} {}", tool.version, tool.path.display()));
        }
        for file in files.iter().filter(|file| is_read(&file.path)) {
            key.add(&file.path, content(file));
        }
        Kept { cache: Cache::open(None, stop).ok(), entry: format!("lint-{}", key.finish()) }
    }

    /// True if all tools have read the design and found nothing.
    pub(super) fn is_clean(&self) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.has(&self.entry))
    }

    /// Keeps the design as clean. A cache that cannot be written costs time, and is no error.
    pub(super) fn keep(&self) {
        let Some(cache) = &self.cache else { return };
        let _ = cache.entry(&self.entry, &mut (), |work, _| {
            let what = "cannot write that a design is clean".to_owned();
            fs::write(work.join("clean"), "").map_err(|source| WorkError::Io { what, source })
        });
    }
}

/// True if a tool reads the file. Pages, benches and the host's files have the configuration's name, and no tool reads them.
fn is_read(path: &str) -> bool {
    READ.iter().any(|folder| path.starts_with(folder)) || path.ends_with(".core")
}

/// Text of a file without comments. Comments of Verilog name the configuration, and configurations share modules.
fn content(file: &SourceFile) -> String {
    let is_comment = |line: &&str| line.trim_start().starts_with("//") && !line.contains("verilator");
    if file.path.ends_with(".v") {
        file.text.lines().filter(|line| !is_comment(line)).flat_map(|line| [line, "\n"]).collect()
    } else {
        file.text.clone()
    }
}

#[cfg(test)]
mod tests {
    use crate::synth::lint::kept::*;

    #[test]
    fn comments_of_verilog_do_not_count_and_all_else_does() {
        let file = |path: &str, text: &str| SourceFile { path: path.to_owned(), text: text.to_owned() };
        let of = |text: &str| content(&file("rtl/a.v", text));
        assert_eq!(of("// of tiny\nwire a;\n"), of("// of u280\nwire a;\n"));
        assert_ne!(of("// verilator lint_off WIDTH\nwire a;\n"), of("wire a;\n"));
        let constraints = file("constraints/crossings.xdc", "# expect 2\n");
        assert_eq!(content(&constraints), constraints.text);
        assert!(is_read("scripts/kernel.tcl") && is_read("tiny.core") && !is_read("doc/tiny.md"));
    }
}
