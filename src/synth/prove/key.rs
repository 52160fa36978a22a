//! The text by which a verdict is kept: what the proof depends on, and nothing else.
//!
//! Designs share modules that differ in comments and in defaults of parameters. A default says nothing where the proof, or
//! every instance, sets the parameter: so the verdict of one design serves the others.

/// The text of a proof as its key: without comments, and with the defaults blanked of all parameters that are `set` in
/// module `top` or that each instance of another module sets.
pub(super) fn of(text: &str, top: &str, set: &[(String, String)]) -> String {
    let mut key = String::new();
    let mut module = "";
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default().trim_end();
        if code.is_empty() {
            continue;
        }
        if let Some(name) = code.strip_prefix("module ") {
            module = name.split(|c: char| !is_word(c)).next().unwrap_or_default();
        }
        let parameter = code.trim_start().strip_prefix("parameter ").and_then(|rest| rest.split_once('='));
        let blank = parameter.and_then(|(before, _)| before.split_whitespace().next_back()).filter(|name| {
            let here = set.iter().any(|(of, _)| of == name);
            if module == top {
                here
            } else {
                all_set(text, module, name)
            }
        });
        match blank {
            Some(name) => key += &format!("parameter {name}"),
            None => key += code,
        }
        key.push('\n');
    }
    key
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// True if each instance of a module sets this parameter by its name.
fn all_set(text: &str, module: &str, parameter: &str) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(module) {
        let (before, after) = (&rest[..at], &rest[at + module.len()..]);
        rest = after;
        let part = before.ends_with(is_word) || after.starts_with(is_word);
        if part || before.ends_with("module ") || in_comment(before) {
            continue;
        }
        let Some(values) = after.trim_start().strip_prefix("#(").and_then(parenthesised) else {
            return false;
        };
        if !names(values, parameter) {
            return false;
        }
    }
    true
}

/// The text ends within a comment.
fn in_comment(text: &str) -> bool {
    text.rsplit('\n').next().is_some_and(|line| line.contains("//"))
}

/// What stands before the parenthesis that closes one that is open; none if there is none.
fn parenthesised(text: &str) -> Option<&str> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth == 0 {
            return Some(&text[..at]);
        }
    }
    None
}

/// A list of connections has one of this name.
fn names(values: &str, parameter: &str) -> bool {
    values.match_indices('.').any(|(at, _)| {
        let rest = values[at + 1..].strip_prefix(parameter);
        rest.is_some_and(|rest| !rest.starts_with(is_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "// Of a.toml.\nmodule meshkv_top #(\n    // Width.\n    parameter WIDTH = 8,\n    parameter DEPTH = 4\n) (\n);\n    \
                        meshkv_leaf #(\n        .WIDTH(WIDTH),\n        .STEP ((1 + 2))\n    ) u_leaf ();\nendmodule\n\
                        module meshkv_leaf #(\n    parameter WIDTH = 3,\n    parameter STEP = 5,\n    parameter KIND = 1\n) ();\nendmodule\n";

    fn key(text: &str) -> String {
        of(text, "meshkv_top", &[("WIDTH".to_owned(), "2".to_owned())])
    }

    #[test]
    fn defaults_that_nothing_reads_make_no_difference() {
        for (from, to) in [
            ("// Of a.toml.", "// Of b.toml."),
            ("parameter WIDTH = 8", "parameter WIDTH = 9"),
            ("parameter WIDTH = 3", "parameter WIDTH = 7"),
            ("parameter STEP = 5", "parameter STEP = 6"),
        ] {
            assert_eq!(key(&TEXT.replace(from, to)), key(TEXT), "{to}");
        }
    }

    #[test]
    fn all_else_does() {
        for (from, to) in [
            ("parameter DEPTH = 4", "parameter DEPTH = 5"),
            ("parameter KIND = 1", "parameter KIND = 2"),
            ("(1 + 2)", "(1 + 3)"),
            ("u_leaf ();", "u_leaf ();\n    meshkv_leaf u_other ();"),
            ("u_leaf ();", "u_leaf ();\n    assign a = b;"),
        ] {
            assert_ne!(key(&TEXT.replace(from, to)), key(TEXT), "{to}");
        }
        // An instance that leaves a parameter out reads its default.
        let other = "u_leaf ();\n    meshkv_leaf #(.STEP(1)) u_other ();";
        let text = TEXT.replace("u_leaf ();", other);
        assert_ne!(key(&text.replace("parameter WIDTH = 3", "parameter WIDTH = 7")), key(&text));
    }
}
