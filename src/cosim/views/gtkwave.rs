//! A view as a GTKWave save file, with a filter file for each table of values.

use super::file::{context, filled, stem, tables, values, Source, ViewFile};
use super::groups::Group;
use super::hierarchy::Hierarchy;
use std::path::Path;

const SAVE_FILE: &str = include_str!("../../../templates/views/gtkwave.gtkw.tera");
const FILTER: &str = include_str!("../../../templates/views/gtkwave_filter.txt.tera");

/// Cycles for each 200 pixels when the file is opened: the name of a class fits into one.
const CYCLES: f64 = 3.3;
/// Seconds of a cycle of the mesh or a module alone, which has no frequency.
const OF_MESH: f64 = 1e-8;

/// The save file beside `waves`, then the filter files, in a folder of their own.
pub(super) fn files(waves: &Path, hierarchy: &Hierarchy, groups: &[Group], source: &Source) -> Vec<ViewFile> {
    let groups: Vec<&Group> = groups.iter().collect();
    let unit = 10_f64.powi(i32::from(hierarchy.exponent));
    let alone = hierarchy.scopes().any(|scope| scope == "TOP.meshkv_mesh");
    let clock = source.design.filter(|_| !alone).map(|design| 1e-6 / design.clock.noc_mhz);
    let cycle = clock.unwrap_or(OF_MESH);
    let mut save_file = context(waves, &groups, source);
    save_file.insert("start", &hierarchy.times.0);
    save_file.insert("zoom", &format!("{:.6}", -(CYCLES * cycle / unit).log2()));
    let filter = |(table, (meaning, width)): (String, (_, u32))| {
        let digits = width.div_ceil(4) as usize;
        let path = waves.with_file_name(format!("{}.gtkw.values", stem(waves))).join(format!("{table}.txt"));
        (path, filled(FILTER, &values(meaning, source, |value| format!("{value:0digits$X}"))))
    };
    let filters = tables(&groups).into_iter().map(filter);
    [(waves.with_extension("gtkw"), filled(SAVE_FILE, &save_file))].into_iter().chain(filters).collect()
}
