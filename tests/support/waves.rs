//! Views beside waves, held against what the wave file itself contains.

use fst_reader::{FstHierarchyEntry, FstReader};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

/// Names of all signals of a wave file, as GTKWave writes them, and without their ranges.
fn signals(waves: &Path) -> BTreeSet<String> {
    let mut reader = FstReader::open(BufReader::new(File::open(waves).unwrap())).unwrap();
    let (mut scopes, mut names) = (Vec::new(), BTreeSet::new());
    let entry = |entry| match entry {
        FstHierarchyEntry::Scope { name, .. } => scopes.push(name),
        FstHierarchyEntry::UpScope => drop(scopes.pop()),
        FstHierarchyEntry::Var { name, .. } => {
            let path = format!("{}.{name}", scopes.join("."));
            names.insert(path.split(' ').next().unwrap().to_owned());
            names.insert(path.replace(' ', ""));
        }
        _ => {}
    };
    reader.read_hierarchy(entry).unwrap();
    names
}

/// Checks that both views exist and name nothing that the wave file or their folder lacks. Returns the headings of the
/// view for GTKWave, the first line of each group.
pub fn headings(waves: &Path) -> Vec<String> {
    let names = signals(waves);
    let folder = waves.parent().unwrap();
    let read = |extension: &str| {
        let path = waves.with_extension(extension);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (gtkwave, surfer) = (read("gtkw"), read("sucl"));
    let mut shown = 0;
    for line in gtkwave.lines() {
        if let Some((_, name)) = line.strip_prefix("+{").and_then(|line| line.split_once("} ")) {
            assert!(names.contains(name), "GTKWave: {name}");
            shown += 1;
        }
        if let Some(table) = line.strip_prefix("^1 ") {
            let lines = fs::read_to_string(folder.join(table)).expect(table);
            assert!(lines.lines().all(|line| line.contains(' ')), "{table}: {lines}");
        }
    }
    for line in surfer.lines() {
        if let Some(name) = line.strip_prefix("variable_add ") {
            assert!(names.contains(name), "Surfer: {name}");
        }
        if let Some(format) = line.strip_prefix("item_set_format ") {
            let mapping = folder.join(".surfer/mappings").join(format!("{format}.txt"));
            let lines = fs::read_to_string(mapping).expect(format);
            assert!(lines.starts_with(&format!("Name = {format}\nBits = ")), "{lines}");
        }
    }
    assert!(shown > 0, "{gtkwave}");
    let begins = gtkwave.lines().zip(gtkwave.lines().skip(1));
    let begins = begins.filter(|(flags, _)| ["@800200", "@c00200"].contains(flags));
    begins.map(|(_, name)| name.trim_start_matches('-').to_owned()).collect()
}
