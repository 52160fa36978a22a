//! Draws a metric over a number, a line for each series.

use crate::eval::charts::plot::within;
use crate::eval::report::picture::canvas::{
    decades, interval, mark, picture, short, write, Area, Drawn, FAINT, GRID, INK, SERIES,
};
use crate::eval::report::picture::plot::Plot;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

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
        let of = |group: &crate::eval::report::Group| {
            let spread = group.y[plot.at]?;
            Some((group.x.parse::<f64>().ok()?, spread.mean, spread.half.unwrap_or(0.0), group.bound))
        };
        let own = plot.groups.iter().filter(|group| group.series == plot.series[number]);
        let mut points: Vec<_> = own.filter_map(of).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Line { number, points, plot }
    }
}

/// Most that a picture shows of a latency, as a multiple of that without load.
pub(in crate::eval::report) const SHOWN_BELOW: f64 = 20.0;

/// Highest over lowest value from which the axis of a latency is logarithmic: the curve saturates.
const SATURATES: f64 = 3.0;

/// The y axis: its ends, in the logarithm of the values if it is logarithmic.
struct Axis {
    bottom: f64,
    top: f64,
    logarithmic: bool,
}

impl Axis {
    /// Latencies beyond saturation depend only on the length of the run, so that they are cut off.
    fn new(plot: &Plot<'_>, lines: &[Line<'_>]) -> Axis {
        let all = || lines.iter().flat_map(|line| &line.points);
        let highest = all().map(|(_, y, half, _)| y + half).fold(0.0, f64::max);
        let lowest = all().map(|(_, y, ..)| *y).fold(f64::INFINITY, f64::min);
        let zero_loads = plot.groups.iter().filter_map(|group| group.zero_load);
        let most = SHOWN_BELOW * zero_loads.fold(0.0, f64::max);
        let highest = if plot.is_latency && most > 0.0 { highest.min(most) } else { highest };
        let logarithmic = plot.is_latency && lowest > 0.0 && highest > SATURATES * lowest;
        match logarithmic {
            true => Axis { bottom: (lowest * 0.85).log10(), top: (highest * 1.1).log10(), logarithmic },
            false if highest > 0.0 => Axis { bottom: 0.0, top: highest * 1.06, logarithmic },
            false => Axis { bottom: 0.0, top: 1.0, logarithmic },
        }
    }

    fn place(&self, y: f64) -> f64 {
        match self.logarithmic {
            true => y.max(1e-9).log10().max(self.bottom),
            false => y.max(self.bottom),
        }
    }
}

/// Draws the picture.
///
/// # Errors
/// If it cannot be drawn.
pub(in crate::eval::report) fn curves(plot: &Plot<'_>) -> anyhow::Result<String> {
    let lines: Vec<Line<'_>> = (0..plot.series.len()).map(|number| Line::new(plot, number)).collect();
    let axis = Axis::new(plot, &lines);
    let xs = || lines.iter().flat_map(|line| &line.points).map(|point| point.0);
    let (low, high) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
    let room = ((high - low) * 0.04).max(high.abs() * 1e-3).max(1e-9);
    // A load axis begins at 0, other axes need not.
    // A single one stands in the middle, instead of at the end of a blank axis.
    let single = low == high;
    let left = if plot.x == "load" && !single { 0.0 } else { low - room };
    let y_name = match axis.logarithmic {
        true => plot.y_name.replace(')', ", logarithmic)"),
        false => plot.y_name.clone(),
    };
    picture([&plot.title, &plot.subtitle], &plot.names, |root, below| {
        let mut chart = ChartBuilder::on(below)
            .x_label_area_size(46)
            .y_label_area_size(68)
            .build_cartesian_2d(left..high + room, axis.bottom..axis.top)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(plot.x_name.as_str())
            .y_desc(y_name)
            .axis_style(FAINT)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 15).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 15).into_font().color(&INK));
        // Between whole numbers that follow each other there is nothing to read.
        if xs().all(|x| x.fract() == 0.0) && high - low < 11.0 {
            mesh.x_labels((high - low) as usize + 2);
        }
        if axis.logarithmic {
            mesh.disable_y_mesh().y_labels(0);
        }
        mesh.x_label_formatter(&|x| short(*x)).y_label_formatter(&|y| short(*y)).draw()?;
        if axis.logarithmic {
            logarithms(root, &axis, &|y| [left, high + room].map(|x| chart.backend_coord(&(x, y))))?;
        }
        for line in &lines {
            let colour = SERIES[line.number % SERIES.len()];
            let means: Vec<(f64, f64)> = line.points.iter().map(|&(x, y, ..)| (x, axis.place(y))).collect();
            chart.draw_series(LineSeries::new(within(&means, axis.top), colour.stroke_width(2)))?;
            let pixel = |x: f64, y: f64| chart.backend_coord(&(x, y));
            marks(root, line, &axis, &pixel)?;
        }
        Ok(())
    })
}

/// Draws the grid of a logarithmic axis with its numbers; `ends` gives the ends of a line.
fn logarithms(root: &Area<'_>, axis: &Axis, ends: &dyn Fn(f64) -> [(i32, i32); 2]) -> Drawn {
    for value in decades(10_f64.powf(axis.bottom), 10_f64.powf(axis.top)) {
        let [from, to] = ends(axis.place(value));
        root.draw(&PathElement::new([from, to], GRID.stroke_width(1)))?;
        write(root, &short(value), 15, INK, (from.0 - 8, from.1), (HPos::Right, VPos::Center))?;
    }
    Ok(())
}

fn marks(root: &Area<'_>, line: &Line<'_>, axis: &Axis, pixel: &dyn Fn(f64, f64) -> (i32, i32)) -> Drawn {
    let colour = SERIES[line.number % SERIES.len()];
    let inside = line.points.iter().take_while(|(_, y, ..)| axis.place(*y) <= axis.top);
    for &(x, y, half, bound) in inside {
        // An interval that is no wider than the mark only blurs it.
        let (low, high) = (pixel(x, axis.place(y - half)), pixel(x, axis.place(y + half).min(axis.top)));
        if low.1 - high.1 > 8 {
            interval(root, low, high, colour)?;
        }
        mark(root, pixel(x, axis.place(y)), line.number, !(bound && line.plot.is_latency))?;
    }
    Ok(())
}
