//! Lines over a number, the paper's dashed.

use crate::eval::report::picture::canvas::{mark, picture, short, FAINT, GRID, INK, SERIES};
use plotters::prelude::*;

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) ours: Vec<(f64, f64)>,
    pub(super) paper: Vec<(f64, f64)>,
}

/// A picture of them.
pub(super) struct Lines {
    pub(super) title: String,
    pub(super) subtitle: String,
    pub(super) x_name: &'static str,
    pub(super) y_name: &'static str,
    pub(super) lines: Vec<Line>,
    /// Both axes are logarithmic: x of base 2, y of base 10.
    pub(super) log: bool,
}

impl Lines {
    /// # Errors
    /// If it cannot be drawn.
    pub(super) fn draw(&self) -> anyhow::Result<String> {
        let place = |(x, y): (f64, f64)| if self.log { (x.log2(), y.log10()) } else { (x, y) };
        let all =
            || self.lines.iter().flat_map(|line| line.ours.iter().chain(&line.paper)).map(|&at| place(at));
        let range = |of: fn((f64, f64)) -> f64| {
            let (low, high) = all().map(of).fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v), h.max(v)));
            if low > high {
                (0.0, 1.0)
            } else {
                (low, high)
            }
        };
        let ((left, right), (low, high)) = (range(|at| at.0), range(|at| at.1));
        let room = (right - left).max(1e-3) * 0.04;
        let (low, high) = if self.log { (low.floor(), high + 0.15) } else { (0.0, high.max(1.0) * 1.08) };
        let names: Vec<String> = self.lines.iter().map(|line| line.name.clone()).collect();
        picture([&self.title, &self.subtitle], &names, |root, below| {
            let mut chart = ChartBuilder::on(below)
                .x_label_area_size(46)
                .y_label_area_size(68)
                .build_cartesian_2d(left - room..right + room, low..high)?;
            let x_shown =
                |x: &f64| if self.log { format!("{} K", (x.exp2() / 1024.0).round()) } else { short(*x) };
            let y_shown = |y: &f64| if self.log { short(10_f64.powf(*y)) } else { short(*y) };
            chart
                .configure_mesh()
                .x_labels(if self.log { (right - left).round() as usize + 1 } else { 8 })
                .y_labels(if self.log { (high - low).ceil() as usize + 1 } else { 8 })
                .x_desc(self.x_name)
                .y_desc(self.y_name)
                .axis_style(FAINT)
                .bold_line_style(GRID)
                .light_line_style(TRANSPARENT)
                .label_style(("sans-serif", 15).into_font().color(&INK))
                .axis_desc_style(("sans-serif", 15).into_font().color(&INK))
                .x_label_formatter(&x_shown)
                .y_label_formatter(&y_shown)
                .draw()?;
            let pixel = |at: (f64, f64)| chart.backend_coord(&place(at));
            for (number, line) in self.lines.iter().enumerate() {
                let colour = SERIES[number % SERIES.len()];
                let papers: Vec<(i32, i32)> = line.paper.iter().map(|&at| pixel(at)).collect();
                for pair in papers.windows(2) {
                    dashed(root, pair[0], pair[1], colour)?;
                }
                let ours: Vec<(i32, i32)> = line.ours.iter().map(|&at| pixel(at)).collect();
                root.draw(&PathElement::new(ours.clone(), colour.stroke_width(2)))?;
                papers.iter().try_for_each(|&at| mark(root, at, number, false))?;
                ours.iter().try_for_each(|&at| mark(root, at, number, true))?;
            }
            Ok(())
        })
    }
}

/// A dashed line between two pixels.
fn dashed(
    root: &crate::eval::report::picture::canvas::Area<'_>,
    from: (i32, i32),
    to: (i32, i32),
    colour: RGBColor,
) -> crate::eval::report::picture::canvas::Drawn {
    let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    let steps = (dx.hypot(dy) / 5.0).ceil().max(1.0) as i32;
    let at = |step: i32| {
        let part = f64::from(step) / f64::from(steps);
        (from.0 + (dx * part) as i32, from.1 + (dy * part) as i32)
    };
    for step in (0..steps).step_by(2) {
        root.draw(&PathElement::new([at(step), at((step + 1).min(steps))], colour.stroke_width(1)))?;
    }
    Ok(())
}
