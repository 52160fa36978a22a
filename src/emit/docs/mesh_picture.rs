//! Picture of the mesh: `doc/<name>.svg`.
//!
//! It shows tiles with their coordinates, the links of both directions, and the class of each virtual
//! channel. The origin is in the south-west, as in the design; y is flipped only here.
//! Lengths are whole user units, so that rounding is the same on all machines.

use crate::design::{Class, Design, NodeId, Port};
use crate::emit::source_file::SourceFile;
use crate::emit::svg::draw;

/// Side of a tile.
const TILE: u32 = 48;
/// Space between two tiles, for a pair of links.
const GAP: u32 = 30;
const PITCH: u32 = TILE + GAP;
/// Margin of the picture.
const MARGIN: u32 = 24;
/// Space for the row numbers on the left and, to centre the mesh, on the right.
const AXIS: u32 = 36;
/// Height of title and subtitle.
const TITLE: u32 = 64;
/// Height of one line of the legend.
const LINE: u32 = 20;
/// Least width, for the legend of a 2x2 mesh.
const MIN_WIDTH: u32 = 560;

/// Colours by class, which also differ in lightness, for grey printing.
fn colour(class: Class) -> &'static str {
    match class {
        Class::Part => "#b35900",
        Class::KvFetch => "#6a8f00",
        Class::KvData => "#1f5fa8",
    }
}

