//! Progress of a build.

use crate::tools::cache::{CacheStep, Hears};
use std::path::Path;

/// Current step of a build, for the caller to display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Another process is building the same entry.
    Waiting,
    /// The file system of the cache has no locks: other processes may build the same.
    Unlocked {
        /// The cache.
        folder: &'a Path,
    },
    /// A cache entry is damaged and built again.
    Rebuilding {
        /// A clause that names the entry and its damage.
        why: &'a str,
    },
    /// Verilator translates the fabric.
    Verilating,
    /// `done` of `total` C++ units are compiled.
    Compiling {
        /// Compiled units.
        done: usize,
        /// All units of this step.
        total: usize,
    },
    /// The library is linked.
    Linking,
}

impl Hears for dyn FnMut(Progress<'_>) + '_ {
    fn hear(&mut self, step: CacheStep) {
        self(match step {
            CacheStep::Waiting => Progress::Waiting,
            CacheStep::Unlocked(folder) => Progress::Unlocked { folder },
            CacheStep::Rebuilding(why) => Progress::Rebuilding { why },
        });
    }
}
