//! Draws the latency-load curve of a sweep as SVG.

use crate::eval::report::picture::canvas::{decades, write, Area, Drawn, FAINT, GRID, INK, PAPER, SERIES};
use crate::eval::report::picture::text::{extent, fitted};
use crate::eval::sweep::saturation::{Sweep, SATURATED_AT};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

const SIZE: (u32, u32) = (720, 460);

/// Largest latency in the picture, as a multiple of the zero-load latency: beyond saturation it
/// depends only on the length of the run.
pub const NOT_SHOWN_ABOVE: f64 = 5.0;

/// Draws mean, 99th and 99.9th percentile of the latency, logarithmic, over offered load, with zero-load latency and saturation
/// marked.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn latency_plot(title: &str, sweep: &Sweep) -> anyhow::Result<String> {
    let mut svg = String::new();
    draw(&mut svg, title, sweep).map_err(|e| anyhow::anyhow!("cannot draw the latency-load curve: {e}"))?;
    Ok(svg)
}

fn draw(svg: &mut String, title: &str, sweep: &Sweep) -> Drawn {
    let bottom = (0.8 * sweep.zero_load_latency).max(1.0);
    let top = NOT_SHOWN_ABOVE * sweep.zero_load_latency.max(sweep.latency_limit / SATURATED_AT);
    // The x axis ends a little past the place where the mean leaves the picture; beyond it would be blank.
    let loads = |row: &&crate::eval::rows::row::Row| row.load.unwrap_or(row.offered);
    let first_out = sweep.points.iter().find(|row| row.latency_mean > top);
    let last = first_out.or(sweep.points.last()).map_or(1.0, |row| loads(&row));
    let means: Vec<_> = sweep.points.iter().map(|row| (loads(&row), row.latency_mean.log10())).collect();
    let leaves = within(&means, top.log10()).last().map_or(last, |place| place.0);
    let right = leaves.max(sweep.saturation.unwrap_or(0.0)).min(last) * 1.06;

    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&PAPER)?;
    let style = |size: u32, colour: &RGBColor| ("sans-serif", size).into_font().color(colour);
    let (name, size) = fitted(title, 17, SIZE.0 as i32 - 72);
    root.draw(&Text::new(name, (62, 14), style(size, &INK)))?;
    let mut chart = ChartBuilder::on(&root)
        .margin_top(62)
        .margin_right(24)
        .margin_bottom(10)
        .margin_left(10)
        .x_label_area_size(46)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..right, bottom.log10()..top.log10())?;
    chart
        .configure_mesh()
        .x_desc("offered load (injected flits / sending node / cycle)")
        .y_desc("latency from source queue to ejection (cycles, logarithmic)")
        .disable_y_mesh()
        .y_labels(0)
        .axis_style(FAINT)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .label_style(style(13, &INK))
        .axis_desc_style(style(14, &INK))
        .x_label_formatter(&|x| trimmed(*x))
        .draw()?;

    for tick in decades(bottom, top) {
        let [from, to] = [0.0, right].map(|x| chart.backend_coord(&(x, tick.log10())));
        root.draw(&PathElement::new([from, to], GRID.stroke_width(1)))?;
        write(&root, &trimmed(tick), 13, INK, (from.0 - 8, from.1), (HPos::Right, VPos::Center))?;
    }
    let zero = sweep.zero_load_latency;
    level(&mut chart, right, zero, None)?;
    let limit = sweep.latency_limit;
    let name = match limit == SATURATED_AT * zero {
        true => format!("{SATURATED_AT:.0} x zero load"),
        false => format!("limit {limit:.1}"),
    };
    level(&mut chart, right, limit, None)?;
    if let Some(at) = sweep.saturation {
        saturation(&mut chart, at, (bottom, top))?;
    }
    let points = |latency: fn(&crate::eval::rows::row::Row) -> f64| -> Vec<(f64, f64)> {
        sweep.points.iter().map(|row| (loads(&row), latency(row).max(bottom).log10())).collect()
    };
    let top = top.log10();
    curve(&mut chart, &points(|row| row.latency_p999 as f64), top, SERIES[3])?;
    curve(&mut chart, &points(|row| row.latency_p99 as f64), top, SERIES[1])?;
    curve(&mut chart, &points(|row| row.latency_mean), top, SERIES[0])?;
    // Names last, on paper: at low loads the curves of percentiles pass here.
    level(&mut chart, right, zero, Some(&format!("zero load {zero:.1}")))?;
    level(&mut chart, right, limit, Some(&name))?;
    legend(&root)?;
    root.present()
}

/// Curves with their colours.
const CURVES: [(&str, usize); 3] = [("mean", 0), ("99th percentile", 1), ("99.9th percentile", 3)];

/// Draws the legend above the plot: at saturation curves go everywhere in it.
fn legend(root: &Area<'_>) -> Drawn {
    let mut x = 64;
    for (name, colour) in CURVES {
        root.draw(&PathElement::new([(x, 45), (x + 18, 45)], SERIES[colour].stroke_width(2)))?;
        write(root, name, 13, INK, (x + 24, 45), (HPos::Left, VPos::Center))?;
        x += 40 + 8 * name.len() as i32;
    }
    Ok(())
}

