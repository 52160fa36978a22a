//! Draws the placement of macro-blocks as SVG. Each tile is a cell, filled to its share and in the
//! colours of its layers. Below, small maps show the first segments of the first layers.
//!
//! Lengths are whole user units, so no rounding can differ between machines. South is at the
//! bottom.

mod frame;

use crate::design::{Design, PlacementKind};
use crate::emit::svg::draw;
use frame::{Frame, CELL, LABEL, LINE, MARGIN, SIDE, TANK, TITLE};

/// One colour per layer modulo columns: under the paper's placement, one per column.
const COLOURS: [&str; 16] = [
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#b07aa1", "#edc948", "#76b7b2", "#9c755f", "#1f3f66",
    "#a85f00", "#2d6a2d", "#8c1d28", "#6a3d7c", "#8a7a00", "#2f7f86", "#5b4636",
];
/// The picture of a design's placement.
pub fn placement_picture(design: &Design) -> String {
    let frame = Frame::new(design, colours(design) as u32);
    let (name, width, height) = (&design.name, frame.width, frame.height);
    let blocks = design.placement.block_name();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{name}: where {blocks} live</title>\n\
         <style>\ntext {{ font-family: \"DejaVu Sans\", Verdana, sans-serif; font-size: 11px; fill: #222; }}\n\
         .faint {{ fill: #666; }}\n.mid {{ text-anchor: middle; }}\n.end {{ text-anchor: end; }}\n\
         .cell {{ font-size: 9px; text-anchor: middle; }}\n</style>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    let blocks = Blocks::of(design);
    title(&mut svg, design, &blocks);
    tiles(&mut svg, design, &frame, &blocks);
    legend(&mut svg, design, &frame, &blocks);
    for (i, layer) in frame.layers.clone().enumerate() {
        first_segments(&mut svg, design, frame.map_corner(design, i as u32), layer);
    }
    draw!(
        svg,
        r#"<text x="{MARGIN}" y="{}" font-weight="bold">First segment of a layer that lives on each tile</text>"#,
        frame.maps - 30
    );
    svg += "</svg>\n";
    svg
}

/// Macro-blocks by tile and colour.
struct Blocks {
    /// For each tile, one number per colour.
    by_colour: Vec<Vec<u32>>,
    of_tile: Vec<u32>,
    fullest: u32,
    /// True if the fullest tile has more than an even share although it need not.
    uneven: bool,
}

impl Blocks {
    fn of(design: &Design) -> Blocks {
        let placement = &design.placement;
        let mut by_colour = vec![vec![0; colours(design)]; design.mesh.tiles()];
        for layer in 0..placement.layers {
            let of_layer = placement.blocks_of_layer(layer);
            for (tile, more) in by_colour.iter_mut().zip(of_layer) {
                tile[colour_of(design, layer)] += more;
            }
        }
        let of_tile = placement.blocks();
        let fullest = of_tile.iter().copied().max().unwrap_or(0);
        let uneven = fullest > design.blocks_per_tile && placement.kind != PlacementKind::Hub;
        Blocks { by_colour, of_tile, fullest, uneven }
    }
}

/// Number of colours: one per column, if there are as many layers.
fn colours(design: &Design) -> usize {
    design.mesh.cols().min(design.placement.layers) as usize
}

fn colour_of(design: &Design, layer: u32) -> usize {
    layer as usize % colours(design)
}

fn title(svg: &mut String, design: &Design, blocks: &Blocks) {
    let placement = &design.placement;
    let rule = placement.rule();
    draw!(
        svg,
        r#"<text x="{MARGIN}" y="{}" style="font-size: 18px" font-weight="bold">{}: {rule}</text>"#,
        MARGIN + 16,
        design.name
    );
    draw!(
        svg,
        r#"<text x="{MARGIN}" y="{}" class="faint">{} layers of {} segments; fullest tile {} {}, N_max {}</text>"#,
        MARGIN + 36,
        placement.layers,
        placement.segments,
        blocks.fullest,
        placement.block_name(),
        design.blocks_per_tile
    );
}

fn tiles(svg: &mut String, design: &Design, frame: &Frame, blocks: &Blocks) {
    // Contents of a full cell: no tile has more, and an even share fits too.
    let full = u64::from(blocks.fullest.max(design.blocks_per_tile).max(1));
    let high = |n: u64| (n * u64::from(TANK) / full) as u32;
    for node in design.mesh.nodes() {
        let (x, y) = design.mesh.coords(node);
        let (left, top) = frame.corner(x, y);
        let bottom = top + SIDE;
        draw!(
            svg,
            r##"<rect x="{left}" y="{}" width="{SIDE}" height="{TANK}" fill="#eef0f4"/>"##,
            top + LABEL
        );
        let mut below = 0;
        for (colour, &count) in blocks.by_colour[node.index()].iter().enumerate() {
            let (from, to) = (high(below), high(below + u64::from(count)));
            below += u64::from(count);
            if to > from {
                let (y, height, fill) = (bottom - to, to - from, COLOURS[colour]);
                draw!(svg, r#"<rect x="{left}" y="{y}" width="{SIDE}" height="{height}" fill="{fill}"/>"#);
            }
        }
        draw!(
            svg,
            r##"<rect class="tile" x="{left}" y="{}" width="{SIDE}" height="{TANK}" fill="none" stroke="#445"/>"##,
            top + LABEL
        );
        let (mid, count) = (left + SIDE / 2, blocks.of_tile[node.index()]);
        draw!(svg, r#"<text x="{mid}" y="{}" class="mid">{count}</text>"#, top + LABEL - 4);
        if blocks.uneven {
            let y = bottom - high(design.blocks_per_tile.into());
            draw!(
                svg,
                r##"<path d="M{left} {y}h{SIDE}" stroke="#000" stroke-width="1.4" stroke-dasharray="4 3"/>"##
            );
        }
        if y == 0 {
            draw!(svg, r#"<text x="{mid}" y="{}" class="faint mid">{}</text>"#, bottom + 18, named('x', x));
        }
        if x == 0 {
            let y_of_text = top + LABEL + TANK / 2 + 4;
            draw!(
                svg,
                r#"<text x="{}" y="{y_of_text}" class="faint end">{}</text>"#,
                left - 8,
                named('y', y)
            );
        }
    }
}

/// Label of a number on an axis; only the first one names the axis.
fn named(axis: char, n: u32) -> String {
    if n == 0 {
        format!("{axis} = 0")
    } else {
        n.to_string()
    }
}

fn legend(svg: &mut String, design: &Design, frame: &Frame, blocks: &Blocks) {
    let left = frame.corner(design.mesh.cols(), 0).0 + 16;
    let mut y = MARGIN + TITLE + LABEL + 10;
    draw!(svg, r#"<text x="{left}" y="{y}" font-weight="bold">Layers on a tile</text>"#);
    let (count, layers) = (colours(design) as u32, design.placement.layers);
    for colour in 0..count {
        y += LINE;
        let fill = COLOURS[colour as usize];
        draw!(svg, r#"<rect x="{left}" y="{}" width="14" height="12" fill="{fill}"/>"#, y - 10);
        let text = listed(&(colour..layers).step_by(count as usize).collect::<Vec<_>>());
        draw!(svg, r#"<text x="{}" y="{y}">{text}</text>"#, left + 22);
    }
    y += LINE + 6;
    draw!(
        svg,
        r#"<text x="{left}" y="{y}" class="faint">numbers: {} a tile</text>"#,
        design.placement.block_name()
    );
    if blocks.uneven {
        y += LINE;
        draw!(
            svg,
            r##"<path d="M{left} {}h14" stroke="#000" stroke-width="1.4" stroke-dasharray="4 3"/>"##,
            y - 4
        );
        draw!(svg, r#"<text x="{}" y="{y}">an even share, N_max</text>"#, left + 22);
    }
}

/// List of numbers in a row, with the middle of many left out.
fn listed(numbers: &[u32]) -> String {
    let text = |part: &[u32]| part.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match numbers {
        [first, second, _, _, .., last] if numbers.len() > 5 => format!("{first}, {second}, ... {last}"),
        all => text(all),
    }
}

/// Draws a small map: the first segment of `layer` on each tile, the earlier the stronger its
/// colour.
fn first_segments(svg: &mut String, design: &Design, (left, top): (u32, u32), layer: u32) {
    let fill = COLOURS[colour_of(design, layer)];
    let first = design.placement.first_segments(layer);
    let latest = first.iter().flatten().copied().max().unwrap_or(0);
    draw!(svg, r#"<text x="{left}" y="{}">layer {layer}</text>"#, top - 6);
    for node in design.mesh.nodes() {
        let (x, y) = design.mesh.coords(node);
        let (cell_x, cell_y) = (left + x * CELL, top + (design.mesh.rows() - 1 - y) * CELL);
        let segment = first[node.index()];
        // From 70 % for the first segment down to 10 % for the last that finds a new home.
        let percent = segment.map_or(0, |s| 70 - 60 * s / latest.max(1));
        draw!(
            svg,
            r##"<rect x="{cell_x}" y="{cell_y}" width="{CELL}" height="{CELL}" fill="{fill}" fill-opacity="0.{percent:02}" stroke="#aab" stroke-width="0.6"/>"##
        );
        if let Some(segment) = segment {
            draw!(
                svg,
                r#"<text x="{}" y="{}" class="cell">{segment}</text>"#,
                cell_x + CELL / 2,
                cell_y + CELL / 2 + 3
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::eval::charts::placement::*;

    fn picture(change: impl Fn(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        placement_picture(&Design::from_config("a-b", &config).unwrap())
    }

    #[test]
    fn every_tile_is_drawn_once_and_every_colour_is_in_the_legend() {
        for (cols, rows) in [(2, 2), (3, 5), (16, 16), (16, 2)] {
            let svg = picture(|c| (c.mesh.cols, c.mesh.rows) = (cols, rows));
            assert_eq!(svg.matches("class=\"tile\"").count() as u32, cols * rows);
            for colour in &COLOURS[..cols as usize] {
                assert!(svg.contains(&format!("width=\"14\" height=\"12\" fill=\"{colour}\"")), "{colour}");
            }
        }
    }

    #[test]
    fn a_column_has_one_colour_under_the_papers_placement_and_all_under_the_others() {
        let stripes = |change: fn(&mut Config)| {
            let svg = picture(change);
            svg.lines()
                .filter(|line| line.contains("width=\"56\"") && line.contains("fill=\"#4e79a7\""))
                .count()
        };
        assert_eq!(stripes(|_| {}), 8);
        assert_eq!(stripes(|c| c.takv.column_stride = 1), 64);
        assert_eq!(stripes(|c| c.takv.placement = PlacementKind::RoundRobin), 64);
        assert_eq!(stripes(|c| c.takv.placement = PlacementKind::Hub), 1);
    }

    #[test]
    fn the_line_of_an_even_share_is_drawn_only_where_a_tile_has_more() {
        let lines = |layers| picture(|c| c.model.layers = layers).matches("stroke-dasharray").count();
        assert_eq!((lines(32), lines(30)), (0, 65));
        let hub = picture(|c| c.takv.placement = PlacementKind::Hub);
        assert!(!hub.contains("stroke-dasharray"), "a hub is meant to have all");
    }

    #[test]
    fn every_picture_is_well_formed() {
        for kind in [PlacementKind::Takv, PlacementKind::RoundRobin, PlacementKind::Hub] {
            for (cols, rows, layers) in [(2, 16, 1), (16, 2, 1024), (5, 7, 3)] {
                let svg = picture(|c| {
                    (c.mesh.cols, c.mesh.rows, c.takv.placement) = (cols, rows, kind);
                    (c.model.layers, c.model.max_tokens) = (layers, 1024);
                });
                assert!(crate::eval::svg_to_png(&svg).is_ok(), "{cols} {rows} {layers} {kind:?}");
            }
        }
    }

    #[test]
    fn long_lists_are_cut_in_the_middle() {
        assert_eq!(listed(&[1, 9]), "1, 9");
        assert_eq!(listed(&[0, 8, 16, 24, 32]), "0, 8, 16, 24, 32");
        assert_eq!(listed(&[0, 8, 16, 24, 32, 40]), "0, 8, ... 40");
    }
}
