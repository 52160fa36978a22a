//! Draws a metric of some points, a bar for each series.

use super::canvas::{interval, picture, short, write, Area, Drawn, FAINT, GRID, INK, SERIES};
use super::plot::Plot;
use super::Group;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// Part of a place that its bars fill.
const FILLED: f64 = 0.8;

/// Most bars that have their number written above.
const NUMBERED: usize = 18;

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
    let spreads = plot.groups.iter().filter_map(|group| group.y[plot.at]);
    let highest = spreads.map(|spread| spread.mean + spread.half.unwrap_or(0.0)).fold(0.0, f64::max);
    let top = if highest > 0.0 { highest * 1.12 } else { 1.0 };
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
        let count = places.len() * plot.series.len();
        for group in plot.groups {
            let series = plot.series.iter().position(|series| *series == group.series);
            let place = places.iter().position(|place| *place == group.x);
            let Some((series, place)) = series.zip(place) else { continue };
            let left = place as f64 + (1.0 - FILLED) / 2.0 + series as f64 * width;
            bar(root, plot, group, (series, left, width, count), &pixel)?;
        }
        Ok(())
    })
}

fn bar(
    root: &Area<'_>,
    plot: &Plot<'_>,
    group: &Group,
    (series, left, width, count): (usize, f64, f64, usize),
    pixel: &dyn Fn(f64, f64) -> (i32, i32),
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
    if count <= NUMBERED {
        write(root, &short(spread.mean), 12, INK, (high.0, high.1 - 4), (HPos::Center, VPos::Bottom))?;
    }
    Ok(())
}
