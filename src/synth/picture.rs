//! The floorplan as a picture: regions of the FPGA, their tiles and other parts, and the utilisation of each.
//!
//! Only here are regions drawn from the top down; everywhere else they count from the bottom. Lengths are
//! whole user units. Tiles are drawn where their rows are assigned, not where a placer would put them.

use super::estimate::{Estimate, Shell};
use super::parts::Scale;
use crate::design::Resources;
use crate::emit::svg::draw;

const MARGIN: i64 = 24;
/// Room for title and subtitle.
const TITLE: i64 = 70;
/// A clock region.
const REGION: (i64, i64) = (64, 42);
/// Rows of clock regions in an SLR.
const REGION_ROWS: i64 = 4;
const SLR_HEIGHT: i64 = REGION_ROWS * REGION.1;
/// Room for the names of the regions.
const NAMES: i64 = 44;
/// Heights of the shared parts in SLR0, and of the memory below it.
const SHARED: i64 = 34;
const MEMORY: i64 = 30;
/// Gap between the FPGA and the bars, and the length of a bar at 100 %.
const GAP: i64 = 96;
const LABEL: i64 = 72;
const BAR: i64 = 170;
const BAR_STEP: i64 = 22;
/// Share at which a bar is cut off.
const CUT: f64 = 1.25;
const NUMBERS: i64 = 170;
const LEGEND: i64 = 58;

/// Names of the resources in labels, in the order of [`Resources::NAMES`].
const WRITTEN: [&str; 6] = ["LUT", "of it memory", "FF", "BRAM36", "URAM", "DSP"];

