//! Draws accepted over offered traffic of a network, over a sweep of the load.

use crate::eval::report::picture::canvas::{picture, short, Area, Drawn, FAINT, GRID, INK, SERIES};
use crate::eval::sweep::saturation::Sweep;
use plotters::prelude::*;

/// Draws the accepted over the offered rate: one line while the network takes all of it, a level beyond saturation.
/// Both rates are deliveries, so that copies of multicast packets count alike.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn accepted_plot(title: &str, sweep: &Sweep) -> anyhow::Result<String> {
    let mut points: Vec<(f64, f64)> =
        sweep.points.iter().map(|row| (row.offered_deliveries, row.accepted)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    picture(["Accepted over offered rate", title], &[], |_, below| draw(below, &points))
}

fn draw(below: &Area<'_>, points: &[(f64, f64)]) -> Drawn {
    let right = points.iter().map(|point| point.0).fold(1e-9, f64::max) * 1.04;
    let top = points.iter().map(|point| point.1).fold(1e-9, f64::max) * 1.08;
    let mut chart = ChartBuilder::on(below)
        .x_label_area_size(46)
        .y_label_area_size(68)
        .build_cartesian_2d(0.0..right, 0.0..top)?;
    let style = ("sans-serif", 15).into_font().color(&INK);
    chart
        .configure_mesh()
        .x_desc("offered rate (deliveries due / node / cycle)")
        .y_desc("accepted rate (delivered flits / node / cycle)")
        .axis_style(FAINT)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(style.clone())
        .axis_desc_style(style)
        .x_label_formatter(&|x| short(*x))
        .y_label_formatter(&|y| short(*y))
        .draw()?;
    // All that is offered.
    let end = right.min(top);
    chart.draw_series(DashedLineSeries::new([(0.0, 0.0), (end, end)], 5, 4, FAINT.stroke_width(1)))?;
    chart.draw_series(LineSeries::new(points.iter().copied(), SERIES[0].stroke_width(2)))?;
    chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, SERIES[0].filled())))?;
    Ok(())
}
