//! Draws cycles of decode steps over the tokens that they attend to.

use crate::eval::report::picture::canvas::{mark, picture, short, Area, Drawn, FAINT, GRID, INK, SERIES};
use crate::eval::rows::steps::{OneStep, StepsRow};
use plotters::prelude::*;

/// Draws the cycles of each step over the tokens of all its streams together; a series for each number of streams.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn steps_plot(title: &str, row: &StepsRow) -> anyhow::Result<String> {
    let mut batches: Vec<usize> = row.by_step.iter().map(|step| step.streams.len()).collect();
    batches.sort_unstable();
    batches.dedup();
    let names: Vec<String> = batches
        .iter()
        .map(|n| format!("{n} stream{} in the batch", if *n == 1 { "" } else { "s" }))
        .collect();
    picture(["Cycles of each step over its tokens", title], &names, |root, below| {
        draw(root, below, &row.by_step, &batches)
    })
}

fn draw(root: &Area<'_>, below: &Area<'_>, steps: &[OneStep], batches: &[usize]) -> Drawn {
    let point = |step: &OneStep| (f64::from(step.tokens.iter().sum::<u32>()), step.cycles as f64);
    let right = steps.iter().map(|step| point(step).0).fold(1.0, f64::max);
    let top = steps.iter().map(|step| point(step).1).fold(1.0, f64::max);
    let style = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let mut chart = ChartBuilder::on(below)
        .margin_right(12)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..1.05 * right, 0.0..1.08 * top)?;
    chart
        .configure_mesh()
        .x_desc("tokens that all streams of the step attend to")
        .y_desc("cycles from first query to last output")
        .axis_style(FAINT)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(style(13))
        .axis_desc_style(style(14))
        .x_label_formatter(&|x| short(*x))
        .y_label_formatter(&|y| short(*y))
        .draw()?;
    for (series, &streams) in batches.iter().enumerate() {
        let here: Vec<_> = steps.iter().filter(|step| step.streams.len() == streams).map(point).collect();
        let colour = SERIES[series % SERIES.len()];
        if here.len() > MANY {
            let dots = here.iter().map(|&at| Circle::new(at, 1, colour.filled()));
            chart.draw_series(dots)?;
        }
        for &at in here.iter().step_by(here.len().div_ceil(MANY).max(1)) {
            mark(root, chart.backend_coord(&at), series, true)?;
        }
    }
    Ok(())
}

/// Most marks of a series.
const MANY: usize = 24;