const STYLE: &str = r##"<style>
text { font-family: "DejaVu Sans", Verdana, sans-serif; font-size: 11px; fill: #222; }
.faint { fill: #666; }
.mid { text-anchor: middle; }
.end { text-anchor: end; }
.bold { font-weight: bold; }
</style>
"##;

/// Draws an estimate as SVG, with the clocks that the design misses.
pub fn floorplan_picture(name: &str, estimate: &Estimate, missed: &[String]) -> String {
    let slrs = estimate.fpga.slrs.len() as i64;
    let fpga = (REGION.0 * i64::from(estimate.fpga.clock_columns), SLR_HEIGHT * slrs);
    let width = MARGIN + NAMES + fpga.0 + GAP + LABEL + (BAR as f64 * CUT) as i64 + NUMBERS + MARGIN;
    let height = MARGIN + TITLE + fpga.1 + MEMORY + LEGEND + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n{STYLE}"
    );
    draw!(svg, r##"<rect width="{width}" height="{height}" fill="#fff"/>"##);
    title(&mut svg, name, estimate, missed);
    for slr in 0..estimate.fpga.slrs.len() {
        let top = MARGIN + TITLE + SLR_HEIGHT * (slrs - 1 - slr as i64);
        region(&mut svg, estimate, slr, MARGIN + NAMES, top, fpga.0);
        bars(&mut svg, estimate, slr, MARGIN + NAMES + fpga.0 + GAP, top);
    }
    beside(&mut svg, fpga);
    legend(&mut svg, estimate, MARGIN + TITLE + fpga.1 + MEMORY + 30);
    svg += "</svg>\n";
    svg
}

fn title(svg: &mut String, name: &str, estimate: &Estimate, missed: &[String]) {
    let mesh = estimate.mesh;
    let (slr, resource, share) = estimate.fullest();
    let verdict = if estimate.fits() { "fits" } else { "does not fit" };
    let colour = if estimate.fits() { "#1b6e3c" } else { "#b02020" };
    let (cols, rows, card) = (mesh.cols(), mesh.rows(), estimate.fpga.name);
    // A design that fits and is too slow is half good.
    let clocks = match missed.is_empty() {
        true => String::new(),
        false => format!("; <tspan fill=\"#b02020\">misses {}</tspan>", missed.join(" and ")),
    };
    draw!(
        svg,
        r##"<text x="{MARGIN}" y="{}" class="bold" style="font-size:18px">{name}: {cols} x {rows} tiles on the {card}, <tspan fill="{colour}">{verdict}</tspan>{clocks}</text>"##,
        MARGIN + 16
    );
    let shell = match estimate.limits.shell {
        Shell::None => "",
        Shell::Vitis => " of what the Vitis shell leaves",
    };
    draw!(
        svg,
        r#"<text x="{MARGIN}" y="{}" class="faint">fullest: {} of SLR{slr} at {}{shell}; limit {}. Estimated by synthesis, not placed or routed.</text>"#,
        MARGIN + 38,
        WRITTEN[resource],
        percent(share),
        percent(estimate.limits.share)
    );
}

/// One SLR: its clock regions, two pblocks of half its width, the tiles in them.
fn region(svg: &mut String, estimate: &Estimate, slr: usize, left: i64, top: i64, width: i64) {
    let fill = colour(worst(estimate, slr), estimate.limits.share);
    draw!(
        svg,
        r##"<rect x="{left}" y="{top}" width="{width}" height="{SLR_HEIGHT}" fill="{fill}" fill-opacity="0.25" stroke="#333" stroke-width="1.6"/>"##
    );
    for column in 1..i64::from(estimate.fpga.clock_columns) {
        let x = left + column * REGION.0;
        draw!(svg, r##"<path d="M{x} {top}v{SLR_HEIGHT}" stroke="#fff" stroke-width="1"/>"##);
    }
    for row in 1..REGION_ROWS {
        let y = top + row * REGION.1;
        draw!(svg, r##"<path d="M{left} {y}h{width}" stroke="#fff" stroke-width="1"/>"##);
    }
    let middle = top + SLR_HEIGHT / 2;
    draw!(svg, r#"<text x="{}" y="{middle}" class="bold end">SLR{slr}</text>"#, left - 8);
    let rows = estimate.plan.rows_of(slr as u32);
    let named = match rows.len() {
        0 => "no row".to_owned(),
        1 => format!("row {}", rows.start),
        _ => format!("rows {}-{}", rows.start, rows.end - 1),
    };
    draw!(
        svg,
        r#"<text x="{}" y="{}" class="faint end" style="font-size:9px">{named}</text>"#,
        left - 8,
        middle + 13
    );
    // Shared parts are at the bottom, nearest to the memory.
    let has_shared = slr == 0 || slr as u32 == estimate.plan.slr(0);
    let below = if has_shared { SHARED } else { 0 };
    let cols = i64::from(estimate.mesh.cols());
    let west = (cols + 1) / 2;
    for (first, count, side) in [(0, west, left), (west, cols - west, left + width / 2)] {
        let frame = Frame {
            left: side + 6,
            top: top + 6,
            width: width / 2 - 12,
            height: SLR_HEIGHT - 12 - below,
            fill: &fill,
        };
        pblock(svg, &frame, first, count, rows.clone());
    }
    if has_shared {
        shared(svg, estimate, slr, left + 6, top + SLR_HEIGHT - SHARED, width - 12);
    }
}

/// Half an SLR.
struct Frame<'a> {
    left: i64,
    top: i64,
    width: i64,
    height: i64,
    fill: &'a str,
}

/// The tiles of `count` columns from `first` on.
fn pblock(svg: &mut String, frame: &Frame, first: i64, count: i64, rows: std::ops::Range<u32>) {
    let Frame { left, top, width, height, fill } = *frame;
    draw!(
        svg,
        r##"<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#555" stroke-width="1" stroke-dasharray="5 3"/>"##
    );
    if count == 0 || rows.is_empty() {
        return;
    }
    let (step_x, step_y) = (width / count, height / rows.len() as i64);
    for (at, y) in rows.clone().rev().enumerate() {
        for column in 0..count {
            let (x0, y0) = (left + column * step_x + 3, top + at as i64 * step_y + 3);
            let (w, h) = (step_x - 6, step_y - 6);
            draw!(
                svg,
                r##"<rect x="{x0}" y="{y0}" width="{w}" height="{h}" rx="3" fill="{fill}" stroke="#445" stroke-width="0.8"/>"##
            );
            if w >= 20 && h >= 12 {
                draw!(
                    svg,
                    r#"<text x="{}" y="{}" class="mid" style="font-size:9px;fill:#111">{},{y}</text>"#,
                    x0 + w / 2,
                    y0 + h / 2 + 3,
                    first + column
                );
            }
        }
    }
}

/// Draws the parts that exist once, or once a column.
fn shared(svg: &mut String, estimate: &Estimate, slr: usize, left: i64, top: i64, width: i64) {
    let shared = [Scale::Column, Scale::Once, Scale::Host, Scale::Hbm, Scale::HbmOnce];
    let here = |scale: Scale| estimate.in_slr(scale, slr as u32) > 0;
    let parts =
        estimate.demand.parts.iter().filter(|(part, _)| shared.contains(&part.scale) && here(part.scale));
    let names: Vec<_> = parts
        .map(|(part, _)| {
            let (count, name) = (estimate.count(part.scale), part.name.replace('_', " "));
            if count == 1 {
                name
            } else {
                format!("{count} {name}s")
            }
        })
        .collect();
    let (height, middle) = (SHARED - 6, left + width / 2);
    draw!(
        svg,
        r##"<rect x="{left}" y="{top}" width="{width}" height="{height}" rx="3" fill="#ece7f2" stroke="#445" stroke-width="0.8"/>"##
    );
    draw!(
        svg,
        r#"<text x="{middle}" y="{}" class="mid" style="font-size:10px">shared: {}</text>"#,
        top + height / 2 + 4,
        names.join(", ")
    );
}

/// Memory below SLR0 and PCIe on its right.
fn beside(svg: &mut String, (width, height): (i64, i64)) {
    let (left, top) = (MARGIN + NAMES, MARGIN + TITLE + height);
    draw!(
        svg,
        r##"<rect x="{left}" y="{}" width="{width}" height="{}" fill="#d9d9d9" stroke="#333"/>"##,
        top + 4,
        MEMORY - 6
    );
    draw!(
        svg,
        r#"<text x="{}" y="{}" class="mid">HBM, 32 pseudo-channels</text>"#,
        left + width / 2,
        top + MEMORY / 2 + 5
    );
    let (x, y, tall) = (left + width + 4, top - SLR_HEIGHT + 8, SLR_HEIGHT - 16);
    draw!(svg, r##"<rect x="{x}" y="{y}" width="26" height="{tall}" fill="#d9d9d9" stroke="#333"/>"##);
    let (tx, ty) = (x + 17, y + tall / 2);
    draw!(svg, r#"<text x="{tx}" y="{ty}" class="mid" transform="rotate(-90 {tx} {ty})">PCIe</text>"#);
}

/// Draws bars of the used share of each resource, next to the SLR.
fn bars(svg: &mut String, estimate: &Estimate, slr: usize, left: i64, top: i64) {
    let (used, has) = (estimate.used(slr).values(), estimate.has(slr).values());
    let limit = estimate.limits.share;
    let (zero, first) = (left + LABEL, top + (SLR_HEIGHT - BAR_STEP * 6) / 2);
    let along = |share: f64| zero + (BAR as f64 * share) as i64;
    for (i, name) in WRITTEN.iter().enumerate() {
        let (share, y) = (used[i] as f64 / has[i].max(1) as f64, first + BAR_STEP * i as i64);
        let (fill, length) = (colour(share, limit), along(share.min(CUT)) - zero);
        draw!(svg, r#"<text x="{}" y="{}" class="end">{name}</text>"#, zero - 8, y + 12);
        draw!(svg, r##"<rect x="{zero}" y="{y}" width="{BAR}" height="15" fill="#f0f0f0"/>"##);
        draw!(svg, r#"<rect x="{zero}" y="{y}" width="{length}" height="15" fill="{fill}"/>"#);
        if share > CUT {
            // The bar extends beyond the picture.
            let x = along(CUT);
            draw!(svg, r#"<path d="M{x} {y}l9 7.5l-9 7.5z" fill="{fill}"/>"#);
        }
        let weight = if share > limit { "bold" } else { "" };
        let (percents, numbers) = (along(CUT) + 52, along(CUT) + 60);
        draw!(svg, r#"<text x="{percents}" y="{}" class="end {weight}">{}</text>"#, y + 12, percent(share));
        draw!(
            svg,
            r#"<text x="{numbers}" y="{}" class="faint" style="font-size:10px">{} of {}</text>"#,
            y + 12,
            grouped(used[i]),
            grouped(has[i])
        );
    }
    let (from, to) = (first - 4, first + BAR_STEP * 6 - 3);
    for (share, dash, ink) in [(limit, "3 2", "#b06000"), (1.0, "none", "#333")] {
        let x = along(share);
        draw!(
            svg,
            r#"<path d="M{x} {from}V{to}" stroke="{ink}" stroke-width="1.2" stroke-dasharray="{dash}"/>"#
        );
    }
}

fn legend(svg: &mut String, estimate: &Estimate, y: i64) {
    let limit = estimate.limits.share;
    let mut x = MARGIN + NAMES;
    let entries = [
        (limit / 2.0, format!("up to the limit of {}", percent(limit))),
        ((limit + 1.0) / 2.0, "over the limit, up to all there is".to_owned()),
        (1.5, "more than there is".to_owned()),
    ];
    for (share, text) in entries {
        draw!(
            svg,
            r##"<rect x="{x}" y="{}" width="22" height="12" fill="{}" stroke="#445" stroke-width="0.6"/>"##,
            y - 10,
            colour(share, limit)
        );
        draw!(svg, r#"<text x="{}" y="{y}">{text}</text>"#, x + 28);
        x += 40 + 7 * text.len() as i64;
    }
    let (x, y) = (MARGIN + NAMES, y + 22);
    draw!(
        svg,
        r##"<path d="M{x} {}h22" stroke="#555" stroke-dasharray="5 3"/><text x="{}" y="{y}">pblock of half an SLR; a region and its tiles have the colour of what is fullest there; memory ports stand beside their tiles</text>"##,
        y - 4,
        x + 28
    );
}

/// The fullest resource of an SLR, as a share.
fn worst(estimate: &Estimate, slr: usize) -> f64 {
    let (used, has) = (estimate.used(slr).values(), estimate.has(slr).values());
    (0..Resources::NAMES.len()).map(|i| used[i] as f64 / has[i].max(1) as f64).fold(0.0, f64::max)
}

/// Colours: near white to blue at the limit, orange up to the capacity, red above.
fn colour(share: f64, limit: f64) -> String {
    if share > 1.0 {
        return "#d7402b".to_owned();
    }
    if share > limit {
        return "#f5a04c".to_owned();
    }
    let t = share / limit;
    let blend = |from: f64, to: f64| (from + (to - from) * t).round() as u8;
    format!("#{:02x}{:02x}{:02x}", blend(232.0, 90.0), blend(241.0, 160.0), blend(250.0, 214.0))
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Formats a number in groups of three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let group = |(i, c): (usize, char)| {
        let gap = (i > 0 && (digits.len() - i).is_multiple_of(3)).then_some(' ');
        gap.into_iter().chain([c])
    };
    digits.chars().enumerate().flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::super::estimate::tests::demand;
    use super::super::estimate::Limits;
    use super::*;
    use crate::config::Board;
    use crate::design::{Fpga, Mesh};

    fn picture(cols: u32, rows: u32, lut: u64) -> String {
        let demand = demand(lut);
        let fpga = Fpga::of(Board::U280);
        floorplan_picture("t", &Estimate::new(&demand, Mesh::new(cols, rows), fpga, Limits::default()), &[])
    }

    #[test]
    fn every_tile_is_drawn_once_whatever_the_mesh() {
        for (cols, rows) in [(2, 2), (3, 5), (8, 8), (16, 16)] {
            let tiles = picture(cols, rows, 100).matches("rx=\"3\" fill=\"#").count() as u32;
            // The shared parts are one more such shape.
            assert_eq!(tiles, cols * rows + 1, "{cols} x {rows}");
        }
    }

    #[test]
    fn the_verdict_and_the_names_of_the_regions_are_there() {
        let svg = picture(8, 8, 20_000);
        assert!(svg.contains("does not fit") && ["SLR0", "SLR1", "SLR2"].iter().all(|s| svg.contains(s)));
        assert!(picture(4, 4, 20_000).contains(">fits<"));
    }

    #[test]
    fn digits_stand_by_threes() {
        assert_eq!([7, 1234, 347_648, 1_303_680].map(grouped), ["7", "1 234", "347 648", "1 303 680"]);
    }
}
