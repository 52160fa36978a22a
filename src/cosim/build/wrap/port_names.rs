//! Meaning of the names and widths of emitted ports.

use crate::design::{Design, Port};
use crate::emit::PortSpec;

/// The four ports that lead to neighbours.
pub(in crate::cosim) const SIDES: [Port; 4] = [Port::North, Port::South, Port::East, Port::West];

/// Ports that belong to neither a link nor the fabric: clock, reset and coordinates.
const OWN: [&str; 6] = ["clk", "rst", "pe_clk", "pe_rst", "x", "y"];

/// Splits a name: `("rx", "data")` of `rx_n_data`, if the port has this letter.
pub(in crate::cosim) fn bundle(name: &str, letter: char) -> Option<(&str, &str)> {
    let (end, rest) = name.split_once('_')?;
    let (port, field) = rest.split_once('_')?;
    (["rx", "tx"].contains(&end) && port.chars().eq([letter])).then_some((end, field))
}

/// True for a clock, a reset or a coordinate.
pub(in crate::cosim) fn is_own(port: &PortSpec) -> bool {
    OWN.contains(&port.name.as_str())
}

/// Number of parts of a port.
pub(in crate::cosim) fn tiles_sharing(port: &PortSpec, design: &Design) -> u32 {
    let of = |what: &str| port.width.expr.split('*').any(|factor| factor == what);
    match (of("TILES"), of("PORTS"), of("COLS")) {
        (true, ..) => design.mesh.tiles() as u32,
        (_, true, _) => design.memory.ports,
        (.., true) => design.mesh.cols(),
        _ => 1,
    }
}
