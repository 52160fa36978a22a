//! Groups of bars, one a series.

use crate::eval::report::picture::canvas::{
    picture, short, write, Area, Drawn, FAINT, GRID, INK, PAPER, SERIES,
};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// A bar: ours filled, the paper's as an outline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bar {
    pub(super) ours: Option<f64>,
    pub(super) paper: Option<f64>,
}

/// A picture of them.
pub(super) struct Bars {
    pub(super) title: String,
    pub(super) subtitle: String,
    pub(super) y_name: &'static str,
    pub(super) series: Vec<String>,
    /// Name below the bars, and a bar for each series.
    pub(super) groups: Vec<(String, Vec<Bar>)>,
    /// Heights are logarithms.
    pub(super) log: bool,
}

/// Part of a group's place that its bars fill.
const FILLED: f64 = 0.86;

impl Bars {
    /// # Errors
    /// If it cannot be drawn.
    pub(super) fn draw(&self) -> anyhow::Result<String> {
        let all =
            || self.groups.iter().flat_map(|(_, bars)| bars).flat_map(|bar| [bar.ours, bar.paper]).flatten();
        let highest = all().fold(0.0, f64::max).max(1e-9);
        let lowest = all().fold(f64::MAX, f64::min).min(1.0);
        let (bottom, top) =
            if self.log { (lowest.log10().floor(), highest.log10() + 0.12) } else { (0.0, highest * 1.12) };
        let height = |y: f64| if self.log { y.max(1e-9).log10() } else { y };
        picture([&self.title, &self.subtitle], &self.series, |root, below| {
            let mut chart = ChartBuilder::on(below)
                .x_label_area_size(56)
                .y_label_area_size(68)
                .build_cartesian_2d(0.0..self.groups.len() as f64, bottom..top)?;
            let shown = |y: &f64| if self.log { short(10_f64.powf(*y)) } else { short(*y) };
            chart
                .configure_mesh()
                .disable_x_mesh()
                .x_labels(0)
                .y_labels(if self.log { (top - bottom).ceil() as usize + 1 } else { 8 })
                .y_desc(self.y_name)
                .axis_style(FAINT)
                .bold_line_style(GRID)
                .light_line_style(TRANSPARENT)
                .label_style(("sans-serif", 15).into_font().color(&INK))
                .axis_desc_style(("sans-serif", 15).into_font().color(&INK))
                .y_label_formatter(&shown)
                .draw()?;
            let pixel = |x: f64, y: f64| chart.backend_coord(&(x, y));
            let width = FILLED / self.series.len() as f64;
            for (place, (name, bars)) in self.groups.iter().enumerate() {
                below_axis(root, name, pixel(place as f64 + 0.5, bottom), self.groups.len())?;
                for (at, bar) in bars.iter().enumerate() {
                    let left = place as f64 + (1.0 - FILLED) / 2.0 + at as f64 * width;
                    let across = |y: f64| [pixel(left, height(y)), pixel(left + width, bottom)];
                    self.bar(root, bar, at, &across)?;
                }
            }
            Ok(())
        })
    }

    fn bar(
        &self,
        root: &DrawingArea<SVGBackend<'_>, Shift>,
        bar: &Bar,
        series: usize,
        across: &dyn Fn(f64) -> [(i32, i32); 2],
    ) -> Drawn {
        if let Some(ours) = bar.ours {
            let [from, to] = across(ours);
            root.draw(&Rectangle::new(
                [(from.0 + 1, from.1), (to.0 - 2, to.1)],
                SERIES[series % SERIES.len()].filled(),
            ))?;
            if self.groups.len() * self.series.len() <= 16 {
                // Not on the edge of the paper's bar.
                let edge =
                    bar.paper.map(|paper| across(paper)[0].1).filter(|y| (from.1 - 18..from.1).contains(y));
                let middle = ((from.0 + to.0) / 2, edge.unwrap_or(from.1) - 3);
                write(
                    root,
                    &short((ours * 100.0).round() / 100.0),
                    11,
                    INK,
                    middle,
                    (HPos::Center, VPos::Bottom),
                )?;
            }
        }
        if let Some(paper) = bar.paper {
            let [from, to] = across(paper);
            let outline = [(from.0, to.1), from, (to.0 - 1, from.1), (to.0 - 1, to.1)];
            // An edge of paper keeps it apart from every colour.
            root.draw(&PathElement::new(outline, PAPER.stroke_width(4)))?;
            root.draw(&PathElement::new(outline, INK.stroke_width(2)))?;
        }
        Ok(())
    }
}

/// Writes the name of a group below the axis, in as many lines as it has words if it is long.
pub(super) fn below_axis(root: &Area<'_>, name: &str, (x, y): (i32, i32), groups: usize) -> Drawn {
    let words: Vec<&str> =
        if name.chars().count() * 9 * groups > 470 { name.split(' ').collect() } else { vec![name] };
    for (line, word) in words.iter().enumerate() {
        write(root, word, 13, INK, (x, y + 6 + 16 * line as i32), (HPos::Center, VPos::Top))?;
    }
    Ok(())
}
