//! Rules of memory ports: tiles can share them as configured, and the card has a pseudo-channel for each.

use crate::config::{Config, Finding};
use crate::design::design::Design;
use crate::design::fpga::Fpga;
use crate::design::memory::{fewest_tiles_per_port, ports};
use crate::design::mesh::Mesh;

const KEY: &str = "memory.tiles_per_port";

/// The generator's own default.
fn by_default(config: &Config) -> u32 {
    let mesh = Mesh::new(config.mesh.cols, config.mesh.rows);
    fewest_tiles_per_port(mesh, 1, Fpga::of(config.board).hbm_channels)
}

pub(super) fn a_row_has_the_tiles_of_a_port(config: &Config) -> Option<Finding> {
    let (tiles, cols) = (config.memory.tiles_per_port?, config.mesh.cols);
    (tiles > cols).then(|| {
        let fault = format!("is more tiles than a row has, mesh.cols = {cols}");
        let help = format!(
            "a port serves tiles side by side in a row; try tiles_per_port = {}, or leave it out",
            by_default(config)
        );
        Finding::value(KEY, tiles, fault, help).with(&["mesh.cols", "mesh.rows"])
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
        let help = format!(
            "each port has pseudo-channels of its own; try tiles_per_port = {}, or leave it out",
            by_default(config)
        );
        Finding::value(KEY, tiles, fault, help).with(&["mesh.cols", "mesh.rows"])
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
    let best = [1, 2, 4, 8].into_iter().filter(legal).map(|tiles| (tiles, balanced(config, Some(tiles))));
    let best = best.filter(|(_, gbs)| *gbs > now).reduce(|a, b| if b.1 > a.1 { b } else { a });
    let way = match best {
        Some((tiles, gbs)) => format!("try tiles_per_port = {tiles}: {gbs:.0} GB/s"),
        None => format!(
            "no number of tiles a port gives this mesh more; try a mesh of at most {0} tiles, or of {0} ports of as many tiles",
            channels.len()
        ),
    };
    let (whole, count) = (config.memory.bandwidth_gbs, channels.len());
    let fault = format!(
        "leaves {idle} of {count} channels of HBM idle while others hold {most} homes: all homes together are read at {now:.0} of {whole} GB/s at most"
    );
    let involved = ["mesh.cols", "mesh.rows"];
    Some(Finding::value(KEY, design.memory.tiles_per_port, fault, way).with(&involved).as_warning())
}

/// Memory ports with so many tiles each.
fn ports_with(config: &Config, tiles: u32) -> u32 {
    config.mesh.cols.div_ceil(tiles) * config.mesh.rows
}
