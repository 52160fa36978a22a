//! Stacked bars: parts of a whole, the paper's in outline beside ours.

use crate::eval::paper::result::figures::bars::below_axis;
use crate::eval::report::picture::canvas::{picture, short, write, FAINT, GRID, INK, PAPER, SERIES};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// A bar of parts.
pub(super) struct Stack {
    pub(super) name: String,
    pub(super) ours: Vec<f64>,
    /// The first parts of the paper's; empty if it has none.
    pub(super) paper: Vec<f64>,
}

/// A picture of them.
pub(super) struct Stacks {
    pub(super) title: String,
    pub(super) subtitle: String,
    pub(super) y_name: &'static str,
    /// Names of the parts, from below.
    pub(super) parts: Vec<String>,
    pub(super) stacks: Vec<Stack>,
}

impl Stacks {
    /// # Errors
    /// If it cannot be drawn.
    pub(super) fn draw(&self) -> anyhow::Result<String> {
        let heights = self.stacks.iter().map(|stack| stack.ours.iter().sum::<f64>());
        let top = heights.fold(100.0, f64::max) * 1.03;
        picture([&self.title, &self.subtitle], &self.parts, |root, below| {
            let mut chart = ChartBuilder::on(below)
                .x_label_area_size(56)
                .y_label_area_size(68)
                .build_cartesian_2d(0.0..self.stacks.len().max(1) as f64, 0.0..top)?;
            chart
                .configure_mesh()
                .disable_x_mesh()
                .x_labels(0)
                .y_desc(self.y_name)
                .axis_style(FAINT)
                .bold_line_style(GRID)
                .light_line_style(TRANSPARENT)
                .label_style(("sans-serif", 15).into_font().color(&INK))
                .axis_desc_style(("sans-serif", 15).into_font().color(&INK))
                .y_label_formatter(&|y| short(*y))
                .draw()?;
            let pixel = |x: f64, y: f64| chart.backend_coord(&(x, y));
            for (place, stack) in self.stacks.iter().enumerate() {
                let left = place as f64;
                below_axis(root, &stack.name, pixel(left + 0.5, 0.0), self.stacks.len())?;
                // Without the paper's bar ours is in the middle.
                let from = if stack.paper.is_empty() { left + 0.25 } else { left + 0.08 };
                let mut under = 0.0;
                for (part, &share) in stack.ours.iter().enumerate() {
                    let corners = [pixel(from, under + share), pixel(from + 0.46, under)];
                    root.draw(&Rectangle::new(corners, SERIES[part % SERIES.len()].filled()))?;
                    if share >= 5.0 {
                        let middle = ((corners[0].0 + corners[1].0) / 2, (corners[0].1 + corners[1].1) / 2);
                        write(root, &format!("{share:.0}"), 12, PAPER, middle, (HPos::Center, VPos::Center))?;
                    }
                    under += share;
                }
                let mut under = 0.0;
                for (part, &share) in stack.paper.iter().enumerate() {
                    let corners = [pixel(left + 0.58, under + share), pixel(left + 0.92, under)];
                    root.draw(&Rectangle::new(corners, SERIES[part % SERIES.len()].stroke_width(2)))?;
                    let middle = ((corners[0].0 + corners[1].0) / 2, (corners[0].1 + corners[1].1) / 2);
                    write(root, &format!("{share:.0}"), 12, INK, middle, (HPos::Center, VPos::Center))?;
                    under += share;
                }
            }
            Ok(())
        })
    }
}
