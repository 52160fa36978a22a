//! Draws latencies as a distribution: a histogram with logarithmic counts, and below it the share
//! of packets that took no longer.

use crate::cosim::workloads::network::Bin;
use crate::eval::report::picture::canvas::{
    decades, picture_of, short, write, Area, Drawn, FAINT, GRID, INK, SERIES,
};
use crate::eval::rows::row::Row;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// Units down: both panels, the axis between them, and the list of percentiles.
const HEIGHT: u32 = 640;
/// Place of the panels: left and right edge, then top and bottom of each.
const LEFT: i32 = 78;
const RIGHT: i32 = 540;
const COUNTS: (i32, i32) = (90, 306);
const SHARES: (i32, i32) = (336, 526);
/// Place of the percentiles, down.
const LIST: i32 = 594;

/// Longest over shortest latency from which the axis of cycles is logarithmic.
const WIDE: f64 = 12.0;

/// Percentiles that are marked, by name.
fn percentiles(row: &Row) -> [(&'static str, f64, u64); 4] {
    [
        ("p50", 0.5, row.latency_p50),
        ("p95", 0.95, row.latency_p95),
        ("p99", 0.99, row.latency_p99),
        ("p99.9", 0.999, row.latency_p999),
    ]
}

/// Draws the distribution of a run's latencies, with the percentiles 50, 95, 99 and 99.9.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn distribution(title: &str, row: &Row) -> anyhow::Result<String> {
    let bound = if row.finished { "" } else { "; lower bounds, the sample did not arrive" };
    let subtitle = format!("{title}{bound}");
    picture_of(HEIGHT, ["Latency of packets, from source queue to ejection", &subtitle], |root| {
        if row.latency_bins.is_empty() {
            return write(root, "no packet arrived", 14, FAINT, (LEFT, COUNTS.0), (HPos::Left, VPos::Top));
        }
        draw(root, row)
    })
}

/// The axis of cycles.
struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Axis {
    fn of(bins: &[Bin]) -> Axis {
        let low = bins.first().map_or(0, |bin| bin.from) as f64;
        let high = bins.last().map_or(1, |bin| bin.to) as f64;
        Axis { low: low.max(1.0), high: high.max(low + 1.0), logarithmic: high >= WIDE * low.max(1.0) }
    }

    fn pixel(&self, cycles: f64) -> i32 {
        let share = match self.logarithmic {
            true => (cycles.max(self.low) / self.low).ln() / (self.high / self.low).ln(),
            false => (cycles - self.low) / (self.high - self.low),
        };
        LEFT + (share.clamp(0.0, 1.0) * f64::from(RIGHT - LEFT)) as i32
    }

    /// Round numbers on it.
    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            return decades(self.low, self.high);
        }
        let step = ((self.high - self.low) / 6.0).max(1.0);
        let decade = 10_f64.powf(step.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * decade).into_iter().find(|&s| s >= step).unwrap_or(step);
        let first = (self.low / step).ceil() as u64;
        (first..).map(|n| n as f64 * step).take_while(|&at| at <= self.high).collect()
    }
}

fn line(root: &Area<'_>, from: (i32, i32), to: (i32, i32), colour: RGBColor) -> Drawn {
    root.draw(&PathElement::new([from, to], colour.stroke_width(1)))
}

fn draw(root: &Area<'_>, row: &Row) -> Drawn {
    let bins = &row.latency_bins;
    let axis = Axis::of(bins);
    let total: u64 = bins.iter().map(|bin| bin.count).sum();
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(10) as f64;
    let top = most.log10() * 1.05;
    // A single packet stands out from the axis.
    let height = |count: u64| {
        let share = if count == 0 { 0.0 } else { (count as f64).log10().max(0.0) / top * 0.96 + 0.04 };
        COUNTS.1 - (share * f64::from(COUNTS.1 - COUNTS.0)) as i32
    };
    for count in decades(1.0, most) {
        let y = height(count as u64);
        line(root, (LEFT, y), (RIGHT, y), GRID)?;
        if count.log10().fract() == 0.0 || most < 1000.0 {
            write(root, &short(count), 14, INK, (LEFT - 8, y), (HPos::Right, VPos::Center))?;
        }
    }
    for percent in [0, 25, 50, 75, 100] {
        let y = SHARES.1 - (SHARES.1 - SHARES.0) * percent / 100;
        line(root, (LEFT, y), (RIGHT, y), GRID)?;
        write(root, &format!("{percent} %"), 14, INK, (LEFT - 8, y), (HPos::Right, VPos::Center))?;
    }
    for cycles in axis.ticks() {
        let x = axis.pixel(cycles);
        for (from, to) in [COUNTS, SHARES] {
            line(root, (x, to), (x, to + 5), FAINT)?;
            line(root, (x, from), (x, to), GRID)?;
        }
        write(root, &short(cycles), 14, INK, (x, SHARES.1 + 8), (HPos::Center, VPos::Top))?;
    }
    for bin in bins {
        let (left, right) = (axis.pixel(bin.from as f64), axis.pixel(bin.to as f64));
        let bar = [(left, height(bin.count)), ((right - 1).max(left + 1), COUNTS.1)];
        if bin.count > 0 {
            root.draw(&Rectangle::new(bar, SERIES[0].filled()))?;
        }
    }
    let mut steps = vec![(LEFT, SHARES.1)];
    let mut seen = 0;
    for bin in bins {
        seen += bin.count;
        let y = SHARES.1 - ((SHARES.1 - SHARES.0) as f64 * seen as f64 / total.max(1) as f64) as i32;
        steps.push((axis.pixel(bin.to as f64), y));
    }
    root.draw(&PathElement::new(steps, SERIES[0].stroke_width(2)))?;
    for (from, to) in [COUNTS, SHARES] {
        line(root, (LEFT, to), (RIGHT, to), FAINT)?;
        line(root, (LEFT, from), (LEFT, to), FAINT)?;
    }
    marks(root, row, bins, &axis)?;
    write(root, "packets, logarithmic", 14, INK, (LEFT, COUNTS.0 - 8), (HPos::Left, VPos::Bottom))?;
    write(root, "share that took no longer", 14, INK, (LEFT, SHARES.0 - 8), (HPos::Left, VPos::Bottom))?;
    let unit = if axis.logarithmic { "latency (cycles, logarithmic)" } else { "latency (cycles)" };
    write(root, unit, 14, INK, ((LEFT + RIGHT) / 2, SHARES.1 + 30), (HPos::Center, VPos::Top))
}

