//! Time against area: the points that no other beats in both, and the fastest point that fits.

use crate::config::WorkKind;
use crate::eval::report::choose::Chosen;
use crate::eval::report::figure::Figure;
use crate::eval::report::picture::canvas::{
    mark, picture, short, write, Area, Drawn, FAINT, GRID, INK, PAPER, SERIES,
};
use crate::eval::report::picture::text::{cut, extent, letters};
use crate::eval::report::rows::{text, Rows, MESH, SWEEP};
use crate::eval::rows::spread::Spread;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use serde_json::{Map, Value};

/// Share of an SLR that may be taken.
const LIMIT: f64 = 0.8;

/// Size of a name.
const SIZE: u32 = 12;

/// Most points whose names are all written; of more only those of the front.
const NAMED: usize = 12;

/// Kinds of points, in the order of their marks.
const KINDS: [&str; 3] = ["fits", "fits, and misses a clock", "does not fit"];

/// A configuration under one workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// What distinguishes it from the others.
    pub name: String,
    /// Microseconds of a whole step, with their error.
    pub us: Spread,
    /// Share of the fullest resource that is used.
    pub fullest: f64,
    /// Its name and place.
    pub fullest_of: String,
    /// True if it fits.
    pub fits: bool,
    /// True if its periods are no longer than those of the configuration.
    pub clocks_met: bool,
    /// Periods of the network and of the arrays, in nanoseconds.
    pub periods: [f64; 2],
}

/// All configurations under one workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Tradeoff {
    /// The workload by the labels of it that vary; empty if none does.
    pub workload: String,
    /// The configurations, in the order of the rows.
    pub candidates: Vec<Candidate>,
}

/// True for a label of the configuration, not of its workload.
fn is_of_config(label: &str) -> bool {
    label.contains('.') || [MESH, SWEEP, "point"].contains(&label)
}

/// Time and area of the rows, for each workload; nothing without areas or without whole steps.
pub fn tradeoffs(chosen: &Chosen) -> Vec<Tradeoff> {
    let rows = &chosen.rows;
    if rows.kind != WorkKind::Decode || chosen.baseline.is_some() || rows.column("fullest").is_none() {
        return Vec::new();
    }
    let (config, work): (Vec<&str>, Vec<&str>) = rows.varying().into_iter().partition(|l| is_of_config(l));
    let named = |row: &Map<String, Value>, labels: &[&str], with_key: bool| {
        let one = |label: &&str| {
            let value = text(Rows::value(row, label));
            if with_key || label.contains('.') {
                format!("{label} {value}")
            } else {
                value
            }
        };
        labels.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut found: Vec<(String, Vec<Named>)> = Vec::new();
    for row in rows.rows.iter().filter(|row| Rows::value(row, "fullest").is_number()) {
        let (workload, name) = (named(row, &work, true), named(row, &config, false));
        let at = found.iter().position(|(there, _)| *there == workload).unwrap_or_else(|| {
            found.push((workload, Vec::new()));
            found.len() - 1
        });
        let all = &mut found[at].1;
        match all.iter_mut().find(|(there, _)| *there == name) {
            Some((_, rows)) => rows.push(row),
            None => all.push((name, vec![row])),
        }
    }
    let of = |(workload, all): (String, Vec<Named>)| Tradeoff {
        workload,
        candidates: all.into_iter().filter_map(|(name, rows)| candidate(name, &rows)).collect(),
    };
    found.into_iter().map(of).collect()
}

/// The rows of a configuration, with its name.
type Named<'a> = (String, Vec<&'a Map<String, Value>>);

