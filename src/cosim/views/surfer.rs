//! A view as a Surfer command file, with a mapping for each table of values.
//!
//! Surfer's state files depend on its version; its commands are documented and stay. Groups are
//! dividers, since no command puts signals that were just added into a group.

use super::file::{stem, ViewFile};
use super::groups::Group;
use super::meaning::Meaning;
use crate::design::Design;
use std::collections::BTreeMap;
use std::path::Path;

/// Folder in which Surfer, started beside the waves, looks for mappings.
const MAPPINGS: &str = ".surfer/mappings";

/// The command file beside `waves`, then the mappings.
pub(super) fn files(waves: &Path, groups: &[Group], design: &Design) -> Vec<ViewFile> {
    let stem = stem(waves);
    let mut formats: BTreeMap<String, (Meaning, u32)> = BTreeMap::new();
    // Surfer skips what follows a number sign.
    let mut body = format!(
        "# A flit's way through {}, by meshkv. In this folder: surfer --command-file {stem}.sucl {stem}.fst\n",
        design.name
    );
    // An item is named by its number. Formats are set at the end: to focus an item would change the
    // place of those that are added after it.
    let mut focused = Vec::new();
    let count: usize = groups.iter().filter(|group| group.open).map(|group| group.lines.len() + 1).sum();
    let mut at = 0;
    for group in groups.iter().filter(|group| group.open) {
        body += &format!("divider_add {}\n", word(&group.name));
        at += 1;
        for line in &group.lines {
            body += &format!("variable_add {}\n", line.signal.path);
            if let Some(name) = line.meaning.table() {
                let format = format!("{stem}-{name}-{}", line.signal.width);
                focused.push((at, line.signal.path.as_str(), format.clone()));
                formats.insert(format, (line.meaning, line.signal.width));
            }
            at += 1;
        }
    }
    for (at, path, format) in focused {
        body += &format!("item_focus {}_{path}\nitem_set_format {format}\n", letters(at, count));
    }
    body += "item_unfocus\nzoom_fit\n";
    let mut files = vec![(waves.with_extension("sucl"), body)];
    for (format, (meaning, width)) in formats {
        let values = meaning.values(design);
        let lines: String = values.iter().map(|(value, name)| format!("0x{value:x} {name}\n")).collect();
        let text = format!("Name = {format}\nBits = {width}\n{lines}");
        files.push((waves.with_file_name(MAPPINGS).join(format!("{format}.txt")), text));
    }
    files
}

/// A heading as one word: Surfer reads no further than that.
fn word(heading: &str) -> String {
    let words: Vec<_> =
        heading.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.join("_")
}

/// The number of an item as Surfer writes it: the letters a to p as hexadecimal digits, as many for
/// each of `count` items.
fn letters(at: usize, count: usize) -> String {
    let digits = count.max(1).ilog(16) as usize + 1;
    let letter = |digit: char| char::from(b'a' + digit.to_digit(16).map_or(0, |value| value as u8));
    format!("{at:0digits$x}").chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_numbered_in_letters_from_a_to_p() {
        assert_eq!((letters(0, 9), letters(9, 10), letters(15, 15)), ("a".into(), "j".into(), "p".into()));
        assert_eq!((letters(0, 16), letters(26, 27)), ("aa".to_owned(), "bk".to_owned()));
    }

    #[test]
    fn headings_are_one_word() {
        assert_eq!(
            word("hop 1: router (0, 0), from its tile to east"),
            "hop_1_router_0_0_from_its_tile_to_east"
        );
    }
}
