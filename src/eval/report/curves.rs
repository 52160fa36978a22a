//! Draws a metric over a number, a line for each series.

use super::canvas::{interval, mark, picture, short, Area, Drawn, FAINT, GRID, INK, SERIES};
use super::plot::Plot;
use crate::eval::plot::within;
use crate::eval::NOT_SHOWN_ABOVE;
use plotters::prelude::*;

/// One line.
struct Line<'p> {
    /// Colour and mark.
    number: usize,
    /// x, mean, half of the interval, and true for a lower bound; by rising x.
    points: Vec<(f64, f64, f64, bool)>,
    plot: &'p Plot<'p>,
}

impl<'p> Line<'p> {
    fn new(plot: &'p Plot<'p>, number: usize) -> Line<'p> {
        let of = |group: &super::Group| {
            let spread = group.y[plot.at]?;
            Some((group.x.parse::<f64>().ok()?, spread.mean, spread.half.unwrap_or(0.0), group.bound))
        };
        let own = plot.groups.iter().filter(|group| group.series == plot.series[number]);
        let mut points: Vec<_> = own.filter_map(of).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Line { number, points, plot }
    }
}

/// Upper edge of the picture: latencies beyond saturation depend only on the length of the run.
fn top(plot: &Plot<'_>, lines: &[Line<'_>]) -> f64 {
    let all = || lines.iter().flat_map(|line| &line.points);
    let highest = all().map(|(_, y, half, _)| y + half).fold(0.0, f64::max) * 1.06;
    let zero_loads = plot.groups.iter().filter_map(|group| group.zero_load);
    let most = NOT_SHOWN_ABOVE * zero_loads.fold(0.0, f64::max);
    match plot.is_latency && most > 0.0 {
        _ if highest <= 0.0 => 1.0,
        true => highest.min(most),
        false => highest,
    }
}

/// Draws the picture.
///
/// # Errors
/// If it cannot be drawn.
pub(super) fn curves(plot: &Plot<'_>) -> anyhow::Result<String> {
    let lines: Vec<Line<'_>> = (0..plot.series.len()).map(|number| Line::new(plot, number)).collect();
    let top = top(plot, &lines);
    let xs = || lines.iter().flat_map(|line| &line.points).map(|point| point.0);
    let (low, high) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
    let room = ((high - low) * 0.04).max(high.abs() * 1e-3).max(1e-9);
    // A load axis begins at 0, other axes need not.
    let left = if plot.x == "load" { 0.0 } else { low - room };
    picture([&plot.title, &plot.subtitle], &plot.names, |root, below| {
        let mut chart = ChartBuilder::on(below)
            .x_label_area_size(46)
            .y_label_area_size(68)
            .build_cartesian_2d(left..high + room, 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc(plot.x_name.as_str())
            .y_desc(plot.y_name.as_str())
            .axis_style(FAINT)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 15).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 15).into_font().color(&INK))
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        for line in &lines {
            let colour = SERIES[line.number % SERIES.len()];
            let means: Vec<(f64, f64)> = line.points.iter().map(|&(x, y, ..)| (x, y)).collect();
            chart.draw_series(LineSeries::new(within(&means, top), colour.stroke_width(2)))?;
            let pixel = |x: f64, y: f64| chart.backend_coord(&(x, y));
            marks(root, line, top, &pixel)?;
        }
        Ok(())
    })
}

fn marks(root: &Area<'_>, line: &Line<'_>, top: f64, pixel: &dyn Fn(f64, f64) -> (i32, i32)) -> Drawn {
    let colour = SERIES[line.number % SERIES.len()];
    let inside = line.points.iter().take_while(|(_, y, ..)| *y <= top);
    for &(x, y, half, bound) in inside {
        // An interval that is no wider than the mark only blurs it.
        let (low, high) = (pixel(x, (y - half).max(0.0)), pixel(x, (y + half).min(top)));
        if low.1 - high.1 > 8 {
            interval(root, low, high, colour)?;
        }
        mark(root, pixel(x, y), line.number, !(bound && line.plot.is_latency))?;
    }
    Ok(())
}
