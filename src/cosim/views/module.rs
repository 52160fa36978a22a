//! Views of the waves of one module, such as a run that breaks a property of it: ports, registers, then all other signals
//! of the module itself; the modules in it are closed groups.

use super::file::ViewFile;
use super::groups::{Group, Line};
use super::hierarchy::{read, Hierarchy, ViewError};
use super::meaning::Meaning;
use super::{gtkwave, surfer};
use crate::design::Design;
use std::path::Path;

/// The files of the views of `waves`, as [`views`](super::views) has them. `ports` are the names of the module's ports.
///
/// # Errors
/// If `waves` is no whole FST file.
pub fn module_views(waves: &Path, design: &Design, ports: &[String]) -> Result<Vec<ViewFile>, ViewError> {
    let hierarchy = read(waves)?;
    let groups = groups(&hierarchy, ports);
    let mut files = gtkwave::files(waves, &hierarchy, &groups, design);
    files.splice(1..1, surfer::files(waves, &groups, design));
    Ok(files)
}

/// Groups of a file whose uppermost scope is the module.
fn groups(hierarchy: &Hierarchy, ports: &[String]) -> Vec<Group> {
    let mut groups = Vec::new();
    for scope in hierarchy.scopes() {
        let top = !scope.contains('.');
        // Nets that synthesis has named begin with a dollar.
        let signals: Vec<_> = hierarchy.signals(scope).filter(|(name, _)| !name.contains('$')).collect();
        let mut add = |heading: &str, wanted: &dyn Fn(&str) -> bool| {
            let lines = signals.iter().filter(|(name, _)| wanted(name)).map(|(name, signal)| Line {
                name: (*name).to_owned(),
                signal: (*signal).clone(),
                meaning: Meaning::Number,
            });
            let name = if top { heading.to_owned() } else { format!("{heading} of {scope}") };
            groups.push(Group { name, open: top, lines: lines.collect() });
        };
        let port = |name: &str| top && ports.iter().any(|port| port == name);
        add("ports", &port);
        add("registers", &|name| !port(name) && name.ends_with("_q"));
        add("other signals", &|name| !port(name) && !name.ends_with("_q"));
    }
    groups.retain(|group| !group.lines.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_first_then_registers_and_modules_below_are_closed() {
        let mut file = Hierarchy::default();
        for (scope, name) in
            [("f", "clk"), ("f", "count_q [1:0]"), ("f", "takes"), ("f.u_g", "a_q"), ("f", "$auto$1")]
        {
            file.add(scope, name, 1);
        }
        let groups = groups(&file, &["clk".to_owned()]);
        let shown: Vec<_> =
            groups.iter().map(|g| (g.name.as_str(), g.open, g.lines[0].name.as_str())).collect();
        assert_eq!(
            shown,
            [
                ("ports", true, "clk"),
                ("registers", true, "count_q"),
                ("other signals", true, "takes"),
                ("registers of f.u_g", false, "a_q")
            ]
        );
    }
}