fn candidate(name: String, rows: &[&Map<String, Value>]) -> Option<Candidate> {
    let number = |key: &str| Rows::value(rows[0], key).as_f64();
    let times: Vec<f64> = rows.iter().filter_map(|row| Rows::value(row, "latency_us").as_f64()).collect();
    let us = (!times.is_empty()).then(|| Spread::of(&times))?;
    Some(Candidate {
        name,
        us: us.with_error(number("error").unwrap_or(0.0)),
        fullest: number("fullest")?,
        fullest_of: text(Rows::value(rows[0], "fullest_of")),
        fits: Rows::value(rows[0], "fits").as_bool()?,
        clocks_met: Rows::value(rows[0], "clocks_met").as_bool()?,
        periods: [number("noc_ns")?, number("pe_ns")?],
    })
}

impl Candidate {
    fn kind(&self) -> usize {
        match (self.fits, self.clocks_met) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        }
    }
}

impl Tradeoff {
    /// The fastest point that fits.
    pub fn best(&self) -> Option<&Candidate> {
        self.candidates.iter().filter(|c| c.fits).min_by(|a, b| a.us.mean.total_cmp(&b.us.mean))
    }

    /// The points that no other beats in both time and area, the fastest first, including those that do not fit.
    pub fn front(&self) -> Vec<&Candidate> {
        let mut by_time: Vec<&Candidate> = self.candidates.iter().collect();
        by_time.sort_by(|a, b| a.us.mean.total_cmp(&b.us.mean).then(a.fullest.total_cmp(&b.fullest)));
        let mut least = f64::INFINITY;
        by_time.retain(|c| {
            c.fullest < least && {
                least = c.fullest;
                true
            }
        });
        by_time
    }

    /// The best in words.
    pub fn words(&self) -> String {
        let of = if self.workload.is_empty() { String::new() } else { format!(" ({})", self.workload) };
        let (all, fit) = (self.candidates.len(), self.candidates.iter().filter(|c| c.fits).count());
        let Some(best) = self.best() else {
            return format!("None of {all} configurations fits{of}.");
        };
        let clocks = if best.clocks_met {
            "it meets its clocks".to_owned()
        } else {
            let [noc, pe] = best.periods;
            format!("it misses a clock, with periods of {noc:.1} ns (network) and {pe:.1} ns (arrays) before placement")
        };
        let rivals = self.candidates.iter().filter(|c| c.fits && c.name != best.name);
        let near = rivals
            .filter(|c| c.us.mean - c.us.half.unwrap_or(0.0) < best.us.mean + best.us.half.unwrap_or(0.0));
        let near = match near.count() {
            0 => String::new(),
            1 => " One other is as fast within the error.".to_owned(),
            more => format!(" {more} others are as fast within the error."),
        };
        format!(
            "Best of {fit} that fit, of {all}{of}: {}, {} us a step, {:.0} % of {}; {clocks}.{near}",
            best.name,
            best.us.text(),
            100.0 * best.fullest,
            best.fullest_of
        )
    }
}

/// A picture for each workload.
///
/// # Errors
/// If one cannot be drawn.
pub fn pareto_figures(name: &str, tradeoffs: &[Tradeoff]) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for tradeoff in tradeoffs.iter().filter(|tradeoff| tradeoff.candidates.len() > 1) {
        let of = &tradeoff.workload;
        let subtitle = if of.is_empty() { name.to_owned() } else { format!("{name}: {of}") };
        let svg = draw(tradeoff, &subtitle)?;
        let plain: String =
            of.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
        let file =
            if of.is_empty() { "pareto".to_owned() } else { format!("pareto-{}", plain.replace("--", "-")) };
        let caption = format!(
            "Time of a whole step against the share of what is fullest on the device. The line joins those that nobody \
             beats in both; the dashed line is the most that may be taken. {}",
            tradeoff.words()
        );
        figures.push(Figure::new(&file, svg, caption));
    }
    Ok(figures)
}

