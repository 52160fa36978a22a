//! Rules of memory ports: tiles can share them as configured, and the card has a pseudo-channel for each.

use super::placement;
use crate::config::{Advice, Config, Finding, PlacementKind, Spread};
use crate::design::card::fpga::Fpga;
use crate::design::card::memory::{fewest_tiles_per_port, ports};
use crate::design::design::Design;
use crate::design::network::mesh::Mesh;
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

/// Gain from which the paper's layer in one column costs bandwidth.
const WORTH: f64 = 1.25;
/// Share of the memory's bandwidth from which a layer's share of it matters.
const LEAST: f64 = 0.25;

/// The paper keeps a layer in one column, whose ports alone read it.
pub(super) fn a_layer_reaches_the_ports(config: &Config) -> Option<Finding> {
    let by_slice = config.takv.spread == Spread::Slice;
    if config.takv.placement != PlacementKind::Takv || by_slice || config.takv.column_stride != 0 {
        return None;
    }
    let mut spread = config.clone();
    spread.takv.column_stride = 1;
    let rules = [
        placement::columns_have_room_for_the_stride,
        placement::stride_visits_every_row,
        placement::blocks_are_spread_evenly,
        placement::cache_fits_the_memory,
    ];
    // Advice that raises a finding of its own is none.
    if rules.iter().any(|rule| rule(config).is_none() && rule(&spread).is_some()) {
        return None;
    }
    let (now, then) = (Design::decide("layout", config), Design::decide("layout", &spread));
    let left = config.memory.bandwidth_gbs * now.memory.refresh.map_or(1.0, |refresh| refresh.left());
    let [before, after] = [&now, &then].map(|design| design.layer_gbs().min(left));
    // A fabric that uses little of the memory in any case is limited by its own size.
    (after > WORTH * before && after > LEAST * left).then(|| {
        let fault = format!(
            "keeps a layer in one column, as the paper does: {} of {} memory ports read it, at {before:.1} of {:.0} GB/s at \
             most",
            now.ports_of_layer(),
            now.memory.ports,
            config.memory.bandwidth_gbs
        );
        let help = format!("with 1 a layer is spread over all columns: {after:.1} GB/s");
        Finding::value("takv.column_stride", 0, fault, help)
            .advising([Advice::set("takv.column_stride", 1)])
            .with(&["mesh.cols", "mesh.rows"])
            .as_warning()
    })
}

/// A bandwidth that somebody has chosen, and ports that do not carry it.
pub(super) fn ports_carry_the_bandwidth(config: &Config) -> Option<Finding> {
    let wanted = config.memory.bandwidth_gbs;
    let design = Design::decide("layout", config);
    let most = design.all_ports_gbs();
    let chosen = wanted != Config::default().memory.bandwidth_gbs;
    (chosen && wanted > most).then(|| {
        let fault = format!(
            "is more than {} memory ports carry: {most:.1} GB/s, a flit of {} bits a cycle of {} MHz each",
            design.memory.ports, config.noc.flit_width, config.clock.noc_mhz
        );
        let help = "or more ports: a mesh with more rows, wider flits, or a faster clock";
        let involved = ["mesh.cols", "mesh.rows", "noc.flit_width", "clock.noc_mhz"];
        // Rounded down, so that it ends the warning.
        let carried = (most * 10.0).floor() / 10.0;
        Finding::value("memory.bandwidth_gbs", wanted, fault, help)
            .advising([Advice::set("memory.bandwidth_gbs", carried)])
            .with(&involved)
            .as_warning()
    })
}

/// Memory ports with so many tiles each.
fn ports_with(config: &Config, tiles: u32) -> u32 {
    config.mesh.cols.div_ceil(tiles) * config.mesh.rows
}
