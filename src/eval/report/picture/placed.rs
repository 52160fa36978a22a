//! Places of the texts of a picture, for tests: none may leave the picture or lie on another.

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
        let number = |name: &str| attribute(head, name).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0);
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
    let side =
        |name: &str| attribute(svg, name).and_then(|n| n.parse::<f64>().ok()).expect("a picture has a size");
    let (width, height) = (side("width"), side("height"));
    let all = texts(svg);
    let outside = |at: &[f64; 4]| at[0] < -1.0 || at[1] < -1.0 || at[2] > width + 1.0 || at[3] > height + 1.0;
    let mut found: Vec<String> = all
        .iter()
        .filter(|(_, at)| outside(at))
        .map(|(text, at)| format!("outside: {text} {at:?}"))
        .collect();
    for (i, (text, a)) in all.iter().enumerate() {
        for (other, b) in &all[i + 1..] {
            let apart = a[2] <= b[0] + 1.0 || b[2] <= a[0] + 1.0 || a[3] <= b[1] + 1.0 || b[3] <= a[1] + 1.0;
            if !apart {
                found.push(format!("{text} on {other}: {a:?} {b:?}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::eval::report::picture::placed::*;

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
