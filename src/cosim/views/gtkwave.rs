//! A view as a GTKWave save file, with a filter file for each table of values.

use super::file::{stem, ViewFile};
use super::groups::{Group, Line};
use super::hierarchy::Hierarchy;
use super::meaning::Meaning;
use crate::design::Design;
use std::collections::BTreeMap;
use std::path::Path;

/// Flags of a trace: binary or hexadecimal, flush right, translated by a filter file.
const BINARY: u32 = 0x28;
const HEXADECIMAL: u32 = 0x22;
const TRANSLATED: u32 = 0x2000;
/// Flags of the first and last line of a group, and what a closed one has in addition.
const BEGIN: u32 = 0x80_0200;
const END: u32 = 0x100_0200;
const CLOSED: u32 = 0x40_0000;
const CLOSED_END: u32 = 0x40_1000;

/// Cycles for each 200 pixels when the file is opened: the name of a class fits into one.
const CYCLES: f64 = 3.3;
/// Seconds of a cycle of the mesh alone, which has no frequency.
const OF_MESH: f64 = 1e-8;

/// The save file beside `waves`, then the filter files, in a folder of their own.
pub(super) fn files(waves: &Path, hierarchy: &Hierarchy, groups: &[Group], design: &Design) -> Vec<ViewFile> {
    let stem = stem(waves);
    let folder = format!("{stem}.gtkw.values");
    let mut tables: BTreeMap<String, Meaning> = BTreeMap::new();
    let mut body = String::new();
    for group in groups {
        let (begin, end) = if group.open { (0, 0) } else { (CLOSED, CLOSED_END) };
        body += &format!("@{:x}\n-{}\n", BEGIN | begin, group.name);
        for line in &group.lines {
            if let Some(name) = line.meaning.table() {
                let width = line.signal.width;
                let file = format!("{name}-{width}.txt");
                body += &format!("@{:x}\n^1 {folder}/{file}\n", HEXADECIMAL | TRANSLATED);
                tables.insert(file, line.meaning);
            } else {
                body += &format!("@{:x}\n", if line.signal.width == 1 { BINARY } else { HEXADECIMAL });
            }
            body += &trace(line);
        }
        body += &format!("@{:x}\n-{}\n", END | end, group.name);
    }
    let unit = 10_f64.powi(i32::from(hierarchy.exponent));
    let alone = hierarchy.scopes().any(|scope| scope == "TOP.meshkv_mesh");
    let cycle = if alone { OF_MESH } else { 1e-6 / design.clock.noc_mhz };
    let zoom = -(CYCLES * cycle / unit).log2();
    let no_markers = " -1".repeat(27);
    let head = format!(
        "[*] A flit's way through {}, by meshkv. Open with: gtkwave {stem}.fst {stem}.gtkw\n\
         [dumpfile] \"{stem}.fst\"\n[savefile] \"{stem}.gtkw\"\n[timestart] {}\n[size] 1600 900\n[pos] -1 -1\n\
         *{zoom:.6} {}{no_markers}\n[sst_width] 0\n[signals_width] 460\n[sst_expanded] 0\n",
        design.name, hierarchy.times.0, hierarchy.times.0
    );
    let mut files = vec![(waves.with_extension("gtkw"), head + &body)];
    for (file, meaning) in tables {
        let digits = width_of(&file).div_ceil(4) as usize;
        let lines = meaning.values(design);
        let text: String = lines.iter().map(|(value, name)| format!("{value:0digits$X} {name}\n")).collect();
        files.push((waves.with_file_name(&folder).join(file), text));
    }
    files
}

/// Bits of the signals that a filter file is for: the number in its name.
fn width_of(file: &str) -> u32 {
    let number = file.trim_end_matches(".txt").rsplit('-').next();
    number.and_then(|number| number.parse().ok()).unwrap_or(1)
}

/// The line of a signal, with its short name.
fn trace(line: &Line) -> String {
    format!("+{{{}}} {}{}\n", line.name, line.signal.path, line.signal.range)
}
