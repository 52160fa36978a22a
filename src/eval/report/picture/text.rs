//! Room of text in a picture: how wide it is, and how it is made to fit.
//!
//! Widths are those of DejaVu Sans, which is broader than most fonts that a browser takes instead.

/// Width of a letter over the size of its font, about. Plotters draws a font of size 12.4 in letters of 10 units.
const LETTER: f64 = 0.52;

/// Size of the smallest letters.
const SMALLEST: u32 = 11;

/// Units that a text of this size takes, about.
pub(in crate::eval) fn extent(text: &str, size: u32) -> i32 {
    (text.chars().count() as f64 * LETTER * f64::from(size)).ceil() as i32
}

/// Letters of this size that so many units hold.
pub(in crate::eval) fn letters(units: f64, size: u32) -> usize {
    (units / (LETTER * f64::from(size))).max(0.0) as usize
}

/// A text and its size, made to fit into so many units: in smaller letters, and then cut.
pub(in crate::eval) fn fitted(text: &str, size: u32, most: i32) -> (String, u32) {
    let fits = |size: &u32| extent(text, *size) <= most;
    match (SMALLEST.min(size)..=size).rev().find(fits) {
        Some(size) => (text.to_owned(), size),
        None => (cut(text, letters(f64::from(most), SMALLEST)), SMALLEST.min(size)),
    }
}

/// A text of at most so many letters.
pub(in crate::eval) fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A name in lines of at most so many letters, broken behind its words; `None` if a word is too long.
pub(in crate::eval) fn broken(name: &str, most: usize) -> Option<Vec<String>> {
    let mut lines = vec![String::new()];
    for word in name.split_inclusive(['_', '-', ' ', ',']) {
        let length = word.trim_end().chars().count();
        let line = lines.last_mut()?;
        if length > most {
            return None;
        }
        match line.chars().count() + length > most {
            true => lines.push(word.to_owned()),
            false => line.push_str(word),
        }
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use crate::eval::report::picture::text::*;

    #[test]
    fn text_is_made_to_fit() {
        assert_eq!(fitted("short", 18, 500), ("short".to_owned(), 18));
        let (text, size) = fitted(&"a".repeat(50), 18, 500);
        assert!(text.len() == 50 && size == 18, "{size}");
        let (text, size) = fitted(&"a".repeat(70), 18, 500);
        assert!(text.len() == 70 && (11..18).contains(&size), "{size}");
        let (text, size) = fitted(&"a".repeat(500), 18, 500);
        assert!(size == 11 && text.ends_with('…') && extent(&text, size) <= 500, "{text}");
        assert_eq!(broken("one_two_three", 8), Some(vec!["one_two_".to_owned(), "three".to_owned()]));
        assert_eq!(broken("a_word_that_is_long", 3), None);
        assert_eq!(cut("12345", 4), "123…");
    }
}
