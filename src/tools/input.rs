//! Reads files of a user up to a size, and quotes them in messages that stay on a screen.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Characters of a line of a message.
const SENTENCE: usize = 600;
/// Characters of a line that a message quotes.
const QUOTED: usize = 160;
/// Characters before the place that it is about.
const BEFORE: usize = 60;

/// All of a file, or of what else has this path.
///
/// # Errors
/// When it cannot be read, or has more than `most` bytes.
pub(crate) fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

/// Part of a line around `at`, with the place of `at` in it: all of a line that is not long. Places are in characters.
pub(crate) fn excerpt(line: &str, at: usize) -> (String, usize) {
    around(line, at, QUOTED)
}

fn around(line: &str, at: usize, most: usize) -> (String, usize) {
    let length = line.chars().count();
    if length <= most {
        return (line.to_owned(), at);
    }
    let first = at.saturating_sub(BEFORE).min(length - most);
    let mut shown: String = line.chars().skip(first).take(most).collect();
    if first + most < length {
        shown.push('…');
    }
    match first {
        0 => (shown, at),
        _ => (format!("…{shown}"), at - first + 1),
    }
}

/// A message whose long lines are cut.
pub(crate) fn clipped(text: &str) -> String {
    let lines = text.split('\n').map(|line| around(line, 0, SENTENCE).0);
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_a_long_line_stays_the_same_character() {
        let line: String = (0..5000).map(|i| char::from(b'a' + (i % 26) as u8)).collect();
        for at in [0, 1, BEFORE, QUOTED, 2000, 4998, 4999] {
            let (shown, there) = excerpt(&line, at);
            assert!(shown.chars().count() <= QUOTED + 2, "{shown}");
            assert_eq!(shown.chars().nth(there), line.chars().nth(at), "{at}: {shown}");
        }
        assert_eq!(excerpt("short", 3), ("short".to_owned(), 3));
    }

    #[test]
    fn what_never_ends_is_refused() {
        let error = read(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 1 MiB");
    }
}