/// Shapes that are drawn more than once, and the styles. The background is painted, because dark
/// lines would be invisible on a dark page.
const DEFINITIONS: &str = r##"<style>
text { font-family: "DejaVu Sans", Verdana, sans-serif; fill: #222; }
.small { font-size: 11px; }
.faint { fill: #666; }
.mid { text-anchor: middle; }
</style>
<defs>
<marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" markerUnits="userSpaceOnUse" orient="auto">
<path d="M0 0L6 3L0 6z" fill="#555"/>
</marker>
<g id="tile">
<rect width="48" height="48" rx="5" fill="#eef2f7" stroke="#445" stroke-width="1.2"/>
</g>
<g id="slots" stroke="#fff" stroke-width="1.2">
<path d="M10 0V10M20 0V10M30 0V10"/>
</g>
<g id="row" stroke="#555" stroke-width="1.4">
<path d="M2 -6H28" marker-end="url(#tip)"/>
<path d="M28 6H2" marker-end="url(#tip)"/>
</g>
<g id="column" stroke="#555" stroke-width="1.4">
<path d="M-6 28V2" marker-end="url(#tip)"/>
<path d="M6 2V28" marker-end="url(#tip)"/>
</g>
</defs>
"##;

/// Draws the picture of a design.
pub(in crate::emit) fn emit(design: &Design) -> SourceFile {
    let frame = Frame::new(design);
    let name = &design.name;
    let (width, height) = (frame.width, frame.height);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{name}: mesh of {} x {} tiles</title>\n{DEFINITIONS}\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        design.mesh.cols(),
        design.mesh.rows(),
    );
    title(&mut svg, design, &frame);
    links(&mut svg, design, &frame);
    tiles(&mut svg, design, &frame);
    axes(&mut svg, design, &frame);
    legend(&mut svg, design, &frame);
    svg += "</svg>\n";
    SourceFile { path: format!("doc/{}.svg", design.name), text: svg }
}

/// Coordinates of the parts.
struct Frame {
    width: u32,
    height: u32,
    /// Left edge of column 0.
    left: u32,
    /// Top edge of the northernmost row.
    top: u32,
    rows: u32,
    /// Top of the legend.
    legend: u32,
}

impl Frame {
    fn new(design: &Design) -> Frame {
        let (cols, rows) = (design.mesh.cols(), design.mesh.rows());
        let (mesh_width, mesh_height) = (cols * PITCH - GAP, rows * PITCH - GAP);
        let width = (mesh_width + 2 * (MARGIN + AXIS)).max(MIN_WIDTH);
        let top = MARGIN + TITLE;
        let legend = top + mesh_height + 2 * AXIS;
        // A heading and one line a virtual channel, then a heading and the two kinds of link.
        let height = legend + (design.router.vcs() + 4) * LINE + MARGIN;
        Frame { width, height, left: (width - mesh_width) / 2, top, rows, legend }
    }

    /// Top left corner of a tile.
    fn corner(&self, x: u32, y: u32) -> (u32, u32) {
        (self.left + x * PITCH, self.top + (self.rows - 1 - y) * PITCH)
    }

    fn corner_of(&self, design: &Design, node: NodeId) -> (u32, u32) {
        let (x, y) = design.mesh.coords(node);
        self.corner(x, y)
    }
}

fn title(svg: &mut String, design: &Design, frame: &Frame) {
    let (cols, rows) = (design.mesh.cols(), design.mesh.rows());
    let how = if design.router.multicast { "tree multicast in the routers" } else { "unicast only" };
    let x = MARGIN;
    draw!(
        svg,
        r#"<text x="{x}" y="{}" font-size="18" font-weight="bold">{}: {cols} x {rows} tiles</text>"#,
        MARGIN + 16,
        &design.name
    );
    draw!(
        svg,
        r#"<text x="{x}" y="{}" class="small faint">{} payload bits a flit, {} virtual channels x {} flits, {how}</text>"#,
        MARGIN + 36,
        design.flit.data_width,
        design.router.vcs(),
        design.router.vc_depth
    );
    // An arrow marks north, at the top left.
    let (x, y) = (frame.width - MARGIN - 8, MARGIN + 36);
    draw!(
        svg,
        r##"<path d="M{x} {y}V{}" stroke="#555" stroke-width="1.4" marker-end="url(#tip)"/>"##,
        y - 22
    );
    draw!(svg, r#"<text x="{x}" y="{}" class="small mid">N</text>"#, y - 26);
}

fn links(svg: &mut String, design: &Design, frame: &Frame) {
    for node in design.mesh.nodes() {
        let (x, y) = frame.corner_of(design, node);
        if design.mesh.neighbour(node, Port::East).is_some() {
            draw!(svg, r##"<use href="#row" x="{}" y="{}"/>"##, x + TILE, y + TILE / 2);
        }
        if design.mesh.neighbour(node, Port::North).is_some() {
            draw!(svg, r##"<use href="#column" x="{}" y="{}"/>"##, x + TILE / 2, y - GAP);
        }
    }
}

fn tiles(svg: &mut String, design: &Design, frame: &Frame) {
    for node in design.mesh.nodes() {
        let (x, y) = design.mesh.coords(node);
        let (left, top) = frame.corner(x, y);
        let mid = left + TILE / 2;
        draw!(svg, r##"<use href="#tile" x="{left}" y="{top}"/>"##);
        draw!(svg, r#"<text x="{mid}" y="{}" class="mid" font-size="12">{x}, {y}</text>"#, top + 22);
        draw!(
            svg,
            r#"<text x="{mid}" y="{}" class="mid faint" font-size="9">tile {}</text>"#,
            top + 37,
            node.index()
        );
    }
}

/// Numbers of columns below and of rows on the left, counted from the south-west.
fn axes(svg: &mut String, design: &Design, frame: &Frame) {
    let (_, south) = frame.corner(0, 0);
    for x in 0..design.mesh.cols() {
        let mid = frame.corner(x, 0).0 + TILE / 2;
        let label = if x == 0 { "x = 0".to_owned() } else { x.to_string() };
        draw!(svg, r#"<text x="{mid}" y="{}" class="small faint mid">{label}</text>"#, south + TILE + 18);
    }
    for y in 0..design.mesh.rows() {
        let mid = frame.corner(0, y).1 + TILE / 2;
        let label = if y == 0 { "y = 0".to_owned() } else { y.to_string() };
        draw!(
            svg,
            r#"<text x="{}" y="{}" class="small faint" text-anchor="end">{label}</text>"#,
            frame.left - 8,
            mid + 4
        );
    }
}

/// The virtual channels of a port, and the wires of a link.
fn legend(svg: &mut String, design: &Design, frame: &Frame) {
    let text_at = MARGIN + 56;
    let heading = |svg: &mut String, y, text| {
        draw!(svg, r#"<text x="{MARGIN}" y="{y}" class="small" font-weight="bold">{text}</text>"#);
    };
    let mut y = frame.legend;
    heading(svg, y, "Buffers of every input port");
    for vc in 0..design.router.vcs() {
        y += LINE;
        let class = design.router.class_of_vc(vc);
        let (fill, top) = (colour(class), y - 9);
        draw!(svg, r#"<rect x="{MARGIN}" y="{top}" width="40" height="10" rx="1" fill="{fill}"/>"#);
        draw!(svg, r##"<use href="#slots" x="{MARGIN}" y="{top}"/>"##);
        let (network, how) = conduct(design, class);
        let name = class.name();
        draw!(svg, r#"<text x="{text_at}" y="{y}" class="small">VC {vc}, {network}: {name}, {how}</text>"#);
    }

    y += LINE;
    heading(svg, y, "Links, one each way");
    let flit = &design.flit;
    let (data, head) = (flit.data_width, flit.head_width);
    for (link, dest) in [("row", flit.dest_width), ("column", flit.column_dest_width)] {
        y += LINE;
        let bits = data + head + dest;
        let (from, to, mid) = (MARGIN + 6, MARGIN + 34, y - 4);
        draw!(
            svg,
            r##"<path d="M{from} {mid}H{to}" stroke="#555" stroke-width="1.4" marker-end="url(#tip)"/>"##
        );
        draw!(
            svg,
            r#"<text x="{text_at}" y="{y}" class="small">{link}: flit of {bits} bits ({data} data, {head} header, {dest} destination)</text>"#
        );
    }
}

/// The virtual network of a class, and how its flits travel.
fn conduct(design: &Design, class: Class) -> (&'static str, &'static str) {
    match class {
        Class::Part => ("VN0", "unicast, XY, whole packets"),
        Class::KvFetch => ("VN1", "unicast, XY, one flit"),
        Class::KvData if design.router.multicast => ("VN1", "multicast, XYM, flit by flit"),
        Class::KvData => ("VN1", "unicast, XY, flit by flit"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn picture(cols: u32, rows: u32) -> String {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (cols, rows);
        let design = Design::from_config("a-b", &config).unwrap();
        emit(&design).text
    }

    #[test]
    fn every_tile_and_every_pair_of_links_is_drawn_once() {
        for (cols, rows) in [(2, 2), (3, 5), (16, 16)] {
            let svg = picture(cols, rows);
            let count = |what: &str| svg.matches(what).count() as u32;
            assert_eq!(count("href=\"#tile\""), cols * rows);
            assert_eq!(count("href=\"#row\""), (cols - 1) * rows);
            assert_eq!(count("href=\"#column\""), cols * (rows - 1));
        }
    }

    #[test]
    fn origin_is_in_the_south_west() {
        let mut config = Config::default();
        (config.mesh.cols, config.mesh.rows) = (3, 4);
        let design = Design::from_config("t", &config).unwrap();
        let frame = Frame::new(&design);
        let corners: Vec<_> = design.mesh.nodes().map(|n| frame.corner_of(&design, n)).collect();
        assert!(corners.iter().all(|&(x, y)| x >= corners[0].0 && y <= corners[0].1));
    }

    #[test]
    fn drawn_sizes_are_those_of_the_frame() {
        assert!(DEFINITIONS.contains(&format!("<rect width=\"{TILE}\" height=\"{TILE}\"")));
        assert!(DEFINITIONS.contains(&format!("M2 -6H{}", GAP - 2)));
    }
}
