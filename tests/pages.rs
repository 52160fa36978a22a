//! Pages of the documentation, as readers of Markdown take them.

use std::fs;
use std::path::PathBuf;

/// The pages of the repository.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir("docs").unwrap().flatten().map(|entry| entry.path());
    let top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(PathBuf::from);
    docs.filter(|path| path.extension().is_some_and(|kind| kind == "md")).chain(top).collect()
}

/// True for the line below the heading of a table.
fn is_rule(line: &str) -> bool {
    line.starts_with('|') && line.contains('-') && line.chars().all(|c| "|-: ".contains(c))
}

#[test]
fn every_table_of_every_page_has_a_heading() {
    let mut wrong = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let mut code = false;
        for (at, line) in lines.iter().enumerate() {
            code ^= line.trim_start().starts_with("```");
            let begins = line.starts_with('|') && (at == 0 || !lines[at - 1].starts_with('|'));
            let headed = lines.get(at + 1).is_some_and(|next| is_rule(next));
            if begins && !code && !headed {
                wrong.push(format!("{}:{}: rows without a heading", page.display(), at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
