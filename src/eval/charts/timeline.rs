//! Draws the activity of a tile's stages over time as SVG: fetch, multiply and reduce overlap, or
//! do not.

use crate::cosim::workloads::attention::{AttentionResult, Sample};
use crate::design::Design;
use crate::eval::report::picture::canvas::{Area, Drawn, EDGE, INK, PANEL as FIELD, PAPER};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

const LEFT: i32 = 190;
const WIDTH: i32 = 900;
const LANE: i32 = 26;
const GAP: i32 = 8;
const TOP: i32 = 66;
const PANEL: i32 = 5 * (LANE + GAP) + 58;
/// Ticks of an axis at most, but for the one at its begin.
const MOST_TICKS: usize = 8;
/// Cycles of the second panel.
const CLOSE_UP: usize = 720;

/// A lane: its name, its colour, and the test for busy.
type Lane = (&'static str, RGBColor, fn(&Sample) -> bool);

const LANES: [Lane; 5] = [
    ("Pf: flits wait in the FIFO", RGBColor(120, 144, 176), |s| s.fetched),
    ("Tm: K in the array", RGBColor(38, 110, 180), |s| s.keys),
    ("Tm: V in the array", RGBColor(222, 132, 32), |s| s.values),
    ("Rd: weights of a block", RGBColor(70, 150, 90), |s| s.loads),
    ("Rd: results leave", RGBColor(160, 60, 110), |s| s.results),
];

/// Draws the stages of the busiest tile: the whole run, and a close-up of the first slices.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn timeline(title: &str, design: &Design, done: &AttentionResult) -> anyhow::Result<String> {
    let busy = |samples: &&Vec<Sample>| samples.iter().filter(|s| s.keys || s.values).count();
    let (tile, _) = done.timeline.iter().enumerate().max_by_key(|(_, s)| busy(s)).expect("a mesh has tiles");
    let node = design.mesh.node_at(tile).expect("a tile of this mesh");
    let all = &done.timeline[tile][..done.timeline[tile].len().min(done.cycles as usize)];
    let first = all.iter().position(|s| s.fetched).unwrap_or(0).saturating_sub(8);
    let close = &all[first..all.len().min(first + CLOSE_UP)];
    let mut svg = String::new();
    draw(&mut svg, title, design.mesh.coords(node), all, (first, close))
        .map_err(|e| anyhow::anyhow!("cannot draw the timeline: {e}"))?;
    Ok(svg)
}

fn draw(
    svg: &mut String,
    title: &str,
    tile: (u32, u32),
    all: &[Sample],
    (first, close): (usize, &[Sample]),
) -> Drawn {
    let size = ((LEFT + WIDTH + 40) as u32, (TOP + 2 * PANEL) as u32);
    let root = SVGBackend::with_string(svg, size).into_drawing_area();
    root.fill(&PAPER)?;
    let text = |size: u32| ("sans-serif", size).into_font().color(&INK);
    root.draw(&Text::new(title.to_owned(), (16, 12), text(16)))?;
    let both = all.iter().filter(|s| s.fetched && (s.keys || s.values) && s.loads).count();
    let passes = all.iter().filter(|s| s.keys || s.values).count();
    let summary = format!(
        "tile {tile:?}, {} cycles: the array works in {:.1} % of them; in {both} cycles all three stages work at once",
        all.len(),
        100.0 * passes as f64 / all.len().max(1) as f64
    );
    root.draw(&Text::new(summary, (16, 34), text(12)))?;
    panel(&root, TOP, "the whole run", 0, all)?;
    panel(&root, TOP + PANEL, "its first slices", first, close)?;
    root.present()
}

/// Round cycles of an axis that has so many from the first on.
fn ticks(first: usize, cycles: usize) -> impl Iterator<Item = usize> {
    let least = cycles.div_ceil(MOST_TICKS).max(1);
    let decade = 10_usize.pow(least.ilog10());
    let step = [1, 2, 5, 10].into_iter().map(|n| n * decade).find(|&step| step >= least).unwrap_or(least);
    (first.div_ceil(step)..).map(move |n| n * step).take_while(move |&cycle| cycle <= first + cycles)
}

fn panel(root: &Area<'_>, top: i32, name: &str, first: usize, samples: &[Sample]) -> Drawn {
    let style = |size: u32| ("sans-serif", size).into_font().color(&INK);
    root.draw(&Text::new(name.to_owned(), (16, top), style(13)))?;
    let pixels = WIDTH as usize;
    for (at, (lane, colour, busy)) in LANES.iter().enumerate() {
        let y = top + 20 + at as i32 * (LANE + GAP);
        let right = style(12).pos(Pos::new(HPos::Right, VPos::Center));
        root.draw(&Text::new((*lane).to_owned(), (LEFT - 10, y + LANE / 2), right))?;
        root.draw(&Rectangle::new([(LEFT, y), (LEFT + WIDTH, y + LANE)], FIELD.filled()))?;
        for x in 0..pixels {
            // The cycles under this pixel; with fewer cycles than pixels, the one that the pixel
            // belongs to.
            let from = x * samples.len() / pixels;
            let to = ((x + 1) * samples.len() / pixels).max(from + 1).min(samples.len());
            let here = samples.get(from..to).unwrap_or_default();
            let share = here.iter().filter(|s| busy(s)).count() as f64 / here.len().max(1) as f64;
            if share > 0.0 {
                let x = LEFT + x as i32;
                root.draw(&Rectangle::new(
                    [(x, y), (x + 1, y + LANE)],
                    colour.mix(0.25 + 0.75 * share).filled(),
                ))?;
            }
        }
        root.draw(&Rectangle::new([(LEFT, y), (LEFT + WIDTH, y + LANE)], EDGE))?;
    }
    let bottom = top + 20 + LANES.len() as i32 * (LANE + GAP);
    for cycle in ticks(first, samples.len()) {
        let x = LEFT + (WIDTH as usize * (cycle - first) / samples.len().max(1)) as i32;
        let centre = style(11).pos(Pos::new(HPos::Center, VPos::Top));
        root.draw(&PathElement::new([(x, bottom - GAP), (x, bottom - GAP + 5)], INK))?;
        root.draw(&Text::new(cycle.to_string(), (x, bottom), centre))?;
    }
    let right = style(11).pos(Pos::new(HPos::Right, VPos::Top));
    root.draw(&Text::new("cycle".to_owned(), (LEFT - 10, bottom), right))
}

#[cfg(test)]
mod tests {
    use crate::eval::charts::timeline::*;

    #[test]
    fn ticks_are_round_and_neither_many_nor_few() {
        for (first, cycles) in [(0, 1), (0, 7), (3, 720), (117, 720), (0, 4096), (0, 31_853), (0, 1_048_576)]
        {
            let all: Vec<usize> = ticks(first, cycles).collect();
            assert!((1..=MOST_TICKS + 1).contains(&all.len()), "{first} {cycles}: {all:?}");
            assert!(all.iter().all(|&cycle| (first..=first + cycles).contains(&cycle)), "{all:?}");
            let step = all.get(1).map_or(1, |second| second - all[0]);
            assert!(all.iter().all(|cycle| cycle % step == 0), "{all:?}");
        }
        assert_eq!(ticks(0, 4000).collect::<Vec<_>>(), [0, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000]);
    }
}
