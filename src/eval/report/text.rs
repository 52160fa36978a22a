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
pub(in crate::eval) mod tests {
    use super::*;

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

    /// A text of a picture, and the box around it: left, top, right, bottom.
    type Placed = (String, [f64; 4]);

    /// The value of an attribute of an element.
    fn attribute<'s>(element: &'s str, name: &str) -> Option<&'s str> {
        element.split_once(&format!(" {name}=\""))?.1.split('"').next()
    }

    /// All texts of a picture.
    pub(in crate::eval) fn texts(svg: &str) -> Vec<Placed> {
        let element = |element: &str| {
            let (head, rest) = element.split_once('>').expect("a text has an end");
            let text = rest.split("</text>").next().unwrap_or_default().trim().to_owned();
            let number =
                |name: &str| attribute(head, name).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
            let (x, y, size) = (number("x"), number("y"), number("font-size"));
            // The size in the file is that of the letters.
            let width = text.chars().count() as f64 * 0.6 * size;
            let left = match attribute(head, "text-anchor") {
                Some("middle") => -width / 2.0,
                Some("end") => -width,
                _ => 0.0,
            };
            let top = match attribute(head, "dy") {
                Some("0.5ex") => -0.5 * size,
                Some("0.76em") => 0.0,
                _ => -0.8 * size,
            };
            let (right, bottom) = (left + width, top + 0.9 * size);
            let placed = match attribute(head, "transform") {
                Some(turn) if turn.starts_with("rotate(270") => [x + top, y - right, x + bottom, y - left],
                Some(turn) if turn.starts_with("rotate(90") => [x - bottom, y + left, x - top, y + right],
                _ => [x + left, y + top, x + right, y + bottom],
            };
            (text, placed)
        };
        svg.split("<text").skip(1).map(element).collect()
    }

    /// Texts that leave the picture, and pairs of which one lies on the other.
    pub(in crate::eval) fn misplaced(svg: &str) -> Vec<String> {
        let side = |name: &str| {
            attribute(svg, name).and_then(|n| n.parse::<f64>().ok()).expect("a picture has a size")
        };
        let (width, height) = (side("width"), side("height"));
        let all = texts(svg);
        let outside =
            |at: &[f64; 4]| at[0] < -1.0 || at[1] < -1.0 || at[2] > width + 1.0 || at[3] > height + 1.0;
        let mut found: Vec<String> = all
            .iter()
            .filter(|(_, at)| outside(at))
            .map(|(text, at)| format!("outside: {text} {at:?}"))
            .collect();
        for (i, (text, a)) in all.iter().enumerate() {
            for (other, b) in &all[i + 1..] {
                let apart =
                    a[2] <= b[0] + 1.0 || b[2] <= a[0] + 1.0 || a[3] <= b[1] + 1.0 || b[3] <= a[1] + 1.0;
                if !apart {
                    found.push(format!("{text} on {other}: {a:?} {b:?}"));
                }
            }
        }
        found
    }

    #[test]
    fn text_outside_a_picture_or_on_another_is_found() {
        let text = |x: u32, anchor: &str, text: &str| {
            format!("<text x=\"{x}\" y=\"50\" dy=\"0.5ex\" text-anchor=\"{anchor}\" font-size=\"10\">\n{text}\n</text>")
        };
        let svg = |inside: &[String]| format!("<svg width=\"100\" height=\"100\">{}</svg>", inside.concat());
        assert_eq!(misplaced(&svg(&[text(5, "start", "one"), text(95, "end", "two")])), [""; 0]);
        assert_eq!(misplaced(&svg(&[text(5, "end", "one")])).len(), 1);
        assert_eq!(misplaced(&svg(&[text(50, "start", "one"), text(55, "middle", "two")])).len(), 1);
    }
}
