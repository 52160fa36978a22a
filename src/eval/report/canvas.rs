//! Common part of all pictures of a report: size, colours, title, legend, and numbers on axes.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub(in crate::eval) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(in crate::eval) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Units of a picture: narrow, so that its text stays readable on a phone.
pub(in crate::eval) const WIDTH: u32 = 560;
const PLOT: u32 = 380;
const TITLE: u32 = 58;
const LEGEND_LINE: u32 = 24;

pub(in crate::eval) const INK: RGBColor = RGBColor(40, 44, 52);
pub(in crate::eval) const FAINT: RGBColor = RGBColor(140, 146, 156);
pub(in crate::eval) const GRID: RGBColor = RGBColor(228, 231, 236);
pub(in crate::eval) const PAPER: RGBColor = RGBColor(255, 255, 255);

/// Colours of series on white, after Okabe and Ito: distinct for the colour-blind, too.
pub(in crate::eval) const SERIES: [RGBColor; 8] = [
    RGBColor(0, 90, 181),
    RGBColor(205, 84, 10),
    RGBColor(0, 135, 100),
    RGBColor(150, 70, 160),
    RGBColor(180, 40, 60),
    RGBColor(120, 105, 0),
    RGBColor(0, 125, 150),
    RGBColor(90, 75, 65),
];

/// The name of each colour on a page, which defines it for light and for dark.
fn themed() -> Vec<(RGBColor, String)> {
    let named = [(INK, "ink"), (FAINT, "faint"), (GRID, "grid"), (PAPER, "paper")];
    let series = SERIES.iter().enumerate().map(|(i, &colour)| (colour, format!("s{i}")));
    named.map(|(colour, name)| (colour, name.to_owned())).into_iter().chain(series).collect()
}

/// A picture with the colours of its page, instead of its own.
pub(in crate::eval) fn with_theme(svg: &str) -> String {
    themed().into_iter().fold(svg.to_owned(), |svg, (RGBColor(r, g, b), name)| {
        svg.replace(&format!("\"#{r:02X}{g:02X}{b:02X}\""), &format!("\"var(--{name})\""))
    })
}

/// Writes text at a place; `at` selects the anchor of the text.
pub(in crate::eval) fn write(
    root: &Area<'_>,
    text: &str,
    size: u32,
    colour: RGBColor,
    place: (i32, i32),
    at: (HPos, VPos),
) -> Drawn {
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(at.0, at.1));
    root.draw(&Text::new(text.to_owned(), place, style))
}

/// Draws a picture with its title, the output of `plot` below it, and a legend of more than one
/// series.
///
/// # Errors
/// If it cannot be drawn.
pub(in crate::eval) fn picture(
    title: [&str; 2],
    series: &[String],
    plot: impl FnOnce(&Area<'_>, &Area<'_>) -> Drawn,
) -> anyhow::Result<String> {
    let mut svg = String::new();
    draw(&mut svg, title, series, plot).map_err(|e| anyhow::anyhow!("cannot draw {}: {e}", title[0]))?;
    Ok(svg)
}

fn draw(
    svg: &mut String,
    [title, subtitle]: [&str; 2],
    series: &[String],
    plot: impl FnOnce(&Area<'_>, &Area<'_>) -> Drawn,
) -> Drawn {
    // A name of n characters takes about 8 n units.
    let longest = series.iter().map(|name| name.chars().count()).max().unwrap_or(0) as u32;
    let column = (longest * 8 + 48).min(WIDTH - 40);
    let columns = ((WIDTH - 40) / column).max(1);
    let shown = if series.len() > 1 { series } else { &[] };
    let lines = (shown.len() as u32).div_ceil(columns);
    let height = TITLE + PLOT + lines * LEGEND_LINE + if lines > 0 { 12 } else { 0 };
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&PAPER)?;
    write(&root, title, 18, INK, (16, 12), (HPos::Left, VPos::Top))?;
    write(&root, subtitle, 14, FAINT, (16, 36), (HPos::Left, VPos::Top))?;
    for (i, name) in shown.iter().enumerate() {
        let (line, place) = (i as u32 / columns, i as u32 % columns);
        let x = (20 + place * column) as i32;
        let y = (TITLE + PLOT + line * LEGEND_LINE + 12) as i32;
        let colour = SERIES[i % SERIES.len()];
        root.draw(&PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2)))?;
        mark(&root, (x + 12, y), i, true)?;
        write(&root, name, 14, INK, (x + 32, y), (HPos::Left, VPos::Center))?;
    }
    let below = root.margin(TITLE, height - TITLE - PLOT, 10, 18);
    plot(&root, &below)?;
    root.present()
}

/// Draws the mark of a series at a pixel. Each has a shape of its own, so that they are distinct in
/// grey print.
pub(in crate::eval) fn mark(root: &Area<'_>, (x, y): (i32, i32), series: usize, filled: bool) -> Drawn {
    let outline: &[(i32, i32)] = match series % 4 {
        0 => &[(-4, -2), (-2, -4), (2, -4), (4, -2), (4, 2), (2, 4), (-2, 4), (-4, 2)],
        1 => &[(0, -5), (5, 4), (-5, 4)],
        2 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        _ => &[(0, -5), (5, 0), (0, 5), (-5, 0)],
    };
    let colour = SERIES[series % SERIES.len()];
    let at: Vec<(i32, i32)> = outline.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
    let fill = if filled { colour } else { PAPER };
    root.draw(&Polygon::new(at.clone(), fill.filled()))?;
    let closed: Vec<(i32, i32)> = at.iter().chain(&at[..1]).copied().collect();
    root.draw(&PathElement::new(closed, colour.stroke_width(1)))
}

/// Draws an interval, as a line with caps between two pixels of one column.
pub(in crate::eval) fn interval(
    root: &Area<'_>,
    low: (i32, i32),
    high: (i32, i32),
    colour: RGBColor,
) -> Drawn {
    let cap = |(x, y): (i32, i32)| [(x - 4, y), (x + 4, y)];
    for line in [[low, high], cap(low), cap(high)] {
        root.draw(&PathElement::new(line, colour.stroke_width(1)))?;
    }
    Ok(())
}

/// A number in an axis's format: `0.25`, `1200`, `3.4 M`.
pub(in crate::eval) fn short(x: f64) -> String {
    match x.abs() {
        size if size >= 1e9 => format!("{} G", plain(x / 1e9)),
        size if size >= 1e6 => format!("{} M", plain(x / 1e6)),
        size if size >= 1e4 => format!("{} k", plain(x / 1e3)),
        size if size > 0.0 && size < 1e-3 => format!("{x:.1e}"),
        _ => plain(x),
    }
}

/// Four significant digits, without trailing zeros.
fn plain(x: f64) -> String {
    let whole = x.abs().max(1.0).log10().floor() as usize;
    let text = format!("{x:.*}", 3_usize.saturating_sub(whole));
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in
            [(0.0, "0"), (0.25, "0.25"), (100.0, "100"), (1200.0, "1200"), (3.4e6, "3.4 M"), (2e-5, "2.0e-5")]
        {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn every_colour_of_a_picture_follows_the_page() {
        let svg = picture(["a", "b"], &["p".to_owned(), "q".to_owned()], |_, _| Ok(())).unwrap();
        assert!(svg.contains("\"#FFFFFF\"") && svg.contains("\"#005AB5\""), "{svg}");
        let themed = with_theme(&svg);
        assert!(!themed.contains("\"#") && themed.contains("var(--s1)"), "{themed}");
    }
}
