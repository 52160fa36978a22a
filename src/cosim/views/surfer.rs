//! A view as a Surfer command file, with a mapping for each table of values.
//!
//! Surfer's state files depend on its version; its commands are documented and stay. Groups are
//! dividers, since no command puts signals that were just added into a group.

use super::file::{context, filled, stem, tables, values, Source, ViewFile};
use super::groups::Group;
use std::path::Path;

const COMMANDS: &str = include_str!("../../../templates/views/surfer.sucl.tera");
const MAPPING: &str = include_str!("../../../templates/views/surfer_mapping.txt.tera");

/// Folder in which Surfer, started beside the waves, looks for mappings.
const MAPPINGS: &str = ".surfer/mappings";

/// The command file beside `waves`, then the mappings.
pub(super) fn files(waves: &Path, groups: &[Group], source: &Source) -> Vec<ViewFile> {
    let open: Vec<&Group> = groups.iter().filter(|group| group.open).collect();
    let commands = filled(COMMANDS, &context(waves, &open, source));
    let mapping = |(table, (meaning, width))| {
        let name = format!("{}-{table}", stem(waves));
        let path = waves.with_file_name(MAPPINGS).join(format!("{name}.txt"));
        let mut mapping = values(meaning, source, |value| format!("{value:x}"));
        mapping.insert("name", &name);
        mapping.insert("width", &width);
        (path, filled(MAPPING, &mapping))
    };
    let mappings = tables(&open).into_iter().map(mapping);
    [(waves.with_extension("sucl"), commands)].into_iter().chain(mappings).collect()
}
