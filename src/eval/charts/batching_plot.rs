//! Draws the steps of a trace over time.

use crate::eval::report::picture::canvas::{picture, short, Area, Drawn, FAINT, GRID, INK, SERIES};
use crate::eval::rows::steps::batching::{BatchStep, BatchingRow};
use plotters::prelude::*;

/// A line of a picture: its name, and its value in each step.
type Line<'a> = (&'a str, &'a dyn Fn(&BatchStep) -> f64);

/// Two pictures over the seconds of a trace: shares of the memory's rate and room, and the requests in the batch and those
/// that wait.
///
/// # Errors
/// If a picture cannot be drawn.
pub fn batching_plots(title: &str, row: &BatchingRow, page_tokens: u32) -> anyhow::Result<[String; 2]> {
    let percent = |share: f64| 100.0 * share;
    let (pool, tokens) = (f64::from(row.pool), f64::from(page_tokens));
    let pages = |step: &BatchStep| percent(f64::from(step.pages) / pool);
    let live = |step: &BatchStep| percent(step.live as f64 / f64::from(step.pages) / tokens);
    let shares: [Line; 3] = [
        ("of the memory's rate", &|step| percent(step.share)),
        ("of the pages are taken", &pages),
        ("of the taken pages is tokens", &live),
    ];
    let streams: [Line; 2] =
        [("in the batch", &|step| step.streams as f64), ("wait", &|step| step.waiting as f64)];
    let of = |what: &str, unit: &str, lines: &[Line]| {
        let names: Vec<String> = lines.iter().map(|(name, _)| (*name).to_owned()).collect();
        picture([what, title], &names, |_, below| draw(below, &row.by_step, unit, lines))
    };
    Ok([of("Memory in each step", "percent", &shares)?, of("Requests in each step", "requests", &streams)?])
}

fn draw(below: &Area<'_>, steps: &[BatchStep], unit: &str, lines: &[Line]) -> Drawn {
    let right = steps.last().map_or(1.0, |step| step.begins_s).max(1e-6);
    let values = |line: &Line| steps.iter().map(|step| (line.1)(step)).fold(1.0, f64::max);
    let top = lines.iter().map(values).fold(1.0, f64::max);
    let style = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let mut chart = ChartBuilder::on(below)
        .margin_right(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..right, 0.0..1.08 * top)?;
    chart
        .configure_mesh()
        .x_desc("seconds from the begin of the trace")
        .y_desc(unit)
        .axis_style(FAINT)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(style(13))
        .axis_desc_style(style(14))
        .x_label_formatter(&|x| short(*x))
        .y_label_formatter(&|y| short(*y))
        .draw()?;
    for (series, line) in lines.iter().enumerate() {
        let points = steps.iter().map(|step| (step.begins_s, (line.1)(step)));
        chart.draw_series(LineSeries::new(points, SERIES[series % SERIES.len()].stroke_width(2)))?;
    }
    Ok(())
}
