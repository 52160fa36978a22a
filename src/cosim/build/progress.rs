//! Progress of a build, as its caller sees it.

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
