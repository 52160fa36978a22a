//! Draws a metric of some points, a bar for each series.

use crate::eval::report::picture::bar_names::Names;
use crate::eval::report::picture::canvas::{
    picture, short, write, Area, Drawn, FAINT, GRID, INK, PAPER, SERIES,
};
use crate::eval::report::picture::plot::Plot;
use crate::eval::report::Group;
use crate::eval::rows::spread::Spread;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Part of a place that its bars fill.
const FILLED: f64 = 0.8;

/// Units of the chart between its axes, about.
const CHART: f64 = 460.0;
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
pub(in crate::eval::report) fn bars(plot: &Plot<'_>) -> anyhow::Result<String> {
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
    let names = Names::of(&places, CHART);
    let numbers = Numbers::of(places.len() * plot.series.len(), letters);
    let highest = spreads.iter().map(|spread| spread.mean + spread.half.unwrap_or(0.0)).fold(0.0, f64::max);
    let top = if highest > 0.0 { highest * numbers.room(letters) } else { 1.0 };
    picture([&plot.title, &plot.subtitle], &plot.names, |root, below| {
        let mut chart = ChartBuilder::on(below)
            .x_label_area_size(names.height() + 28)
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
        for at in 0..places.len() {
            names.draw(root, at, pixel(at as f64 + 0.5, 0.0))?;
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
        interval(root, low, high)?;
    }
    let (text, place) = (short(spread.mean), (high.0, high.1 - 4));
    match numbers {
        Numbers::Across => write(root, &text, 12, INK, place, (HPos::Center, VPos::Bottom)),
        Numbers::Upwards => upwards(root, &text, place),
        Numbers::Left => Ok(()),
    }
}

/// Draws an interval, half of which lies on a bar: an edge of paper keeps it apart from every colour.
fn interval(root: &Area<'_>, low: (i32, i32), high: (i32, i32)) -> Drawn {
    let cap = |(x, y): (i32, i32)| [(x - 4, y), (x + 4, y)];
    for (colour, width) in [(PAPER, 3), (INK, 1)] {
        for line in [[low, high], cap(low), cap(high)] {
            root.draw(&PathElement::new(line, colour.stroke_width(width)))?;
        }
    }
    Ok(())
}

/// Writes a number from a place upwards.
fn upwards(root: &Area<'_>, text: &str, place: (i32, i32)) -> Drawn {
    let font = ("sans-serif", 12).into_font().transform(FontTransform::Rotate270);
    let style = font.color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
    root.draw(&Text::new(text.to_owned(), place, style))
}

#[cfg(test)]
mod tests {
    use crate::eval::report::picture::bars::*;
    use crate::eval::report::picture::placed::misplaced;

    #[test]
    fn numbers_are_written_only_where_none_lies_on_a_bar() {
        assert_eq!(Numbers::of(6, 7), Numbers::Across);
        assert_eq!(Numbers::of(18, 7), Numbers::Upwards);
        assert_eq!(Numbers::of(40, 7), Numbers::Left);
        assert!(Numbers::Upwards.room(7) > Numbers::Across.room(7));
    }

    fn group(series: &str, x: &str, mean: f64) -> Group {
        Group {
            series: vec![series.to_owned()],
            x: x.to_owned(),
            values: Vec::new(),
            seeds: vec![1],
            y: vec![Some(Spread::of(&[mean]).with_error(0.02))],
            bound: false,
            zero_load: None,
        }
    }

    fn plot<'g>(groups: &'g [Group], series: &[&str]) -> Plot<'g> {
        Plot {
            title: "Time of a whole step at the configured clock".to_owned(),
            subtitle: "a_sweep".to_owned(),
            x: "mesh",
            x_name: "mesh".to_owned(),
            y_name: "latency (us)".to_owned(),
            at: 0,
            groups,
            series: series.iter().map(|name| vec![(*name).to_owned()]).collect(),
            names: series.iter().map(|name| (*name).to_owned()).collect(),
            is_latency: false,
        }
    }

    #[test]
    fn no_text_leaves_a_picture_or_lies_on_another() {
        for count in [1, 2, 3, 6, 12, 20, 40] {
            for width in [1, 2, 4] {
                let series = ["tokens 20", "tokens 40", "tokens 9000", "tokens 100000"];
                for name in [
                    "x",
                    "16x16",
                    "a_configuration_with_a_very_long_name",
                    "onewordthatisverylongandhasnoend",
                ] {
                    let place = |at: usize| format!("{name}{at}");
                    // Of very different size.
                    let value = |at: usize, s: usize| 1.2345 * 10_f64.powi(((at * 3 + s) % 7) as i32 - 2);
                    let groups: Vec<Group> = (0..count)
                        .flat_map(|at| (0..width).map(move |s| (at, s)))
                        .map(|(at, s)| group(series[s], &place(at), value(at, s)))
                        .collect();
                    let svg = bars(&plot(&groups, &series[..width])).unwrap();
                    assert_eq!(misplaced(&svg), [""; 0], "{count} places of {width} bars, {name}");
                }
            }
        }
    }

    #[test]
    fn an_interval_has_an_edge_of_paper() {
        let groups = [group("a", "x", 10.0)];
        let svg = bars(&plot(&groups, &["a"])).unwrap();
        let lines = |colour: &str, width: u32| {
            svg.matches(&format!("stroke=\"{colour}\" stroke-width=\"{width}\"")).count()
        };
        assert_eq!((lines("#FFFFFF", 3), lines("#282C34", 1)), (3, 3), "{svg}");
    }

    #[test]
    fn a_picture_has_a_scale_of_its_own() {
        let groups = [group("small", "a", 10.0), group("large", "a", 9000.0)];
        let svg = bars(&plot(&groups, &["small"])).unwrap();
        assert!(!svg.contains("9000") && !svg.contains("8000") && svg.contains("\n10\n"), "{svg}");
    }
}
