//! The links of a way.

use crate::design::network::mesh::Port;

/// Calls `visit` with each link from one place to another: along the row first.
pub(super) fn walk(cols: u32, from: (u32, u32), to: (u32, u32), mut visit: impl FnMut(usize)) {
    let (mut x, mut y) = from;
    let link = |x: u32, y: u32, port: Port| (y * cols + x) as usize * 4 + port.index();
    while x != to.0 {
        visit(link(x, y, if to.0 > x { Port::East } else { Port::West }));
        x = if to.0 > x { x + 1 } else { x - 1 };
    }
    while y != to.1 {
        visit(link(x, y, if to.1 > y { Port::North } else { Port::South }));
        y = if to.1 > y { y + 1 } else { y - 1 };
    }
}
