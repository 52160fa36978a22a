//! Meaning of the names and widths of emitted ports.

use crate::design::{Design, Port};
use crate::emit::PortSpec;

/// The four ports that lead to neighbours.
pub(in crate::cosim) const SIDES: [Port; 4] = [Port::North, Port::South, Port::East, Port::West];

/// Ports that are neither of a link nor of the fabric: clock, reset, and where the tile stands.
const OWN: [&str; 6] = ["clk", "rst", "pe_clk", "pe_rst", "x", "y"];

/// `("rx", "data")` of `rx_n_data`, if it belongs to the port with this letter.
pub(in crate::cosim) fn bundle(name: &str, letter: char) -> Option<(&str, &str)> {
    let (end, rest) = name.split_once('_')?;
    let (port, field) = rest.split_once('_')?;
    (["rx", "tx"].contains(&end) && port.chars().eq([letter])).then_some((end, field))
}

/// Whether a port is a clock, a reset or a coordinate.
pub(in crate::cosim) fn is_own(port: &PortSpec) -> bool {
    OWN.contains(&port.name.as_str())
}

/// How many parts a port has.
pub(in crate::cosim) fn tiles_sharing(port: &PortSpec, design: &Design) -> u32 {
    let of = |what: &str| port.width.expr.split('*').any(|factor| factor == what);
    match (of("TILES"), of("PORTS"), of("COLS")) {
        (true, ..) => design.mesh.tiles() as u32,
        (_, true, _) => design.memory.ports,
        (.., true) => design.mesh.cols(),
        _ => 1,
    }
}
