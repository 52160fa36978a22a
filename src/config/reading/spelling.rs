//! Finds the known word closest to a misspelt one.

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`. Swapped letters are the commonest
/// slip: one edit, not two.
pub(in crate::config) fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

/// The known word closest to `word`, unless it is too far to help.
pub(in crate::config) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (edits, best) = known.map(|k| (distance(word, k), k)).min()?;
    (edits <= (word.chars().count() / 3).max(1)).then_some(best)
}

#[cfg(test)]
mod tests {
    use crate::config::reading::spelling::*;

    #[test]
    fn distance_counts_edits() {
        for (a, b, edits) in [
            ("cols", "cols", 0),
            ("flit_widht", "flit_width", 1),
            ("col", "cols", 1),
            ("", "abc", 3),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits, "{b} {a}");
        }
    }

    #[test]
    fn a_far_word_is_no_suggestion() {
        let known = ["cols", "rows"];
        assert_eq!(nearest("colls", known.into_iter()), Some("cols"));
        assert_eq!(nearest("frequency", known.into_iter()), None);
        assert_eq!(nearest("colour", known.into_iter()), None);
    }
}
