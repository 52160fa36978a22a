//! Views of the waves of one module, such as a run that breaks a property of it: its registers, then its ports and nets;
//! the modules in it are closed groups.

use super::file::{Source, ViewFile};
use super::groups::{Group, Line};
use super::hierarchy::{read, Hierarchy, ViewError};
use super::meaning::Meaning;
use super::{gtkwave, surfer};
use std::path::Path;

/// The files of the views of `waves`, as [`views`](super::views) has them, of a module of the design `name`.
///
/// # Errors
/// If `waves` is no whole FST file.
pub fn module_views(waves: &Path, name: &str) -> Result<Vec<ViewFile>, ViewError> {
    let hierarchy = read(waves)?;
    let (groups, source) = (groups(&hierarchy), Source { name, design: None });
    let mut files = gtkwave::files(waves, &hierarchy, &groups, &source);
    files.splice(1..1, surfer::files(waves, &groups, &source));
    Ok(files)
}

/// Groups of a file whose uppermost scope is the module.
fn groups(hierarchy: &Hierarchy) -> Vec<Group> {
    let mut groups = Vec::new();
    for scope in hierarchy.scopes() {
        let top = !scope.contains('.');
        // Nets that synthesis has named begin with a dollar.
        let signals: Vec<_> = hierarchy.signals(scope).filter(|(name, _)| !name.contains('$')).collect();
        for (heading, registers) in [("registers", true), ("ports and nets", false)] {
            let lines = signals.iter().filter(|(name, _)| name.ends_with("_q") == registers);
            let lines = lines.map(|(name, signal)| Line {
                name: (*name).to_owned(),
                signal: (*signal).clone(),
                meaning: Meaning::Number,
            });
            let name = if top { heading.to_owned() } else { format!("{heading} of {scope}") };
            groups.push(Group { name, open: top, lines: lines.collect() });
        }
    }
    groups.retain(|group| !group.lines.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_come_first_and_modules_below_are_closed() {
        let mut file = Hierarchy::default();
        for (scope, name) in [("f", "clk"), ("f", "count_q [1:0]"), ("f.u_g", "a_q"), ("f", "$auto$1")] {
            file.add(scope, name, 1);
        }
        let groups = groups(&file);
        let shown: Vec<_> =
            groups.iter().map(|g| (g.name.as_str(), g.open, g.lines[0].name.as_str())).collect();
        let nets = ("ports and nets", true, "clk");
        assert_eq!(shown, [("registers", true, "count_q"), nets, ("registers of f.u_g", false, "a_q")]);
        assert_eq!(groups[1].lines.len(), 1, "nets that synthesis has named are left out");
    }
}
