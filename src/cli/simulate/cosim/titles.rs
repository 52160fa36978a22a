//! Titles of pictures and tables.

use crate::design::Design;
use crate::eval::{self, Row};

pub(super) fn title(design: &Design, row: &Row) -> String {
    format!("{}: {}", fabric_title(design), traffic_title(row))
}

fn fabric_title(design: &Design) -> String {
    let (mesh, router) = (design.mesh, design.router);
    let vcs = format!("{} + {} VCs x {}", router.vn0_vcs, router.vn1_vcs, router.vc_depth);
    format!("{}, {} x {}, {vcs}", design.name, mesh.cols(), mesh.rows())
}

fn traffic_title(row: &Row) -> String {
    let packet = row.packet.map_or(String::new(), |flits| {
        format!(", packets of {flits} {}", if flits == 1 { "flit" } else { "flits" })
    });
    let rate = row.trace_rate.map_or(String::new(), |rate| format!(" at {rate} times its rate"));
    format!("{}{rate}{packet}", row.traffic)
}

pub(super) fn heatmap(design: &Design, row: &Row) -> anyhow::Result<String> {
    let load = row.load.map_or(String::new(), |load| format!(", offered load {load}"));
    let subtitle = format!("{}{load}", traffic_title(row));
    eval::heatmap(&fabric_title(design), &subtitle, design.mesh, row)
}
