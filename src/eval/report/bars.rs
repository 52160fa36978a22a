//! Draws a metric of some points, a bar for each series.

use super::canvas::{interval, picture, short, write, Area, Drawn, FAINT, GRID, INK, SERIES};
use super::plot::Plot;
use super::Group;
use crate::eval::spread::Spread;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Part of a place that its bars fill.
const FILLED: f64 = 0.8;

/// Units of the chart between its axes, about.
const CHART: f64 = 470.0;
/// Units of a letter of a number, and of its height.
const LETTER: f64 = 7.0;
const HEIGHT: f64 = 13.0;

/// Way in which the numbers of bars are written, so that none lies on a bar or on another number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Across,
    Upwards,
    /// The table of the page has them.
    Left,
}

impl Numbers {
    /// Of so many bars in all, whose longest number has so many letters.
    fn of(bars: usize, letters: usize) -> Numbers {
        let pitch = CHART * FILLED / bars.max(1) as f64;
        match (pitch >= LETTER * letters as f64, pitch >= HEIGHT) {
            (true, _) => Numbers::Across,
            (false, true) => Numbers::Upwards,
            (false, false) => Numbers::Left,
        }
    }

    /// The end of the axis above the highest bar, as a multiple of it.
    fn room(self, letters: usize) -> f64 {
        match self {
            Numbers::Across | Numbers::Left => 1.12,
            Numbers::Upwards => 1.08 + letters as f64 * LETTER / 300.0,
        }
    }
}

/// Draws the picture.
///
/// # Errors
/// If it cannot be drawn.
pub(super) fn bars(plot: &Plot<'_>) -> anyhow::Result<String> {
    let mut places: Vec<&str> = Vec::new();
    for group in plot.groups.iter().filter(|group| plot.series.contains(&group.series)) {
        if !places.contains(&group.x.as_str()) {
            places.push(&group.x);
        }
    }
    // Each picture has a scale of its own: that of another would leave most of it blank.
    let own = plot.groups.iter().filter(|group| plot.series.contains(&group.series));
    let spreads: Vec<Spread> = own.filter_map(|group| group.y[plot.at]).collect();
    let letters = spreads.iter().map(|spread| short(spread.mean).chars().count()).max().unwrap_or(0);
    let numbers = Numbers::of(places.len() * plot.series.len(), letters);
    let highest = spreads.iter().map(|spread| spread.mean + spread.half.unwrap_or(0.0)).fold(0.0, f64::max);
    let top = if highest > 0.0 { highest * numbers.room(letters) } else { 1.0 };
    picture([&plot.title, &plot.subtitle], &plot.names, |root, below| {
        let mut chart = ChartBuilder::on(below)
            .x_label_area_size(56)
            .y_label_area_size(68)
            .build_cartesian_2d(0.0..places.len() as f64, 0.0..top)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .x_labels(0)
            .x_desc(plot.x_name.as_str())
            .y_desc(plot.y_name.as_str())
            .axis_style(FAINT)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 15).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 15).into_font().color(&INK))
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        let pixel = |x: f64, y: f64| chart.backend_coord(&(x, y));
        for (at, name) in places.iter().enumerate() {
            let (x, y) = pixel(at as f64 + 0.5, 0.0);
            // Long names alternate between two lines.
            let crowded = places.len() * name.chars().count() * 9 > 470;
            let line = if crowded && at % 2 == 1 { 20 } else { 6 };
            write(root, name, 14, INK, (x, y + line), (HPos::Center, VPos::Top))?;
        }
        let width = FILLED / plot.series.len() as f64;
        for group in plot.groups {
            let series = plot.series.iter().position(|series| *series == group.series);
            let place = places.iter().position(|place| *place == group.x);
            let Some((series, place)) = series.zip(place) else { continue };
            let left = place as f64 + (1.0 - FILLED) / 2.0 + series as f64 * width;
            bar(root, plot, group, (series, left, width), (numbers, &pixel))?;
        }
        Ok(())
    })
}

fn bar(
    root: &Area<'_>,
    plot: &Plot<'_>,
    group: &Group,
    (series, left, width): (usize, f64, f64),
    (numbers, pixel): (Numbers, &dyn Fn(f64, f64) -> (i32, i32)),
) -> Drawn {
    let Some(spread) = group.y[plot.at] else { return Ok(()) };
    let colour = SERIES[series % SERIES.len()];
    let (from, to) = (pixel(left, spread.mean), pixel(left + width, 0.0));
    root.draw(&Rectangle::new([from, (to.0 - 1, to.1)], colour.filled()))?;
    let half = spread.half.unwrap_or(0.0);
    let middle = left + width / 2.0;
    let (low, high) = (pixel(middle, (spread.mean - half).max(0.0)), pixel(middle, spread.mean + half));
    if low.1 - high.1 > 2 {
        interval(root, low, high, INK)?;
    }
    let (text, place) = (short(spread.mean), (high.0, high.1 - 4));
    match numbers {
        Numbers::Across => write(root, &text, 12, INK, place, (HPos::Center, VPos::Bottom)),
        Numbers::Upwards => upwards(root, &text, place),
        Numbers::Left => Ok(()),
    }
}

/// Writes a number from a place upwards.
fn upwards(root: &Area<'_>, text: &str, place: (i32, i32)) -> Drawn {
    let font = ("sans-serif", 12).into_font().transform(FontTransform::Rotate270);
    let style = font.color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    root.draw(&Text::new(text.to_owned(), place, style))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_only_where_none_lies_on_a_bar() {
        assert_eq!(Numbers::of(6, 7), Numbers::Across);
        assert_eq!(Numbers::of(18, 7), Numbers::Upwards);
        assert_eq!(Numbers::of(40, 7), Numbers::Left);
        assert!(Numbers::Upwards.room(7) > Numbers::Across.room(7));
    }

    #[test]
    fn a_picture_has_a_scale_of_its_own() {
        let group = |series: &str, mean: f64| Group {
            series: vec![series.to_owned()],
            x: "a".to_owned(),
            values: Vec::new(),
            seeds: vec![1],
            y: vec![Some(Spread::of(&[mean]))],
            bound: false,
            zero_load: None,
        };
        let groups = [group("small", 10.0), group("large", 9000.0)];
        let plot = |name: &str| Plot {
            title: String::new(),
            subtitle: String::new(),
            x: "mesh",
            x_name: "mesh".to_owned(),
            y_name: "y".to_owned(),
            at: 0,
            groups: &groups,
            series: vec![vec![name.to_owned()]],
            names: vec![name.to_owned()],
            is_latency: false,
        };
        let svg = bars(&plot("small")).unwrap();
        assert!(!svg.contains("9000") && !svg.contains("8000") && svg.contains("\n10\n"), "{svg}");
    }
}
