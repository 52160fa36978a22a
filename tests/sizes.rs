//! Sizes of the source: no folder is flat, no function is long.

use crate::structure::src;
use std::fs;
use std::path::Path;

/// Files and folders that a folder of `src/` and the folder of the blocks' templates hold at most.
const MOST_ENTRIES: usize = 12;

/// Functions have at most so many lines. A kernel's, which rust-hdl reads as one, may have more.
const MOST_LINES: usize = 80;

#[test]
fn no_folder_is_flat() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src")];
    let mut flat = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        if entries.len() > MOST_ENTRIES {
            flat.push(format!("{}: {}", folder.display(), entries.len()));
        }
        folders.extend(entries.into_iter().filter(|path| path.is_dir()));
    }
    let blocks = fs::read_dir(root.join("templates/rtl")).unwrap().count();
    assert!(
        flat.is_empty() && blocks <= MOST_ENTRIES,
        "more than {MOST_ENTRIES} entries: {flat:?}, {blocks} blocks"
    );
}

/// Functions of a formatted source that are too long, each with its lines.
fn long_functions(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let begun = line.trim_start();
        let words = begun.split(['(', '<', ' ']).skip_while(|&word| word != "fn");
        let Some(name) = words.clone().nth(1).filter(|_| !begun.starts_with("//")) else { continue };
        let end = format!("{}}}", &line[..line.len() - begun.len()]);
        let kernel = at > 0 && lines[at - 1].trim() == "#[hdl_gen]";
        // A declaration has no body.
        let body = lines[at..].iter().find(|line| line.ends_with([';', '{', '}'])).map_or("", |line| line);
        let count = lines[at..].iter().position(|line| *line == end).map_or(0, |last| last + 1);
        if body.ends_with('{') && count > MOST_LINES && !kernel {
            found.push((name.to_owned(), count));
        }
    }
    found
}

#[test]
fn no_function_is_long() {
    let mut found = Vec::new();
    for (module, text) in src() {
        found.extend(long_functions(&text).into_iter().map(|(name, lines)| (module.clone(), name, lines)));
    }
    assert!(found.is_empty(), "functions above {MOST_LINES} lines: {found:?}");
}

#[test]
fn a_long_function_is_found() {
    let body = "        f();\n".repeat(MOST_LINES);
    let text = format!(
        "trait T {{\n    fn g(\n    );\n    pub(super) fn h<T>(\n        t: T,\n    ) {{\n{body}    }}\n}}\n"
    );
    assert_eq!(long_functions(&text), [("h".to_owned(), MOST_LINES + 4)]);
    assert_eq!(long_functions(&format!("    #[hdl_gen]\n    fn h() {{\n{body}    }}\n")), []);
}
