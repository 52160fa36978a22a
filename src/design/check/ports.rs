//! Rules of memory ports: tiles can share them as configured, and the card has a pseudo-channel for each.

use crate::config::{Advice, Config, Finding};
use crate::design::design::Design;
use crate::design::fpga::Fpga;
use crate::design::memory::{fewest_tiles_per_port, ports};
use crate::design::mesh::Mesh;
use serde_json::Value;

const KEY: &str = "memory.tiles_per_port";

/// The generator's own default.
fn by_default(config: &Config) -> u32 {
    let mesh = Mesh::new(config.mesh.cols, config.mesh.rows);
    fewest_tiles_per_port(mesh, 1, Fpga::of(config.board).hbm_channels)
}

fn ways(config: &Config) -> [Advice; 2] {
    [Advice::set(KEY, by_default(config)), Advice::leave_out(KEY)]
}

pub(super) fn a_row_has_the_tiles_of_a_port(config: &Config) -> Option<Finding> {
    let (tiles, cols) = (config.memory.tiles_per_port?, config.mesh.cols);
    (tiles > cols).then(|| {
        let fault = format!("is more tiles than a row has, mesh.cols = {cols}");
        let help = "a port serves tiles side by side in a row";
        Finding::value(KEY, tiles, fault, help).advising(ways(config)).with(&["mesh.cols", "mesh.rows"])
    })
}

/// Ports that share pseudo-channels read no faster than as many ports as channels.
pub(super) fn every_port_has_a_channel(config: &Config) -> Option<Finding> {
    let (tiles, ports) = (config.memory.tiles_per_port?, ports(config));
    let channels = Fpga::of(config.board).hbm_channels;
    (ports > channels).then(|| {
        let fault = format!(
            "makes {ports} memory ports, more than the {channels} pseudo-channels of HBM of the card"
        );
        let help = "each port has pseudo-channels of its own";
        Finding::value(KEY, tiles, fault, help).advising(ways(config)).with(&["mesh.cols", "mesh.rows"])
    })
}

/// GB/s at which all homes can be read, with so many tiles a port.
fn balanced(config: &Config, tiles: Option<u32>) -> f64 {
    let mut other = config.clone();
    other.memory.tiles_per_port = tiles;
    Design::decide("layout", &other).balanced_gbs()
}

/// Channels stay idle while others hold two homes: the latter bound every layer.
pub(super) fn no_channel_idles_beside_a_shared_one(config: &Config) -> Option<Finding> {
    let design = Design::decide("layout", config);
    let channels = design.channel_use();
    let most = channels.iter().map(|channel| channel.homes).max().unwrap_or(0);
    let idle = channels.iter().filter(|channel| channel.homes == 0).count();
    if most < 2 || idle == 0 {
        return None;
    }
    let now = design.balanced_gbs();
    let legal =
        |tiles: &u32| *tiles <= config.mesh.cols && ports_with(config, *tiles) <= channels.len() as u32;
    let other = [1, 2, 4, 8].into_iter().filter(legal).map(|tiles| (tiles, balanced(config, Some(tiles))));
    let mut better: Vec<_> = other.filter(|(_, gbs)| *gbs > now).collect();
    better.sort_by(|a, b| b.1.total_cmp(&a.1));
    let help = match better.first() {
        Some((tiles, gbs)) => format!("tiles_per_port = {tiles} gives {gbs:.0} GB/s"),
        None => "no number of tiles a port gives this mesh more".to_owned(),
    };
    let ways = better.into_iter().map(|(tiles, _)| Advice::set(KEY, tiles));
    // A home that has a channel of its own shares none.
    let most_tiles = channels.len() as u32;
    let ways = ways.chain(smaller(config, &|config| config.mesh.cols * config.mesh.rows <= most_tiles));
    let (whole, count) = (config.memory.bandwidth_gbs, channels.len());
    let fault = format!(
        "leaves {idle} of {count} channels of HBM idle while others hold {most} homes: all homes together are read at {now:.0} of {whole} GB/s at most"
    );
    let involved = ["mesh.cols", "mesh.rows"];
    Some(
        Finding::value(KEY, design.memory.tiles_per_port, fault, help)
            .advising(ways)
            .with(&involved)
            .as_warning(),
    )
}

/// Meshes with fewer rows, or with fewer columns, for which `ends` holds.
pub(super) fn smaller(config: &Config, ends: &dyn Fn(&Config) -> bool) -> Vec<Advice> {
    let with = |cols, rows| {
        let mut other = config.clone();
        (other.mesh.cols, other.mesh.rows) = (cols, rows);
        // Keys that depend on the mesh may be left out.
        other.takv.a = None;
        other.memory.tiles_per_port = None;
        other
    };
    let (cols, rows) = (config.mesh.cols, config.mesh.rows);
    let fewer_rows = (2..rows).rev().find(|&rows| ends(&with(cols, rows)));
    let fewer_cols = (2..cols).rev().find(|&cols| ends(&with(cols, rows)));
    let halves = [(cols / 2, rows / 2), (cols / 4, rows / 2), (cols / 4, rows / 4)];
    let both = halves.into_iter().filter(|(c, r)| *c > 1 && *r > 1).find(|&(c, r)| ends(&with(c, r)));
    let set = |way: Advice| {
        let way = if config.takv.a.is_some() { way.and("takv.a", Value::Null) } else { way };
        if config.memory.tiles_per_port.is_some() {
            way.and(KEY, Value::Null)
        } else {
            way
        }
    };
    let rows = fewer_rows.map(|rows| Advice::set("mesh.rows", rows));
    let cols = fewer_cols.map(|cols| Advice::set("mesh.cols", cols));
    let both = both.map(|(cols, rows)| Advice::set("mesh.cols", cols).and("mesh.rows", rows));
    rows.into_iter().chain(cols).chain(both).map(set).collect()
}

/// Memory ports with so many tiles each.
fn ports_with(config: &Config, tiles: u32) -> u32 {
    config.mesh.cols.div_ceil(tiles) * config.mesh.rows
}
