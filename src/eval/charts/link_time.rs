//! Draws the load of every link over time as a heat map: a line for each link with the tile
//! that it leaves, a column for each window of cycles.

use crate::design::{Mesh, Port};
use crate::eval::report::picture::canvas::{heat, picture_of, short, write, Area, Drawn, FAINT, INK, WIDTH};
use crate::eval::rows::row::LinkTimes;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const LEFT: i32 = 122;
const RIGHT: i32 = WIDTH as i32 - 20;
const TOP: i32 = 80;
/// Units between the links of one direction and those of the next.
const GAP: i32 = 14;
/// Units of all lines together, about.
const LINES: i32 = 560;
/// Units of a name of a link.
const NAME: i32 = 10;
/// Units below the lines: the axis of time, then the scale.
const BELOW: i32 = 104;

/// Draws flits per cycle of each link over time, links of one direction together.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn link_time(title: &str, mesh: Mesh, times: &LinkTimes) -> anyhow::Result<String> {
    let sides = [Port::East, Port::West, Port::North, Port::South];
    let of = |port: Port| {
        let towards = |&at: &usize| {
            let ((from, to), node) = (times.links[at], |(x, y)| mesh.node(x, y));
            node(from).and_then(|node| mesh.neighbour(node, port)) == node(to)
        };
        (port, (0..times.links.len()).filter(towards).collect::<Vec<usize>>())
    };
    let groups = sides.map(of);
    let line = (LINES / times.links.len().max(1) as i32).clamp(1, 16);
    let height = TOP + line * times.links.len() as i32 + GAP * 3 + BELOW;
    let heading = "Load of each link over time";
    picture_of(height as u32, [heading, title], |root| {
        let mut top = TOP;
        for (port, links) in &groups {
            let name = format!("{}ward", port.name());
            write(
                root,
                &name,
                14,
                INK,
                (8, top + line * links.len() as i32 / 2),
                (HPos::Left, VPos::Center),
            )?;
            // Thin lines have a name now and then; those between follow the order of the tiles.
            let named = (NAME / line.max(1)).max(1) as usize;
            for (at, &link) in links.iter().enumerate() {
                windows(root, times, link, (top, line))?;
                if at % named == 0 {
                    let (x, y) = times.links[link].0;
                    let place = (LEFT - 4, top + line / 2);
                    write(root, &format!("{x},{y}"), 9, INK, place, (HPos::Right, VPos::Center))?;
                }
                top += line;
            }
            top += GAP;
        }
        let bottom = top - GAP;
        axis(root, times, bottom)?;
        scale(root, times.busiest(), bottom + 58)
    })
}

fn place(times: &LinkTimes, cycle: u64) -> i32 {
    let whole = times.end.saturating_sub(times.begin).max(1) as f64;
    LEFT + (f64::from(RIGHT - LEFT) * (cycle - times.begin) as f64 / whole) as i32
}

/// The windows of one link. Neighbours of one colour are one rectangle.
fn windows(root: &Area<'_>, times: &LinkTimes, link: usize, (top, line): (i32, i32)) -> Drawn {
    let busiest = times.busiest();
    let step = |at: usize| heat(times.load(link, at) / busiest);
    let count = times.windows();
    let mut from = 0;
    while from < count {
        let colour = step(from);
        let to = (from..count).find(|&at| step(at) != colour).unwrap_or(count);
        let begin = |at: usize| place(times, (times.begin + times.cycles * at as u64).min(times.end));
        root.draw(&Rectangle::new([(begin(from), top), (begin(to), top + line)], colour.filled()))?;
        from = to;
    }
    Ok(())
}

fn axis(root: &Area<'_>, times: &LinkTimes, bottom: i32) -> Drawn {
    let whole = times.end.saturating_sub(times.begin).max(1) as f64;
    let step = whole / 5.0;
    let decade = 10_f64.powf(step.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * decade).into_iter().find(|&s| s >= step).unwrap_or(step);
    let first = (times.begin as f64 / step).ceil() as u64;
    for cycle in (first..).map(|n| (n as f64 * step) as u64).take_while(|&cycle| cycle <= times.end) {
        let x = place(times, cycle);
        root.draw(&PathElement::new([(x, bottom + 2), (x, bottom + 7)], FAINT.stroke_width(1)))?;
        write(root, &short(cycle as f64), 14, INK, (x, bottom + 10), (HPos::Center, VPos::Top))?;
    }
    let name = format!("time (cycles; a window is {} cycles)", times.cycles);
    write(root, &name, 14, INK, ((LEFT + RIGHT) / 2, bottom + 28), (HPos::Center, VPos::Top))
}

/// The scale: its colours from 0 to the busiest window.
fn scale(root: &Area<'_>, busiest: f64, top: i32) -> Drawn {
    const STEPS: i32 = 15;
    let (left, right) = (LEFT, LEFT + 220);
    let at = |step: i32| left + (right - left) * step / STEPS;
    for step in 0..STEPS {
        let colour = heat((f64::from(step) + 0.5) / f64::from(STEPS));
        root.draw(&Rectangle::new([(at(step), top), (at(step + 1), top + 14)], colour.filled()))?;
    }
    write(root, "0", 14, INK, (left, top + 18), (HPos::Left, VPos::Top))?;
    write(root, &short(busiest), 14, INK, (right, top + 18), (HPos::Right, VPos::Top))?;
    write(root, "flits a cycle", 14, INK, (right + 10, top + 7), (HPos::Left, VPos::Center))
}

#[cfg(test)]
mod tests {
    use crate::eval::charts::link_time::*;

    #[test]
    fn every_link_has_a_line_and_a_link_that_rests_is_one_rectangle() {
        let mesh = Mesh::new(3, 2);
        let mut links = Vec::new();
        for node in mesh.nodes() {
            for next in Port::ALL.into_iter().filter_map(|port| mesh.neighbour(node, port)) {
                links.push((mesh.coords(node), mesh.coords(next)));
            }
        }
        let mut flits = vec![vec![0; 4]; links.len()];
        flits[0] = vec![100, 0, 0, 50];
        let times = LinkTimes { begin: 1000, end: 1512, cycles: 128, links: links.clone(), flits };
        let svg = link_time("test", mesh, &times).unwrap();
        let background_and_scale = 1 + 15;
        assert_eq!(svg.matches("<rect").count(), background_and_scale + links.len() - 1 + 3);
        for words in [
            "\n0,0\n",
            "\n2,1\n",
            "eastward",
            "westward",
            "northward",
            "southward",
            "a window is 128 cycles",
            "flits a cycle",
        ] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
    }
}