/// Latency at which the curve, straight within a bin, reaches a share.
fn reached(bins: &[Bin], share: f64) -> f64 {
    let due = share * bins.iter().map(|bin| bin.count).sum::<u64>() as f64;
    let mut seen = 0.0;
    for bin in bins {
        let count = bin.count as f64;
        if count > 0.0 && seen + count >= due {
            return bin.from as f64 + (bin.to - bin.from) as f64 * (due - seen) / count;
        }
        seen += count;
    }
    bins.last().map_or(0.0, |bin| bin.to as f64)
}

/// A dot on the curve for each percentile, and a list of them below the axis: the curve may pass anywhere above it.
fn marks(root: &Area<'_>, row: &Row, bins: &[Bin], axis: &Axis) -> Drawn {
    let all = percentiles(row);
    for (_, share, _) in all {
        let y = SHARES.1 - (f64::from(SHARES.1 - SHARES.0) * share) as i32;
        root.draw(&Circle::new((axis.pixel(reached(bins, share)), y), 4, SERIES[1].filled()))?;
    }
    let listed =
        all.map(|(name, _, cycles)| (name, cycles)).into_iter().chain([("longest", row.latency_max)]);
    for (at, (name, cycles)) in (0..).zip(listed) {
        let left = LEFT + (RIGHT - LEFT) / 5 * at + 4;
        if at < 4 {
            root.draw(&Circle::new((left, LIST), 4, SERIES[1].filled()))?;
        }
        write(root, name, 14, INK, (left + 12, LIST), (HPos::Left, VPos::Center))?;
        write(root, &cycles.to_string(), 14, INK, (left + 12, LIST + 18), (HPos::Left, VPos::Center))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::eval::charts::distribution::*;
    use crate::eval::report::picture::placed::misplaced;

    #[test]
    fn ticks_are_round_and_few() {
        let axis = Axis { low: 4.0, high: 37.0, logarithmic: false };
        assert_eq!(axis.ticks(), [10.0, 20.0, 30.0]);
    }

    #[test]
    fn a_percentile_is_on_the_curve() {
        let bins = [(0, 4, 2), (4, 6, 0), (6, 8, 6)].map(|(from, to, count)| Bin { from, to, count });
        assert_eq!([0.125, 0.25, 0.625, 1.0].map(|share| reached(&bins, share)), [2.0, 4.0, 7.0, 8.0]);
    }

    #[test]
    fn a_distribution_names_all_percentiles_and_its_units() {
        let bins = vec![
            Bin { from: 4, to: 5, count: 900 },
            Bin { from: 5, to: 9, count: 90 },
            Bin { from: 9, to: 400, count: 1 },
        ];
        let row =
            Row { latency_bins: bins, latency_p95: 7, latency_max: 399, finished: true, ..Row::default() };
        let svg = distribution(
            "a_design, 16 x 16, 2 + 2 VCs x 8: uniform, packets of 4 flits, offered load 0.2, and more of it",
            &row,
        )
        .unwrap();
        assert_eq!(misplaced(&svg), [""; 0]);
        // No box of paper hides a part of the curve.
        assert_eq!(svg.matches("fill=\"#FFFFFF\"").count(), 1, "{svg}");
        for words in [
            "p50",
            "p95",
            "p99",
            "p99.9",
            "longest",
            "399",
            "latency (cycles, logarithmic)",
            "packets, logarithmic",
        ] {
            assert!(svg.contains(words), "{words}");
        }
        assert!(distribution("test", &Row::default()).unwrap().contains("no packet arrived"));
    }
}
