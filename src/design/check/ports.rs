//! Rules of memory ports: tiles can share them as configured, and the card has a pseudo-channel for each.

use crate::config::{Config, Finding};
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