/// Draws a dashed horizontal line, or its name below its left end.
fn level(chart: &mut Chart<'_>, right: f64, y: f64, name: Option<&str>) -> Drawn {
    let y = y.log10();
    let Some(name) = name else {
        chart.draw_series(DashedLineSeries::new([(0.0, y), (right, y)], 5, 4, FAINT.stroke_width(1)))?;
        return Ok(());
    };
    let style = ("sans-serif", 12).into_font().color(&FAINT).pos(Pos::new(HPos::Left, VPos::Top));
    let (x, top) = chart.backend_coord(&(0.0, y));
    let (left, above) = (x + 5, top + 2);
    let root = chart.plotting_area().strip_coord_spec();
    let (dx, dy) = root.get_base_pixel();
    let place = |x: i32, y: i32| (x - dx, y - dy);
    let corners = [place(left, above), place(left + extent(name, 12), above + 11)];
    root.draw(&Rectangle::new(corners, PAPER.filled()))?;
    root.draw(&Text::new(name.to_owned(), place(left, above), style))
}

/// Draws a dashed vertical line, named below the lowest possible latency.
fn saturation(chart: &mut Chart<'_>, at: f64, (bottom, top): (f64, f64)) -> Drawn {
    let (bottom, top) = (bottom.log10(), top.log10());
    chart.draw_series(DashedLineSeries::new([(at, bottom), (at, top)], 5, 4, SERIES[4].stroke_width(1)))?;
    let style = ("sans-serif", 13).into_font().color(&SERIES[4]).pos(Pos::new(HPos::Right, VPos::Bottom));
    chart.draw_series([Text::new(
        format!("saturation {}", trimmed(at)),
        (at * 0.99, bottom + 0.01),
        style,
    )])?;
    Ok(())
}

/// The points of a line up to the upper edge of the picture, and the place where it meets the edge.
pub(in crate::eval) fn within(points: &[(f64, f64)], top: f64) -> Vec<(f64, f64)> {
    let inside = points.iter().take_while(|(_, y)| *y <= top).count();
    let mut line = points[..inside].to_vec();
    if let (Some(&(x0, y0)), Some(&(x1, y1))) = (line.last(), points.get(inside)) {
        line.push((x0 + (x1 - x0) * (top - y0) / (y1 - y0), top));
    }
    line
}

/// Draws one line with its points, up to the upper edge of the picture.
fn curve(chart: &mut Chart<'_>, points: &[(f64, f64)], top: f64, colour: RGBColor) -> Drawn {
    let inside = points.iter().take_while(|(_, y)| *y <= top).count();
    let line = within(points, top);
    chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
    chart.draw_series(points[..inside].iter().map(|&point| Circle::new(point, 3, colour.filled())))?;
    Ok(())
}

/// Up to four decimals, without trailing zeros.
fn trimmed(x: f64) -> String {
    let text = format!("{x:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use crate::eval::charts::accepted_plot::accepted_plot;
    use crate::eval::charts::plot::*;
    use crate::eval::report::picture::placed::{misplaced, texts};
    use crate::eval::rows::row::Row;

    /// A sweep of so many loads up to 1; it saturates near 0.45.
    fn sweep(count: usize) -> Sweep {
        let row = |at: usize| {
            let load = (at + 1) as f64 / count as f64;
            let latency_mean = if load < 0.55 { 10.0 / (1.0 - load / 0.6) } else { 900.0 };
            let (p99, p999) = (1.8 * latency_mean, 2.6 * latency_mean);
            Row {
                load: Some(load),
                offered_deliveries: load,
                accepted: load.min(0.55),
                latency_mean,
                latency_p99: p99 as u64,
                latency_p999: p999 as u64,
                ..Row::default()
            }
        };
        Sweep {
            points: (0..count).map(row).collect(),
            saturation: Some(0.4),
            resolution: 0.005,
            accepted_at_full_offer: 0.55,
            zero_load_latency: 10.0,
            latency_limit: 30.0,
            violations: 0,
            command: String::new(),
        }
    }

    #[test]
    fn no_text_leaves_a_picture_or_lies_on_another_however_many_loads_were_run() {
        let long = "a_design_with_a_name_of_many_letters, 16 x 16, 2 + 2 VCs x 8: bit-complement, packets of 16 flits, and more";
        for count in [1, 2, 6, 40] {
            for title in ["short", long] {
                assert_eq!(
                    misplaced(&latency_plot(title, &sweep(count)).unwrap()),
                    [""; 0],
                    "{count} {title}"
                );
                assert_eq!(
                    misplaced(&accepted_plot(title, &sweep(count)).unwrap()),
                    [""; 0],
                    "{count} {title}"
                );
            }
        }
    }

    #[test]
    fn the_axis_of_loads_ends_where_the_mean_leaves_the_picture() {
        let svg = latency_plot("test", &sweep(40)).unwrap();
        let ticks = texts(&svg).into_iter().filter_map(|(text, _)| text.parse::<f64>().ok());
        // Latencies are above 1.
        let last = ticks.filter(|&tick| tick < 1.5).fold(0.0, f64::max);
        assert!((0.4..0.65).contains(&last), "{last}");
    }
}
