//! Common part of all pictures of a report: size, colours, title, legend, and numbers on axes.

use crate::eval::report::picture::text::{extent, fitted};
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
/// Fill and edge of a box on the paper.
pub(in crate::eval) const PANEL: RGBColor = RGBColor(240, 241, 244);
pub(in crate::eval) const EDGE: RGBColor = RGBColor(190, 194, 202);

/// Colours of a heat map, from nothing to most: near white over yellow and orange to dark red. Lightness falls
/// all the way, so that they survive grey print; on a dark page it rises.
const HEAT: [RGBColor; 16] = [
    RGBColor(250, 250, 245),
    RGBColor(251, 244, 220),
    RGBColor(252, 237, 194),
    RGBColor(253, 231, 169),
    RGBColor(254, 224, 144),
    RGBColor(254, 208, 128),
    RGBColor(253, 191, 111),
    RGBColor(253, 175, 95),
    RGBColor(251, 158, 79),
    RGBColor(241, 131, 68),
    RGBColor(230, 104, 57),
    RGBColor(220, 77, 47),
    RGBColor(203, 51, 40),
    RGBColor(175, 34, 39),
    RGBColor(148, 17, 39),
    RGBColor(120, 0, 38),
];

/// The colour of a share, from 0 to 1, of the most that a heat map shows.
pub(in crate::eval) fn heat(share: f64) -> RGBColor {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    // Only nothing at all has the first colour.
    let step = (share * (HEAT.len() - 1) as f64).ceil();
    HEAT[step as usize]
}

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
    let named =
        [(INK, "ink"), (FAINT, "faint"), (GRID, "grid"), (PAPER, "paper"), (PANEL, "box"), (EDGE, "edge")];
    let series = SERIES.iter().enumerate().map(|(i, &colour)| (colour, format!("s{i}")));
    let heat = HEAT.iter().enumerate().map(|(i, &colour)| (colour, format!("h{i}")));
    named.map(|(colour, name)| (colour, name.to_owned())).into_iter().chain(series).chain(heat).collect()
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

/// Draws a picture of any height with its title, and the output of `plot` below it.
///
/// # Errors
/// If it cannot be drawn.
pub(in crate::eval) fn picture_of(
    height: u32,
    [title, subtitle]: [&str; 2],
    plot: impl FnOnce(&Area<'_>) -> Drawn,
) -> anyhow::Result<String> {
    let mut svg = String::new();
    let draw = || {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        root.fill(&PAPER)?;
        let (name, size) = fitted(title, 18, BETWEEN);
        write(&root, &name, size, INK, (16, 12), (HPos::Left, VPos::Top))?;
        for (line, text) in (0..).zip(wrapped(subtitle)) {
            write(&root, &text, 13, FAINT, (16, 34 + 16 * line), (HPos::Left, VPos::Top))?;
        }
        plot(&root)?;
        root.present()
    };
    draw().map_err(|e: DrawingAreaErrorKind<std::io::Error>| anyhow::anyhow!("cannot draw {title}: {e}"))?;
    Ok(svg)
}

/// Most letters of a subtitle in one line.
const LETTERS: usize = 84;

/// A subtitle in lines of at most [`LETTERS`] letters, cut at spaces.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + word.chars().count() < LETTERS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Units between the margins of a picture.
const BETWEEN: i32 = WIDTH as i32 - 32;

/// Writes the title, and below it the subtitle, in smaller letters if they are long.
fn titles(root: &Area<'_>, title: &str, subtitle: &str) -> Drawn {
    for (text, most, colour, y) in [(title, 18, INK, 12), (subtitle, 14, FAINT, 36)] {
        let (text, size) = fitted(text, most, BETWEEN);
        write(root, &text, size, colour, (16, y), (HPos::Left, VPos::Top))?;
    }
    Ok(())
}

fn draw(
    svg: &mut String,
    [title, subtitle]: [&str; 2],
    series: &[String],
    plot: impl FnOnce(&Area<'_>, &Area<'_>) -> Drawn,
) -> Drawn {
    let longest = series.iter().map(|name| extent(name, 14)).max().unwrap_or(0) as u32;
    let column = (longest + 56).min(WIDTH - 40);
    let columns = ((WIDTH - 40) / column).max(1);
    let shown = if series.len() > 1 { series } else { &[] };
    let lines = (shown.len() as u32).div_ceil(columns);
    let height = TITLE + PLOT + lines * LEGEND_LINE + if lines > 0 { 12 } else { 8 };
    let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
    root.fill(&PAPER)?;
    titles(&root, title, subtitle)?;
    for (i, name) in shown.iter().enumerate() {
        let (line, place) = (i as u32 / columns, i as u32 % columns);
        let x = (20 + place * column) as i32;
        let y = (TITLE + PLOT + line * LEGEND_LINE + 12) as i32;
        let colour = SERIES[i % SERIES.len()];
        root.draw(&PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2)))?;
        mark(&root, (x + 12, y), i, true)?;
        let (name, size) = fitted(name, 14, column as i32 - 32);
        write(&root, &name, size, INK, (x + 32, y), (HPos::Left, VPos::Center))?;
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

/// Round numbers of a logarithmic axis from `low` to `high`, both above 0: a few of each decade, or decades alone
/// if there are many.
pub(in crate::eval) fn decades(low: f64, high: f64) -> Vec<f64> {
    let steps: &[f64] = match (high / low).log10() {
        span if span > 4.0 => &[1.0],
        span if span > 1.3 => &[1.0, 2.0, 5.0],
        _ => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
    };
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let all = (first..=last).flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)));
    all.filter(|&at| (low * 0.999..=high * 1.001).contains(&at)).collect()
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
    use crate::eval::report::picture::canvas::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in
            [(0.0, "0"), (0.25, "0.25"), (100.0, "100"), (1200.0, "1200"), (3.4e6, "3.4 M"), (2e-5, "2.0e-5")]
        {
            assert_eq!(short(x), text);
        }
    }

    #[test]
    fn ticks_of_a_logarithmic_axis_are_round_and_few() {
        assert_eq!(decades(1.0, 100.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(decades(5.0, 31.0), [5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0]);
        assert_eq!(decades(1.0, 1e6).len(), 7);
    }

    #[test]
    fn long_subtitles_take_two_lines() {
        assert_eq!(wrapped("a short one"), ["a short one"]);
        let long = ["word"; 20].join(" ");
        assert_eq!(wrapped(&long).iter().map(|line| line.len()).collect::<Vec<_>>(), [84, 14]);
    }

    #[test]
    fn every_colour_of_a_picture_follows_the_page() {
        let svg = picture(["a", "b"], &["p".to_owned(), "q".to_owned()], |_, _| Ok(())).unwrap();
        assert!(svg.contains("\"#FFFFFF\"") && svg.contains("\"#005AB5\""), "{svg}");
        let themed = with_theme(&svg);
        assert!(!themed.contains("\"#") && themed.contains("var(--s1)"), "{themed}");
        // No two colours are one, and the style of a page defines each.
        let colours: std::collections::BTreeSet<_> =
            super::themed().into_iter().map(|(RGBColor(r, g, b), _)| (r, g, b)).collect();
        assert_eq!(colours.len(), super::themed().len());
        let style = include_str!("../../../../templates/report/page.css");
        for (_, name) in super::themed() {
            assert_eq!(style.matches(&format!("--{name}:")).count(), 2, "{name} for light and dark");
        }
    }
}