fn draw(tradeoff: &Tradeoff, subtitle: &str) -> anyhow::Result<String> {
    let all = &tradeoff.candidates;
    let times = || all.iter().map(|c| c.us.mean);
    let (low, high) = (times().fold(f64::MAX, f64::min), times().fold(f64::MIN, f64::max));
    let room = ((high - low) * 0.12).max(high * 0.02);
    let top = all.iter().map(|c| c.fullest).fold(LIMIT, f64::max) * 115.0;
    let names = KINDS.map(str::to_owned);
    picture(["Time and area", subtitle], &names, |root, below| {
        let mut chart = ChartBuilder::on(below)
            .x_label_area_size(46)
            .y_label_area_size(68)
            .build_cartesian_2d((low - room).max(0.0)..high + room, 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc("time of a whole step (us)")
            .y_desc("fullest resource of an SLR (%)")
            .axis_style(FAINT)
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 15).into_font().color(&INK))
            .axis_desc_style(("sans-serif", 15).into_font().color(&INK))
            .x_label_formatter(&|x| short(*x))
            .x_labels(6)
            .y_label_formatter(&|y| short(*y))
            .draw()?;
        let pixel = |x: f64, y: f64| chart.backend_coord(&(x, y));
        let (left, right) = (pixel((low - room).max(0.0), 100.0 * LIMIT), pixel(high + room, 100.0 * LIMIT));
        for x in (left.0..right.0).step_by(10) {
            root.draw(&PathElement::new([(x, left.1), ((x + 5).min(right.0), left.1)], INK.stroke_width(1)))?;
        }
        let front = tradeoff.front();
        let line: Vec<(i32, i32)> = front.iter().map(|c| pixel(c.us.mean, 100.0 * c.fullest)).collect();
        root.draw(&PathElement::new(line, SERIES[0].stroke_width(1)))?;
        for candidate in all {
            let place = pixel(candidate.us.mean, 100.0 * candidate.fullest);
            // Time runs along x, and so does its error.
            let half = candidate.us.half.unwrap_or(0.0);
            across(
                root,
                pixel(candidate.us.mean - half, 0.0).0.max(left.0),
                pixel(candidate.us.mean + half, 0.0).0.min(right.0),
                place,
            )?;
            mark(root, place, candidate.kind(), candidate.fits)?;
        }
        let written = |c: &&Candidate| all.len() <= NAMED || front.iter().any(|of| of.name == c.name);
        // No name lies on a point.
        let mut taken: Vec<[i32; 4]> = all
            .iter()
            .map(|candidate| pixel(candidate.us.mean, 100.0 * candidate.fullest))
            .map(|(x, y)| [x - 5, y - 5, x + 5, y + 5])
            .collect();
        for candidate in all.iter().filter(written) {
            let place = pixel(candidate.us.mean, 100.0 * candidate.fullest);
            let edges = [left.0, pixel(low, top).1, right.0, pixel(low, 0.0).1];
            label(root, &candidate.name, place, edges, &mut taken)?;
        }
        Ok(())
    })
}

/// Draws the interval of a time.
fn across(root: &Area<'_>, from: i32, to: i32, (_, y): (i32, i32)) -> Drawn {
    if to - from <= 10 {
        return Ok(());
    }
    for line in [[(from, y), (to, y)], [(from, y - 3), (from, y + 3)], [(to, y - 3), (to, y + 3)]] {
        root.draw(&PathElement::new(line, FAINT.stroke_width(1)))?;
    }
    Ok(())
}

/// Writes the name of a point where neither a point nor another name is: above it, below it, or further away. Without
/// such a place it has none; the table of the page has all.
fn label(
    root: &Area<'_>,
    name: &str,
    (x, y): (i32, i32),
    [left, top, right, bottom]: [i32; 4],
    taken: &mut Vec<[i32; 4]>,
) -> Drawn {
    let name = cut(name, letters(f64::from(right - left), SIZE));
    let half = extent(&name, SIZE) / 2 + 2;
    let middle = x.clamp(left + half, (right - half).max(left + half));
    let of = |at: i32| [middle - half, at - 7, middle + half, at + 7];
    let free = |at: &i32| {
        let [x0, y0, x1, y1] = of(*at);
        let apart = |[a0, b0, a1, b1]: &[i32; 4]| x1 <= *a0 || x0 >= *a1 || y1 <= *b0 || y0 >= *b1;
        y0 >= top && y1 <= bottom && taken.iter().all(apart)
    };
    let Some(at) = [-14, 14, -28, 28, -42, 42].iter().map(|by| y + by).find(free) else { return Ok(()) };
    taken.push(of(at));
    // Lines pass behind it.
    root.draw(&Rectangle::new([(middle - half, at - 6), (middle + half, at + 6)], PAPER.filled()))?;
    write(root, &name, SIZE, INK, (middle, at), (HPos::Center, VPos::Center))
}

