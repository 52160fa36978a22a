//! The example bench for cocotb, the same for every fabric: it reads the C headers.

use crate::emit::source_file::SourceFile;

/// Modules of Python, by name; `run.py` starts them without FuseSoC.
pub(super) const MODULES: [&str; 3] = ["meshkv_bench", "meshkv_cache", "meshkv_headers"];

/// Paths below the output folder, and texts.
const FILES: [(&str, &str); 4] = [
    ("bench/meshkv_bench.py", include_str!("../../../templates/bench/meshkv_bench.py")),
    ("bench/meshkv_cache.py", include_str!("../../../templates/bench/meshkv_cache.py")),
    ("bench/meshkv_headers.py", include_str!("../../../templates/bench/meshkv_headers.py")),
    ("bench/run.py", include_str!("../../../templates/bench/run.py")),
];

pub(super) fn emit() -> Vec<SourceFile> {
    FILES.map(|(path, text)| SourceFile { path: path.to_owned(), text: text.to_owned() }).to_vec()
}
