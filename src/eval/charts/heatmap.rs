//! Draws the links of the mesh, coloured by their load, as SVG.

use crate::design::Mesh;
use crate::eval::report::picture::canvas::{heat, Area, Drawn, EDGE, INK, PANEL, PAPER};
use crate::eval::report::picture::text::fitted;
use crate::eval::rows::row::Row;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Pixels: distance of tiles, side of a tile, width of a link.
const PITCH: i32 = 74;
const SIDE: i32 = 40;
const BAND: i32 = 11;
const TOP: i32 = 84;
const LEFT: i32 = 44;
const LEGEND: i32 = 118;

/// Draws flits per cycle on each directed link and into each tile, with a scale. South is at the
/// bottom. Each of the two links between neighbours is on the right-hand side of its direction, as
/// on a road.
///
/// # Errors
/// If the picture cannot be drawn.
pub fn heatmap(title: &str, subtitle: &str, mesh: Mesh, row: &Row) -> anyhow::Result<String> {
    let mut svg = String::new();
    draw(&mut svg, [title, subtitle], mesh, row)
        .map_err(|e| anyhow::anyhow!("cannot draw the heat map: {e}"))?;
    Ok(svg)
}

fn draw(svg: &mut String, [title, subtitle]: [&str; 2], mesh: Mesh, row: &Row) -> Drawn {
    let (cols, rows) = (mesh.cols() as i32, mesh.rows() as i32);
    let field = |n: i32| (n - 1) * PITCH + SIDE;
    let width = (LEFT + field(cols) + LEGEND).max(510);
    let height = TOP + field(rows).max(180) + 40;
    let window = row.window.max(1) as f64;
    let load = |flits: u32| f64::from(flits) / window;
    let busiest = row.links.iter().map(|link| load(link.flits())).fold(0.0, f64::max);
    let mean = row.links.iter().map(|link| load(link.flits())).sum::<f64>() / row.links.len().max(1) as f64;
    let scale = nice_above(busiest);

    let root = SVGBackend::with_string(svg, (width as u32, height as u32)).into_drawing_area();
    root.fill(&PAPER)?;
    let text = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let summary =
        format!("busiest link {busiest:.3}, mean {mean:.3} flits / cycle; in the tiles, deliveries / cycle");
    for (line, most, y) in [(title, 16, 12), (subtitle, 13, 32), (&summary, 11, 50)] {
        let (line, size) = fitted(line, most, width - LEFT - 8);
        root.draw(&Text::new(line, (LEFT, y), text(size)))?;
    }

    // Corner of a tile: rows count from the south, pixels from the north.
    let corner = |(x, y): (u32, u32)| (LEFT + x as i32 * PITCH, TOP + (rows - 1 - y as i32) * PITCH);
    for link in &row.links {
        let colour = heat(load(link.flits()) / scale);
        arrow(&root, corner(link.from), corner(link.to), colour)?;
    }
    for node in mesh.nodes() {
        let (x, y) = mesh.coords(node);
        let (left, top) = corner((x, y));
        let delivered = row.delivered.get(node.index()).copied().unwrap_or(0) as f64 / window;
        tile(&root, (left, top), delivered)?;
        let name = ("sans-serif", 11).into_font().color(&INK);
        if y == 0 {
            let at = name.clone().pos(Pos::new(HPos::Center, VPos::Top));
            root.draw(&Text::new(x.to_string(), (left + SIDE / 2, top + SIDE + 7), at))?;
        }
        if x == 0 {
            let at = name.pos(Pos::new(HPos::Right, VPos::Center));
            root.draw(&Text::new(y.to_string(), (left - 8, top + SIDE / 2), at))?;
        }
    }
    legend(&root, LEFT + field(cols) + 34, TOP, field(rows).max(180), scale)?;
    root.present()
}

/// Draws a tile with its flits per cycle.
fn tile(root: &Area<'_>, (left, top): (i32, i32), delivered: f64) -> Drawn {
    let corners = [(left, top), (left + SIDE, top + SIDE)];
    root.draw(&Rectangle::new(corners, PANEL.filled()))?;
    root.draw(&Rectangle::new(corners, EDGE))?;
    let style = ("sans-serif", 11).into_font().color(&INK).pos(Pos::new(HPos::Center, VPos::Center));
    root.draw(&Text::new(format!("{delivered:.2}"), (left + SIDE / 2, top + SIDE / 2), style))
}

/// Draws a link from one tile's corner to its neighbour's, pointed at the receiving end.
fn arrow(root: &Area<'_>, from: (i32, i32), to: (i32, i32), colour: RGBColor) -> Drawn {
    let (dx, dy) = ((to.0 - from.0).signum(), (to.1 - from.1).signum());
    // Along the link from the sender's edge, and across it to the right of its direction.
    let half = SIDE / 2;
    let (near, far) = (half + 2, PITCH - half - 2);
    let point = |along: i32, across: i32| {
        (from.0 + half + along * dx - across * dy, from.1 + half + along * dy + across * dx)
    };
    let (inner, outer, tip) = (2, 2 + BAND, 8);
    let shape = vec![
        point(near, inner),
        point(far - tip, inner),
        point(far, inner + BAND / 2),
        point(far - tip, outer),
        point(near, outer),
    ];
    root.draw(&Polygon::new(shape.clone(), colour.filled()))?;
    let outline: Vec<_> = shape.iter().chain(&shape[..1]).copied().collect();
    root.draw(&PathElement::new(outline, EDGE))
}

/// Draws the scale from 0 to `scale` flits per cycle.
fn legend(root: &Area<'_>, left: i32, top: i32, height: i32, scale: f64) -> Drawn {
    const STEPS: i32 = 15;
    for step in 0..STEPS {
        let y = |n: i32| top + height - height * n / STEPS;
        let colour = heat((f64::from(step) + 0.5) / f64::from(STEPS));
        root.draw(&Rectangle::new([(left, y(step + 1)), (left + 14, y(step))], colour.filled()))?;
    }
    for tick in 0..=4 {
        let y = top + height - height * tick / 4;
        let style = ("sans-serif", 11).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Center));
        let value = scale * f64::from(tick) / 4.0;
        root.draw(&PathElement::new([(left + 14, y), (left + 18, y)], INK))?;
        root.draw(&Text::new(format!("{value:.3}"), (left + 21, y), style))?;
    }
    let style = ("sans-serif", 11).into_font().color(&INK).pos(Pos::new(HPos::Left, VPos::Bottom));
    root.draw(&Text::new("flits / cycle", (left, top - 8), style))
}

/// A round number not below `x`, so that scales of similar runs are the same; 1 if nothing moved.
fn nice_above(x: f64) -> f64 {
    const NICE: [f64; 8] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8];
    if x <= 0.0 {
        1.0
    } else {
        NICE.into_iter().find(|&n| n >= x).unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use crate::eval::charts::heatmap::*;
    use crate::eval::report::picture::placed::{misplaced, texts};

    #[test]
    fn no_text_of_a_small_mesh_is_cut_or_lies_on_another() {
        for (cols, rows) in [(2, 2), (3, 2), (8, 1), (8, 8)] {
            let svg =
                heatmap("a_design, 2 x 2, 2 + 2 VCs x 8", "uniform", Mesh::new(cols, rows), &Row::default());
            let svg = svg.unwrap();
            assert_eq!(misplaced(&svg), [""; 0], "{cols} x {rows}");
            assert!(texts(&svg).iter().all(|(text, _)| !text.ends_with('…')), "{cols} x {rows}");
        }
    }
}