#[cfg(test)]
mod tests {
    use crate::eval::report::picture::pareto::*;
    use crate::eval::report::picture::placed::misplaced;

    fn of(points: &[(&str, f64, f64, bool)]) -> Tradeoff {
        let candidate = |&(name, us, fullest, clocks_met): &(&str, f64, f64, bool)| Candidate {
            name: name.to_owned(),
            us: Spread::of(&[us]),
            fullest,
            fullest_of: "LUT of SLR0".to_owned(),
            fits: fullest <= LIMIT,
            clocks_met,
            periods: [10.4, 3.0],
        };
        Tradeoff { workload: "tokens 9000".to_owned(), candidates: points.iter().map(candidate).collect() }
    }

    #[test]
    fn the_best_fits_and_says_that_it_misses_its_clock() {
        let found = of(&[("4x4", 200.0, 0.4, true), ("6x5", 150.0, 0.7, false), ("8x8", 90.0, 1.4, true)]);
        let words = found.words();
        assert!(words.starts_with("Best of 2 that fit, of 3 (tokens 9000): 6x5, 150"), "{words}");
        assert!(
            words.contains("70 % of LUT of SLR0")
                && words.contains("misses a clock, with periods of 10.4 ns")
        );
        assert_eq!(of(&[("8x8", 90.0, 1.4, true)]).words(), "None of 1 configurations fits (tokens 9000).");
    }

    #[test]
    fn nobody_beats_a_point_of_the_front() {
        let found =
            of(&[("a", 3.0, 0.2, true), ("b", 2.0, 0.5, true), ("c", 2.5, 0.6, true), ("d", 1.0, 0.9, true)]);
        assert_eq!(found.front().iter().map(|c| c.name.as_str()).collect::<Vec<_>>(), ["d", "b", "a"]);
    }

    #[test]
    fn no_name_leaves_the_picture_or_lies_on_another() {
        for count in [1, 2, 6, 12, 40] {
            let name = |at: usize| format!("mesh {at}x{at}, noc.flit_width {}", 128 << (at % 3));
            let names: Vec<String> = (0..count).map(name).collect();
            let point = |at: usize| {
                let at_front = 200.0 / (1.0 + at as f64 * 0.3) + (at * 7 % 5) as f64 * 8.0;
                (names[at].as_str(), at_front, 0.2 + at as f64 / count as f64, at % 3 != 1)
            };
            let points: Vec<_> = (0..count).map(point).collect();
            let svg = draw(&of(&points), "a_sweep: tokens 9000").unwrap();
            assert_eq!(misplaced(&svg), [""; 0], "{count}");
        }
    }

    #[test]
    fn points_that_fit_and_others_are_drawn_apart() {
        let found = of(&[("a", 3.0, 0.2, true), ("b", 2.0, 0.5, false), ("d", 1.0, 0.9, true)]);
        let drawn = pareto_figures("s", &[found]).unwrap();
        assert_eq!(drawn[0].name, "pareto-tokens-9000");
        for words in ["does not fit", "misses a clock", ">a<", ">d<"] {
            assert!(
                drawn[0].svg.contains(words) || drawn[0].svg.contains(&words.replace(['>', '<'], "")),
                "{words}"
            );
        }
    }
}
