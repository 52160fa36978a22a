//! Defaults that have changed: each that a file of an older version uses raises a note.
//!
//! No key has been renamed so far. A key that is gets a line in `meant`, which leads from the old name to the new one,
//! and `tests/config/keys.txt` has every key that was ever legal.

use crate::config::findings::advice::Advice;
use crate::config::findings::finding::Finding;
use crate::config::schema::Config;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::ops::Range;

/// Name of the warning.
pub(in crate::config) const RULE: &str = "default-has-changed";

/// A default that has changed.
struct Change {
    /// First version of the format with the new default.
    since: u32,
    key: &'static str,
    /// The value that gives the earlier behaviour.
    was: fn() -> Value,
    /// True if this configuration is affected.
    applies: fn(&Config) -> bool,
    /// The present default in words.
    now: &'static str,
}

const CHANGES: [Change; 4] = [
    Change {
        since: 2,
        key: "pad.fifo_depth",
        was: || json!(48),
        applies: |config| config.noc.flit_width >= 512,
        now: "96 for flits of 512 bits and more",
    },
    Change {
        since: 2,
        key: "pe.root_lanes",
        was: || json!(1),
        applies: |_| true,
        now: "16, or the FP32 numbers of a flit if they are fewer",
    },
    Change { since: 2, key: "floorplan.slr_registers", was: || json!(false), applies: |_| true, now: "true" },
    Change { since: 2, key: "memory.refresh", was: || json!(false), applies: |_| true, now: "true" },
];

/// Warnings of a file that was written for `version`, in which keys have these places.
pub(in crate::config) fn changed(
    version: u32,
    config: &Config,
    spans: &BTreeMap<String, Range<usize>>,
) -> Vec<Finding> {
    let taken = |change: &&Change| {
        version < change.since && !spans.contains_key(change.key) && (change.applies)(config)
    };
    CHANGES.iter().filter(taken).map(|change| change.finding(version)).collect()
}

impl Change {
    fn finding(&self, version: u32) -> Finding {
        let was = (self.was)();
        let fault = format!(
            "is left out, which means {} since version {}, and meant {was} in version {version}",
            self.now, self.since
        );
        let help = "say which of the two is meant";
        Finding::error(self.key, fault, help)
            .of(RULE)
            .advising([Advice::set(self.key, was), Advice::set("version", self.since)])
            .as_warning()
    }
}

#[cfg(test)]
mod tests {
    use crate::config::reading::file_keys::VERSION;
    use crate::config::reading::history::*;

    #[test]
    fn no_change_is_newer_than_the_format() {
        assert_eq!(CHANGES.iter().map(|change| change.since).max(), Some(VERSION));
    }

    #[test]
    fn only_a_file_of_an_older_version_that_leaves_a_key_out_hears_of_it() {
        let (config, none) = (Config::default(), BTreeMap::new());
        let keys = |version, spans: &BTreeMap<_, _>| {
            changed(version, &config, spans).into_iter().map(|f| f.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(2, &none), [""; 0]);
        let all = ["pad.fifo_depth", "pe.root_lanes", "floorplan.slr_registers", "memory.refresh"];
        assert_eq!(keys(1, &none), all);
        assert_eq!(keys(1, &BTreeMap::from([("pe.root_lanes".to_owned(), 0..1)])).len(), 3);
    }
}
