//! A program to run with its first arguments, such as `ccache g++`.
//!
//! Variables such as `CXX` hold words, as make and shells read them: those after the program are its arguments.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An executable and the arguments before all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The executable, or its name on `PATH`.
    pub path: PathBuf,
    /// Its first arguments.
    pub arguments: Vec<String>,
}

impl Program {
    /// The words of a variable; `None` if there is none.
    pub fn of_words(text: &str) -> Option<Program> {
        let mut words = words(text).into_iter();
        Some(Program { path: words.next()?.into(), arguments: words.collect() })
    }

    /// A command that runs it.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments);
        command
    }
}

impl From<&Path> for Program {
    fn from(path: &Path) -> Program {
        Program { path: path.to_owned(), arguments: Vec::new() }
    }
}

impl From<&PathBuf> for Program {
    fn from(path: &PathBuf) -> Program {
        Program::from(path.as_path())
    }
}

impl From<&Program> for Program {
    fn from(program: &Program) -> Program {
        program.clone()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.arguments.iter().try_for_each(|word| write!(f, " {word}"))
    }
}

/// True if the tool is a package of this Python, which runs it by a script.
pub fn is_python(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
}

/// Splits at blanks, as a shell does: quotes and backslashes keep blanks in a word.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                // Quotes around nothing are a word, too.
                word.get_or_insert_default();
            }
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(rest.next()),
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use crate::tools::find::program::*;

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, expected) in [
            ("g++", vec!["g++"]),
            ("  ccache\tg++  ", vec!["ccache", "g++"]),
            ("g++ -m64 -DA='a b'", vec!["g++", "-m64", "-DA=a b"]),
            ("\"/opt/my tools/g++\" ''", vec!["/opt/my tools/g++", ""]),
            ("/opt/my\\ tools/g++ \"a\\\"b\" 'a\\b'", vec!["/opt/my tools/g++", "a\"b", "a\\b"]),
            ("", vec![]),
            (" ", vec![]),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        assert_eq!(Program::of_words(" "), None);
        assert_eq!(Program::of_words("ccache g++").unwrap().to_string(), "ccache g++");
    }
}
